// Gradients are kept as sums over groups of episodes, environment mod 8, whatever the blocks are.
#include <cmath>
#include <gtest/gtest.h>

#include "cgpo/gradient/products.hpp"
#include "cgpo/gradient/zeroth_order.hpp"

#include "fixture.hpp"

namespace cgpo {
namespace {

using testing::Fixture;
using testing::ProbeTask;

constexpr int kGrouped = 21;  // groups of 3 and of 2

GradientProducts products_of(const GradientEstimate& estimate, ThreadPool& pool) {
  GradientProducts products;
  multiply_gradients(
      estimate, {0, 1, 2}, [](const auto& v, auto& result, std::size_t) { result = v; }, /*unbiased=*/true, pool,
      products);
  return products;
}

void expect_near(const std::vector<double>& a, const std::vector<double>& b, double size) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-11 * size) << i;
}

// The gradient of every episode by itself, from batches of one, added up by hand.
TEST(GradientGroups, AreSumsOverTheirEpisodes) {
  for (const int block : {4, 32}) {
    Fixture setup(ProbeTask{.end_at = 2.0}, kGrouped);
    const Batch<double> batch = setup.collect_batch(0, block);
    FirstOrderGradient<double> whole(setup.simulator, setup.policy, batch, 4);
    const GradientEstimate& estimate = whole.estimate(batch, setup.actor(), setup.critics, setup.pool);
    ZerothOrderGradient<double> scores(setup.simulator, setup.policy, batch, /*step_baseline=*/false);
    const GradientEstimate& by_scores = scores.estimate(batch, setup.actor(), setup.pool);
    for (const bool first_order : {true, false}) {
      const GradientEstimate& found = first_order ? estimate : by_scores;
      std::vector<std::vector<std::vector<double>>> expected(
          3, std::vector<std::vector<double>>(8, std::vector<double>(found.gradients[0].size(), 0.0)));
      std::vector<int> episodes(8, 0);
      for (int e = 0; e < kGrouped; ++e) {
        Batch<double> one(setup.simulator, 1, setup.task->spec().horizon, 1);
        collect(setup.simulator, setup.actor(), {.seed = 3, .first_environment = static_cast<std::uint32_t>(e)}, false,
                setup.pool, one);
        FirstOrderGradient<double> sweep(setup.simulator, setup.policy, one, 4);
        ZerothOrderGradient<double> score(setup.simulator, setup.policy, one, false);
        const GradientEstimate& alone = first_order ? sweep.estimate(one, setup.actor(), setup.critics, setup.pool)
                                                    : score.estimate(one, setup.actor(), setup.pool);
        ++episodes[static_cast<std::size_t>(e % 8)];
        for (std::size_t k = 0; k < 3; ++k) {
          for (std::size_t p = 0; p < alone.gradients[k].size(); ++p)
            expected[k][static_cast<std::size_t>(e % 8)][p] += alone.gradients[k][p];
        }
      }
      EXPECT_EQ(found.group_episodes, episodes);
      for (std::size_t k = 0; k < 3; ++k) {
        std::vector<double> mean(found.gradients[k].size(), 0.0);
        for (std::size_t g = 0; g < 8; ++g) {
          expect_near(found.group_sums[k][g], expected[k][g], kGrouped * (1.0 + found.norm(k)));
          for (std::size_t p = 0; p < mean.size(); ++p) mean[p] += expected[k][g][p] / kGrouped;
        }
        EXPECT_GT(found.norm(k), 0.0);
        expect_near(found.gradients[k], mean, kGrouped * (1.0 + found.norm(k)));
      }
    }
  }
}

TEST(GradientGroups, ProductsDoNotDependOnBlocks) {
  std::vector<GradientProducts> found;
  for (const int block : {4, 8, 32}) {
    Fixture setup(ProbeTask{.end_at = 2.0}, kGrouped);
    const Batch<double> batch = setup.collect_batch(0, block);
    FirstOrderGradient<double> gradient(setup.simulator, setup.policy, batch, 4);
    found.push_back(products_of(gradient.estimate(batch, setup.actor(), setup.critics, setup.pool), setup.pool));
  }
  double size = 0.0;
  for (std::size_t i = 0; i < 9; i += 4) size = std::max(size, found[0].gram[i]);
  EXPECT_NE(found[0].unbiased_gram, found[0].gram);
  for (std::size_t i = 1; i < found.size(); ++i) {
    expect_near(found[0].gram, found[i].gram, size);
    expect_near(found[0].unbiased_gram, found[i].unbiased_gram, size);
  }
}

// What a lattice of starts does: gradients of neighbours are much alike, and over the whole batch their differences
// cancel. Blocks of neighbours then disagree with each other more than episodes of independent starts would, and
// products of different blocks are far too small, −0.117 here; groups are spread over all of the lattice.
TEST(GradientGroups, StartsInALatticeLeaveProductsUnbiased) {
  constexpr int kStarts = 64;
  constexpr double kMean = 0.3;  // ∇J, so 0.09 is true
  GradientEstimate groups, blocks;
  groups.resize(1, 1, 1);
  blocks.resize(1, 1, 1);
  for (int e = 0; e < kStarts; ++e) {
    const double sample = kMean + 4.2 * ((e + 0.5) / kStarts - 0.5);
    const auto group = static_cast<std::size_t>(group_of(e));
    groups.group_sums[0][group][0] += sample;
    ++groups.group_episodes[group];
    const auto block = static_cast<std::size_t>(e / 8);
    blocks.group_sums[0][block][0] += sample;
    ++blocks.group_episodes[block];
  }
  groups.average();
  blocks.average();
  EXPECT_NEAR(groups.gradients[0][0], kMean, 1e-12);
  const double unbiased = multiply_gradients(groups, 0, groups, 0).unbiased;
  EXPECT_NEAR(unbiased, kMean * kMean, 0.01);
  EXPECT_GT(unbiased, 0.0);
  EXPECT_NEAR(multiply_gradients(blocks, 0, blocks, 0).unbiased, -0.117, 1e-3);
}

}  // namespace
}  // namespace cgpo
