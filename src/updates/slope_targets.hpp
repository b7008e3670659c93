// What the gradient's sweep knows about the critics' slopes, as a term of their loss (Sobolev training).
//
// On a narrow bundle of trajectories values alone do not determine ∂V/∂s: states and time move together. The sweep of
// first_order.hpp has the total derivative Λ_t = dL/ds_t of the rest of the window, critic at its end included, and an
// exact V would have that slope. With O = ∂observation/∂s, std the normaliser's and V's scale, the term is
//   sobolev · mean over samples and states of (Oᵀ (∂V/∂x / std) − Λ)² / mean(Λ²),
// each state in its own units.
#pragma once

#include <span>
#include <vector>

#include "cgpo/nn/critic.hpp"
#include "cgpo/nn/normaliser.hpp"
#include "cgpo/rollout/trajectory.hpp"

namespace cgpo {

template <class Real>
class SlopeTargets final : public SlopeLoss<Real> {
 public:
  SlopeTargets(const Simulator<Real>& simulator, int batch);

  // Takes the slopes of one signal over. Samples are numbered t·N + environment; `chosen` are those that count.
  void set(const Batch<Real>& batch, const std::vector<RowStore<Real>>& slopes, int signal,
           std::span<const std::uint32_t> chosen, const Normaliser<Real>& normaliser, double weight);

  double evaluate(Rows<const Real> slope, std::span<const std::uint32_t> samples, double scale,
                  Rows<Real> direction) override;

 private:
  const Simulator<Real>& simulator_;
  SampleTable<Real> states_;  // s and, in the same order, Λ
  SampleTable<Real> targets_;
  std::vector<double> inverse_square_;  // 1 / mean Λ² of each state
  std::vector<double> inverse_std_;
  double weight_ = 0.0;
  RowStore<Real> state_, target_, raw_, slope_state_, pushed_;  // of a minibatch
  SimulatorScratch<Real> scratch_;
};

extern template class SlopeTargets<float>;
extern template class SlopeTargets<double>;

}  // namespace cgpo
