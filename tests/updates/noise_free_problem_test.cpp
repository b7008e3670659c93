#include "cgpo/updates/noise_free_problem.hpp"

#include <cmath>
#include <gtest/gtest.h>

#include "cgpo/base/random.hpp"

namespace cgpo {
namespace {

TEST(NoiseFreeProblem, WithoutNoiseNothingChanges) {
  const TrustRegionProblem problem{{4.0, 1.0, 1.0, 9.0}, {0.5}, 0.1};
  const NoiseFreeProblem same(problem, problem.gram);
  EXPECT_EQ(same.problem.gram, problem.gram);
  EXPECT_EQ(same.coefficients({1.0, 2.0}), (std::vector<double>{1.0, 2.0}));
}

// One constraint by hand: half of each gradient's squared length is noise, and they are orthogonal.
TEST(NoiseFreeProblem, HalfTheSignalNeedsTwiceTheStep) {
  const TrustRegionProblem noisy{{4.0, 0.0, 0.0, 4.0}, {0.5}, 1.0};
  const std::vector<double> unbiased = {2.0, 0.0, 0.0, 2.0};
  const NoiseFreeProblem noise_free(noisy, unbiased);
  TrustRegionStep step = solve(noise_free.problem);
  step = drop_tangential(noise_free.problem, std::move(step), 2.0);
  const std::vector<double> x = noise_free.coefficients(step.coefficients);
  // To lower the cost by c = 0.5 takes β with 2β = −0.5; the noisy matrix would have said 4β = −0.5.
  EXPECT_NEAR(x[0], 0.0, 1e-9);
  EXPECT_NEAR(x[1], -0.25, 1e-8);
  EXPECT_NEAR(step.change[0], -0.5, 1e-8);
}

// What the step promises is Ĝx, and its length is xᵀGx, whatever the matrices are.
TEST(NoiseFreeProblem, PromisesAndLengthsAreThoseOfTheTwoMatrices) {
  RandomStream random(1, Purpose::kTest);
  for (int repeat = 0; repeat < 200; ++repeat) {
    constexpr std::size_t kSize = 3;
    double root[kSize][5];
    for (auto& row : root) {
      for (double& value : row) value = random.normal();
    }
    TrustRegionProblem noisy{std::vector<double>(kSize * kSize, 0.0), {random.normal(), random.normal()}, 0.3};
    std::vector<double> unbiased(kSize * kSize);
    for (std::size_t i = 0; i < kSize; ++i) {
      for (std::size_t j = 0; j < kSize; ++j) {
        for (int k = 0; k < 5; ++k) noisy.gram[i * kSize + j] += root[i][k] * root[j][k];
        unbiased[i * kSize + j] = noisy.gram[i * kSize + j] - (i == j ? 0.5 * noisy.gram[i * kSize + j] : 0.0);
      }
    }
    const NoiseFreeProblem noise_free(noisy, unbiased);
    const TrustRegionStep step = solve(noise_free.problem);
    const std::vector<double> x = noise_free.coefficients(step.coefficients);
    double length = 0.0;
    std::vector<double> brings(kSize, 0.0);
    for (std::size_t i = 0; i < kSize; ++i) {
      for (std::size_t j = 0; j < kSize; ++j) {
        length += x[i] * noisy.gram[i * kSize + j] * x[j];
        brings[i] += unbiased[i * kSize + j] * x[j];
      }
    }
    EXPECT_LT(length, 0.3 * (1.0 + 1e-6));
    EXPECT_NEAR(length, step.length_squared, 1e-6);
    EXPECT_NEAR(brings[0], step.gain, 1e-6);
    for (std::size_t i = 0; i < 2; ++i) EXPECT_NEAR(brings[i + 1], step.change[i], 1e-6);
  }
}

TEST(NoiseFreeProblem, BadNumbersAreLeftToTheSolver) {
  const TrustRegionProblem bad{{std::nan(""), 0.0, 0.0, 1.0}, {0.5}, 1.0};
  EXPECT_EQ(solve(NoiseFreeProblem(bad, {1.0, 0.0, 0.0, 0.5}).problem).which, StepCase::kRefused);
  const TrustRegionProblem zero{{0.0, 0.0, 0.0, 0.0}, {-0.5}, 1.0};
  EXPECT_EQ(solve(NoiseFreeProblem(zero, {0.0, 0.0, 0.0, 1e-30}).problem).which, StepCase::kNone);
}

}  // namespace
}  // namespace cgpo
