// Cosines of noisy gradients, whose parts without noise are known.
#include "cgpo/studies/twin_gradient.hpp"

#include <cmath>
#include <gtest/gtest.h>

#include "cgpo/base/random.hpp"
#include "cgpo/tasks/registry.hpp"

namespace cgpo {
namespace {

constexpr int kSize = 400;

// Batches of gradients: `first` along the first axis, `second` along the second, and noise of this length.
std::vector<std::vector<double>> noisy(double first, double second, double noise, int batches, std::uint32_t stream) {
  std::vector<std::vector<double>> result;
  for (int b = 0; b < batches; ++b) {
    RandomStream random(1, Purpose::kTest, static_cast<std::uint32_t>(b), stream);
    std::vector<double> gradient(kSize);
    for (double& value : gradient) value = noise / std::sqrt(kSize) * random.normal();
    gradient[0] += first;
    gradient[1] += second;
    result.push_back(std::move(gradient));
  }
  return result;
}

// cos 60°; the plain cosine of the sums would be pulled towards 0 by noise that is longer than the signal.
TEST(GradientCosine, IsWithoutNoise) {
  const auto a = noisy(1.0, 0.0, 1.5, 24, 1);
  const auto b = noisy(0.5, std::sqrt(0.75), 1.5, 24, 2);
  const GradientCosine of = cosine_of(a, b);
  EXPECT_NEAR(of.cosine, 0.5, 3.0 * of.error);
  EXPECT_GT(of.error, 0.005);
  EXPECT_LT(of.error, 0.1);
}

// Noise that both have, as gradients of the same episodes may, is no agreement.
TEST(GradientCosine, SharedNoiseDoesNotCount) {
  const auto a = noisy(1.0, 0.0, 2.0, 24, 1);
  const auto b = noisy(0.0, 1.0, 2.0, 24, 1);
  const GradientCosine of = cosine_of(a, b);
  EXPECT_NEAR(of.cosine, 0.0, 3.0 * of.error);
  EXPECT_LT(of.error, 0.2);
}

TEST(GradientCosine, IsNotKnownOfNoiseAlone) {
  int unknown = 0;
  for (std::uint32_t stream = 10; stream < 20; ++stream)
    unknown += std::isnan(cosine_of(noisy(0.0, 0.0, 1.0, 8, stream), noisy(1.0, 0.0, 0.1, 8, 3)).cosine) ? 1 : 0;
  EXPECT_GT(unknown, 0);
}

// Where nothing is approximated a sweep and scores have the same mean.
TEST(GradientCosine, ASweepAgreesWithScoresWhereTheStepIsItsOwn) {
  ThreadPool pool(1);
  AlgorithmContext context;
  const TaskEntry& entry = find_task("function");
  context.task = entry.make(TaskOptions(entry.options));
  context.settings.environments = 256;
  context.settings.horizon = context.settings.window = 30;
  context.settings.policy.initial_std = 0.3;
  context.pool = &pool;
  ActorCritic<float> parts(context);
  parts.warm_up_normaliser();
  for (int i = 0; i < 4; ++i) {
    parts.collect_episodes(i);
    parts.fit_critics(i);
  }
  const std::vector<GradientCosine> cosines = compare_with_scores(parts, {.seed = 5, .iteration = 9}, 16);
  ASSERT_EQ(cosines.size(), 2U);
  for (const GradientCosine& of : cosines) {
    EXPECT_NEAR(of.cosine, 1.0, 3.0 * of.error + 0.05);
    EXPECT_LT(of.error, 0.3);
  }
}

}  // namespace
}  // namespace cgpo
