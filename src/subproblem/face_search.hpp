// The best point of a polyhedron inside the unit ball, by a search over its faces.
#pragma once

#include <optional>
#include <vector>

#include "cgpo/subproblem/scaled_problem.hpp"

namespace cgpo::subproblem {

struct Facets {
  std::vector<double> offset;  // d_j of d_j + n_jᵀx ≤ 0; index 0 is unused
  std::vector<bool> equality;  // d_j + n_jᵀx = 0 instead
};

struct FacePoint {
  std::vector<double> at;       // x in coordinates
  std::vector<int> planes;      // S
  std::vector<double> factors;  // x = [u n_1 … n_count] · factors
  double gain = 0.0;            // uᵀx
  double square = 0.0;          // ‖x‖²
  double lambda = 0.0;          // λx = u − Σ ν_j n_j; both 0 where λ would be infinite
  std::vector<double> nu;       // index 0 is unused
};

enum class Aim {
  kObjective,  // largest uᵀx, and of those the shortest x
  kShortest,   // shortest x
};

// Nothing, if no point of the ball meets all facets to within kOverstep.
//
// A face S (planes held with equality) has its optimum in closed form: with p_S its point nearest to 0 and u⊥ the part
// of u along it, x_S = p_S + √(1 − ‖p_S‖²) u⊥/‖u⊥‖. Where x_S oversteps planes V outside S, at least one of V is tight
// at the optimum over S: otherwise one could move from there towards x_S and gain. So it is enough to branch on V.
// What a face gains bounds what its sub-faces can, and ‖p_S‖ only grows, which prunes.
//
// The search sees few facets at a time: those that held the last optimum and the one which that oversteps most. So the
// cost grows with the number of planes that meet in the optimum, not with m.
std::optional<FacePoint> best_point(const ScaledProblem& problem, const Facets& facets, Aim aim);

}  // namespace cgpo::subproblem
