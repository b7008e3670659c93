#include <utility>

#include "cgpo/campaign/comparison_tables.hpp"
#include "cgpo/campaign/metric_columns.hpp"
#include "cgpo/updates/report.hpp"

namespace cgpo {
namespace {

// Numbers that are not finite become null when it is written.
Json json_of(const SeedMean& mean) {
  Json json;
  json["runs"] = mean.count;
  json["mean"] = mean.mean;
  json["half_width"] = or_nan(mean.half_width);
  return json;
}

Json json_of(const ComparedRun& run, const MetricSettings& settings) {
  Json json;
  json["seed"] = run.seed;
  json["out"] = run.folder.string();
  json["finished"] = run.problem.empty();
  if (!run.problem.empty()) json["problem"] = run.problem;
  if (!run.problem.empty() || run.log.empty()) return json;
  const LogEntry& last = run.log.back();
  json["iterations"] = run.log.size();
  json["steps"] = last.report.steps;
  json["seconds"] = last.seconds;
  json["return"] = last.report.return_mean;
  json["costs"] = last.report.costs;
  json["feasible"] = is_deployable(last.report);
  json["diverged"] = last.report.diverged;
  const RunMetrics metrics = measure(run.log, settings);
  for (const MetricColumn& column : metric_columns()) json[column.key] = column.value(metrics);
  if (!run.evaluation.is_null()) json["evaluation"] = run.evaluation;
  return json;
}

Json json_of(const EvaluatedSignal& signal) {
  Json json = json_of(signal.mean);
  json["worst"] = signal.worst;
  return json;
}

Json json_of(const EvaluatedSignals& signals, const std::vector<std::string>& costs) {
  Json json;
  json["return"] = json_of(signals.returns);
  json["costs"] = Json::array();
  for (std::size_t i = 0; i < costs.size(); ++i) {
    Json cost;
    cost["name"] = costs[i];
    cost.update(json_of(signals.costs[i]));
    json["costs"].push_back(std::move(cost));
  }
  return json;
}

// feasible: every seed is, with noise and deployed, and there is one.
Json json_of(const EvaluationSummary& summary, const std::vector<std::string>& costs) {
  Json json = json_of(summary.noisy, costs);
  json["deployed"] = json_of(summary.deployed, costs);
  json["feasible"] = summary.runs > 0 && summary.feasible == summary.runs;
  json["feasible_runs"] = summary.feasible;
  return json;
}

Json json_of(const ComparedAlgorithm& algorithm, const Comparison& comparison) {
  Json json;
  json["name"] = algorithm.label;
  json["algorithm"] = algorithm.algorithm;
  json["preset"] = algorithm.preset;
  json["limits"] = algorithm.limits;
  const auto last = [&](const auto& value) { return json_of(last_over_seeds(algorithm, value)); };
  json["return"] = last([](const LogEntry& log) { return log.report.return_mean; });
  json["costs"] = Json::array();
  for (std::size_t i = 0; i < comparison.costs.size(); ++i) {
    json["costs"].push_back(last([i](const LogEntry& log) { return cost_of(log, i); }));
  }
  for (const MetricColumn& column : metric_columns()) {
    json[column.key] = json_of(metric_over_seeds(algorithm, column, comparison.settings));
  }
  if (comparison.evaluated > 0) {
    json["evaluation"] = json_of(summarise_evaluations(algorithm, comparison.costs.size()), comparison.costs);
  }
  json["runs"] = Json::array();
  for (const ComparedRun& run : algorithm.runs) json["runs"].push_back(json_of(run, comparison.settings));
  return json;
}

Json json_of(const Variation& variation) {
  Json json;
  json["metric"] = variation.column->key;
  json["setting"] = variation.setting;
  json["value"] = variation.value;
  json["algorithms"] = Json::array();
  for (std::size_t i = 0; i < variation.means.size(); ++i) {
    Json cell = json_of(variation.means[i]);
    cell["rank"] = variation.ranks[i];
    json["algorithms"].push_back(std::move(cell));
  }
  json["moved"] = variation.moved;
  return json;
}

}  // namespace

Json comparison_json(const Comparison& comparison) {
  Json json;
  json["task"] = comparison.task;
  json["costs"] = Json::array();
  for (std::size_t i = 0; i < comparison.costs.size(); ++i) {
    json["costs"].push_back({{"name", comparison.costs[i]}, {"limit", comparison.limits[i]}});
  }
  for (const MetricSetting& setting : metric_settings()) {
    json["settings"][setting.name] = comparison.settings.*setting.field;
  }
  json["jobs"] = comparison.jobs;
  json["threads"] = comparison.threads;
  if (comparison.evaluated > 0) json["evaluated"] = comparison.evaluated;
  json["algorithms"] = Json::array();
  for (const ComparedAlgorithm& algorithm : comparison.algorithms) {
    json["algorithms"].push_back(json_of(algorithm, comparison));
  }
  json["variations"] = Json::array();
  for (const Variation& variation : variations(comparison)) {
    if (!variation.setting.empty()) json["variations"].push_back(json_of(variation));
  }
  return json;
}

}  // namespace cgpo
