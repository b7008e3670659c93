// Any number of constraints. solve() uses the closed form where there is one; tests compare the two.
#pragma once

#include "cgpo/subproblem/scaled_problem.hpp"
#include "cgpo/subproblem/trust_region.hpp"

namespace cgpo::subproblem {

// Least violations up to this, in radii, are rounding of an ill-conditioned feasible problem and not a sign of an
// infeasible one.
inline constexpr double kGrey = 1e-9;

// Fills in a step of zeros for a problem that is neither free nor without a step.
void solve_general(const ScaledProblem& scaled, TrustRegionStep& step);

}  // namespace cgpo::subproblem
