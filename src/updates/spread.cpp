#include "cgpo/updates/spread.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "cgpo/base/numbers.hpp"

namespace cgpo {

Spread spread_over_episodes(std::vector<double> samples, double limit) {
  if (samples.empty()) return {kNan, kNan, kNan, kNan};
  std::sort(samples.begin(), samples.end());
  const auto count = static_cast<double>(samples.size());
  // Between the two samples that enclose it.
  const auto quantile = [&](double share) {
    const double place = share * (count - 1.0);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, samples.size() - 1);
    return samples[below] + (place - static_cast<double>(below)) * (samples[above] - samples[below]);
  };
  const auto over = std::count_if(samples.begin(), samples.end(), [limit](double value) { return value > limit; });
  return {quantile(0.05), quantile(0.5), quantile(0.95), static_cast<double>(over) / count};
}

}  // namespace cgpo
