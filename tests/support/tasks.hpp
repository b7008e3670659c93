// What the tests' small tasks have in common.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "cgpo/tasks/task.hpp"

namespace cgpo::testing {

struct ToySizes {
  int states = 1;
  int observations = 1;
  int actions = 1;
  int horizon = 10;
};

inline TaskSpec toy_spec(std::string name, const ToySizes& sizes, std::vector<CostSpec> costs = {}) {
  TaskSpec spec;
  spec.name = std::move(name);
  spec.states = sizes.states;
  spec.observations = sizes.observations;
  spec.actions = sizes.actions;
  spec.horizon = sizes.horizon;
  spec.costs = std::move(costs);
  return spec;
}

// Every entry uniform in ± width.
inline void uniform_start(RandomStream& random, std::span<double> state, double width = 1.0) {
  for (double& value : state) value = random.uniform(-width, width);
}

// The state is seen as it is.
template <class S>
void observe_state(std::span<const S> state, std::span<S> observation) {
  std::copy(state.begin(), state.end(), observation.begin());
}

}  // namespace cgpo::testing
