// A small task with every feature: two states, an early end, a cost that outlives it, and a switch to diverge.
#pragma once

#include "tasks.hpp"

namespace cgpo::testing {

struct ProbeTask {
  double end_at = 1e9;      // the episode ends when the first state exceeds this
  double diverge_at = 1e9;  // the second state becomes infinite when the first exceeds this
  int horizon = 12;

  TaskSpec spec() const {
    return toy_spec("probe", {.states = 2, .observations = 3, .actions = 2, .horizon = horizon},
                    {{.name = "stops", .limit = 1.0}, {.name = "goes_on", .limit = 2.0, .stops_at_end = false}});
  }
  void reset(RandomStream& random, std::span<double> state) const { uniform_start(random, state); }
  template <class S>
  void observe(std::span<const S> s, std::span<S> o) const {
    o[0] = sin(s[0]);
    o[1] = s[1];
    o[2] = s[0] * s[1];
  }
  template <class S>
  StepResult<S> step(std::span<const S> s, std::span<const S> a) const {
    const S first = s[0] + 0.2 + 0.3 * a[0] - 0.1 * s[1];
    const S second = s[1] * 0.8 + 0.5 * a[1] * cos(s[0]);
    const S broken = select(first > diverge_at, S(1e30) * second * 1e30, second);
    return {.state = {first, broken},
            .reward = cos(first) - 0.1 * a[0] * a[0],
            .reward_paper = cos(first),
            .costs = {0.5 + sin(second), first * first * 0.1 + a[1]},
            .ended = first > end_at};
  }
};

}  // namespace cgpo::testing
