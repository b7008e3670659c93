// Contact forces that MuJoCo measures and a state keeps (MeasuredContacts in robots/robot.hpp).
#pragma once

#include <memory>
#include <span>

#include "cgpo/tasks/robots/robot.hpp"

namespace cgpo {

// Where in a state they begin.
int first_measured(const Robot& robot);
// What MuJoCo has found goes to its place in a state.
void measure(const Robot& robot, const MujocoEngine& engine, std::span<double> state);
// Resets that measure, too.
void measure_starts(const std::shared_ptr<const Robot>& robot, TaskParts& parts);

}  // namespace cgpo
