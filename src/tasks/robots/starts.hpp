// What is done to start states once a reset has drawn them.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "cgpo/tasks/robots/robot.hpp"

namespace cgpo {

using FinishStart = std::function<void(std::span<double> state)>;

// Resets that also do this.
void finish_resets(const FinishStart& finish, TaskParts& parts);

// Lets MuJoCo look at a start with action 0, from any thread, and takes from it what a state keeps.
FinishStart look_with_mujoco(const std::shared_ptr<const Robot>& robot,
                             std::function<void(MujocoEngine& engine, std::span<double> state)> take);

}  // namespace cgpo
