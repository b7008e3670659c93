// The trust region measured by what the policy does: δᵀHδ with
//   H = mean over visited states of J_μᵀJ_μ + ε·1,   J_μ = ∂μ/∂θ, the policy's mean before squashing,
// and σ² for each log σ. ε = damping · the mean diagonal of the first part.
//
// With S sampled states, A actions and J [SA × P]: H⁻¹v = (v − Jᵀ(εS·1 + JJᵀ)⁻¹Jv) / ε. J is never formed. A row of J
// is, layer after layer, d ⊗ (h, 1) with d the adjoint of the layer's sums and h its input, so
//   (JJᵀ)_{sa,s'a'} = Σ_layers (d_sa · d_s'a') (h_s · h_s' + 1).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cgpo/nn/row_store.hpp"
#include "cgpo/rollout/collect.hpp"

namespace cgpo {

class ActionMetric {
 public:
  // Memory for S · A ≤ `rows`.
  ActionMetric(const Policy<float>& policy, int rows, double damping);

  // Takes H at θ, from states drawn from the batch's episodes. `stops`: of each signal that the update minds, whether
  // it stops with an episode (1) or goes on after its end (0). Each is heard as often as the others, with the steps
  // that count for it: what a gradient promises holds as far as actions change little in the states that it was taken
  // in.
  void rebuild(const Batch<float>& batch, const Actor<float>& actor, std::span<const std::uint8_t> stops,
               std::uint64_t seed, int iteration);

  // What one solve works with; solves side by side need one each.
  struct Memory {
    explicit Memory(const ActionMetric& metric);
    AlignedVector<float> direction;          // [P]
    RowStore<float> tangents, part, deltas;  // [units × S]
    std::vector<double> moved;               // [S · A]: Jv
    std::vector<double> seen;                // [P]: Jᵀ of that
  };
  // result = H⁻¹ v.
  void solve(std::span<const double> v, std::span<double> result, Memory& memory) const;
  std::vector<double> solve(std::span<const double> v) const;
  // δᵀHδ, by H itself.
  double length_squared(std::span<const double> delta) const;

  double damping() const { return epsilon_; }  // ε as it came out
  int states() const { return states_; }
  Rows<const float> inputs() const { return inputs_.view(); }  // of the sampled states

 private:
  void sample_inputs(const Batch<float>& batch, std::span<const std::uint8_t> stops, std::uint64_t seed, int iteration);
  void factor_kernel();
  void times_jacobian(std::span<const double> v, Memory& memory) const;  // v → moved
  void times_transposed(Memory& memory) const;                           // moved → seen

  const Policy<float>& policy_;
  int states_;
  double damping_;
  double epsilon_ = 1.0;
  AlignedVector<float> parameters_;
  RowStore<float> inputs_;                                      // [observations × S]
  RowStore<float> units_;                                       // [units × S]
  std::vector<RowStore<float>> adjoints_;                       // [A], each [units × S]: ∂μ_a/∂sums
  std::vector<double> kernel_;                                  // JJᵀ + εS, factored
  std::vector<double> adjoint_products_, input_products_;       // of one layer: d_sa · d_s'a' and h_s · h_s' + 1
  std::vector<RowStore<float>> layer_adjoints_, layer_inputs_;  // [layer], samples as rows
  std::vector<double> std_squared_;                             // [A]
};

// What rebuild() wants to know of these signals (0: the reward).
std::vector<std::uint8_t> stops_of(const Simulator<float>& simulator, std::span<const std::size_t> signals);

}  // namespace cgpo
