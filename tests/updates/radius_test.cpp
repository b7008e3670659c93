#include "cgpo/updates/radius.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

namespace cgpo {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

Prediction predicted(double before, double after, const std::vector<double>& costs) {
  return {before, after, costs, costs, std::vector<double>(costs.size(), 0.5)};
}

TEST(RadiusTest, RatiosByHand) {
  // J_R 10 → 12 promised, 11 came: ρ = ½. Cost promised 7, came 6, limit 8: |8−6| / |6−7| = 2.
  const RadiusTestResult result = test_radius(predicted(10.0, 12.0, {7.0}), 11.0, {6.0}, {8.0});
  EXPECT_DOUBLE_EQ(result.rho, 0.5);
  EXPECT_DOUBLE_EQ(result.zeta, 2.0);
}

TEST(RadiusTest, TheTightestCostDecidesAndUnlimitedOnesDoNotCount) {
  const RadiusTestResult result =
      test_radius(predicted(0.0, 1.0, {7.0, 3.0, 1.0}), 1.0, {6.0, 4.0, 100.0}, {8.0, 4.5, kInf});
  EXPECT_DOUBLE_EQ(result.zeta, 0.5);
  EXPECT_EQ(test_radius(predicted(0.0, 1.0, {1.0}), 1.0, {2.0}, {kInf}).zeta, kInf);
}

// Where too many episodes diverged nobody knows what came: the step is taken back, and the radius shrinks.
TEST(RadiusTest, WhatIsNotKnownIsFarOff) {
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  const Prediction prediction{10.0, 12.0, {5.0}, {6.0}, {2.0}};
  EXPECT_FALSE(far_off(prediction, {12.0, 0.1, {6.0}, {0.1}}, {8.0}, 3.0));
  EXPECT_TRUE(far_off(prediction, {unknown, 0.1, {6.0}, {0.1}}, {8.0}, 3.0));
  EXPECT_TRUE(far_off(prediction, {12.0, 0.1, {unknown}, {0.1}}, {8.0}, 3.0));
  EXPECT_FALSE(far_off(prediction, {12.0, 0.1, {unknown}, {0.1}}, {kInf}, 3.0));
  AdaptiveRadius radius({.initial = 1.0, .lower = 0.01, .upper = 10.0, .test = RadiusTest::kOneSided, .retreat = 3.0});
  radius.expect(prediction, radius.value());
  EXPECT_EQ(radius.retreat({unknown, 0.1, {unknown}, {0.1}}, {8.0}), 0.25);
  EXPECT_EQ(radius.value(), 0.25);
  radius.expect(prediction, radius.value());
  radius.observe({unknown, 0.1, {unknown}, {0.1}}, {8.0});
  EXPECT_LT(radius.value(), 0.25);
}

TEST(RadiusTest, NothingPromisedAndNothingCameIsFine) {
  EXPECT_EQ(test_radius(predicted(5.0, 5.0, {8.0}), 5.0, {8.0}, {8.0}).rho, 1.0);
  EXPECT_EQ(test_radius(predicted(5.0, 5.0, {8.0}), 5.0, {8.0}, {8.0}).zeta, 1.0);
  EXPECT_EQ(test_radius(predicted(5.0, 5.0, {8.0}), 6.0, {7.0}, {8.0}).rho, kInf);
  EXPECT_EQ(test_radius(predicted(5.0, 5.0, {8.0}), 4.0, {7.0}, {8.0}).rho, -kInf);
}

// With an active constraint the prediction is the limit itself, and the printed ζ is 1 whatever the error.
TEST(RadiusTest, PrintedZetaIsBlindOnTheConstraint) {
  for (const double cost : {7.0, 8.5, 20.0})
    EXPECT_DOUBLE_EQ(test_radius(predicted(0.0, 1.0, {8.0}), 1.0, {cost}, {8.0}).zeta, 1.0);
}

TEST(RadiusTest, OneSidedRatiosByHand) {
  // J_R 10 → 12 promised, 11 came: half is missing. Aimed at 8 − 2 = 6, came 7.5: three quarters of the margin are
  // gone.
  const Prediction prediction{10.0, 12.0, {5.0}, {6.0}, {2.0}};
  const auto test = [&](double return_now, double return_se, double cost_now) {
    return test_radius_one_sided({10.0, 2.0, 2.0, 1.0}, prediction, {return_now, return_se, {cost_now}, {0.3}}, {8.0},
                                 {.certainty = 1.0});
  };
  EXPECT_DOUBLE_EQ(test(11.0, 0.0, 7.5).rho, 0.5);
  EXPECT_DOUBLE_EQ(test(11.0, 0.0, 7.5).zeta, 0.25);
  EXPECT_DOUBLE_EQ(test(8.0, 0.0, 9.0).rho, -1.0);
  EXPECT_DOUBLE_EQ(test(8.0, 0.0, 9.0).zeta, -0.5);
  // More than promised, and a cost below the aim, are no failure; one standard error of the return is forgiven.
  EXPECT_DOUBLE_EQ(test(15.0, 0.0, 5.9).rho, 1.0);
  EXPECT_DOUBLE_EQ(test(15.0, 0.0, 5.9).zeta, 1.0);
  EXPECT_DOUBLE_EQ(test(11.0, 0.5, 6.0).rho, 0.75);
  // To grow it takes certainty: with ±0.5 only 10.5 of 12 are sure.
  EXPECT_DOUBLE_EQ(test(11.0, 0.5, 6.0).rho_sure, 0.25);
  EXPECT_DOUBLE_EQ(test(12.5, 0.5, 6.0).rho_sure, 1.0);
  // While a broken constraint is being repaired, the prediction counts.
  const Prediction repair{10.0, 12.0, {20.0}, {15.0}, {2.0}};
  EXPECT_DOUBLE_EQ(
      test_radius_one_sided({10.0, 2.0, 2.0, 1.0}, repair, {12.0, 0.0, {16.0}, {0.0}}, {8.0}, {.certainty = 1.0}).zeta,
      0.5);
  // A cost's standard error is in the margin already: 3.5 above the aim of a margin of 2, however well that is known.
  for (const double se : {0.0, 1.0, 10.0}) {
    EXPECT_DOUBLE_EQ(test_radius_one_sided({10.0, 2.0, 2.0, 1.0}, prediction, {12.0, 0.0, {9.5}, {se}}, {8.0}, {}).zeta,
                     -0.75);
  }
  // Without a margin a hundredth of the limit stands in.
  const Prediction bare{10.0, 12.0, {5.0}, {8.0}, {0.0}};
  EXPECT_NEAR(test_radius_one_sided({10.0, 2.0, 2.0, 1.0}, bare, {12.0, 0.0, {8.06}, {0.0}}, {8.0}, {}).zeta, 0.25,
              1e-12);
}

// A gain of 0.1 an update hides in ±0.4. Together a dozen can be told from none.
TEST(AdaptiveRadius, JudgesSmallGainsTogether) {
  const auto after = [](double realised_share, int updates) {
    AdaptiveRadius radius({.initial = 1e-3, .lower = 1e-9, .upper = 1.0, .certainty = 1.0});
    double now = 5.0;
    for (int i = 0; i < updates; ++i) {
      radius.expect(predicted(now, now + 0.1, {7.0}), radius.value());
      now += 0.1 * realised_share;
      radius.observe({now, 0.4, {7.0}, {0.1}}, {8.0});
    }
    return radius.value();
  };
  EXPECT_EQ(after(1.0, 5), 1e-3);
  EXPECT_EQ(after(0.0, 5), 1e-3);
  EXPECT_GT(after(1.5, 60), 1e-3);  // (0.15 n − 0.4)/(0.1 n) ≥ 0.75 from n = 6 on
  EXPECT_LT(after(0.0, 20), 1e-3);  // 0.4/(0.1 n) < 0.25 from n = 17 on
}

// What it took n updates to tell, each of them would have let the radius grow by: grow^n, n at most 6.
TEST(AdaptiveRadius, GrowsForEveryUpdateOfItsAccount) {
  const auto after = [](double gain, int updates) {
    AdaptiveRadius radius({.initial = 1e-3, .lower = 1e-9, .upper = 1.0, .certainty = 1.0});
    double now = 5.0;
    for (int i = 0; i < updates; ++i) {
      radius.expect(predicted(now, now + 1.0, {7.0}), radius.value());
      now += gain;
      radius.observe({now, 1.0, {7.0}, {0.1}}, {8.0});
    }
    return radius.value();
  };
  const double grow = RadiusSettings{}.grow;
  EXPECT_EQ(after(1.0, 3), 1e-3);  // (n − 1)/n ≥ 0.75 from n = 4 on
  EXPECT_DOUBLE_EQ(after(1.0, 4), 1e-3 * std::pow(grow, 4));
  EXPECT_EQ(after(0.87, 8), 1e-3);  // (0.87 n − 1)/n from n = 9 on
  EXPECT_DOUBLE_EQ(after(0.87, 9), 1e-3 * std::pow(grow, 6));
}

TEST(RadiusTest, FarOffIsBeyondThePromiseAndBeyondChance) {
  const Prediction prediction{10.0, 12.0, {6.0}, {7.0}, {0.0}};
  const auto off = [&](double return_now, double cost_now, double se) {
    return far_off(prediction, {return_now, se, {cost_now}, {se}}, {8.0}, 3.0);
  };
  EXPECT_FALSE(off(12.0, 7.0, 0.1));
  EXPECT_FALSE(off(6.1, 7.0, 0.0));  // 5.9 too low, 3 · 2 allowed
  EXPECT_TRUE(off(5.9, 7.0, 0.0));
  EXPECT_FALSE(off(5.9, 7.0, 0.1));  // chance explains 0.2 of it
  EXPECT_TRUE(off(5.75, 7.0, 0.1));
  EXPECT_FALSE(off(20.0, 10.9, 0.0));  // 2.9 above the limit, 3 · 1 allowed
  EXPECT_TRUE(off(20.0, 11.1, 0.0));
}

TEST(AdaptiveRadius, RetreatsUntilNothingSmallerIsLeft) {
  AdaptiveRadius radius({.initial = 1e-3, .lower = 2e-4, .retreat = 3.0});
  const Outcome bad{-100.0, 0.1, {7.0}, {0.1}};
  EXPECT_FALSE(radius.retreat(bad, {8.0}));  // no step to judge
  radius.expect(predicted(0.0, 1.0, {7.0}), 1e-3);
  EXPECT_EQ(radius.retreat(bad, {8.0}), 2.5e-4);
  EXPECT_DOUBLE_EQ(radius.value(), 2.5e-4);
  EXPECT_FALSE(radius.observe({0.0, 0.0, {7.0}, {0.0}}, {8.0}).has_value());  // judged already
  radius.expect(predicted(0.0, 1.0, {7.0}), 2.5e-4);
  EXPECT_EQ(radius.retreat(bad, {8.0}), 2e-4);
  EXPECT_DOUBLE_EQ(radius.value(), 2e-4);
  radius.expect(predicted(0.0, 1.0, {7.0}), 2e-4);
  EXPECT_FALSE(radius.retreat(bad, {8.0}));
  EXPECT_DOUBLE_EQ(radius.value(), 2e-4);
}

// Near a limit a step is shorter than the radius: what comes next is shorter than that step.
TEST(AdaptiveRadius, RetreatsFromTheStepThatWasTaken) {
  AdaptiveRadius radius({.initial = 1e-3, .lower = 1e-6, .retreat = 3.0});
  const Outcome bad{-100.0, 0.1, {7.0}, {0.1}};
  radius.expect(predicted(0.0, 1.0, {7.0}), 4e-4);
  Tensors tensors;
  radius.save(tensors);
  EXPECT_EQ(radius.retreat(bad, {8.0}), 1e-4);
  EXPECT_EQ(radius.value(), 1e-4);
  AdaptiveRadius copy({.initial = 1e-3, .lower = 1e-6, .retreat = 3.0});
  copy.load(tensors);
  EXPECT_EQ(copy.retreat(bad, {8.0}), 1e-4);
}

// A fixed radius stays; only the step that takes the bad one's place is shorter.
TEST(AdaptiveRadius, FixedOnesRetreatWithoutChanging) {
  AdaptiveRadius radius({.initial = 1e-3, .lower = 2e-4, .test = RadiusTest::kFixed, .retreat = 3.0});
  const Outcome bad{-100.0, 0.1, {7.0}, {0.1}};
  radius.expect(predicted(0.0, 1.0, {7.0}), 1e-3);
  EXPECT_FALSE(radius.retreat({1.0, 0.1, {7.0}, {0.1}}, {8.0}));
  EXPECT_EQ(radius.retreat(bad, {8.0}), 2.5e-4);
  EXPECT_EQ(radius.value(), 1e-3);
}

TEST(AdaptiveRadius, FollowsTheRule) {
  const RadiusSettings settings{.initial = 1e-3, .lower = 9e-4, .upper = 1.1e-3};
  const auto after = [&](double rho_numerator, double cost) {
    AdaptiveRadius radius(settings);
    radius.expect(predicted(0.0, 1.0, {7.0}), radius.value());
    radius.observe({rho_numerator, 0.0, {cost}, {0.0}}, {8.0});
    return radius.value();
  };
  EXPECT_DOUBLE_EQ(after(0.2, 7.0), 9e-4);           // ρ < η₁: 0.8·δ̂, not below the lower bound
  EXPECT_DOUBLE_EQ(after(0.5, 7.0), 1e-3);           // between: unchanged
  EXPECT_DOUBLE_EQ(after(0.8, 7.0), 1.1e-3);         // both above η₂: 1.25·δ̂, not above the upper bound
  EXPECT_DOUBLE_EQ(after(0.8, 7.9), 9e-4);           // ζ = 0.1/0.9 < η₁
  EXPECT_DOUBLE_EQ(after(std::nan(""), 7.0), 9e-4);  // NaN is no success
}

TEST(AdaptiveRadius, AfterARefusalThereIsNothingToJudge) {
  AdaptiveRadius radius(RadiusSettings{});
  radius.expect(predicted(0.0, 1.0, {7.0}), radius.value());
  radius.refuse();
  EXPECT_DOUBLE_EQ(radius.value(), 0.8e-3);
  EXPECT_FALSE(radius.observe({5.0, 0.0, {6.0}, {0.0}}, {8.0}).has_value());
  EXPECT_DOUBLE_EQ(radius.value(), 0.8e-3);
}

TEST(AdaptiveRadius, FixedStaysAndStateRoundTrips) {
  AdaptiveRadius fixed(RadiusSettings{.test = RadiusTest::kFixed});
  fixed.expect(predicted(0.0, 1.0, {7.0}), fixed.value());
  EXPECT_TRUE(fixed.observe({-5.0, 0.0, {7.0}, {0.0}}, {8.0}).has_value());
  fixed.refuse();
  EXPECT_DOUBLE_EQ(fixed.value(), 1e-3);

  AdaptiveRadius radius(RadiusSettings{});
  radius.refuse();
  radius.expect(predicted(1.0, 2.0, {3.0, 4.0}), radius.value());
  Tensors tensors;
  radius.save(tensors);
  AdaptiveRadius copy(RadiusSettings{});
  copy.load(tensors);
  EXPECT_EQ(copy.value(), radius.value());
  const auto a = radius.observe({1.5, 0.0, {3.5, 4.5}, {0.0, 0.0}}, {5.0, 6.0});
  const auto b = copy.observe({1.5, 0.0, {3.5, 4.5}, {0.0, 0.0}}, {5.0, 6.0});
  ASSERT_TRUE(a && b);
  EXPECT_EQ(a->rho, b->rho);
  EXPECT_EQ(a->zeta, b->zeta);
}

}  // namespace
}  // namespace cgpo
