#include "cgpo/updates/report.hpp"

#include <cmath>

#include "cgpo/rollout/divergence.hpp"

namespace cgpo {

bool too_many_diverged(const IterationReport& report) { return too_many_diverged(report.diverged, report.episodes); }

bool is_preparation(const IterationReport& report) { return report.stage == "own"; }

bool is_feasible(const IterationReport& report) {
  if (is_preparation(report)) return false;
  if (too_many_diverged(report)) return false;
  if (!std::isfinite(report.return_mean) || report.costs.size() != report.limits.size()) return false;
  for (std::size_t i = 0; i < report.costs.size(); ++i) {
    if (!(report.costs[i] <= report.limits[i])) return false;
  }
  return true;
}

bool is_deployable(const IterationReport& report) {
  if (!is_feasible(report)) return false;
  for (std::size_t i = 0; i < report.costs_deployed.size(); ++i) {
    if (!(report.costs_deployed[i] <= report.limits[i])) return false;
  }
  return true;
}

const char* limit_sign(const IterationReport& report, std::size_t cost) {
  if (too_many_diverged(report) || std::isnan(report.costs[cost])) return "?";
  return report.costs[cost] <= report.limits[cost] ? "<=" : ">";
}

}  // namespace cgpo
