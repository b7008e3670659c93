// A task that is put together while the program runs, out of functions over traced numbers: what a task file becomes,
// and what a binding for another language would build.
//
// Beside the numbers that its maker asks for, a state can remember two things, which cost nothing if nobody wants them:
// how many substeps have passed, and the last action.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "cgpo/tasks/robots/robot.hpp"
#include "cgpo/tasks/task.hpp"

namespace cgpo {

// What the functions see of an environment at one moment.
struct BuiltMoment {
  TracedSpan state;        // of a robot [q, v, activations, own], of a task without one its own states
  Traced clock;            // substeps since the start; 0 if it is not remembered
  TracedSpan last_action;  // of the step that led here, 0 at the start; empty if it is not remembered
};

struct BuiltTask {
  TaskSpec spec;  // its states are those of BuiltMoment
  bool remembers_clock = false;
  bool remembers_action = false;
  std::shared_ptr<const Robot> robot = nullptr;  // null: `advance` makes the step
  std::function<void(RandomStream& random, std::span<double> state)> reset;
  std::function<void(const BuiltMoment& now, std::span<Traced> observation)> observe;
  std::function<std::vector<Traced>(const BuiltMoment& before, TracedSpan action)> advance;  // the next state
  // What follows from a step; the result's own state stays empty.
  std::function<StepResult<Traced>(const BuiltMoment& before, TracedSpan action, const BuiltMoment& after)> outcome;
};

std::shared_ptr<const Task> make_built_task(BuiltTask built);

}  // namespace cgpo
