#include "cgpo/campaign/comparison_tables.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>

#include "cgpo/base/table.hpp"
#include "cgpo/base/text.hpp"
#include "cgpo/campaign/metric_columns.hpp"
#include "cgpo/rollout/divergence.hpp"
#include "cgpo/updates/report.hpp"

namespace cgpo {
namespace {

std::string plus_minus(const SeedMean& mean, const std::function<std::string(double)>& text) {
  if (mean.count == 0) return "—";
  return mean.half_width ? fmt::format("{} ± {}", text(mean.mean), text(*mean.half_width)) : text(mean.mean);
}

// runs: that finished. Those that have no number diverged.
std::string number_text(const SeedMean& mean, std::size_t runs) {
  if (mean.count == 0) return runs > 0 ? "diverged" : "—";
  std::string text = fmt::format("{:.5g}", mean.mean);
  if (mean.half_width)
    text += " ± " + (*mean.half_width < 100.0 ? fmt::format("{:.2g}", *mean.half_width)
                                              : fmt::format("{:.0f}", *mean.half_width));
  if (mean.count < static_cast<int>(runs)) text += fmt::format(" ({} of {} runs)", mean.count, runs);
  return text;
}

std::string metric_text(const SeedMean& mean, const MetricColumn& column, std::size_t runs) {
  if (mean.count == 0) return column.steps && runs > 0 ? "did not converge" : "—";
  const auto share = [](double value) { return fmt::format("{:.1f} %", 100.0 * value); };
  std::string text = column.steps ? plus_minus(mean, format_rate) : plus_minus(mean, share);
  if (mean.count < static_cast<int>(runs)) text += fmt::format(" ({} of {} runs)", mean.count, runs);
  return text;
}

// With the limit if all have the same; else the cells have it.
std::string cost_title(const Comparison& comparison, std::size_t cost) {
  const double limit = comparison.limits[cost];
  if (std::isnan(limit)) return comparison.costs[cost];
  return comparison.costs[cost] + (std::isfinite(limit) ? fmt::format(" ≤ {:g}", limit) : ", no limit");
}

std::string cost_cell(const Comparison& comparison, const ComparedAlgorithm& algorithm, std::size_t cost,
                      const std::string& text) {
  if (!std::isnan(comparison.limits[cost])) return text;
  const double limit = algorithm.limits[cost];
  return std::isfinite(limit) ? fmt::format("{}, limit {:g}", text, limit) : text + ", no limit";
}

// How many seeds there are, and how many of them finished.
std::string seeds_text(const ComparedAlgorithm& algorithm) {
  const std::size_t all = algorithm.runs.size();
  const std::size_t finished = finished_runs(algorithm).size();
  return finished == all ? fmt::format("{}", all) : fmt::format("{} of {}", finished, all);
}

std::string worst_text(const EvaluatedSignal& signal, int runs) {
  const auto known = static_cast<std::size_t>(signal.mean.count);
  if (known == 0) return runs > 0 ? "diverged" : "—";
  return number_text(signal.mean, known) +
         (std::isfinite(signal.worst) ? fmt::format(" ({:.5g})", signal.worst) : " (diverged)");
}

// Mean and standard error of an evaluation.
std::string estimate_text(const Json& estimate) {
  if (!estimate.at("mean").is_number()) return "diverged";
  std::string text = fmt::format("{:.5g}", estimate.at("mean").get<double>());
  if (estimate.at("se").is_number()) text += fmt::format(" ± {:.2g}", estimate.at("se").get<double>());
  return text;
}

std::string variation_table(const Comparison& comparison) {
  std::vector<std::string> head = {"metric", "setting"};
  for (const ComparedAlgorithm& algorithm : comparison.algorithms) head.push_back(algorithm.label);
  head.emplace_back("ranking");
  std::vector<std::vector<std::string>> rows = {head};
  for (const Variation& variation : variations(comparison)) {
    const bool base = variation.setting.empty();
    std::vector<std::string> row = {
        variation.column->title,
        base ? "as above" : fmt::format("{} {:g} %", variation.setting, 100.0 * variation.value)};
    for (std::size_t i = 0; i < variation.means.size(); ++i) {
      const std::size_t runs = finished_runs(comparison.algorithms[i]).size();
      std::string cell = metric_text(variation.means[i], *variation.column, runs);
      if (variation.means[i].count > 0) cell += fmt::format(", {}.", variation.ranks[i]);
      row.push_back(cell);
    }
    row.emplace_back(base ? "" : variation.moved ? "moves" : "same");
    rows.push_back(row);
  }
  return markdown_table(rows);
}

}  // namespace

std::string comparison_table(const Comparison& comparison) {
  std::vector<std::string> head = {"algorithm", "seeds", "return"};
  for (std::size_t i = 0; i < comparison.costs.size(); ++i) head.push_back(cost_title(comparison, i));
  head.emplace_back("feasible at the end");
  for (const MetricColumn& column : metric_columns()) head.push_back(column.title);
  head.insert(head.end(), {"steps", "seconds"});
  std::vector<std::vector<std::string>> rows = {head};
  for (const ComparedAlgorithm& algorithm : comparison.algorithms) {
    const std::vector<const ComparedRun*> runs = finished_runs(algorithm);
    const auto last = [&](const auto& value) { return last_over_seeds(algorithm, value); };
    std::vector<std::string> row = {algorithm.label, seeds_text(algorithm)};
    row.push_back(number_text(last([](const LogEntry& entry) { return entry.report.return_mean; }), runs.size()));
    for (std::size_t i = 0; i < comparison.costs.size(); ++i) {
      const SeedMean cost = last([i](const LogEntry& entry) { return cost_of(entry, i); });
      row.push_back(cost_cell(comparison, algorithm, i, number_text(cost, runs.size())));
    }
    const auto feasible =
        std::count_if(runs.begin(), runs.end(), [](const auto* run) { return is_deployable(run->log.back().report); });
    row.push_back(runs.empty() ? "—" : fmt::format("{} of {}", feasible, runs.size()));
    for (const MetricColumn& column : metric_columns()) {
      row.push_back(metric_text(metric_over_seeds(algorithm, column, comparison.settings), column, runs.size()));
    }
    const SeedMean steps = last([](const LogEntry& entry) { return static_cast<double>(entry.report.steps); });
    const SeedMean seconds = last([](const LogEntry& entry) { return entry.seconds; });
    row.push_back(steps.count == 0 ? "—" : format_rate(steps.mean));
    row.push_back(seconds.count == 0 ? "—" : fmt::format("{:.3g}", seconds.mean));
    rows.push_back(row);
  }
  return markdown_table(rows);
}

std::string evaluation_table(const Comparison& comparison) {
  std::vector<std::string> head = {"algorithm", "seeds"};
  for (const std::string kind : {"", ", deployed"}) {
    head.push_back("return" + kind + " (worst)");
    for (std::size_t i = 0; i < comparison.costs.size(); ++i) {
      head.push_back(cost_title(comparison, i) + kind + " (worst)");
    }
  }
  head.emplace_back("feasible");
  std::vector<std::vector<std::string>> rows = {head};
  for (const ComparedAlgorithm& algorithm : comparison.algorithms) {
    const EvaluationSummary summary = summarise_evaluations(algorithm, comparison.costs.size());
    std::vector<std::string> row = {algorithm.label, seeds_text(algorithm)};
    for (const EvaluatedSignals* signals : {&summary.noisy, &summary.deployed}) {
      row.push_back(worst_text(signals->returns, summary.runs));
      for (std::size_t i = 0; i < signals->costs.size(); ++i) {
        row.push_back(cost_cell(comparison, algorithm, i, worst_text(signals->costs[i], summary.runs)));
      }
    }
    row.push_back(summary.runs == 0 ? "—" : fmt::format("{} of {}", summary.feasible, summary.runs));
    rows.push_back(row);
  }
  return markdown_table(rows);
}

std::string evaluated_runs_table(const Comparison& comparison) {
  std::vector<std::string> head = {"algorithm", "seed"};
  for (const std::string kind : {"", ", deployed"}) {
    head.push_back("return" + kind);
    for (std::size_t i = 0; i < comparison.costs.size(); ++i) head.push_back(cost_title(comparison, i) + kind);
  }
  head.emplace_back("episode length");
  for (const MetricColumn& column : metric_columns()) head.push_back(column.title);
  head.emplace_back("seconds");
  std::vector<std::vector<std::string>> rows = {head};
  for (const ComparedAlgorithm& algorithm : comparison.algorithms) {
    for (const ComparedRun* run : finished_runs(algorithm)) {
      const Json& found = run->evaluation;
      std::vector<std::string> row = {algorithm.label, fmt::format("{}", run->seed)};
      for (const Json* part : {&found, &found.at("deployed")}) {
        row.push_back(estimate_text(part->at("return")));
        for (std::size_t i = 0; i < comparison.costs.size(); ++i) {
          row.push_back(cost_cell(comparison, algorithm, i, estimate_text(part->at("costs").at(i))));
        }
      }
      const Json& length = found.at("episode_length");
      row.push_back(length.is_number() ? fmt::format("{:.5g}", length.get<double>()) : "—");
      const RunMetrics metrics = measure(run->log, comparison.settings);
      for (const MetricColumn& column : metric_columns()) {
        const double value = column.value(metrics);
        row.push_back(metric_text(mean_over_seeds({&value, 1}), column, 1));
      }
      row.push_back(fmt::format("{:.3g}", run->log.back().seconds));
      rows.push_back(row);
    }
  }
  return markdown_table(rows);
}

std::string diverged_runs(const Comparison& comparison) {
  std::string diverged;
  for (const ComparedAlgorithm& algorithm : comparison.algorithms) {
    for (const ComparedRun* run : finished_runs(algorithm)) {
      const auto bad = std::count_if(run->log.begin(), run->log.end(),
                                     [](const LogEntry& entry) { return too_many_diverged(entry.report); });
      if (bad == 0) continue;
      const IterationReport& last = run->log.back().report;
      diverged += fmt::format(
          "- {}, seed {}: in {} of {} iterations{}\n", algorithm.label, run->seed, bad, run->log.size(),
          too_many_diverged(last) ? ", in the last one " + diverged_words(last.diverged, last.episodes) : "");
    }
  }
  if (diverged.empty()) return "";
  return "\nToo many episodes diverged for a verdict; such an iteration is not feasible, and counts as over the "
         "limits:\n\n" +
         diverged;
}

std::string unfinished_runs(const Comparison& comparison) {
  std::string failed;
  for (const ComparedAlgorithm& algorithm : comparison.algorithms) {
    for (const ComparedRun& run : algorithm.runs) {
      if (run.problem.empty()) continue;
      failed += fmt::format("- {}, seed {}: {}\n", algorithm.label, run.seed, run.problem);
    }
  }
  return failed.empty() ? "" : "\nNot finished, and in no number above:\n\n" + failed;
}

std::string comparison_markdown(const Comparison& comparison) {
  std::string text = fmt::format(
      "# {}\n\nMean ± 95 % interval (Student's t) over the seeds that finished; return and costs are those of the last "
      "iteration, over the horizon, without discount.\nMetrics: {}.\nSeconds are of training, and depend on how many "
      "runs share the cores: the last call of `compare` ran {} at a time, with {} thread{} each.\n\n",
      comparison.task, describe(comparison.settings), comparison.jobs, comparison.threads,
      comparison.threads == 1 ? "" : "s");
  text += comparison_table(comparison);
  if (comparison.evaluated > 0) {
    text += fmt::format(
        "\nThe last policies, evaluated on {} fresh episode{} each, with their noise and as they are deployed, by "
        "their mean actions: mean ± 95 % interval over the seeds, in parentheses the worst of them. Feasible: both "
        "ways.\n\n{}\nEach run, evaluated (mean ± standard error over the episodes), with the "
        "metrics of its training.\n\n{}",
        comparison.evaluated, comparison.evaluated == 1 ? "" : "s", evaluation_table(comparison),
        evaluated_runs_table(comparison));
  }
  text += "\nEach setting of the metrics halved and doubled; after each value its rank in the row.\n\n";
  text += variation_table(comparison);
  return text + diverged_runs(comparison) + unfinished_runs(comparison);
}

}  // namespace cgpo
