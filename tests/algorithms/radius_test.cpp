#include "cgpo/algorithms/radius.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

namespace cgpo {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

Prediction predicted(double before, double after, std::vector<double> costs) {
  return {before, after, std::move(costs)};
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

TEST(AdaptiveRadius, FollowsTheRule) {
  const RadiusSettings settings{.initial = 1e-3, .lower = 9e-4, .upper = 1.1e-3};
  const auto after = [&](double rho_numerator, double cost) {
    AdaptiveRadius radius(settings);
    radius.expect(predicted(0.0, 1.0, {7.0}));
    radius.observe(rho_numerator, {cost}, {8.0});
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
  radius.expect(predicted(0.0, 1.0, {7.0}));
  radius.refuse();
  EXPECT_DOUBLE_EQ(radius.value(), 0.8e-3);
  EXPECT_FALSE(radius.observe(5.0, {6.0}, {8.0}).has_value());
  EXPECT_DOUBLE_EQ(radius.value(), 0.8e-3);
}

TEST(AdaptiveRadius, FixedStaysAndStateRoundTrips) {
  AdaptiveRadius fixed(RadiusSettings{.test = RadiusTest::kFixed});
  fixed.expect(predicted(0.0, 1.0, {7.0}));
  EXPECT_TRUE(fixed.observe(-5.0, {7.0}, {8.0}).has_value());
  fixed.refuse();
  EXPECT_DOUBLE_EQ(fixed.value(), 1e-3);

  AdaptiveRadius radius(RadiusSettings{});
  radius.refuse();
  radius.expect(predicted(1.0, 2.0, {3.0, 4.0}));
  Tensors tensors;
  radius.save(tensors);
  AdaptiveRadius copy(RadiusSettings{});
  copy.load(tensors);
  EXPECT_EQ(copy.value(), radius.value());
  const auto a = radius.observe(1.5, {3.5, 4.5}, {5.0, 6.0});
  const auto b = copy.observe(1.5, {3.5, 4.5}, {5.0, 6.0});
  ASSERT_TRUE(a && b);
  EXPECT_EQ(a->rho, b->rho);
  EXPECT_EQ(a->zeta, b->zeta);
}

}  // namespace
}  // namespace cgpo
