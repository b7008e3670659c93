#include "cgpo/campaign/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <limits>
#include <optional>

#include "cgpo/base/table.hpp"
#include "cgpo/base/text.hpp"
#include "cgpo/campaign/gnuplot.hpp"
#include "cgpo/updates/report.hpp"

namespace cgpo {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// A metric that has a column of its own, and the settings that it depends on.
struct MetricColumn {
  std::string key;
  std::string title;
  bool steps;  // counts environment steps; else it is a share
  std::vector<std::string> settings;
  std::function<double(const RunMetrics&)> value;  // NaN: it has none
};

template <class Number>
double or_nan(const std::optional<Number>& value) {
  return value ? static_cast<double>(*value) : kNan;
}

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
       {"window", "threshold", "near_best"},
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

std::vector<const ComparedRun*> finished_runs(const ComparedAlgorithm& algorithm) {
  std::vector<const ComparedRun*> runs;
  for (const ComparedRun& run : algorithm.runs) {
    if (run.problem.empty() && !run.log.empty()) runs.push_back(&run);
  }
  return runs;
}

// Iterations that all of them have.
std::size_t common_length(const ComparedAlgorithm& algorithm) {
  const std::vector<const ComparedRun*> runs = finished_runs(algorithm);
  std::size_t length = runs.empty() ? 0 : runs.front()->log.size();
  for (const ComparedRun* run : runs) length = std::min(length, run->log.size());
  return length;
}

// Something of every run that finished, over the seeds.
SeedMean over_seeds(const ComparedAlgorithm& algorithm, const std::function<double(const ComparedRun&)>& value) {
  std::vector<double> values;
  for (const ComparedRun* run : finished_runs(algorithm)) values.push_back(value(*run));
  return mean_over_seeds(values);
}

SeedMean metric_over_seeds(const ComparedAlgorithm& algorithm, const MetricColumn& column,
                           const MetricSettings& settings) {
  return over_seeds(algorithm, [&](const ComparedRun& run) { return column.value(measure(run.log, settings)); });
}

double element(const std::vector<double>& values, std::size_t i) { return i < values.size() ? values[i] : kNan; }

std::string plus_minus(const SeedMean& mean, const std::function<std::string(double)>& text) {
  if (mean.count == 0) return "—";
  return mean.half_width ? fmt::format("{} ± {}", text(mean.mean), text(*mean.half_width)) : text(mean.mean);
}

std::string number_text(const SeedMean& mean) {
  if (mean.count == 0) return "—";
  std::string text = fmt::format("{:.5g}", mean.mean);
  if (mean.half_width)
    text += " ± " + (*mean.half_width < 100.0 ? fmt::format("{:.2g}", *mean.half_width)
                                              : fmt::format("{:.0f}", *mean.half_width));
  return text;
}

std::string metric_text(const SeedMean& mean, const MetricColumn& column, std::size_t runs) {
  if (mean.count == 0) return column.steps && runs > 0 ? "did not converge" : "—";
  const auto share = [](double value) { return fmt::format("{:.1f} %", 100.0 * value); };
  std::string text = column.steps ? plus_minus(mean, format_rate) : plus_minus(mean, share);
  if (mean.count < static_cast<int>(runs)) text += fmt::format(" ({} of {} runs)", mean.count, runs);
  return text;
}

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

// A metric with one of the settings changed, and what becomes of the ranking.
struct Variation {
  const MetricColumn* column = nullptr;
  std::string setting;  // empty: all as they are
  double factor = 1.0;
  double value = kNan;  // of the setting
  std::vector<SeedMean> means;
  std::vector<int> ranks;
  bool moved = false;  // whether the ranks differ from those with the settings as they are
};

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
        variation.factor = factor;
        variation.value = changed.*setting.field;
        variation.moved = variation.ranks != base.ranks;
        result.push_back(std::move(variation));
      }
    }
  }
  return result;
}

std::string limit_text(double limit) { return std::isfinite(limit) ? fmt::format(" ≤ {:g}", limit) : ", no limit"; }

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
  json["feasible"] = is_feasible(last.report);
  const RunMetrics metrics = measure(run.log, settings);
  for (const MetricColumn& column : metric_columns()) json[column.key] = column.value(metrics);  // NaN becomes null
  return json;
}

// Of a signal over all curves: the return (0) or a cost (1, …).
double signal_of(const LogEntry& entry, std::size_t signal) {
  return signal == 0 ? entry.report.return_mean : element(entry.report.costs, signal - 1);
}

