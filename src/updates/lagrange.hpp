// Multipliers that follow the violations of the constraints.
//
// Everything is a step's share of an episode: the violation of constraint i is (J_Ci − b_i)/T. So one learning rate
// serves short and long tasks, and λ_i is what a unit of the cost is worth in reward. A cost without a limit keeps λ =
// 0.
#pragma once

#include <vector>

#include "cgpo/base/tensors.hpp"
#include "cgpo/updates/settings.hpp"

namespace cgpo {

class DualVariables {
 public:
  DualVariables(const DualSettings& settings, const std::vector<double>& limits, int horizon);

  // (J_Ci − b_i)/T; −∞ where there is no limit.
  std::vector<double> violations(const std::vector<double>& costs) const;
  // λ ← clip(λ + η violation, 0, upper), or a step of Adam along the violation. Numbers that are not finite move
  // nothing.
  void ascend(const std::vector<double>& costs);
  const std::vector<double>& values() const { return values_; }
  bool any() const;  // whether some λ_i is above 0

  void save(Tensors& tensors) const;
  void load(const Tensors& tensors);

 private:
  DualSettings settings_;
  std::vector<double> limits_;
  double horizon_;
  std::vector<double> values_;
  std::vector<double> first_, second_;  // Adam's moments
  double power1_ = 1.0, power2_ = 1.0;
};

// (1, −λ_1, …, −λ_m): what a Lagrangian makes of reward and costs.
std::vector<double> penalised_coefficients(const std::vector<double>& multipliers);
// The same / (1 + Σλ), at a size that does not grow with λ.
std::vector<double> lagrangian_coefficients(const std::vector<double>& multipliers);

// Weights of the costs in the inequality-augmented Lagrangian (Dai et al., 2023). With y ≥ 0 the eliminated slack,
//   L = −J_R + λv + σv²/2 if v > −λ/σ, −J_R − λ²/2σ else,   so   ∂L/∂v = max(0, λ + σv),   v the violation.
std::vector<double> augmented_multipliers(const std::vector<double>& multipliers, double penalty,
                                          const std::vector<double>& violations);

}  // namespace cgpo
