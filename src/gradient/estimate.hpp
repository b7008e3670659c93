// What a gradient source hands over: ∇J of the reward and of every cost, from one batch of episodes.
#pragma once

#include <cmath>
#include <vector>

namespace cgpo {

// Gradients of episode sums, in the units of J and of the limits; averaged over the episodes that did not diverge.
struct GradientEstimate {
  std::vector<std::vector<double>> gradients;  // [1+m][parameters]: g, q_1 … q_m

  double norm(std::size_t k) const {
    double sum = 0.0;
    for (const double value : gradients[k]) sum += value * value;
    return std::sqrt(sum);
  }
};

// Σ over blocks, in their order, divided by the number of episodes.
inline void reduce_blocks(const std::vector<std::vector<double>>& blocks, int episodes, std::vector<double>& result) {
  result.assign(blocks.front().size(), 0.0);
  for (const auto& block : blocks) {
    for (std::size_t i = 0; i < result.size(); ++i) result[i] += block[i];
  }
  const double scale = 1.0 / (episodes > 0 ? episodes : 1);
  for (double& value : result) value *= scale;
}

}  // namespace cgpo
