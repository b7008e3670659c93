#include "cgpo/studies/summary.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "cgpo/base/numbers.hpp"

namespace cgpo {

Summary summary_of(std::span<const double> values) {
  std::vector<double> finite;
  std::copy_if(values.begin(), values.end(), std::back_inserter(finite), [](double x) { return std::isfinite(x); });
  std::sort(finite.begin(), finite.end());
  Summary result{static_cast<int>(finite.size()), kNan, kNan, kNan, kNan, kNan};
  if (finite.empty()) return result;
  const auto count = static_cast<double>(finite.size());
  const auto quantile = [&](double share) {  // between the two that enclose it
    const double place = share * (count - 1.0);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, finite.size() - 1);
    return finite[below] + (place - static_cast<double>(below)) * (finite[above] - finite[below]);
  };
  result.mean = std::accumulate(finite.begin(), finite.end(), 0.0) / count;
  result.median = quantile(0.5);
  result.low = quantile(0.1);
  result.high = quantile(0.9);
  if (finite.size() < 2) return result;
  double squares = 0.0;
  for (const double x : finite) squares += (x - result.mean) * (x - result.mean);
  result.deviation = std::sqrt(squares / (count - 1.0));
  return result;
}

}  // namespace cgpo
