#include "cgpo/studies/derivative_check.hpp"

#include <gtest/gtest.h>

#include "cgpo/base/error.hpp"
#include "cgpo/tasks/registry.hpp"

namespace cgpo {
namespace {

TEST(DerivativeCheck, FunctionAgrees) {
  for (const int window : {1, 10}) {
    const DerivativeCheck check = check_derivatives(standard_task("function"), 8, window, 1);
    EXPECT_LT(check.max_relative_error, 1e-7);
    EXPECT_GT(check.max_relative_error, 0.0);  // two computations, not one twice
    EXPECT_EQ(check.window, window);
  }
}

TEST(DerivativeCheck, NeedsADerivative) {
  EXPECT_THROW(check_derivatives(standard_task("function-floor"), 1, 1, 0), UserError);
}

// Two states, two actions, two costs, and observations that are not the state.
struct PendulumLike {
  TaskSpec spec() const {
    TaskSpec spec;
    spec.name = "pendulum-like";
    spec.states = 2;
    spec.observations = 3;
    spec.actions = 2;
    spec.horizon = 20;
    spec.costs = {{.name = "a"}, {.name = "b"}};
    return spec;
  }
  void reset(RandomStream& random, std::span<double> state) const {
    for (double& value : state) value = random.uniform(-1.0, 1.0);
  }
  template <class S>
  void observe(std::span<const S> state, std::span<S> observation) const {
    observation[0] = sin(state[0]);
    observation[1] = cos(state[0]);
    observation[2] = state[1];
  }
  template <class S>
  StepResult<S> step(std::span<const S> state, std::span<const S> action) const {
    const S speed = state[1] + 0.1 * (action[0] - sin(state[0]));
    const S angle = state[0] + 0.1 * speed * (1.0 + 0.2 * action[1]);
    // A staircase of steps too fine for any difference: differences see its slope, derivatives do not.
    const S stairs = staircase ? floor(angle * 1e9) * 1e-9 : S(0.0);
    return {.state = {angle, speed}, .reward = cos(angle) + stairs, .costs = {speed * speed, action[0] * action[1]}};
  }
  bool staircase = false;
};

TEST(DerivativeCheck, SeesEveryInputAndSignal) {
  EXPECT_LT(check_derivatives(make_task(PendulumLike{}), 8, 5, 0).max_relative_error, 1e-7);
}

TEST(DerivativeCheck, FindsAWrongDerivative) {
  EXPECT_GT(check_derivatives(make_task(PendulumLike{.staircase = true}), 8, 5, 0).max_relative_error,
            kDerivativeTolerance);
}

}  // namespace
}  // namespace cgpo
