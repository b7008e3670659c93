#include "cgpo/subproblem/trust_region.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include "cgpo/base/error.hpp"
#include "cgpo/base/numbers.hpp"
#include "cgpo/subproblem/face_search.hpp"
#include "cgpo/subproblem/general.hpp"
#include "cgpo/subproblem/least_violation.hpp"
#include "cgpo/subproblem/scaled_problem.hpp"

namespace cgpo {
namespace {

using subproblem::Aim;
using subproblem::FacePoint;
using subproblem::Facets;
using subproblem::LeastViolation;
using subproblem::ScaledProblem;

bool all_finite(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
}

TrustRegionStep zero_step(std::size_t m) {
  TrustRegionStep step;
  step.coefficients.assign(m + 1, 0.0);
  step.nu.assign(m, 0.0);
  step.change.assign(m, 0.0);
  return step;
}

void check_problem(const TrustRegionProblem& problem) {
  const std::size_t m = problem.slack.size();
  check(problem.gram.size() == (m + 1) * (m + 1), "the Gram matrix has a row and a column for g and for each q");
  check(problem.radius > 0.0 && std::isfinite(problem.radius), "the radius is positive and finite");
}

// The step x = [u n_1 …] · factors, back in the problem's units.
void set_step(const ScaledProblem& scaled, std::span<const double> factors, TrustRegionStep& step) {
  double square = 0.0;
  for (int j = 0; j <= scaled.count; ++j) {
    const auto at = static_cast<std::size_t>(j);
    const double along = dot(scaled.cosine_row(j), factors);  // n_jᵀx
    const double change = along * scaled.length[at] * scaled.root_radius;
    square += factors[at] * along;
    if (j == 0) {
      step.gain = change;
    } else {
      step.change[static_cast<std::size_t>(scaled.origin[at])] = change;
    }
    const auto slot = static_cast<std::size_t>(scaled.origin[at]) + 1;
    step.coefficients[slot] = factors[at] == 0.0 ? 0.0 : factors[at] * scaled.root_radius / scaled.length[at];
  }
  step.length_squared = std::max(0.0, square) * scaled.root_radius * scaled.root_radius;
}

// λ and ν of the scaled problem in the problem's units. In (a) the multipliers are those of the least violation.
void set_multipliers(const ScaledProblem& scaled, double lambda, std::span<const double> nu, TrustRegionStep& step) {
  const bool recover = step.which == StepCase::kRecover;
  step.lambda = recover ? lambda : lambda * scaled.length[0] / scaled.root_radius;
  const double unit = recover ? scaled.root_radius : scaled.length[0];
  for (int j = 1; j <= scaled.count; ++j) {
    const auto at = static_cast<std::size_t>(j);
    step.nu[static_cast<std::size_t>(scaled.origin[at])] = std::max(0.0, nu[at]) * unit / scaled.length[at];
  }
}

// One constraint: the closed form. With ρ = uᵀn, x = −d n + √(1−d²) u⊥/‖u⊥‖, u⊥ = u − ρn, where the constraint binds.
// 1−d² and 1−ρ² as products lose nothing near 1.
void solve_one(const ScaledProblem& scaled, TrustRegionStep& step) {
  const double d = scaled.offset[1];
  const double rho = scaled.cosine(0, 1);
  step.which = StepCase::kConstrained;
  if (d > 1.0) {
    step.which = StepCase::kRecover;
    set_step(scaled, std::vector<double>{0.0, -1.0}, step);
    set_multipliers(scaled, d - 1.0, std::vector<double>{0.0, d - 1.0}, step);
    return;
  }
  if (!scaled.has_objective()) {  // infeasible, or there would be no step at all
    set_step(scaled, std::vector<double>{0.0, -d}, step);
    return;
  }
  if (d + rho <= 0.0) {  // the free step is feasible
    set_step(scaled, std::vector<double>{1.0, 0.0}, step);
    set_multipliers(scaled, 1.0, std::vector<double>{0.0, 0.0}, step);
    return;
  }
  const double across = (1.0 - rho) * (1.0 + rho);  // ‖u⊥‖²
  if (across <= subproblem::kParallel) {
    set_step(scaled, std::vector<double>{0.0, -d}, step);
    set_multipliers(scaled, 0.0, std::vector<double>{0.0, rho}, step);
    return;
  }
  const double reach = std::sqrt((1.0 - d) * (1.0 + d));
  const double stretch = reach / std::sqrt(across);
  set_step(scaled, std::vector<double>{stretch, -d - stretch * rho}, step);
  if (reach > 0.0) {  // else one point is feasible and λ = ∞
    const double lambda = std::sqrt(across) / reach;
    set_multipliers(scaled, lambda, std::vector<double>{0.0, rho + lambda * d}, step);
  }
}

}  // namespace

namespace subproblem {

void solve_general(const ScaledProblem& scaled, TrustRegionStep& step) {
  Facets facets{scaled.offset, std::vector<bool>(scaled.offset.size(), false)};
  step.which = StepCase::kConstrained;
  if (const std::optional<FacePoint> point = best_point(scaled, facets, Aim::kObjective)) {
    set_step(scaled, point->factors, step);
    set_multipliers(scaled, point->lambda, point->nu, step);
    return;
  }

  const LeastViolation least = least_violation(scaled);
  const double most = *std::max_element(least.violated.begin(), least.violated.end());
  const bool feasible = most <= kGrey;
  if (!feasible) step.which = StepCase::kRecover;
  std::optional<FacePoint> point;
  if (feasible || least.lambda == 0.0) {
    // The ball does not hinder, so there may be more than one minimiser. All have the same violations: keep those, and
    // among the points that do, take the best.
    for (int j = 1; j <= scaled.count; ++j) {
      const auto at = static_cast<std::size_t>(j);
      const double along = dot(scaled.vector(j), least.x);
      facets.equality[at] = least.violated[at] > kGrey;
      facets.offset[at] = facets.equality[at] ? -along : std::min(facets.offset[at], -along);
    }
    point = best_point(scaled, facets, Aim::kObjective);
  }
  set_step(scaled, point ? point->factors : scaled.combination(least.x), step);
  if (!feasible) {
    set_multipliers(scaled, least.lambda, least.violated, step);
  } else if (point) {
    set_multipliers(scaled, point->lambda, point->nu, step);
  }
}

}  // namespace subproblem

const char* case_name(StepCase which) {
  switch (which) {
    case StepCase::kRecover: return "recover";
    case StepCase::kFree: return "free";
    case StepCase::kConstrained: return "constrained";
    case StepCase::kNone: return "none";
    case StepCase::kRefused: return "refused";
  }
  return "unknown";
}

TrustRegionStep solve(const TrustRegionProblem& problem) {
  check_problem(problem);
  TrustRegionStep step = zero_step(problem.slack.size());
  if (!all_finite(problem.gram) || !all_finite(problem.slack)) return step;

  const ScaledProblem scaled(problem);
  step.unsteerable = scaled.unsteerable;
  const auto all_offsets = [&](auto holds) {
    return std::all_of(scaled.offset.begin() + 1, scaled.offset.end(), holds);
  };
  if (!scaled.has_objective() && all_offsets([](double d) { return d <= 0.0; })) {
    step.which = StepCase::kNone;
  } else if (all_offsets([](double d) { return d < -1.0; })) {
    step.which = StepCase::kFree;
    std::vector<double> factors(scaled.offset.size(), 0.0);
    set_multipliers(scaled, 1.0, factors, step);
    factors[0] = 1.0;
    set_step(scaled, factors, step);
  } else if (scaled.count == 1) {
    solve_one(scaled, step);
  } else {
    subproblem::solve_general(scaled, step);
  }
  return step;
}

double tangential_share(const TrustRegionProblem& problem, const TrustRegionStep& step) {
  check_problem(problem);
  if (step.which == StepCase::kRefused) return 1.0;
  const ScaledProblem scaled(problem);
  if (!scaled.has_objective()) return 0.0;
  // With every binding plane moved to 0 the best point of their common face is u⊥/‖u⊥‖, and gains ‖u⊥‖.
  Facets facets{std::vector<double>(scaled.offset.size(), -2.0), std::vector<bool>(scaled.offset.size(), false)};
  for (int j = 1; j <= scaled.count; ++j) {
    const auto at = static_cast<std::size_t>(j);
    if (step.nu[static_cast<std::size_t>(scaled.origin[at])] <= 0.0) continue;
    facets.equality[at] = true;
    facets.offset[at] = 0.0;
  }
  const std::optional<FacePoint> point = best_point(scaled, facets, Aim::kObjective);
  return point ? point->gain : 1.0;
}

TrustRegionStep drop_tangential(const TrustRegionProblem& problem, TrustRegionStep step, double cutoff) {
  check_problem(problem);
  // (c) with λ = 0 ends at its nearest point already, and (a) with λ > 0 has one minimiser only: no tangential part.
  const bool slides = (step.which == StepCase::kConstrained && step.lambda > 0.0) ||
                      (step.which == StepCase::kRecover && step.lambda == 0.0);
  const bool binds = std::any_of(step.nu.begin(), step.nu.end(), [](double nu) { return nu > 0.0; });
  if (!slides || !binds) return step;
  if (!(tangential_share(problem, step) < cutoff)) return step;

  const ScaledProblem scaled(problem);
  Facets facets{scaled.offset, std::vector<bool>(scaled.offset.size(), false)};
  for (int j = 1; j <= scaled.count; ++j) {
    const auto at = static_cast<std::size_t>(j);
    const auto i = static_cast<std::size_t>(scaled.origin[at]);
    const double along = step.change[i] / scaled.length[at] / scaled.root_radius;
    facets.equality[at] = step.nu[i] > 0.0;
    facets.offset[at] = facets.equality[at] ? -along : std::min(facets.offset[at], -along);
  }
  const std::optional<FacePoint> point = best_point(scaled, facets, Aim::kShortest);
  if (!point) return step;  // only rounding could hide the old step, which meets all of this
  set_step(scaled, point->factors, step);
  step.tangential_dropped = true;
  return step;
}

}  // namespace cgpo
