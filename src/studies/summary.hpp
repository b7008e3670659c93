// Numbers about numbers.
#pragma once

#include <span>

namespace cgpo {

// Of those that are finite; NaN where there are too few.
struct Summary {
  int count = 0;
  double mean = 0.0;
  double deviation = 0.0;  // of a single one
  double median = 0.0;
  double low = 0.0;  // 10 and 90 % quantile
  double high = 0.0;
};
Summary summary_of(std::span<const double> values);

}  // namespace cgpo
