// What mj_step leaves behind (Robot::leftovers), as the last entries of a robot's state: some tasks pay for it or show
// it to their policies, and a solver that stops before it has converged depends on what it begins with.
#pragma once

#include <span>
#include <vector>

#include "cgpo/tasks/robots/starts.hpp"

namespace cgpo {

int leftovers_size(const Robot& robot);
// Where one of them begins, among all of them.
int leftover_place(const Robot& robot, Leftover kind);

// Before a step, from the extra part of the state; and after it, into the state that it led to.
void begin_with_leftovers(const Robot& robot, std::span<const double> extra, MujocoEngine& engine);
void copy_leftovers(const Robot& robot, MujocoEngine& engine, std::span<double> state);
// Of our own engine: places follow from where the robot now is, all else stays what it was.
void follow_leftovers(const Robot& robot, std::vector<Traced>& state);

// Writes into start states what MuJoCo leaves behind when it looks at them, from any thread.
FinishStart make_leftover_start(const std::shared_ptr<const Robot>& robot);

}  // namespace cgpo
