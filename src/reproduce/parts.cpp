#include "cgpo/reproduce/parts.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/ranges.h>
#include <limits>
#include <map>
#include <utility>

#include "cgpo/algorithms/staged.hpp"
#include "cgpo/base/numbers.hpp"
#include "cgpo/campaign/comparison_tables.hpp"
#include "cgpo/campaign/gnuplot.hpp"
#include "cgpo/campaign/learning_curves.hpp"

namespace cgpo {
namespace {

// Lines of text under a panel that its legend takes: as many entries stand side by side as the longest leaves room for.
int legend_rows(const Panel& panel) {
  std::size_t longest = 0;
  for (const Line& line : panel.lines) longest = std::max(longest, line.title.size());
  const int across = std::max(1, 400 / (50 + 7 * static_cast<int>(longest)));  // pixels
  return (static_cast<int>(panel.lines.size()) + across - 1) / across;
}

}  // namespace

Configuration study_configuration(const ReproduceContext& context, const std::string& task,
                                  const std::vector<std::string>& sets, const std::string& algorithm,
                                  const std::string& preset) {
  ConfigurationRequest request;
  request.task = task;
  request.algorithm = algorithm;
  request.preset = preset;
  for (const std::string& text : sets) request.sets.push_back(parse_assignment(text));
  Configuration configuration = resolve_configuration(request);
  configuration.seed = context.first_seed;
  return configuration;
}

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double seconds_of_iteration(const Configuration& configuration, int threads) {
  ThreadPool pool(threads);
  const std::unique_ptr<Algorithm> algorithm = make_algorithm(configuration.algorithm, context_of(configuration, pool));
  algorithm->iterate();
  return seconds_of([&] { algorithm->iterate(); });
}

std::shared_ptr<CompareResult> add_comparison(ReproductionPlan& plan, const ReproduceContext& context,
                                              const std::string& folder, CompareRequest request) {
  request.out = (context.folder / folder).string();
  request.seeds = context.seeds;
  request.first_seed = context.first_seed;
  request.jobs = context.jobs;
  request.threads = std::max(1, context.threads / context.jobs);
  auto result = std::make_shared<CompareResult>();
  Piece piece;
  piece.name = folder;
  piece.kept = false;
  piece.seconds = [request] {
    std::map<std::string, double> measured;
    double seconds = 0.0;
    for (const PendingRun& run : pending_runs(request)) {
      if (!measured.contains(run.label))
        measured[run.label] = seconds_of_iteration(run.configuration, request.threads.value_or(1));
      seconds += measured[run.label] * run.iterations;
    }
    return seconds / request.jobs;
  };
  piece.make = [request, result, listener = context.listener](const Tick&) {
    *result = run_comparison(request, listener);
    if (result->stopped != 0) throw Stopped{result->stopped};
    double seconds = 0.0;
    for (const ComparedAlgorithm& algorithm : result->comparison.algorithms) {
      for (const ComparedRun& run : algorithm.runs) seconds += run.log.empty() ? 0.0 : run.log.back().seconds;
    }
    Json json;
    json["training_seconds"] = seconds;
    json["failed"] = result->failed;
    json["comparison"] = Json::parse(result->json);
    return json;
  };
  plan.pieces.push_back(std::move(piece));
  return result;
}

std::string training_table(const CompareResult& result) {
  return comparison_table(result.comparison) + diverged_runs(result.comparison) + unfinished_runs(result.comparison);
}

Json json_of(std::span<const double> values) {
  Json result = Json::array();
  for (const double value : values) result.push_back(value);  // written as null if it is not finite
  return result;
}

std::vector<double> numbers_of(const Json& values) {
  std::vector<double> result;
  for (const Json& value : values) result.push_back(value.is_number() ? value.get<double>() : kNan);
  return result;
}

Json json_of(const Summary& summary) {
  Json json;
  json["count"] = summary.count;
  json["mean"] = summary.mean;
  json["deviation"] = summary.deviation;
  json["median"] = summary.median;
  json["low"] = summary.low;
  json["high"] = summary.high;
  return json;
}

void append_band(std::vector<double>& row, const SeedMean& mean) {
  for (const double value : band_of(mean)) row.push_back(value);
}

std::string short_number(double value) { return std::isfinite(value) ? fmt::format("{:.3g}", value) : "—"; }

std::string plus_minus(const Summary& summary) {
  if (summary.count == 0) return "—";
  return fmt::format("{} ± {}", short_number(summary.mean), short_number(summary.deviation));
}

std::string csv_of(const std::vector<std::string>& head, const std::vector<std::vector<double>>& rows) {
  std::string text = fmt::format("{}\n", fmt::join(head, ","));
  for (const std::vector<double>& row : rows) {
    std::vector<std::string> cells;
    for (const double value : row) cells.push_back(std::isfinite(value) ? fmt::format("{}", value) : "nan");
    text += fmt::format("{}\n", fmt::join(cells, ","));
  }
  return text;
}

Line curve(const std::string& file, int x, int mean, const std::string& title, int seeds) {
  const bool band = seeds > 2;
  return {file, x, mean, band ? mean + 1 : 0, band ? mean + 2 : 0, title};
}

std::string panels_script(const std::string& name, const std::vector<Panel>& panels, int columns) {
  const int rows = (static_cast<int>(panels.size()) + columns - 1) / columns;
  int extra = 0;  // lines of text for legends of more than three
  for (const Panel& panel : panels) extra = std::max(extra, legend_rows(panel) - 3);
  std::string text = svg_header(name, 480 * columns, (330 + 18 * extra) * rows);
  text += fmt::format(
      "set multiplot layout {},{}\nset key below\nset bmargin {}\nset xtics font ',9'\nset style fill transparent "
      "solid "
      "0.2 noborder\n",
      rows, columns, 6 + extra);
  for (const Panel& panel : panels) {
    text += fmt::format("set title {}; set xlabel {}; set ylabel {}\n{}\n", quoted(panel.title), quoted(panel.x),
                        quoted(panel.y), panel.settings);
    std::vector<std::string> plots;
    if (panel.limit) plots.push_back(fmt::format("{} with lines dt 2 lc rgb 'black' notitle", *panel.limit));
    for (std::size_t i = 0; i < panel.lines.size(); ++i) {
      const Line& line = panel.lines[i];
      const std::string& colour = line_colours()[i % line_colours().size()];
      if (line.low > 0)
        plots.push_back(fmt::format("{} skip 1 using {}:{}:{} with filledcurves lc rgb '{}' notitle", quoted(line.file),
                                    line.x, line.low, line.high, colour));
      plots.push_back(fmt::format("{} skip 1 using {}:{} with {} lw 1.5 lc rgb '{}' title {}", quoted(line.file),
                                  line.x, line.y, line.low > 0 ? "lines" : "linespoints pt 7 ps 0.4", colour,
                                  quoted(line.title)));
    }
    text += fmt::format("plot {}\n{}\n", fmt::join(plots, ", \\\n     "), panel.undo);
  }
  return text + "unset multiplot\n";
}

Panel comparison_panel(const std::string& folder, const CompareResult& result, bool cost,
                       const std::vector<std::string>& shown) {
  const Comparison& comparison = result.comparison;
  const int mean = cost ? 8 : 5;  // columns of compare's curves; the third has the steps
  Panel panel;
  panel.title = comparison.task;
  panel.x = "environment steps";
  panel.y = cost ? "cost" : "return";
  panel.settings = "set format x '%.1s%c'";
  if (cost && !comparison.limits.empty()) panel.limit = comparison.limits.front();
  for (const ComparedAlgorithm& algorithm : comparison.algorithms) {
    if (!shown.empty() && std::find(shown.begin(), shown.end(), algorithm.label) == shown.end()) continue;
    panel.lines.push_back(curve(fmt::format("{}/{}", folder, curve_file(algorithm)), 3, mean, algorithm.label,
                                static_cast<int>(algorithm.runs.size())));
  }
  return panel;
}

std::string training_csv(const ComparedAlgorithm& algorithm) {
  const std::vector<const ComparedRun*> runs = finished_runs(algorithm);
  const std::size_t length = common_length(algorithm);
  std::vector<std::vector<double>> rows;
  for (std::size_t k = 0; k < length; ++k) {
    rows.push_back({static_cast<double>(runs.front()->log[k].report.steps)});
    const auto add = [&](const std::function<double(const LogEntry&)>& value) {
      append_band(rows.back(), over_seeds(algorithm, [&](const ComparedRun& run) { return value(run.log[k]); }));
    };
    add([](const LogEntry& entry) { return entry.report.return_mean; });
    add([](const LogEntry& entry) { return cost_of(entry, 0); });
    add([](const LogEntry& entry) { return entry.report.radius.value_or(kNan); });
  }
  return csv_of({"steps", "return", "return_low", "return_high", "cost", "cost_low", "cost_high", "radius",
                 "radius_low", "radius_high"},
                rows);
}

}  // namespace cgpo
