#include "cgpo/gradient/products.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "cgpo/base/numbers.hpp"
namespace cgpo {
namespace {

struct EpisodeCount {
  double all = 0.0;      // N
  double squares = 0.0;  // Σ n_b²

  explicit EpisodeCount(const std::vector<int>& block_episodes) {
    for (const int count : block_episodes) {
      all += count;
      squares += static_cast<double>(count) * count;
    }
  }
  double pairs() const { return all * all - squares; }  // of episodes in different blocks
};

}  // namespace

void multiply_gradients(const GradientEstimate& estimate, const std::vector<std::size_t>& signals,
                        const GradientMetric& metric, bool unbiased, ThreadPool& pool, GradientProducts& products) {
  const std::size_t size = signals.size();
  const std::size_t blocks = estimate.block_episodes.size();
  const auto turn = [&](const std::vector<double>& v, std::vector<double>& result, std::size_t worker) {
    result.resize(v.size());
    metric(v, result, worker);
  };
  products.directions.resize(size);
  pool.run(static_cast<int>(size), [&](int i) {
    const auto index = static_cast<std::size_t>(i);
    turn(estimate.gradients[signals[index]], products.directions[index], index);
  });
  // Σ over blocks b of S_bᵀMS_b: what a product of two averages owes to the noise that they share.
  products.turned.resize(blocks);
  products.own.resize(blocks);
  if (unbiased) {
    pool.run(static_cast<int>(blocks), [&](int b) {
      const auto block = static_cast<std::size_t>(b);
      products.own[block].resize(size * size);
      for (std::size_t j = 0; j < size; ++j) {
        turn(estimate.block_sums[signals[j]][block], products.turned[block], block);
        for (std::size_t i = 0; i < size; ++i)
          products.own[block][i * size + j] = dot(estimate.block_sums[signals[i]][block], products.turned[block]);
      }
    });
  }
  products.gram.assign(size * size, 0.0);
  products.unbiased_gram.assign(size * size, 0.0);
  const EpisodeCount episodes(estimate.block_episodes);
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      const double product = dot(estimate.gradients[signals[i]], products.directions[j]);
      double without_noise = product;
      if (unbiased && episodes.pairs() > 0.0) {
        const double shared = sum_over_blocks(blocks, [&](std::size_t b) { return products.own[b][i * size + j]; });
        without_noise = (episodes.all * episodes.all * product - shared) / episodes.pairs();
      }
      for (const std::size_t at : {i * size + j, j * size + i}) {
        products.gram[at] = product;
        products.unbiased_gram[at] = without_noise;
      }
    }
  }
}

GradientProduct multiply_gradients(const GradientEstimate& a, const GradientEstimate& b, std::size_t k) {
  const EpisodeCount episodes(a.block_episodes);
  const double plain = dot(a.gradients[k], b.gradients[k]);
  if (!(episodes.pairs() > 0.0)) return {plain, std::numeric_limits<double>::quiet_NaN()};
  const double shared = sum_over_blocks(
      a.block_sums[k].size(), [&](std::size_t block) { return dot(a.block_sums[k][block], b.block_sums[k][block]); });
  return {plain, (episodes.all * episodes.all * plain - shared) / episodes.pairs()};
}

double gradient_error(const GradientEstimate& estimate, std::size_t k) {
  const EpisodeCount episodes(estimate.block_episodes);
  if (!(episodes.pairs() > 0.0)) return std::numeric_limits<double>::quiet_NaN();
  const auto& sums = estimate.block_sums[k];
  const double own = sum_over_blocks(sums.size(), [&](std::size_t b) { return dot(sums[b], sums[b]); });
  // G − Ĝ of this gradient with itself. Not below 0 but for rounding: it is the variance between the blocks.
  const double noise = (own - dot(estimate.gradients[k], estimate.gradients[k]) * episodes.squares) / episodes.pairs();
  return std::sqrt(std::max(noise, 0.0));
}

}  // namespace cgpo
