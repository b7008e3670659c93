#include "cgpo/updates/algorithm.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/ranges.h>

#include "cgpo/base/error.hpp"

namespace cgpo {

Constraints resolve_constraints(const Task& task, const Settings& settings) {
  Constraints result;
  const std::vector<CostSpec>& offered = task.spec().costs;
  if (settings.costs.empty()) {
    for (std::size_t i = 0; i < offered.size(); ++i) {
      if (offered[i].standard) result.costs.push_back(static_cast<int>(i));
    }
  } else {
    for (const std::string& name : settings.costs) {
      const int index = task.cost_index(name);
      if (std::find(result.costs.begin(), result.costs.end(), index) != result.costs.end()) {
        throw UserError("costs: '{}' is listed twice", name);
      }
      result.costs.push_back(index);
    }
  }
  for (const int index : result.costs) {
    result.names.push_back(offered[static_cast<std::size_t>(index)].name);
    result.limits.push_back(offered[static_cast<std::size_t>(index)].limit);
  }
  if (!settings.limits.empty()) {
    if (settings.limits.size() != result.costs.size()) {
      throw UserError("limits: {} given for {} costs ({})", settings.limits.size(), result.costs.size(),
                      fmt::join(result.names, ", "));
    }
    result.limits = settings.limits;
  }
  for (const double limit : result.limits) {
    if (std::isnan(limit)) throw UserError("limits: a limit must be a number or inf, not nan");
  }
  return result;
}

}  // namespace cgpo
