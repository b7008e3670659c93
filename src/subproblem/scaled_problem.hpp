// The sub-problem without its units: x = δ/√radius, n_i = q_i/‖q_i‖, u = g/‖g‖, d_i = c_i/(‖q_i‖√radius).
//
//   max uᵀx   s.t.   d_i + n_iᵀx ≤ 0,   ‖x‖ ≤ 1
//
// d_i is a signed distance in radii: the plane i cuts the ball where |d_i| ≤ 1. Everything is of order one here, so
// tolerances can be plain numbers.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "cgpo/subproblem/trust_region.hpp"

namespace cgpo::subproblem {

// Squared length of what is left of a unit vector below which it counts as inside the span of others. Inner products
// over 10⁴…10⁶ parameters carry a relative error of about 1e-14, and a Gram matrix holds only squares: angles below
// 3e-7 are noise.
inline constexpr double kParallel = 1e-13;
// Distance, in radii, by which a plane may be overstepped and still count as met.
inline constexpr double kOverstep = 1e-12;
// A violation is cut off here so that its square does not overflow.
inline constexpr double kFarthest = 1e100;

// a += factor · b
void add(std::span<double> a, double factor, std::span<const double> b);

struct ScaledProblem {
  explicit ScaledProblem(const TrustRegionProblem& problem);

  // Vector 0 is u, vectors 1..count are the n_i of the constraints that can be steered (q_i ≠ 0).
  int count = 0;
  std::vector<int> origin;     // the constraint (0..m-1) that vector j came from; origin[0] is unused
  std::vector<double> length;  // ‖g‖, ‖q_i‖ in the metric; length[0] = 0 where g = 0, and then u = 0
  std::vector<double> offset;  // d_j; offset[0] is unused
  double root_radius = 0.0;
  bool unsteerable = false;

  // Coordinates in which the Gram matrix of the vectors is reproduced, from a pivoted Cholesky factorisation with u
  // taken last: the n_i lie in the first `dimension - 1` axes, all of u that they do not span in the last.
  int dimension = 0;
  std::vector<int> pivots;      // independent constraints; vector pivots[k] ends at axis k
  std::vector<double> axes;     // (count+1) × dimension
  std::vector<double> cosines;  // (count+1)²

  // The beginning of a row.
  static std::size_t row_start(int row, int columns) {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(columns);
  }
  std::span<const double> vector(int j) const {
    return std::span<const double>(axes).subspan(row_start(j, dimension), static_cast<std::size_t>(dimension));
  }
  std::span<const double> cosine_row(int j) const {
    return std::span<const double>(cosines).subspan(row_start(j, count + 1), static_cast<std::size_t>(count + 1));
  }
  double cosine(int i, int j) const { return cosines[row_start(i, count + 1) + static_cast<std::size_t>(j)]; }
  bool has_objective() const { return length[0] > 0.0; }

  // The combination of the pivots that gives x, a point of the span of the constraints.
  std::vector<double> combination(std::span<const double> x) const;
};

}  // namespace cgpo::subproblem
