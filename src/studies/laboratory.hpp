// One policy in double precision, on whose episodes estimates of J(θ + δ) are compared with J(θ + δ) itself.
//
// Both sides use common random numbers: the same start states and the same noise. So a difference of J is that of the
// policies, and a gradient through the whole episode is the derivative of the very average that is compared.
#pragma once

#include <span>
#include <vector>

#include "cgpo/gradient/zeroth_order.hpp"
#include "cgpo/studies/tick.hpp"
#include "cgpo/updates/actor_critic.hpp"

namespace cgpo {

class Laboratory {
 public:
  explicit Laboratory(const AlgorithmContext& context);

  ActorCritic<double> parts;

  // Policy, normaliser and critics of a checkpoint that a training in float wrote.
  void load(const Tensors& checkpoint);

  // Episodes of π_θ with the random numbers of this batch; J of them.
  BatchStatistics collect(int batch);
  // J of π_{θ+δ} less J of π_θ for every signal, on the episodes of the last collect(), over the environments that
  // diverge in neither.
  std::vector<double> realised_change(std::span<const double> step);
  void move(std::span<const double> step);  // θ ← θ + δ

  // Fits the critics to what they close windows with, on so many batches from `batch` on.
  void fit_window_critics(int batch, int fits);

  ThreadPool& pool() const { return *parts.context.pool; }

 private:
  EpisodeKey key(int batch) const;

  Batch<double> trial_;
  AlignedVector<double> moved_;
  int batch_ = 0;
};

// The direction of the sub-problem's Euclidean step, brought to this length: towards more return where all limits hold,
// towards less cost where one does not, along the constraint where the ball crosses it. All 0 if there is none.
std::vector<double> step_of_length(const GradientEstimate& gradient, const BatchStatistics& now,
                                   std::span<const double> limits, double length);

inline constexpr std::size_t kCost = 1;  // the first cost among the signals

// gᵀδ of one signal.
double predicted_change(const GradientEstimate& gradient, std::size_t signal, std::span<const double> step);

// |realised − predicted| / |realised|; NaN if nothing was realised.
double relative_error(double realised, double predicted);

}  // namespace cgpo
