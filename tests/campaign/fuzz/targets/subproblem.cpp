// The trust-region sub-problem: from vectors of small whole numbers, whose answer can be checked, and from any numbers
// at all.
#include <vector>

#include "cgpo/base/numbers.hpp"
#include "cgpo/subproblem/trust_region.hpp"

#include "fuzz.hpp"

using namespace cgpo;

namespace {

constexpr double kTolerance = 1e-6;

bool finite(const std::vector<double>& values) {
  for (const double value : values) {
    if (!std::isfinite(value)) return false;
  }
  return true;
}

// Whatever the numbers are: refused, or a step without a NaN and multipliers without a sign.
TrustRegionStep solve_any(const TrustRegionProblem& problem) {
  const std::size_t m = problem.slack.size();
  const TrustRegionStep step = solve(problem);
  fuzz::require(step.coefficients.size() == m + 1 && step.nu.size() == m && step.change.size() == m,
                "all has its size");
  const bool good = finite(problem.gram) && finite(problem.slack);
  fuzz::require(good == (step.which != StepCase::kRefused), "what is not finite is refused, and nothing else");
  for (const double nu : step.nu) fuzz::require(!(nu < 0.0), "no multiplier is negative");
  tangential_share(problem, step);
  drop_tangential(problem, step, 0.5);
  return step;
}

void solve_anything(fuzz::Choices& choices) {
  const std::size_t m = choices.below(7);
  TrustRegionProblem problem;
  problem.radius = std::abs(choices.number());
  if (!(problem.radius > 0.0) || !std::isfinite(problem.radius)) problem.radius = 1.0;
  for (std::size_t i = 0; i < m; ++i) problem.slack.push_back(choices.number());
  for (std::size_t i = 0; i < (m + 1) * (m + 1); ++i) problem.gram.push_back(choices.number());
  solve_any(problem);
}

void solve_vectors(fuzz::Choices& choices) {
  const std::size_t m = choices.below(6);
  const std::size_t dimension = 1 + choices.below(4);
  std::vector<std::vector<double>> vectors(m + 1, std::vector<double>(dimension));
  for (auto& vector : vectors) {
    for (double& value : vector) value = static_cast<double>(choices.integer<std::int8_t>() % 8);
  }
  TrustRegionProblem problem;
  problem.radius = (1.0 + choices.byte()) / 16.0;
  const double root = std::sqrt(problem.radius);
  for (std::size_t i = 0; i < m; ++i)
    problem.slack.push_back(static_cast<double>(choices.integer<std::int8_t>()) / 8.0);
  for (const auto& a : vectors) {
    for (const auto& b : vectors) problem.gram.push_back(dot(a, b));
  }
  for (TrustRegionStep step : {solve_any(problem), drop_tangential(problem, solve(problem), 2.0)}) {
    std::vector<double> delta(dimension, 0.0);
    for (std::size_t k = 0; k <= m; ++k) {
      for (std::size_t d = 0; d < dimension; ++d) delta[d] += step.coefficients[k] * vectors[k][d];
    }
    fuzz::require(finite(delta) && finite(step.coefficients), "the step is finite");
    fuzz::require(std::sqrt(dot(delta, delta)) <= root * (1.0 + kTolerance), "the step lies in the trust region");
    for (std::size_t i = 0; i < m; ++i) {
      const double size = std::sqrt(dot(vectors[i + 1], vectors[i + 1]));
      if (size == 0.0 || step.which == StepCase::kRecover) continue;
      const double over = (problem.slack[i] + dot(vectors[i + 1], delta)) / (size * root);
      fuzz::require(over <= kTolerance, "the step keeps every limit, or says that it recovers");
    }
  }
}

}  // namespace

CGPO_FUZZ(input) {
  fuzz::Choices choices(input);
  if (choices.byte() % 2 == 0) {
    solve_vectors(choices);
  } else {
    solve_anything(choices);
  }
}
