// The surrogate sub-problem: the best step of the linearised problem inside the trust region.
//
//   max gᵀδ   s.t.   c_i + q_iᵀδ ≤ 0  (i = 1..m),   δᵀHδ ≤ radius
//
// Only inner products matter, so the vectors themselves never come here. README.md has the formulae and tolerances.
#pragma once

#include <vector>

namespace cgpo {

struct TrustRegionProblem {
  std::vector<double> gram;   // (m+1)×(m+1), row-major: [g Q]ᵀ H⁻¹ [g Q]; index 0 is g
  std::vector<double> slack;  // c_i = J_Ci − b_i, positive when the limit is broken; m entries
  double radius = 0.0;        // bounds the squared length δᵀHδ; > 0
};

enum class StepCase {
  kRecover,      // (a) no point of the ball is feasible
  kFree,         // (b) every point of the ball is feasible (as far as the step can do anything about it)
  kConstrained,  // (c) some are; whether a constraint binds is told by nu
  kNone,         // no step: g = 0 and nothing to repair
  kRefused,      // a NaN or an infinity in the problem; the step is 0
};

const char* case_name(StepCase which);

struct TrustRegionStep {
  StepCase which = StepCase::kRefused;
  std::vector<double> coefficients;  // δ = H⁻¹ [g Q] · coefficients; m+1 of them

  // (b), (c): λHδ = g − Qν, the multipliers of the problem above with the ball written as ½(δᵀHδ − radius).
  // (a): λHδ = −Qν, those of the problem "least violation inside the ball". Not attained (a single feasible point,
  // where λ → ∞), none and refused: 0.
  double lambda = 0.0;
  std::vector<double> nu;

  double gain = 0.0;                // gᵀδ, the predicted change of J_R
  std::vector<double> change;       // q_iᵀδ, the predicted change of each J_Ci
  double length_squared = 0.0;      // δᵀHδ
  bool unsteerable = false;         // some broken constraint has q_i = 0: nothing can be done about it, warn
  bool tangential_dropped = false;  // set by drop_tangential
};

// The exact optimum. Throws std::logic_error if the sizes do not agree or the radius is not positive and finite.
TrustRegionStep solve(const TrustRegionProblem& problem);

// ‖g⊥‖ / ‖g‖ in the metric, g⊥ being g less its projection on the gradients of the binding constraints (nu > 0).
// 1 when nothing binds, 0 when g = 0.
double tangential_share(const TrustRegionProblem& problem, const TrustRegionStep& step);

// For nearly parallel gradients, where g⊥ is rounding and critic error and the exact solver would blow it up to the
// full radius: if a constraint binds and tangential_share < cutoff, the step becomes the shortest one that changes the
// binding constraints as before and leaves all others satisfied (or no worse than before). For m = 1 that is −(c/t) q.
// lambda and nu stay those of the exact step. A cutoff above 1 always drops the tangential part of a step that binds; 0
// never does.
TrustRegionStep drop_tangential(const TrustRegionProblem& problem, TrustRegionStep step, double cutoff);

}  // namespace cgpo
