// How much of what its actuators can do a robot's actions reach.
#pragma once

#include <string>
#include <vector>

#include "cgpo/tasks/robots/robot.hpp"

namespace cgpo {

// Action 0 becomes the centre of each actuator's control range, unless an offset says otherwise, and 1 half of it
// further. UserError if an actuator has none.
void reach_ranges(Robot& robot);
// A sentence for each way in which actions do not reach what actuators can do: those that no action moves, and those of
// whose control range actions reach less than half.
std::vector<std::string> reach_warnings(const Robot& robot);

}  // namespace cgpo
