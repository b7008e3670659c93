// Where no point of the ball is feasible: the least violated one.
#pragma once

#include <vector>

#include "cgpo/subproblem/scaled_problem.hpp"

namespace cgpo::subproblem {

struct LeastViolation {
  std::vector<double> x;         // coordinates
  std::vector<double> violated;  // w_j = max(0, d_j + n_jᵀx), the same for every minimiser; index 0 is unused
  double lambda = 0.0;           // λx = −Σ w_j n_j; 0: the ball is no hindrance, and other minimisers may exist
};

// Minimises ½ Σ max(0, d_j + n_jᵀx)² over ‖x‖ ≤ 1.
//
// The function is a convex quadratic on each piece where the set of violated planes stays the same. Newton's method:
// go towards the minimiser inside the ball of the present piece's quadratic, with an exact line search; done when that
// minimiser lies in its own piece.
LeastViolation least_violation(const ScaledProblem& problem);

}  // namespace cgpo::subproblem
