// The score-function (likelihood-ratio) gradient, `zobg`: no derivative of the simulator.
//
//   ∇J_f ≈ (1/N) Σ_i Σ_t ∇ log π(a_t | s_t) · w_it
//   baseline none: w_it = Σ of f over the whole episode, as the paper's appendix has it
//   baseline step: w_it = Σ of f from t on, less the mean of that over the other episodes
#pragma once

#include <vector>

#include "cgpo/gradient/estimate.hpp"
#include "cgpo/rollout/collect.hpp"

namespace cgpo {

template <class Real>
class ZerothOrderGradient {
 public:
  ZerothOrderGradient(const Simulator<Real>& simulator, const Policy<Real>& policy, const Batch<Real>& shape,
                      bool step_baseline);

  const GradientEstimate& estimate(const Batch<Real>& batch, const Actor<Real>& actor, ThreadPool& pool);

  // With weights of one's own, one row a signal: w_it at the columns of each block.
  std::vector<RowStore<Real>>& weights() { return weights_; }
  const GradientEstimate& estimate_from_weights(const Batch<Real>& batch, const Actor<Real>& actor, ThreadPool& pool);

 private:
  void compute_weights(const Batch<Real>& batch);

  const Simulator<Real>& simulator_;
  bool step_baseline_;
  std::vector<RowStore<Real>> weights_;  // [block], [signals × TB]
  struct Workspace {                     // rows of a segment of steps, its episodes group by group
    GroupedColumns grouping;
    RowStore<Real> inputs, noise, units, deltas, weights;
  };
  std::vector<Workspace> workspaces_;  // [block]
  GradientEstimate result_;
};

extern template class ZerothOrderGradient<float>;
extern template class ZerothOrderGradient<double>;

}  // namespace cgpo
