#include "cgpo/studies/derivative_check.hpp"

#include <gmock/gmock.h>
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

// One state that begins at the corner of |x|, or of log(x) where x is negative.
struct Corner {
  enum class Kind : std::uint8_t { kSmooth, kCorner, kStairs, kLogarithm } kind = Kind::kSmooth;
  TaskSpec spec() const {
    TaskSpec spec;
    spec.name = "corner";
    spec.states = 2;
    spec.observations = 1;
    spec.actions = 1;
    spec.horizon = 1;  // no walk before the window
    spec.costs = {{.name = "edge"}};
    return spec;
  }
  void reset(RandomStream&, std::span<double> state) const { std::fill(state.begin(), state.end(), 0.0); }
  template <class S>
  void observe(std::span<const S> state, std::span<S> observation) const {
    observation[0] = state[0];
  }
  template <class S>
  StepResult<S> step(std::span<const S> state, std::span<const S> action) const {
    const S& x = state[1];
    S edge = x * x;
    if (kind == Kind::kCorner) edge = max(x, S(0.0));
    if (kind == Kind::kStairs) edge = floor(x * 1e9) * 1e-9;
    if (kind == Kind::kLogarithm) edge = log(x - 1.0);
    return {.state = {state[0] + 0.1 * action[0], x}, .reward = state[0], .costs = {edge}};
  }
};

TEST(DerivativeCheck, TellsAKinkFromAWrongDerivative) {
  const auto check = [](Corner::Kind kind) { return check_derivatives(make_task(Corner{kind}), 4, 3, 0); };
  const DerivativeCheck smooth = check(Corner::Kind::kSmooth);
  EXPECT_TRUE(smooth.agrees());
  EXPECT_EQ(smooth.kinks, 0);
  const DerivativeCheck corner = check(Corner::Kind::kCorner);
  EXPECT_TRUE(corner.agrees());
  EXPECT_EQ(corner.kinks, 4);
  EXPECT_GT(corner.kink_error, 1e-3);
  EXPECT_LT(corner.max_relative_error, 1e-7);
  EXPECT_EQ(corner.kink_at, "cost edge with respect to state[1]");
  EXPECT_THAT(describe(corner, "corner"), ::testing::HasSubstr("4 windows begin at a kink"));
  const DerivativeCheck wrong = check(Corner::Kind::kStairs);
  EXPECT_FALSE(wrong.agrees());
  EXPECT_EQ(wrong.disagreeing, 4);
  EXPECT_EQ(wrong.kinks, 0);
  EXPECT_EQ(wrong.largest_at, "cost edge with respect to state[1]");
  EXPECT_THAT(describe(wrong, "corner"), ::testing::HasSubstr("DO NOT agree on 4 windows of 3 steps"));
}

TEST(DerivativeCheck, NamesWhatIsNotFinite) {
  const DerivativeCheck check = check_derivatives(make_task(Corner{Corner::Kind::kLogarithm}), 4, 3, 0);
  EXPECT_FALSE(check.agrees());
  EXPECT_EQ(check.not_finite, 4);
  EXPECT_EQ(check.not_finite_what, "cost edge");
  EXPECT_THAT(describe(check, "corner"), ::testing::HasSubstr("cost edge is not finite there"));
}

}  // namespace
}  // namespace cgpo
