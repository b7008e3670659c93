// What a gradient source hands over: ∇J of the reward and of every cost, from one batch of episodes.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "cgpo/base/sum_over_blocks.hpp"
#include "cgpo/rollout/trajectory.hpp"

namespace cgpo {

// Gradients of episode sums, in the units of J and of the limits; averaged over the episodes that did not diverge.
struct GradientEstimate {
  std::vector<std::vector<double>> gradients;                // [1+m][parameters]: g, q_1 … q_m
  std::vector<std::vector<std::vector<double>>> block_sums;  // [1+m][block][parameters], over the block's episodes
  std::vector<int> block_episodes;                           // of each block, those that did not diverge
  // [1+m], if critics close windows: the cosine of a critic's slope with the adjoint that the next window has there,
  // mean over window ends and episodes. States are measured in their standard deviations.
  std::vector<double> critic_cosines;

  void resize(int signals, std::size_t blocks, int parameters) {
    const std::vector<double> zero(static_cast<std::size_t>(parameters), 0.0);
    gradients.assign(static_cast<std::size_t>(signals), zero);
    block_sums.assign(static_cast<std::size_t>(signals), {blocks, zero});
    block_episodes.assign(blocks, 0);
  }

  void clear_block(std::size_t block) {
    for (auto& sums : block_sums) std::fill(sums[block].begin(), sums[block].end(), 0.0);
  }

  // The gradients from the sums, in the order of the blocks.
  template <class Real>
  void reduce(const Batch<Real>& batch) {
    for (std::size_t b = 0; b < block_episodes.size(); ++b) {
      const auto& flags = batch.blocks[b].diverged;
      block_episodes[b] = static_cast<int>(std::count(flags.begin(), flags.end(), std::uint8_t{0}));
    }
    const double scale = 1.0 / std::max(batch.intact_environments(), 1);
    for (std::size_t k = 0; k < gradients.size(); ++k) {
      const auto& sums = block_sums[k];
      sum_over_blocks(
          sums.size(), [&](std::size_t b) -> const auto& { return sums[b]; }, gradients[k]);
      for (double& value : gradients[k]) value *= scale;
    }
  }

  double norm(std::size_t k) const {
    double sum = 0.0;
    for (const double value : gradients[k]) sum += value * value;
    return std::sqrt(sum);
  }
};

// Adds the sums of an estimate from the same batch, block by block; gradients follow with reduce().
inline void add_sums(const GradientEstimate& more, GradientEstimate& estimate) {
  for (std::size_t k = 0; k < estimate.block_sums.size(); ++k) {
    for (std::size_t b = 0; b < estimate.block_sums[k].size(); ++b) {
      const std::vector<double>& from = more.block_sums[k][b];
      for (std::size_t i = 0; i < from.size(); ++i) estimate.block_sums[k][b][i] += from[i];
    }
  }
}

}  // namespace cgpo
