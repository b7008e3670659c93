// Robots that a simulator outside moves. It begins episodes and makes the steps, and shows the state in which the robot
// then is; what is seen, rewarded and limited is said here, and so has derivatives, and our engine is its twin.
//
// What it shows are [q, v, activations] as MuJoCo orders them for the robot's MJCF file, and, if it shows more, all of
// the extra entries of the task's state; else a reset draws these and they stay. What it gets are the controls of the
// actuators.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "cgpo/tasks/outside/environment.hpp"
#include "cgpo/tasks/robots/robot.hpp"

namespace cgpo {

// `said`: what the simulator says of itself: observations, actions, and perhaps dt. UserError, which calls it `who`, if
// that is not the robot's, or not that of a state with so many extra entries.
void move_by(std::shared_ptr<OutsideEnvironments> environments, const TaskSpec& said, const std::string& who, int extra,
             Robot& robot);
// Of a program of one's own: an environment's observations are the state, and its reward is not looked at. The robot's
// defaults have engine = Engine::kSimulator.
void move_by(std::function<std::unique_ptr<Environment>()> make, Robot& robot);

// `draw`: a start state by the task's own reset, of which what is not shown is kept.
OutsideStates states_outside(const std::shared_ptr<const Robot>& robot,
                             std::function<void(RandomStream& random, std::span<double> state)> draw);

}  // namespace cgpo
