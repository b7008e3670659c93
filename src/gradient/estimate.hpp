// What a gradient source hands over: ∇J of the reward and of every cost, from one batch of episodes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "cgpo/base/index.hpp"
#include "cgpo/base/sum_over_blocks.hpp"
#include "cgpo/rollout/trajectory.hpp"

namespace cgpo {

// Episodes are dealt to this many groups in turn, by the number of their environment: samples of the same kind with
// independent noise, whatever the blocks are that simulate them, and each spread over the whole of a lattice of starts.
constexpr int kGradientGroups = 8;
constexpr int group_of(int environment) { return environment % kGradientGroups; }

// Gradients of episode sums, in the units of J and of the limits; averaged over the episodes that did not diverge.
struct GradientEstimate {
  std::vector<std::vector<double>> gradients;                // [1+m][parameters]: g, q_1 … q_m
  std::vector<std::vector<std::vector<double>>> group_sums;  // [1+m][group][parameters], over the group's episodes
  std::vector<int> group_episodes;                           // of each group, those that did not diverge
  // [1+m], if critics close windows: the cosine of a critic's slope with the adjoint that the next window has there,
  // mean over window ends and episodes. States are measured in their standard deviations.
  std::vector<double> critic_cosines;

  // For batches of up to so many blocks.
  void resize(int signals, std::size_t blocks, int parameters) {
    const std::vector<double> zero(at(parameters), 0.0);
    gradients.assign(at(signals), zero);
    group_sums.assign(at(signals), {at(kGradientGroups), zero});
    group_episodes.assign(at(kGradientGroups), 0);
    partial_.assign(blocks, std::vector<double>(at(signals) * at(kGradientGroups) * at(parameters), 0.0));
  }
  static constexpr std::int64_t bytes(std::int64_t signals, std::int64_t blocks, std::int64_t parameters) {
    constexpr std::int64_t kNumber = sizeof(double);
    return signals * (1 + (1 + blocks) * kGradientGroups) * parameters * kNumber;
  }

  void clear_block(std::size_t block) { std::fill(partial_[block].begin(), partial_[block].end(), 0.0); }
  // What a block adds to a group's sum.
  std::span<double> partial_sum(std::size_t block, std::size_t signal, int group) {
    const std::size_t parameters = gradients.front().size();
    return std::span(partial_[block]).subspan((signal * kGradientGroups + at(group)) * parameters, parameters);
  }

  // The groups' sums from those of the blocks, in the order of the blocks; then the gradients.
  template <class Real>
  void reduce(const Batch<Real>& batch) {
    for (std::size_t k = 0; k < gradients.size(); ++k) {
      for (int g = 0; g < kGradientGroups; ++g) {
        sum_over_blocks(
            batch.blocks.size(), [&](std::size_t b) { return partial_sum(b, k, g); }, group_sums[k][at(g)]);
      }
    }
    std::fill(group_episodes.begin(), group_episodes.end(), 0);
    for_each_episode(
        batch, [&](const auto& block, int lane) { ++group_episodes[at(group_of(block.environments.begin + lane))]; });
    average();
  }

  // The gradients from the groups' sums.
  void average() {
    int episodes = 0;
    for (const int count : group_episodes) episodes += count;
    const double scale = 1.0 / std::max(episodes, 1);
    for (std::size_t k = 0; k < gradients.size(); ++k) {
      sum_over_blocks(
          group_sums[k].size(), [&](std::size_t g) -> const auto& { return group_sums[k][g]; }, gradients[k]);
      for (double& value : gradients[k]) value *= scale;
    }
  }

  double norm(std::size_t k) const {
    double sum = 0.0;
    for (const double value : gradients[k]) sum += value * value;
    return std::sqrt(sum);
  }

 private:
  std::vector<std::vector<double>> partial_;  // [block], [1+m × group × parameters]
};

// Columns of a block's steps with the episodes of a group beside each other, so that sums over a group are products
// over neighbouring columns.
class GroupedColumns {
 public:
  // Of `steps` steps of a block with these environments.
  void set(const Block& environments, int steps) {
    if (environments.begin == begin_ && environments.size == size_ && steps == steps_) return;
    begin_ = environments.begin;
    size_ = environments.size;
    steps_ = steps;
    from_.clear();
    first_.assign(1, 0);
    for (int g = 0; g < kGradientGroups; ++g) {
      for (int t = 0; t < steps; ++t) {
        for (int lane = 0; lane < size_; ++lane) {
          if (group_of(begin_ + lane) == g) from_.push_back(t * size_ + lane);
        }
      }
      first_.push_back(static_cast<int>(from_.size()));
    }
  }

  int first(int group) const { return first_[at(group)]; }
  int count(int group) const { return first_[at(group) + 1] - first_[at(group)]; }

  template <class Real>
  void take(Rows<const Real> rows, int count, Rows<Real> to) const {
    for (int i = 0; i < count; ++i) {
      const Real* const source = rows.row(i);
      Real* const target = to.row(i);
      for (std::size_t j = 0; j < from_.size(); ++j) target[j] = source[from_[j]];
    }
  }

 private:
  int begin_ = -1;
  int size_ = 0;
  int steps_ = 0;
  std::vector<int> from_;   // [columns], group after group
  std::vector<int> first_;  // [groups + 1]
};

// Adds the sums of an estimate from the same batch, group by group; gradients follow with average().
inline void add_sums(const GradientEstimate& more, GradientEstimate& estimate) {
  for (std::size_t k = 0; k < estimate.group_sums.size(); ++k) {
    for (std::size_t b = 0; b < estimate.group_sums[k].size(); ++b) {
      const std::vector<double>& from = more.group_sums[k][b];
      for (std::size_t i = 0; i < from.size(); ++i) estimate.group_sums[k][b][i] += from[i];
    }
  }
}

}  // namespace cgpo
