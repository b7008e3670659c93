// Private to this folder: the metrics that have columns of their own, and what becomes of a ranking when their settings
// change.
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "cgpo/campaign/comparison.hpp"

namespace cgpo {

template <class Number>
double or_nan(const std::optional<Number>& value) {
  return value ? static_cast<double>(*value) : std::numeric_limits<double>::quiet_NaN();
}

struct MetricColumn {
  std::string key;
  std::string title;
  bool steps;                                      // counts environment steps; else it is a share
  std::vector<std::string> settings;               // that it depends on
  std::function<double(const RunMetrics&)> value;  // NaN: it has none
};
const std::vector<MetricColumn>& metric_columns();

SeedMean metric_over_seeds(const ComparedAlgorithm& algorithm, const MetricColumn& column,
                           const MetricSettings& settings);

// A metric with one of the settings changed.
struct Variation {
  const MetricColumn* column = nullptr;
  std::string setting;  // empty: all as they are
  double value = 0.0;   // of the setting
  std::vector<SeedMean> means;
  std::vector<int> ranks;
  bool moved = false;  // whether the ranks differ from those with the settings as they are
};
// Each setting halved and doubled, after each metric as it is.
std::vector<Variation> variations(const Comparison& comparison);

}  // namespace cgpo
