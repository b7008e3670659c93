// What a policy without limits does to a task's costs, as experiments/unconstrained.sh measured it: the paper sets
// speed limits to half of that.
#pragma once

#include <span>
#include <string_view>

namespace cgpo {

struct UnconstrainedCost {
  std::string_view task;
  std::string_view cost;
  std::string_view algorithm;
  int seeds = 0;
  double steps = 0.0;  // environment steps of each training
  double mean = 0.0;   // J_C of the last five iterations, over the seeds
  double se = 0.0;
};

std::span<const UnconstrainedCost> unconstrained_costs();
// Null if it has not been measured.
const UnconstrainedCost* find_unconstrained_cost(std::string_view task, std::string_view cost);

}  // namespace cgpo