// A picture shows all means and the limit, with some room around; the interval of two seeds can be many times as wide,
// and is cut off.
std::string shown_range(const Comparison& comparison, std::size_t signal) {
  double low = signal == 0 ? kNan : comparison.limits[signal - 1];
  if (!std::isfinite(low)) low = kNan;
  double high = low;
  for (const ComparedAlgorithm& algorithm : comparison.algorithms) {
    const std::size_t length = common_length(algorithm);
    for (std::size_t k = 0; k < length; ++k) {
      const double mean =
          over_seeds(algorithm, [&](const ComparedRun& run) { return signal_of(run.log[k], signal); }).mean;
      low = std::fmin(low, mean);  // of a number and a NaN it takes the number
      high = std::fmax(high, mean);
    }
  }
  const double room = std::max(0.2 * (high - low), 1e-3 * std::max(std::abs(low), 1.0));
  return std::isfinite(room) ? fmt::format("[{}:{}]", low - room, high + room) : "[*:*]";
}

}  // namespace

std::string comparison_table(const Comparison& comparison) {
  std::vector<std::string> head = {"algorithm", "seeds", "return"};
  for (std::size_t i = 0; i < comparison.costs.size(); ++i) {
    head.push_back(comparison.costs[i] + limit_text(comparison.limits[i]));
  }
  head.push_back("feasible at the end");
  for (const MetricColumn& column : metric_columns()) head.push_back(column.title);
  head.insert(head.end(), {"steps", "seconds"});
  std::vector<std::vector<std::string>> rows = {head};
  for (const ComparedAlgorithm& algorithm : comparison.algorithms) {
    const std::vector<const ComparedRun*> runs = finished_runs(algorithm);
    const auto last = [&](const std::function<double(const LogEntry&)>& value) {
      return over_seeds(algorithm, [&](const ComparedRun& run) { return value(run.log.back()); });
    };
    const std::size_t all = algorithm.runs.size();
    std::vector<std::string> row = {
        algorithm.label, runs.size() == all ? fmt::format("{}", all) : fmt::format("{} of {}", runs.size(), all)};
    row.push_back(number_text(last([](const LogEntry& entry) { return entry.report.return_mean; })));
    for (std::size_t i = 0; i < comparison.costs.size(); ++i) {
      row.push_back(number_text(last([i](const LogEntry& entry) { return element(entry.report.costs, i); })));
    }
    const auto feasible =
        std::count_if(runs.begin(), runs.end(), [](const auto* run) { return is_feasible(run->log.back().report); });
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
  text += "\nEach setting of the metrics halved and doubled; after each value its rank in the row.\n\n";
  text += variation_table(comparison);
  return text + unfinished_runs(comparison);
}

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
  json["algorithms"] = Json::array();
  for (const ComparedAlgorithm& algorithm : comparison.algorithms) {
    Json entry;
    entry["name"] = algorithm.label;
    entry["algorithm"] = algorithm.algorithm;
    entry["preset"] = algorithm.preset;
    const auto last = [&](const std::function<double(const LogEntry&)>& value) {
      return json_of(over_seeds(algorithm, [&](const ComparedRun& run) { return value(run.log.back()); }));
    };
    entry["return"] = last([](const LogEntry& log) { return log.report.return_mean; });
    entry["costs"] = Json::array();
    for (std::size_t i = 0; i < comparison.costs.size(); ++i) {
      entry["costs"].push_back(last([i](const LogEntry& log) { return element(log.report.costs, i); }));
    }
    for (const MetricColumn& column : metric_columns()) {
      entry[column.key] = json_of(metric_over_seeds(algorithm, column, comparison.settings));
    }
    entry["runs"] = Json::array();
    for (const ComparedRun& run : algorithm.runs) entry["runs"].push_back(json_of(run, comparison.settings));
    json["algorithms"].push_back(std::move(entry));
  }
  json["variations"] = Json::array();
  for (const Variation& variation : variations(comparison)) {
    if (variation.setting.empty()) continue;
    Json entry;
    entry["metric"] = variation.column->key;
    entry["setting"] = variation.setting;
    entry["value"] = variation.value;
    entry["algorithms"] = Json::array();
    for (std::size_t i = 0; i < variation.means.size(); ++i) {
      Json cell = json_of(variation.means[i]);
      cell["rank"] = variation.ranks[i];
      entry["algorithms"].push_back(std::move(cell));
    }
    entry["moved"] = variation.moved;
    json["variations"].push_back(std::move(entry));
  }
  return json;
}

