// Contact forces that MuJoCo measures and a state keeps (MeasuredContacts in robots/robot.hpp).
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "cgpo/tasks/robots/robot.hpp"

namespace cgpo {

// Where in a state they begin.
int first_measured(const Robot& robot);
// What MuJoCo has found goes to its place in a state.
void measure(const Robot& robot, const MujocoEngine& engine, std::span<double> state);
// Of our own engine, which has no solver to ask: what its law says where the robot now is.
void follow_measured(const Robot& robot, const ContactParameters& law, std::vector<Traced>& state);
// Resets that measure, too.
void measure_starts(const std::shared_ptr<const Robot>& robot, TaskParts& parts);

}  // namespace cgpo
