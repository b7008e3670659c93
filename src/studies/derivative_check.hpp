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

// A window that disagrees is looked at again from states nearby. Where those agree it began at a kink, such as that of
// two flat faces which lie on one another: there is more than one derivative, and no reason to distrust ours.
struct DerivativeCheck {
  double max_relative_error = 0.0;  // of a gradient's entry, relative to the gradient's largest one; not of kinks
  int states = 0;
  int window = 0;
  int disagreeing = 0;               // windows, those too in which something is not finite
  std::string largest_at = {};       // of the largest error, in words: of what, with respect to what
  int kinks = 0;                     // windows that begin at one
  double kink_error = 0.0;           // the largest of those, as they are
  std::string kink_at = {};          // likewise
  int not_finite = 0;                // windows
  std::string not_finite_what = {};  // "the reward", in the first of them

  bool agrees() const { return disagreeing == 0; }
};

// From each of `states` random start states, `window` steps with random actions: for reward and each cost, a random
// weighting of that signal, of the observations and of the last state is differentiated with respect to start state and
// all actions. Throws UserError if the task has no derivative.
DerivativeCheck check_derivatives(const std::shared_ptr<const Task>& task, int states, int window, std::uint64_t seed);

// One sentence or more.
std::string describe(const DerivativeCheck& check, const std::string& task);

// What `cgpo check --json` prints.
Json to_json(const DerivativeCheck& check, const std::string& task);

}  // namespace cgpo
