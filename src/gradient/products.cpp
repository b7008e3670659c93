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
  double squares = 0.0;  // Σ n_g²

  explicit EpisodeCount(const std::vector<int>& group_episodes) {
    for (const int count : group_episodes) {
      all += count;
      squares += static_cast<double>(count) * count;
    }
  }
  double pairs() const { return all * all - squares; }  // of episodes in different groups
};

}  // namespace

void multiply_gradients(const GradientEstimate& estimate, const std::vector<std::size_t>& signals,
                        const GradientMetric& metric, bool unbiased, ThreadPool& pool, GradientProducts& products) {
  const std::size_t size = signals.size();
  const std::size_t groups = estimate.group_episodes.size();
  const auto turn = [&](const std::vector<double>& v, std::vector<double>& result, std::size_t worker) {
    result.resize(v.size());
    metric(v, result, worker);
  };
  products.directions.resize(size);
  pool.run(static_cast<int>(size), [&](int i) {
    const auto index = static_cast<std::size_t>(i);
    turn(estimate.gradients[signals[index]], products.directions[index], index);
  });
  // Σ over groups g of S_gᵀMS_g: what a product of two averages owes to the noise that they share.
  products.turned.resize(groups);
  products.own.resize(groups);
  if (unbiased) {
    pool.run(static_cast<int>(groups), [&](int g) {
      const auto group = static_cast<std::size_t>(g);
      products.own[group].resize(size * size);
      for (std::size_t j = 0; j < size; ++j) {
        turn(estimate.group_sums[signals[j]][group], products.turned[group], group);
        for (std::size_t i = 0; i < size; ++i)
          products.own[group][i * size + j] = dot(estimate.group_sums[signals[i]][group], products.turned[group]);
      }
    });
  }
  products.gram.assign(size * size, 0.0);
  products.unbiased_gram.assign(size * size, 0.0);
  const EpisodeCount episodes(estimate.group_episodes);
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      const double product = dot(estimate.gradients[signals[i]], products.directions[j]);
      double without_noise = product;
      if (unbiased && episodes.pairs() > 0.0) {
        const double shared = sum_over_blocks(groups, [&](std::size_t g) { return products.own[g][i * size + j]; });
        without_noise = (episodes.all * episodes.all * product - shared) / episodes.pairs();
      }
      for (const std::size_t at : {i * size + j, j * size + i}) {
        products.gram[at] = product;
        products.unbiased_gram[at] = without_noise;
      }
    }
  }
}

GradientProduct multiply_gradients(const GradientEstimate& a, std::size_t i, const GradientEstimate& b, std::size_t j) {
  const EpisodeCount episodes(a.group_episodes);
  const double plain = dot(a.gradients[i], b.gradients[j]);
  if (!(episodes.pairs() > 0.0)) return {plain, std::numeric_limits<double>::quiet_NaN()};
  const double shared = sum_over_blocks(a.group_sums[i].size(),
                                        [&](std::size_t g) { return dot(a.group_sums[i][g], b.group_sums[j][g]); });
  return {plain, (episodes.all * episodes.all * plain - shared) / episodes.pairs()};
}

double gradient_error(const GradientEstimate& estimate, std::size_t k) {
  const EpisodeCount episodes(estimate.group_episodes);
  if (!(episodes.pairs() > 0.0)) return std::numeric_limits<double>::quiet_NaN();
  const auto& sums = estimate.group_sums[k];
  const double own = sum_over_blocks(sums.size(), [&](std::size_t g) { return dot(sums[g], sums[g]); });
  // G − Ĝ of this gradient with itself. Not below 0 but for rounding: it is the variance between the groups.
  const double noise = (own - dot(estimate.gradients[k], estimate.gradients[k]) * episodes.squares) / episodes.pairs();
  return std::sqrt(std::max(noise, 0.0));
}

}  // namespace cgpo
