// The controller against a hand computation, a second implementation, and what such a controller is for.
#include "cgpo/updates/pid.hpp"

#include <cmath>
#include <gtest/gtest.h>

#include "cgpo/base/numbers.hpp"
#include "cgpo/base/random.hpp"

namespace cgpo {
namespace {

constexpr double kLimit = 25.0;

// T = 1, so that costs are per step.
struct Controller {
  explicit Controller(const PidSettings& pid, const DualSettings& dual = {.learning_rate = 1.0})
      : multipliers(dual, pid, {kLimit}, 1) {}
  double after(double cost) {
    multipliers.follow({cost});
    return multipliers.values()[0];
  }
  PidMultipliers multipliers;
};

// Gains 0.1, 0.01 and 0.01, J_C = 35, 35, 45, 45, 25 with b = 25, memories of 1/2, a delay of 2:
//   v 10, 10, 20, 20, 0    v̄ 10, 10, 15, 17.5, 8.75    Σv 10, 20, 40, 60, 60
//   c̄ 35, 35, 40, 42.5, 33.75    D 0, 0, 5, 7.5, 0 (for −6.25)
TEST(PidMultipliers, ByHand) {
  Controller controller({.proportional = 0.1,
                         .integral = 0.01,
                         .derivative = 0.01,
                         .proportional_memory = 0.5,
                         .derivative_memory = 0.5,
                         .delay = 2});
  EXPECT_NEAR(controller.after(35.0), 1.0 + 0.1, 1e-12);
  EXPECT_NEAR(controller.after(35.0), 1.0 + 0.2, 1e-12);
  EXPECT_NEAR(controller.after(45.0), 1.5 + 0.4 + 0.05, 1e-12);
  EXPECT_NEAR(controller.after(45.0), 1.75 + 0.6 + 0.075, 1e-12);
  EXPECT_NEAR(controller.after(25.0), 0.875 + 0.6, 1e-12);
}

// With J_C = b only what was summed up is left, for good.
TEST(PidMultipliers, SteadyState) {
  Controller controller({});
  for (int i = 0; i < 20; ++i) controller.after(kLimit + 0.1);
  double value = 0.0;
  for (int i = 0; i < 800; ++i) value = controller.after(kLimit);
  EXPECT_NEAR(value, 20 * 0.1, 1e-9);
  EXPECT_NEAR(controller.after(kLimit), value, 1e-12);
}

// The sum stays between 0 and the cap, however long a cost was far from its limit: one violation that big the other way
// turns it round. Without P and D that is all there is.
TEST(PidMultipliers, DoesNotWindUp) {
  const PidSettings sum{.proportional = 0.0, .integral = 1.0, .derivative = 0.0};
  Controller controller(sum, {.learning_rate = 1.0, .upper = 3.0});
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(controller.after(kLimit - 10.0), 0.0);
  EXPECT_DOUBLE_EQ(controller.after(kLimit + 1.0), 1.0);
  for (int i = 0; i < 1000; ++i) EXPECT_LE(controller.after(kLimit + 10.0), 3.0);
  EXPECT_DOUBLE_EQ(controller.after(kLimit - 1.0), 2.0);

  // What P takes below 0 is cut off from the multiplier, and does not get into the sum.
  Controller both({.proportional = 1.0, .integral = 0.1, .derivative = 0.0, .proportional_memory = 0.0});
  EXPECT_NEAR(both.after(kLimit + 10.0), 10.0 + 1.0, 1e-12);
  EXPECT_EQ(both.after(kLimit - 5.0), 0.0);
  EXPECT_NEAR(both.after(kLimit), 0.5, 1e-12);
}

// On top of a sum that stays 5: a fall takes nothing off it.
TEST(PidMultipliers, OnlyARisingCostHasADerivative) {
  const PidSettings slope{
      .proportional = 0.0, .integral = 0.0, .derivative = 1.0, .derivative_memory = 0.0, .delay = 3};
  Controller controller(slope, {.learning_rate = 1.0, .initial = 5.0});
  EXPECT_EQ(controller.after(1000.0), 5.0);  // nothing has risen yet, whatever the cost is
  for (const double cost : {900.0, 100.0, 0.0}) EXPECT_EQ(controller.after(cost), 5.0);
  // On its way up below the limit, too: over three iterations, not over one.
  EXPECT_EQ(controller.after(1.0), 5.0);  // 900 three before
  EXPECT_EQ(controller.after(2.0), 5.0);  // 100
  EXPECT_DOUBLE_EQ(controller.after(3.0), 8.0);
  EXPECT_DOUBLE_EQ(controller.after(3.0), 7.0);
  EXPECT_DOUBLE_EQ(controller.after(3.0), 6.0);
  EXPECT_EQ(controller.after(3.0), 5.0);
}

// Costs of a whole history at once, means as sums of powers instead of recursions, in the order of the formulas.
double second_implementation(const std::vector<double>& costs, double limit, int horizon, const DualSettings& dual,
                             const PidSettings& pid) {
  const auto remembered = [&](std::size_t t, double memory) {
    double sum = std::pow(memory, static_cast<double>(t)) * costs[0];
    for (std::size_t j = 1; j <= t; ++j)
      sum += (1.0 - memory) * std::pow(memory, static_cast<double>(t - j)) * costs[j];
    return sum;
  };
  const std::size_t now = costs.size() - 1;
  const std::size_t then = now >= static_cast<std::size_t>(pid.delay) ? now - static_cast<std::size_t>(pid.delay) : 0;
  const double p = (remembered(now, pid.proportional_memory) - limit) / horizon;
  const double d =
      std::fmax((remembered(now, pid.derivative_memory) - remembered(then, pid.derivative_memory)) / horizon, 0.0);
  double i = std::fmin(dual.initial, dual.upper);
  for (const double cost : costs)
    i = std::fmin(std::fmax(i + dual.learning_rate * pid.integral * (cost - limit) / horizon, 0.0), dual.upper);
  return std::fmin(std::fmax(dual.learning_rate * (pid.proportional * p + pid.derivative * d) + i, 0.0), dual.upper);
}

TEST(PidMultipliers, AsASecondImplementation) {
  RandomStream random(3, Purpose::kTest);
  for (int trial = 0; trial < 20; ++trial) {
    const PidSettings pid{.proportional = 3.0 * random.uniform(0.0, 1.0),
                          .integral = random.uniform(0.0, 1.0),
                          .derivative = 3.0 * random.uniform(0.0, 1.0),
                          .proportional_memory = random.uniform(0.0, 0.99),
                          .derivative_memory = random.uniform(0.0, 0.99),
                          .delay = 1 + static_cast<int>(random.below(12))};
    const DualSettings dual{.learning_rate = 0.7, .initial = random.uniform(0.0, 2.0), .upper = 4.0};
    PidMultipliers multipliers(dual, pid, {kInfinity, -30.0}, 20);
    std::vector<double> costs;
    double cost = -30.0;
    for (int t = 0; t < 60; ++t) {
      cost += random.uniform(-25.0, 25.0);
      costs.push_back(cost);
      multipliers.follow({cost, cost});
      EXPECT_EQ(multipliers.values()[0], 0.0);
      EXPECT_NEAR(multipliers.values()[1], second_implementation(costs, -30.0, 20, dual, pid), 1e-10) << t;
    }
  }
}

TEST(PidMultipliers, WhatIsNotFiniteMovesNothing) {
  Controller controller({}), other({});
  for (const double cost : {std::nan(""), 30.0, 40.0, kInfinity, 20.0, std::nan("")}) {
    const double before = controller.multipliers.values()[0];
    const double after = controller.after(cost);
    EXPECT_EQ(after, std::isfinite(cost) ? other.after(cost) : before);
  }
}

TEST(PidMultipliers, StateTravels) {
  for (const DualOptimiser optimiser : {DualOptimiser::kPlain, DualOptimiser::kAdam}) {
    const auto make = [&] { return PidMultipliers({.optimiser = optimiser}, {.delay = 5}, {1.0, kInfinity, 2.0}, 5); };
    for (int seen = 0; seen < 12; ++seen) {
      RandomStream random(4, Purpose::kTest);
      const auto costs = [&] { return std::vector<double>{random.normal(), random.normal(), 9.0 * random.normal()}; };
      PidMultipliers whole = make(), resumed = make();
      for (int i = 0; i < seen; ++i) whole.follow(costs());
      Tensors tensors;
      whole.save(tensors);
      resumed.load(tensors);
      EXPECT_EQ(whole.values(), resumed.values());
      for (int i = 0; i < 12; ++i) {
        const std::vector<double> next = costs();
        whole.follow(next);
        resumed.follow(next);
        EXPECT_EQ(whole.values(), resumed.values());
      }
    }
  }
}

}  // namespace
}  // namespace cgpo
