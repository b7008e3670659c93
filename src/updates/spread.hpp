// Quantiles over episodes.
#pragma once

#include <vector>

namespace cgpo {

// How a sum over the episode is spread over episodes.
struct Spread {
  double low = 0.0;  // 5 % quantile
  double median = 0.0;
  double high = 0.0;  // 95 %
  double over = 0.0;  // share above the limit
};
Spread spread_over_episodes(std::vector<double> samples, double limit);  // without samples all is NaN

}  // namespace cgpo
