// The paper's worst-case bounds on one update, beside what it did:
//   J_R(θ') − J_R(θ) ≥ −½ ε_R δ̂,   J_C(θ') ≤ b + ½ ε_C δ̂,   ε the largest |∇²J| on the way from θ to θ'.
#pragma once

#include "cgpo/studies/laboratory.hpp"

namespace cgpo {

struct WorstCaseOptions {
  int points = 3;    // on the way from θ to θ', ends included, at which ∇²J is taken
  int products = 8;  // of Lanczos' method, two gradients each
  double difference = 1e-5;
};

struct WorstCase {
  double length_squared = 0.0;    // ‖θ' − θ‖²
  double radius = 0.0;            // δ̂
  double curvature_return = 0.0;  // ε_R
  double curvature_cost = 0.0;    // ε_C of the first cost
  double return_change = 0.0;
  double return_predicted = 0.0;
  double cost_before = 0.0;
  double cost_after = 0.0;
  double cost_predicted = 0.0;

  double return_bound() const { return -0.5 * curvature_return * radius; }                 // of the change
  double cost_bound(double limit) const { return limit + 0.5 * curvature_cost * radius; }  // of the cost
  // The lemma behind them: |Ĵ − J| ≤ ½ ε ‖δ‖².
  double return_error_bound() const { return 0.5 * curvature_return * length_squared; }
  double cost_error_bound() const { return 0.5 * curvature_cost * length_squared; }
};

// From the states of a training before and after one of its updates. Gradients are those through whole episodes, on the
// same start states and noise everywhere, so ∇²J is that of one function.
WorstCase worst_case(const AlgorithmContext& context, const Tensors& before, const Tensors& after, double radius,
                     const WorstCaseOptions& options, const Tick& tick);

}  // namespace cgpo
