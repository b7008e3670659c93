#include "cgpo/campaign/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cgpo/base/numbers.hpp"

namespace cgpo {
namespace {

double number_of(const Json& value) { return value.is_number() ? value.get<double>() : kNan; }

EvaluatedSignal over_evaluations(const ComparedAlgorithm& algorithm, bool largest_is_worst,
                                 const std::function<double(const Json&)>& value) {
  EvaluatedSignal signal;
  signal.mean = over_seeds(algorithm, [&](const ComparedRun& run) { return value(run.evaluation); });
  const double bad = largest_is_worst ? 1.0 : -1.0;
  signal.worst = kNan;
  for (const ComparedRun* run : finished_runs(algorithm)) {
    const double found = value(run->evaluation);
    if (!std::isfinite(found)) return {signal.mean, kNan};
    if (std::isnan(signal.worst) || bad * found > bad * signal.worst) signal.worst = found;
  }
  return signal;
}

// of: what of an evaluation the numbers are in.
EvaluatedSignals over_evaluations(const ComparedAlgorithm& algorithm, std::size_t costs,
                                  const std::function<const Json&(const Json&)>& of) {
  EvaluatedSignals signals;
  signals.returns = over_evaluations(algorithm, /*largest_is_worst=*/false,
                                     [&](const Json& json) { return number_of(of(json).at("return").at("mean")); });
  for (std::size_t i = 0; i < costs; ++i) {
    signals.costs.push_back(over_evaluations(algorithm, /*largest_is_worst=*/true, [&](const Json& json) {
      return number_of(of(json).at("costs").at(i).at("mean"));
    }));
  }
  return signals;
}

}  // namespace

std::vector<const ComparedRun*> finished_runs(const ComparedAlgorithm& algorithm) {
  std::vector<const ComparedRun*> runs;
  for (const ComparedRun& run : algorithm.runs) {
    if (run.problem.empty() && !run.log.empty()) runs.push_back(&run);
  }
  return runs;
}

std::size_t common_length(const ComparedAlgorithm& algorithm) {
  const std::vector<const ComparedRun*> runs = finished_runs(algorithm);
  std::size_t length = runs.empty() ? 0 : runs.front()->log.size();
  for (const ComparedRun* run : runs) length = std::min(length, run->log.size());
  return length;
}

SeedMean over_seeds(const ComparedAlgorithm& algorithm, const std::function<double(const ComparedRun&)>& value) {
  std::vector<double> values;
  for (const ComparedRun* run : finished_runs(algorithm)) values.push_back(value(*run));
  return mean_over_seeds(values);
}

SeedMean last_over_seeds(const ComparedAlgorithm& algorithm, const std::function<double(const LogEntry&)>& value) {
  return over_seeds(algorithm, [&](const ComparedRun& run) { return value(run.log.back()); });
}

std::array<double, 3> band_of(const SeedMean& mean) {
  const double half = mean.half_width.value_or(0.0);
  return {mean.mean, mean.mean - half, mean.mean + half};
}

double cost_of(const LogEntry& entry, std::size_t cost) {
  return cost < entry.report.costs.size() ? entry.report.costs[cost] : kNan;
}

EvaluationSummary summarise_evaluations(const ComparedAlgorithm& algorithm, std::size_t costs) {
  EvaluationSummary summary;
  summary.noisy = over_evaluations(algorithm, costs, [](const Json& json) -> const Json& { return json; });
  summary.deployed =
      over_evaluations(algorithm, costs, [](const Json& json) -> const Json& { return json.at("deployed"); });
  for (const ComparedRun* run : finished_runs(algorithm)) {
    ++summary.runs;
    summary.feasible += run->evaluation.at("feasible").get<bool>() ? 1 : 0;
  }
  return summary;
}

}  // namespace cgpo