std::string curve_file(const ComparedAlgorithm& algorithm) { return "curve-" + algorithm.label + ".csv"; }

std::string curve_csv(const Comparison& comparison, const ComparedAlgorithm& algorithm) {
  std::string text = "iteration,seeds,steps,seconds,return_mean,return_low,return_high";
  for (const std::string& cost : comparison.costs) text += fmt::format(",{0}_mean,{0}_low,{0}_high,{0}_limit", cost);
  text += "\n";
  const std::size_t seeds = finished_runs(algorithm).size();
  const std::size_t length = common_length(algorithm);
  for (std::size_t k = 0; k < length; ++k) {
    const auto at_k = [&](const std::function<double(const LogEntry&)>& value) {
      return over_seeds(algorithm, [&](const ComparedRun& run) { return value(run.log[k]); });
    };
    const auto band = [](const SeedMean& mean) {
      const double half = mean.half_width.value_or(0.0);
      return fmt::format(",{},{},{}", mean.mean, mean.mean - half, mean.mean + half);
    };
    text += fmt::format("{},{},{},{}", k, seeds,
                        at_k([](const LogEntry& e) { return static_cast<double>(e.report.steps); }).mean,
                        at_k([](const LogEntry& e) { return e.seconds; }).mean);
    for (std::size_t signal = 0; signal <= comparison.costs.size(); ++signal) {
      text += band(at_k([signal](const LogEntry& e) { return signal_of(e, signal); }));
      if (signal > 0) text += fmt::format(",{}", comparison.limits[signal - 1]);
    }
    text += "\n";
  }
  return text;
}

std::string curve_script(const Comparison& comparison) {
  const std::vector<std::string>& colours = line_colours();
  const std::size_t signals = 1 + comparison.costs.size();
  std::string text = fmt::format(
      "# `gnuplot curves.gnuplot`, in this folder, draws curves.svg: mean over the seeds with its 95 % interval.\n"
      "set datafile separator ','\nset datafile missing 'nan'\n"
      "set terminal svg noenhanced size 1000,{} font 'sans,12' background 'white'\n"
      "set output 'curves.svg'\nset multiplot layout {},2\nset grid lc rgb '#dddddd'\nset key below samplen 2\n"
      "set style fill transparent solid 0.2 noborder\nset autoscale xfix\n",
      360 * signals, signals);
  for (std::size_t signal = 0; signal < signals; ++signal) {
    // Columns of the CSV: four of time, three of the return, four of each cost.
    const std::size_t mean = signal == 0 ? 5 : 8 + 4 * (signal - 1);
    const std::string name = signal == 0 ? "return" : "cost " + comparison.costs[signal - 1];
    const std::string range = shown_range(comparison, signal);
    for (const auto& [column, axis] : {std::pair(3, "environment steps"), std::pair(4, "seconds")}) {
      text += fmt::format("set xlabel {}; set ylabel {}; set format x {}; set yrange {}\n", quoted(axis), quoted(name),
                          column == 3 ? "'%.1s%c'" : "'%g'", range);
      std::string plots;
      const auto add = [&](const std::string& plot) { plots += (plots.empty() ? "plot " : ", \\\n     ") + plot; };
      for (std::size_t i = 0; i < comparison.algorithms.size(); ++i) {
        const ComparedAlgorithm& algorithm = comparison.algorithms[i];
        if (finished_runs(algorithm).empty()) continue;
        const std::string file = quoted(curve_file(algorithm));
        const std::string& colour = colours[i % colours.size()];
        add(fmt::format("{} skip 1 using {}:{}:{} with filledcurves lc rgb '{}' notitle", file, column, mean + 1,
                        mean + 2, colour));
        add(fmt::format("{} skip 1 using {}:{} with lines lw 2 lc rgb '{}' dt {} title {}", file, column, mean, colour,
                        1 + i / colours.size(), quoted(algorithm.label)));
      }
      if (signal > 0 && std::isfinite(comparison.limits[signal - 1])) {
        const double limit = comparison.limits[signal - 1];
        add(fmt::format("{} with lines lw 1.5 dt 2 lc rgb 'black' title 'limit {:g}'", limit, limit));
      }
      text += plots + "\n";
    }
  }
  return text + "unset multiplot\n";
}

}  // namespace cgpo
