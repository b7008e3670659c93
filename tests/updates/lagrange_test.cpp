#include "cgpo/updates/lagrange.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

#include "cgpo/base/numbers.hpp"

namespace cgpo {
namespace {

// T = 1 and a limit of 0, so that costs are violations.
double after(const DualSettings& settings, std::initializer_list<double> violations) {
  DualVariables duals(settings, {0.0}, 1);
  for (const double violation : violations) duals.ascend({violation});
  return duals.values()[0];
}

TEST(DualVariables, PlainAscentIsProjectedAndMonotone) {
  const DualSettings settings{.learning_rate = 0.5, .initial = 1.0, .upper = 3.0};
  EXPECT_DOUBLE_EQ(after(settings, {2.0}), 2.0);
  EXPECT_DOUBLE_EQ(after(settings, {-1.0}), 0.5);
  EXPECT_DOUBLE_EQ(after(settings, {-100.0}), 0.0);
  EXPECT_DOUBLE_EQ(after(settings, {100.0}), 3.0);
  double before = 0.0;
  for (double violation = -4.0; violation < 6.0; violation += 0.25) {
    EXPECT_GE(after(settings, {violation}), before);
    before = after(settings, {violation});
  }
}

// A constant violation of any size moves Adam's multiplier by η a step.
TEST(DualVariables, AdamForgetsTheSize) {
  const DualSettings settings{.optimiser = DualOptimiser::kAdam, .learning_rate = 0.035, .initial = 0.001};
  DualVariables duals(settings, {0.0}, 1);
  for (const double expected : {0.036, 0.071, 0.106, 0.141, 0.176}) {
    duals.ascend({10.0});
    EXPECT_NEAR(duals.values()[0], expected, 1e-6);
  }
}

TEST(DualVariables, ViolationsAreShares) {
  DualVariables duals({.learning_rate = 1.0}, {-50.0, kInfinity, 400.0}, 100);
  duals.ascend({-20.0, 1e9, 380.0});
  EXPECT_NEAR(duals.values()[0], 0.3, 1e-12);
  EXPECT_EQ(duals.values()[1], 0.0);
  EXPECT_EQ(duals.values()[2], 0.0);
  duals.ascend({std::nan(""), 0.0, 0.0});
  EXPECT_NEAR(duals.values()[0], 0.3, 1e-12);
}

TEST(DualVariables, StateTravels) {
  for (const DualOptimiser optimiser : {DualOptimiser::kPlain, DualOptimiser::kAdam}) {
    DualVariables whole({.optimiser = optimiser}, {1.0, 2.0}, 5);
    DualVariables resumed({.optimiser = optimiser}, {1.0, 2.0}, 5);
    whole.ascend({3.0, 1.0});
    Tensors tensors;
    whole.save(tensors);
    resumed.load(tensors);
    whole.ascend({2.0, 9.0});
    resumed.ascend({2.0, 9.0});
    EXPECT_EQ(whole.values(), resumed.values());
  }
}

TEST(Lagrangian, Coefficients) {
  EXPECT_EQ(lagrangian_coefficients({}), std::vector<double>({1.0}));
  EXPECT_EQ(lagrangian_coefficients({0.0}), std::vector<double>({1.0, -0.0}));
  EXPECT_EQ(lagrangian_coefficients({1.0, 2.0}), std::vector<double>({0.25, -0.25, -0.5}));
  EXPECT_EQ(penalised_coefficients({}), std::vector<double>({1.0}));
  EXPECT_EQ(penalised_coefficients({1.0, 2.0}), std::vector<double>({1.0, -1.0, -2.0}));
}

// The factor is the derivative of the augmented Lagrangian, which is continuous where the slack sets in.
TEST(Lagrangian, AugmentedFactor) {
  const auto factor = [](double violation) { return augmented_multipliers({0.5}, 0.1, {violation})[0]; };
  EXPECT_NEAR(factor(10.0), 1.5, 1e-12);
  EXPECT_NEAR(factor(-4.0), 0.1, 1e-12);
  EXPECT_NEAR(factor(-5.0), 0.0, 1e-12);
  EXPECT_EQ(factor(-6.0), 0.0);
  EXPECT_EQ(factor(-kInfinity), 0.0);
  const auto lagrangian = [](double v) { return v > -5.0 ? 0.5 * v + 0.05 * v * v : -0.25 / 0.2; };
  for (const double v : {-8.0, -5.0, -4.9, 0.0, 3.0}) {
    EXPECT_NEAR((lagrangian(v + 1e-6) - lagrangian(v - 1e-6)) / 2e-6, factor(v), 1e-6) << v;
  }
}

}  // namespace
}  // namespace cgpo
