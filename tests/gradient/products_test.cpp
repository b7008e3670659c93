#include "cgpo/gradient/products.hpp"

#include <cmath>
#include <gtest/gtest.h>

namespace cgpo {
namespace {

using Turn = std::vector<double> (*)(const std::vector<double>&);
std::vector<double> plain(const std::vector<double>& v) { return v; }

GradientProducts multiply(const GradientEstimate& estimate, const std::vector<std::size_t>& signals, Turn turn = plain,
                          bool unbiased = true) {
  ThreadPool pool(2);
  GradientProducts products;
  multiply_gradients(
      estimate, signals, [turn](const auto& v, auto& result, std::size_t) { result = turn(v); }, unbiased, pool,
      products);
  return products;
}

// Two signals, blocks of 2, 1 and 3 episodes, three parameters.
GradientEstimate three_blocks() {
  GradientEstimate estimate;
  estimate.resize(2, 3, 3);
  estimate.group_episodes = {2, 1, 3};
  for (std::size_t k = 0; k < 2; ++k) {
    for (std::size_t b = 0; b < 3; ++b) {
      for (std::size_t p = 0; p < 3; ++p) {
        RandomStream random(1, Purpose::kTest, static_cast<std::uint32_t>(k), static_cast<std::uint32_t>(b),
                            static_cast<std::uint32_t>(p));
        estimate.group_sums[k][b][p] = estimate.group_episodes[b] * (1.0 + random.normal());
        estimate.gradients[k][p] += estimate.group_sums[k][b][p] / 6.0;
      }
    }
  }
  return estimate;
}

TEST(GradientProducts, TwoBlocksByHand) {
  GradientEstimate estimate;
  estimate.resize(1, 2, 1);
  estimate.group_episodes = {1, 1};
  estimate.group_sums[0] = {{3.0}, {5.0}};
  estimate.gradients[0] = {4.0};
  const GradientProducts products = multiply(estimate, {0});
  EXPECT_DOUBLE_EQ(products.gram[0], 16.0);
  EXPECT_DOUBLE_EQ(products.unbiased_gram[0], 15.0);  // 3 · 5: noise that is not shared
  EXPECT_DOUBLE_EQ(gradient_error(estimate, 0), 1.0);
  EXPECT_EQ(multiply(estimate, {0}, plain, false).unbiased_gram, products.gram);
}

// The definition: the mean over all pairs of episodes in different blocks.
TEST(GradientProducts, AreMeansOverPairsOfDifferentBlocks) {
  const GradientEstimate estimate = three_blocks();
  const Turn metric = [](const std::vector<double>& v) {
    return std::vector<double>{2.0 * v[0] + v[1], v[0] + 3.0 * v[1], 0.5 * v[2]};
  };
  const GradientProducts products = multiply(estimate, {1, 0}, metric);
  const std::size_t signals[] = {1, 0};
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(products.directions[i], metric(estimate.gradients[signals[i]]));
    for (std::size_t j = 0; j < 2; ++j) {
      double sum = 0.0;
      for (std::size_t a = 0; a < 3; ++a) {
        for (std::size_t b = 0; b < 3; ++b) {
          if (a == b) continue;
          const std::vector<double> turned = metric(estimate.group_sums[signals[j]][b]);
          for (std::size_t p = 0; p < 3; ++p) sum += estimate.group_sums[signals[i]][a][p] * turned[p];
        }
      }
      EXPECT_NEAR(products.unbiased_gram[i * 2 + j], sum / (36 - 4 - 1 - 9), 1e-12);
    }
  }
}

TEST(GradientProducts, ErrorIsWhatThePlainProductLoses) {
  const GradientEstimate estimate = three_blocks();
  const GradientProducts products = multiply(estimate, {0, 1});
  for (std::size_t k = 0; k < 2; ++k) {
    EXPECT_NEAR(std::pow(gradient_error(estimate, k), 2), products.gram[k * 3] - products.unbiased_gram[k * 3], 1e-12);
  }
}

TEST(GradientProducts, OneBlockKnowsNoNoise) {
  GradientEstimate estimate = three_blocks();
  estimate.group_episodes = {0, 0, 6};
  const GradientProducts products = multiply(estimate, {0, 1});
  EXPECT_EQ(products.gram, products.unbiased_gram);
  EXPECT_TRUE(std::isnan(gradient_error(estimate, 0)));
}

}  // namespace
}  // namespace cgpo
