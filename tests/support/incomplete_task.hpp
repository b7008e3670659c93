// A task that says it lacks an element of its robot.
#pragma once

#include "cgpo/tasks/task.hpp"

namespace cgpo {

struct Incomplete {
  TaskSpec spec() const {
    TaskSpec spec;
    spec.name = "incomplete";
    spec.states = 1;
    spec.observations = 1;
    spec.actions = 1;
    spec.horizon = 5;
    spec.costs = {{.name = "x", .limit = 1.0}};
    spec.unsupported = {"tendon 'string'"};
    return spec;
  }
  void reset(RandomStream& random, std::span<double> state) const { state[0] = random.uniform(); }
  template <class S>
  void observe(std::span<const S> s, std::span<S> o) const {
    o[0] = s[0];
  }
  template <class S>
  StepResult<S> step(std::span<const S> s, std::span<const S> a) const {
    return {.state = {s[0] + a[0]}, .reward = a[0], .reward_paper = a[0], .costs = {s[0]}, .ended = S(0.0)};
  }
};

}  // namespace cgpo
