// A learned model where a task's own simulator stands: one step forwards, and backwards through the networks.
//
//   x = ((s, a) − mean_in) / std_in,   (Δ, r, c) = mean_out + std_out ∘ mean_e mlp_e(x),   s′ = s + Δ
// s is what the policy observes, so the observation is the state. The model ends no episode.
#pragma once

#include "cgpo/tasks/simulators/simulator.hpp"
#include "cgpo/world/world_model.hpp"

namespace cgpo {

template <class Real>
class WorldSimulator final : public Simulator<Real> {
 public:
  // Of `task`, with its costs as chosen; the model must outlive the simulator.
  WorldSimulator(const Task& task, const std::vector<int>& costs, const WorldModel<Real>& model);

  void step(const StepBatch<Real>& batch, int lanes, SimulatorScratch<Real>& scratch) const override;
  bool differentiable() const override { return true; }
  int inner_rows() const override { return model_.members() * model_.mlp().unit_count(); }
  std::int64_t step_operations() const override;
  std::int64_t pull_back_operations() const override;
  void pull_back(const AdjointBatch<Real>& batch, int lanes, SimulatorScratch<Real>& scratch) const override;

 private:
  void normalise(Rows<const Real> state, Rows<const Real> action, Rows<Real> x, int lanes) const;

  const WorldModel<Real>& model_;
};

// Sizes of a task's transitions, with the costs as chosen.
TransitionShape transition_shape(const Task& task, const std::vector<int>& costs);

extern template class WorldSimulator<float>;
extern template class WorldSimulator<double>;

}  // namespace cgpo
