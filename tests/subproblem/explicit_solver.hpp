// The sub-problem with explicit vectors, solved by means that share nothing with src/subproblem: an interior-point
// method in the full space.
#pragma once

#include <vector>

#include "cgpo/base/random.hpp"
#include "cgpo/subproblem/trust_region.hpp"

namespace cgpo::test {

using Vector = std::vector<double>;

struct ExplicitProblem {
  Vector g;
  std::vector<Vector> q;
  Vector c;
  double radius = 1.0;
};

double dot(const Vector& a, const Vector& b);
double norm(const Vector& a);
Vector sum(const Vector& a, double factor, const Vector& b);  // a + factor · b
Vector gauss(std::vector<Vector> a, Vector b);                // a⁻¹ b
Vector random_vector(RandomStream& random, int dimension);

TrustRegionProblem gram_problem(const ExplicitProblem& problem);
// δ of a step, in the explicit space (H = I).
Vector step_vector(const ExplicitProblem& problem, const TrustRegionStep& step);

struct Reference {
  double margin = 0.0;  // least s with c_i/‖q_i‖ + q_iᵀδ/‖q_i‖ ≤ s√radius inside the ball; feasible where < 0
  Vector delta;         // the optimum, or the least violation where infeasible
  double gain = 0.0;       // gᵀδ / (‖g‖√radius)
  double violation = 0.0;  // ½ Σ max(0, c_i + q_iᵀδ)² / (‖q_i‖² radius)
};
// All q_i and g must be non-zero. Values are good to about 1e-10, δ to the root of that.
Reference solve_reference(const ExplicitProblem& problem);

}  // namespace cgpo::test
