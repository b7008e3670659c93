// The weight between a steady gradient and an unbiased one, where bias and noise are known.
#include "cgpo/gradient/mixture.hpp"

#include <cmath>
#include <gtest/gtest.h>

#include "cgpo/base/random.hpp"

namespace cgpo {
namespace {

constexpr int kGroups = 8;
constexpr int kEach = 4;  // episodes of a group
constexpr int kParameters = 50;

// Sums over groups whose episodes have this mean, and noise of this length a parameter on top of `common` times
// `shared`.
GradientEstimate estimate(double mean, double noise, RandomStream& random, const std::vector<double>& shared,
                          double common) {
  GradientEstimate result;
  result.resize(1, kGroups, kParameters);
  for (std::size_t b = 0; b < kGroups; ++b) {
    result.group_episodes[b] = kEach;
    for (std::size_t p = 0; p < kParameters; ++p) {
      double& sum = result.group_sums[0][b][p];
      for (int i = 0; i < kEach; ++i)
        sum += mean + noise * random.normal() +
               common * shared[(b * kEach + static_cast<std::size_t>(i)) * kParameters + p];
      result.gradients[0][p] += sum / (kGroups * kEach);
    }
  }
  return result;
}

struct Noise {
  double steady = 0.0;
  double unbiased = 0.0;
  double common = 0.0;
};

// The weight at the end of many iterations, averaged, and the squared errors of what was mixed and of its parts.
struct Outcome {
  double weight = 0.0;
  double mixed = 0.0, steady = 0.0, unbiased = 0.0;
};

double squared_error(const std::vector<double>& g, double truth) {
  double sum = 0.0;
  for (const double value : g) sum += (value - truth) * (value - truth);
  return sum;
}

Outcome try_out(double bias, const Noise& noise) {
  constexpr double kTruth = 1.0;
  constexpr int kIterations = 400;
  RandomStream random(1, Purpose::kTest);
  GradientMixture mixture(1);
  Outcome result;
  for (int i = 0; i < kIterations; ++i) {
    std::vector<double> shared(std::size_t{kGroups} * kEach * kParameters);
    for (double& value : shared) value = random.normal();
    const GradientEstimate steady = estimate(kTruth + bias, noise.steady, random, shared, noise.common);
    const GradientEstimate unbiased = estimate(kTruth, noise.unbiased, random, shared, noise.common);
    result.mixed += squared_error(mixture.mix(steady, unbiased).gradients[0], kTruth) / kIterations;
    result.steady += squared_error(steady.gradients[0], kTruth) / kIterations;
    result.unbiased += squared_error(unbiased.gradients[0], kTruth) / kIterations;
    result.weight += mixture.weight() / kIterations;
  }
  return result;
}

// β = (b² + σ_F²) / (b² + σ_F² + σ_U²) of averages over N, with noise that is independent but for a part that is
// common.
TEST(Mixture, WeighsBiasAgainstNoise) {
  constexpr double kEpisodes = kGroups * kEach;
  for (const auto& [bias, noise] : std::vector<std::pair<double, Noise>>{{0.0, {0.0, 3.0, 0.0}},
                                                                         {0.5, {0.0, 3.0, 0.0}},
                                                                         {0.5, {1.0, 3.0, 2.0}},
                                                                         {0.0, {3.0, 1.0, 0.0}},
                                                                         {2.0, {0.5, 1.0, 0.0}}}) {
    const double of_steady = bias * bias + noise.steady * noise.steady / kEpisodes;
    const double best = of_steady / (of_steady + noise.unbiased * noise.unbiased / kEpisodes);
    const Outcome outcome = try_out(bias, noise);
    EXPECT_NEAR(outcome.weight, best, 0.05) << bias;
    // The least error that a fixed weight could have, and little of what it costs to find that weight.
    const double own = noise.unbiased * noise.unbiased / kEpisodes;
    const double common = noise.common * noise.common / kEpisodes;
    const double least = kParameters * (common + of_steady * own / (of_steady + own));
    EXPECT_LT(outcome.mixed, least + 0.1 * outcome.unbiased) << bias;
  }
}

TEST(Mixture, GoesOnFromWhatItSaved) {
  RandomStream random(2, Purpose::kTest);
  const std::vector<double> none(std::size_t{kGroups} * kEach * kParameters, 0.0);
  const GradientEstimate steady = estimate(1.5, 0.5, random, none, 0.0);
  const GradientEstimate unbiased = estimate(1.0, 2.0, random, none, 0.0);
  GradientMixture mixture(1);
  mixture.mix(steady, unbiased);
  Tensors tensors;
  mixture.save(tensors, "m");
  GradientMixture resumed(1);
  resumed.load(tensors, "m");
  const GradientEstimate later = estimate(1.0, 3.0, random, none, 0.0);
  const GradientEstimate expected = mixture.mix(steady, later);
  const GradientEstimate& found = resumed.mix(steady, later);
  EXPECT_EQ(expected.gradients, found.gradients);
  EXPECT_EQ(expected.group_sums, found.group_sums);
  GradientMixture fresh(1);
  EXPECT_NE(fresh.mix(steady, later).gradients, expected.gradients);
  // Gradients are still those of their sums.
  for (std::size_t p = 0; p < kParameters; ++p) {
    double sum = 0.0;
    for (const auto& part : found.group_sums[0]) sum += part[p];
    EXPECT_NEAR(found.gradients[0][p], sum / (kGroups * kEach), 1e-12);
  }
}

// Reward and cost that differ in one small direction, r, of which the steady estimate has the wrong sign. Each of its
// gradients by itself errs less than the unbiased one, the noise of which is large but nearly the same in both: their
// difference is right, and asks for as much weight in both.
TEST(Mixture, KeepsTheDifferenceOfParallelGradientsRight) {
  constexpr double kSmall = 0.1;
  constexpr int kIterations = 200;
  RandomStream random(3, Purpose::kTest);
  const auto episodes = [&](double residual, double shared, double own) {
    GradientEstimate result;
    result.resize(2, kGroups, kParameters);
    for (std::size_t g = 0; g < kGroups; ++g) {
      result.group_episodes[g] = kEach;
      for (std::size_t p = 0; p < kParameters; ++p) {
        for (int i = 0; i < kEach; ++i) {
          const double common = 1.0 + shared * random.normal();
          result.group_sums[0][g][p] += common + own * random.normal();
          result.group_sums[1][g][p] += common + (p % 2 == 0 ? residual : -residual) + own * random.normal();
        }
      }
    }
    result.average();
    return result;
  };
  GradientMixture mixture(2);
  double right = 0.0;  // how much of r is in the difference of what was mixed; 1: all of it
  for (int i = 0; i < kIterations; ++i) {
    const GradientEstimate steady = episodes(-kSmall, 0.0, 0.02);
    const GradientEstimate unbiased = episodes(kSmall, 3.0, 0.02);
    const GradientEstimate& mixed = mixture.mix(steady, unbiased);
    for (std::size_t p = 0; p < kParameters; ++p) {
      const double difference = mixed.gradients[1][p] - mixed.gradients[0][p];
      right += (p % 2 == 0 ? difference : -difference) / (kSmall * kParameters * kIterations);
    }
  }
  ASSERT_EQ(mixture.asked().size(), 3U);
  EXPECT_LT(mixture.asked()[0], 0.3);
  EXPECT_LT(mixture.asked()[1], 0.3);
  EXPECT_GT(mixture.weight(), 0.95);
  EXPECT_NEAR(right, 1.0, 0.1);
}

// One group cannot tell noise from bias.
TEST(Mixture, KeepsToTheSteadyOneWhileNothingIsKnown) {
  GradientEstimate steady, unbiased;
  steady.resize(1, 1, 2);
  steady.group_episodes = {4};
  steady.gradients[0] = {1.0, 2.0};
  steady.group_sums[0][0] = {4.0, 8.0};
  unbiased = steady;
  unbiased.gradients[0] = {2.0, 0.0};
  unbiased.group_sums[0][0] = {8.0, 0.0};
  GradientMixture mixture(1);
  EXPECT_EQ(mixture.mix(steady, unbiased).gradients[0], steady.gradients[0]);
}

}  // namespace
}  // namespace cgpo
