#include "cgpo/updates/report.hpp"

#include <cmath>

namespace cgpo {

bool is_feasible(const IterationReport& report) {
  if (!std::isfinite(report.return_mean) || report.costs.size() != report.limits.size()) return false;
  for (std::size_t i = 0; i < report.costs.size(); ++i) {
    if (!(report.costs[i] <= report.limits[i])) return false;
  }
  return true;
}

}  // namespace cgpo
