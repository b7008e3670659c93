#pragma once

#include "tasks.hpp"

namespace cgpo::testing {

// A point that is rewarded for moving right and pays for it twice: the best feasible speed is known.
//   x' = x + a,  J_R = Σ a,  J_C1 = Σ a² ≤ 2.5,  J_C2 = Σ a ≤ 4  over T = 10.
// Constant a is best; Σ a² ≤ 2.5 gives a ≤ ½ (J_R = 5), Σ a ≤ 4 gives a ≤ 0.4: J_R = 4, J_C1 = 1.6 with slack.
struct Push {
  TaskSpec spec() const {
    return toy_spec("push", {}, {{.name = "energy", .limit = 2.5}, {.name = "distance", .limit = 4.0}});
  }
  void reset(RandomStream& random, std::span<double> state) const { uniform_start(random, state, 0.1); }
  template <class S>
  void observe(std::span<const S> s, std::span<S> o) const {
    observe_state(s, o);
  }
  template <class S>
  StepResult<S> step(std::span<const S> s, std::span<const S> a) const {
    return {
        .state = {s[0] + a[0]}, .reward = a[0], .reward_paper = a[0], .costs = {a[0] * a[0], a[0]}, .ended = S(0.0)};
  }
};

}  // namespace cgpo::testing
