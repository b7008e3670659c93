#include "cgpo/updates/moving_estimate.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

#include "cgpo/base/random.hpp"

namespace cgpo {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

// The weighted mean of all measurements, 1/σ² their weights, and its variance.
struct Weighted {
  double weight = 0.0, sum = 0.0;
  void add(double value, double se) {
    weight += 1.0 / (se * se);
    sum += value / (se * se);
  }
  double mean() const { return sum / weight; }
  double variance() const { return 1.0 / weight; }
};

TEST(MovingEstimate, OfAPolicyThatStaysIsTheWeightedMean) {
  MovingEstimate estimate;
  EXPECT_FALSE(estimate.known());
  Weighted expected;
  RandomStream random(1, Purpose::kTest);
  for (int i = 0; i < 20; ++i) {
    const double se = 0.1 + random.uniform();
    const double value = 3.0 + se * random.uniform(-1.0, 1.0);  // nothing that would surprise it
    estimate.measure(value, se);
    expected.add(value, se);
    EXPECT_NEAR(estimate.mean(), expected.mean(), 1e-12);
    EXPECT_NEAR(estimate.variance(), expected.variance(), 1e-12);
    estimate.move(0.0, 0.0, 1.0);  // no move at all
  }
  EXPECT_EQ(estimate.bend(), 0.0);
}

// Nothing is known of the gap beforehand, so measurements of J and of J + gap are two means that do not know of each
// other.
TEST(MovingEstimate, DeployedIsMeanAndGap) {
  MovingEstimate estimate;
  Weighted noisy, deployed;
  RandomStream random(2, Purpose::kTest);
  for (int i = 0; i < 20; ++i) {
    const double se = 0.1 + random.uniform();
    const double value = 5.0 + se * random.uniform(-1.0, 1.0);  // nothing that would surprise it
    estimate.measure(value, se);
    noisy.add(value, se);
    const double other_se = 0.2 + random.uniform();
    const double other = 7.0 + other_se * random.uniform(-1.0, 1.0);
    estimate.measure_deployed(other, other_se);
    deployed.add(other, other_se);
    EXPECT_TRUE(estimate.knows_deployed());
    EXPECT_DOUBLE_EQ(estimate.deployed(), estimate.mean() + estimate.gap());
    EXPECT_NEAR(estimate.mean(), noisy.mean(), 1e-9);
    EXPECT_NEAR(estimate.variance(), noisy.variance(), 1e-9);
    EXPECT_NEAR(estimate.deployed(), deployed.mean(), 1e-9);
    EXPECT_NEAR(estimate.deployed_variance(), deployed.variance(), 1e-9);
  }
}

TEST(MovingEstimate, WhatIsNotKnownChangesNothingButTheFirst) {
  MovingEstimate estimate;
  estimate.measure(kUnknown, 1.0);
  estimate.measure_deployed(1.0, 1.0);
  EXPECT_FALSE(estimate.known() || estimate.knows_deployed());
  estimate.measure(2.0, kUnknown);
  EXPECT_EQ(estimate.mean(), 2.0);
  EXPECT_EQ(estimate.variance(), 0.0);
  estimate.measure(9.0, kUnknown);
  estimate.measure(kUnknown, 0.1);
  EXPECT_EQ(estimate.mean(), 2.0);
}

// What cannot be by what is known was not known so well: a jump of the deployed J is followed within a measurement, and
// leaves J with noise alone; the same for J with noise. Unexplained is beyond two standard deviations.
TEST(MovingEstimate, FollowsWhatSurprisesIt) {
  MovingEstimate estimate;
  for (int i = 0; i < 100; ++i) {
    estimate.measure(-90.0, 5.0);
    estimate.measure_deployed(-60.0, 1.0);
  }
  EXPECT_NEAR(estimate.deployed(), -60.0, 1e-9);
  const double mean = estimate.mean();
  estimate.measure_deployed(-59.9, 1.0);  // nothing to wonder at
  EXPECT_LT(estimate.deployed_variance(), 0.011);
  for (int i = 0; i < 3; ++i) estimate.measure_deployed(-20.0, 1.0);
  EXPECT_NEAR(estimate.deployed(), -20.0, 2.0);
  EXPECT_NEAR(estimate.mean(), mean, 0.1);
  for (int i = 0; i < 3; ++i) estimate.measure(-10.0, 5.0);
  EXPECT_NEAR(estimate.mean(), -10.0, 10.0);
}

// Less noise takes the gap with it, by its square: J comes nearer to the deployed one, which stays.
TEST(MovingEstimate, NoiseThatFallsTakesTheGapWithIt) {
  MovingEstimate estimate;
  estimate.measure(10.0, 0.1);
  estimate.measure_deployed(14.0, 0.1);
  estimate.move(0.0, 0.0, 0.5);
  EXPECT_DOUBLE_EQ(estimate.gap(), 1.0);
  EXPECT_DOUBLE_EQ(estimate.mean(), 13.0);
  EXPECT_DOUBLE_EQ(estimate.deployed(), 14.0);
}

TEST(MovingEstimate, SaysWhatAMoveWillDoToItsVariance) {
  MovingEstimate estimate;
  estimate.measure(10.0, 0.1);
  estimate.measure_deployed(14.0, 0.2);
  estimate.move(1.0, 0.7, 1.0);
  estimate.measure(11.2, 0.1);
  estimate.measure_deployed(14.9, 0.2);
  const double variance = estimate.variance_after(2.0);
  const double deployed = estimate.deployed_variance_after(2.0);
  EXPECT_GT(variance, estimate.variance());
  const double before = estimate.mean() + 0.5 + 2.0 * estimate.bend();
  estimate.move(0.5, 2.0, 1.0);
  EXPECT_NEAR(estimate.mean(), before, 1e-12);
  EXPECT_NEAR(estimate.variance(), variance, 1e-12);
  EXPECT_NEAR(estimate.deployed_variance(), deployed, 1e-12);
}

// A J that comes out 0.3 of the reach above its prediction every time, and scatters by 0.2 of it beside that.
TEST(MovingEstimate, LearnsByHowMuchPredictionsMiss) {
  constexpr double kBend = 0.3, kScatter = 0.2, kNoise = 0.2;
  double innovations = 0.0, error = 0.0, bends = 0.0, scatter = 0.0;
  int count = 0;
  for (std::uint32_t run = 0; run < 20; ++run) {
    RandomStream random(3, Purpose::kTest, run);
    MovingEstimate estimate;
    double now = 10.0;
    estimate.measure(now + kNoise * random.normal(), kNoise);
    for (int i = 0; i < 300; ++i) {
      const double change = random.normal();
      const double reach = 0.5 + random.uniform();
      now += change + (kBend + kScatter * random.normal()) * reach;
      estimate.move(change, reach, 1.0);
      const double seen = now + kNoise * random.normal();
      if (i >= 100) {
        const double miss = seen - estimate.mean();
        innovations += miss * miss / (estimate.variance() + kNoise * kNoise);
      }
      estimate.measure(seen, kNoise);
      if (i < 100) continue;
      error += (estimate.mean() - now) * (estimate.mean() - now) / estimate.variance();
      bends += estimate.bend();
      scatter += estimate.scatter_of_reach();
      ++count;
    }
  }
  EXPECT_NEAR(bends / count, kBend, 0.02);
  EXPECT_NEAR(innovations / count, 1.0, 0.15);
  EXPECT_NEAR(error / count, 1.0, 0.15);
  EXPECT_NEAR(scatter / count, kScatter * kScatter, 0.02);
}

void expect_same(const MovingEstimate& a, const MovingEstimate& b) {
  EXPECT_EQ(a.mean(), b.mean());
  EXPECT_EQ(a.variance(), b.variance());
  EXPECT_EQ(a.deployed(), b.deployed());
  EXPECT_EQ(a.deployed_variance(), b.deployed_variance());
  EXPECT_EQ(a.bend(), b.bend());
  EXPECT_EQ(a.scatter_of_reach(), b.scatter_of_reach());
}

MovingEstimate wandered(int moves) {
  MovingEstimate estimate;
  RandomStream random(4, Purpose::kTest);
  estimate.measure(1.0, 0.1);
  for (int i = 0; i < moves; ++i) {
    estimate.measure_deployed(2.0 + i, 0.3);
    estimate.move(0.9, 0.4, 0.9);
    estimate.measure(2.0 + i + 0.2 * random.normal(), 0.1);
  }
  return estimate;
}

TEST(MovingEstimate, GoesOnBitForBitAfterLoading) {
  MovingEstimate whole = wandered(5);
  whole.move(0.9, 0.4, 0.9);  // in the middle of an iteration
  Tensors tensors;
  whole.save(tensors, "estimate");
  MovingEstimate loaded;
  loaded.load(tensors, "estimate");
  for (int i = 0; i < 3; ++i) {
    expect_same(whole, loaded);
    for (MovingEstimate* const estimate : {&whole, &loaded}) {
      estimate->measure(7.5 + i, 0.1);
      estimate->measure_deployed(8.0 + i, 0.2);
      estimate->move(0.5, 0.3, 0.8);
    }
  }
  expect_same(whole, loaded);
}

// J is what it was; how far off the step came out is remembered.
TEST(MovingEstimate, GoesBackToWhereItWasButKeepsWhatItLearnedOfMisses) {
  MovingEstimate estimate = wandered(5);
  const MovingEstimate before = estimate;
  estimate.move(1.0, 0.5, 1.0);
  estimate.measure(estimate.mean() + 3.0, 0.1);
  const double bend = estimate.bend();
  const double scatter = estimate.scatter_of_reach();
  EXPECT_GT(bend, before.bend());
  EXPECT_GT(scatter, before.scatter_of_reach());
  estimate.go_back_to(before);
  EXPECT_EQ(estimate.mean(), before.mean());
  EXPECT_EQ(estimate.variance(), before.variance());
  EXPECT_EQ(estimate.deployed(), before.deployed());
  EXPECT_EQ(estimate.deployed_variance(), before.deployed_variance());
  EXPECT_EQ(estimate.bend(), bend);
  EXPECT_EQ(estimate.scatter_of_reach(), scatter);
}

}  // namespace
}  // namespace cgpo
