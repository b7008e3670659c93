#include "cgpo/campaign/metric_columns.hpp"

#include <algorithm>

namespace cgpo {
namespace {

// 1 for the best. Steps: who converged on more seeds is better, then who needed fewer. Shares: the smaller; without one
// there is no rank, 0.
std::vector<int> ranks(const std::vector<SeedMean>& means, const MetricColumn& column) {
  const auto better = [&](const SeedMean& a, const SeedMean& b) {
    if (column.steps && a.count != b.count) return a.count > b.count;
    return a.mean < b.mean;
  };
  std::vector<int> result;
  for (const SeedMean& mean : means) {
    const auto above = std::count_if(means.begin(), means.end(),
                                     [&](const SeedMean& other) { return other.count > 0 && better(other, mean); });
    result.push_back(mean.count == 0 && !column.steps ? 0 : static_cast<int>(above) + 1);
  }
  return result;
}

}  // namespace

const std::vector<MetricColumn>& metric_columns() {
  static const std::vector<MetricColumn> columns = {
      {"convergence_paper",
       "Conv. Steps, paper",
       true,
       {"window", "threshold"},
       [](const RunMetrics& m) { return or_nan(m.convergence_paper); }},
      {"convergence_strict",
       "Conv. Steps, strict",
       true,
       {"window", "near_best"},
       [](const RunMetrics& m) { return or_nan(m.convergence_strict); }},
      {"violations_critical",
       "Vio. Ratio, critical area",
       false,
       {"radius", "margin"},
       [](const RunMetrics& m) { return or_nan(m.violations_critical); }},
      {"violations_whole",
       "Vio. Ratio, whole run",
       false,
       {"margin"},
       [](const RunMetrics& m) { return or_nan(m.violations_whole); }},
  };
  return columns;
}

SeedMean metric_over_seeds(const ComparedAlgorithm& algorithm, const MetricColumn& column,
                           const MetricSettings& settings) {
  return over_seeds(algorithm, [&](const ComparedRun& run) { return column.value(measure(run.log, settings)); });
}

std::vector<Variation> variations(const Comparison& comparison) {
  const auto evaluate = [&](const MetricColumn& column, const MetricSettings& settings) {
    Variation variation;
    variation.column = &column;
    for (const ComparedAlgorithm& algorithm : comparison.algorithms) {
      variation.means.push_back(metric_over_seeds(algorithm, column, settings));
    }
    variation.ranks = ranks(variation.means, column);
    return variation;
  };
  std::vector<Variation> result;
  for (const MetricColumn& column : metric_columns()) {
    const Variation base = evaluate(column, comparison.settings);
    result.push_back(base);
    for (const MetricSetting& setting : metric_settings()) {
      if (std::find(column.settings.begin(), column.settings.end(), setting.name) == column.settings.end()) continue;
      for (const double factor : {0.5, 2.0}) {
        MetricSettings changed = comparison.settings;
        changed.*setting.field *= factor;
        Variation variation = evaluate(column, changed);
        variation.setting = setting.name;
        variation.value = changed.*setting.field;
        variation.moved = variation.ranks != base.ranks;
        result.push_back(std::move(variation));
      }
    }
  }
  return result;
}

}  // namespace cgpo
