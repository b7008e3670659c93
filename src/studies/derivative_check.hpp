// A task's derivatives against central differences, in double, over windows of steps.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "cgpo/base/json.hpp"
#include "cgpo/tasks/task.hpp"

namespace cgpo {

// Beyond this the two do not agree: the differences themselves are good to about 1e-8 on smooth tasks.
inline constexpr double kDerivativeTolerance = 1e-5;

struct DerivativeCheck {
  double max_relative_error = 0.0;  // of a gradient's entry, relative to the gradient's largest one
  int states = 0;
  int window = 0;
};

// From each of `states` random start states, `window` steps with random actions: for reward and each cost, a random
// weighting of that signal, of the observations and of the last state is differentiated with respect to start state and
// all actions. Throws UserError if the task has no derivative.
DerivativeCheck check_derivatives(const std::shared_ptr<const Task>& task, int states, int window, std::uint64_t seed);

// What `cgpo check --json` prints.
Json to_json(const DerivativeCheck& check, const std::string& task);

}  // namespace cgpo
