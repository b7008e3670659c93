#include "cgpo/campaign/learning_curves.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/ranges.h>
#include <functional>
#include <limits>

#include "cgpo/campaign/gnuplot.hpp"

namespace cgpo {
namespace {

// Of a signal over all curves: the return (0) or a cost (1, …).
double signal_of(const LogEntry& entry, std::size_t signal) {
  return signal == 0 ? entry.report.return_mean : cost_of(entry, signal - 1);
}

SeedMean at_iteration(const ComparedAlgorithm& algorithm, std::size_t iteration,
                      const std::function<double(const LogEntry&)>& value) {
  return over_seeds(algorithm, [&](const ComparedRun& run) { return value(run.log[iteration]); });
}

// A picture shows all means and the limits, with some room around; the interval of two seeds can be many times as wide,
// and is cut off.
std::string shown_range(const Comparison& comparison, std::size_t signal) {
  double low = std::numeric_limits<double>::quiet_NaN();
  double high = low;
  const auto include = [&](double value) {
    if (!std::isfinite(value)) return;
    low = std::fmin(low, value);  // of a number and a NaN it takes the number
    high = std::fmax(high, value);
  };
  for (const ComparedAlgorithm& algorithm : comparison.algorithms) {
    if (signal > 0) include(algorithm.limits[signal - 1]);
    const std::size_t length = common_length(algorithm);
    for (std::size_t k = 0; k < length; ++k) {
      include(at_iteration(algorithm, k, [&](const LogEntry& entry) { return signal_of(entry, signal); }).mean);
    }
  }
  const double room = std::max(0.2 * (high - low), 1e-3 * std::max(std::abs(low), 1.0));
  return std::isfinite(room) ? fmt::format("[{}:{}]", low - room, high + room) : "[*:*]";
}

// One for all that have the same, in black; else one for each, in the colour of its curve.
std::vector<std::string> limit_lines(const Comparison& comparison, std::size_t cost) {
  const auto line = [](double limit, const std::string& colour, const std::string& title) {
    return fmt::format("{} with lines lw 1.5 dt 2 lc rgb '{}' {}", limit, colour, title);
  };
  const double common = comparison.limits[cost];
  if (std::isfinite(common)) return {line(common, "black", fmt::format("title 'limit {:g}'", common))};
  std::vector<std::string> lines;
  if (std::isinf(common)) return lines;
  for (std::size_t i = 0; i < comparison.algorithms.size(); ++i) {
    const double limit = comparison.algorithms[i].limits[cost];
    if (std::isfinite(limit)) lines.push_back(line(limit, line_colours()[i % line_colours().size()], "notitle"));
  }
  return lines;
}

// All algorithms, by the CSV files' columns: of the time, and of the mean, which the interval's follow.
std::vector<std::string> curve_lines(const Comparison& comparison, int time, std::size_t mean) {
  const std::vector<std::string>& colours = line_colours();
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < comparison.algorithms.size(); ++i) {
    const ComparedAlgorithm& algorithm = comparison.algorithms[i];
    if (finished_runs(algorithm).empty()) continue;
    const std::string file = quoted(curve_file(algorithm));
    const std::string& colour = colours[i % colours.size()];
    lines.push_back(fmt::format("{} skip 1 using {}:{}:{} with filledcurves lc rgb '{}' notitle", file, time, mean + 1,
                                mean + 2, colour));
    lines.push_back(fmt::format("{} skip 1 using {}:{} with lines lw 2 lc rgb '{}' dt {} title {}", file, time, mean,
                                colour, 1 + i / colours.size(), quoted(algorithm.label)));
  }
  return lines;
}

}  // namespace

std::string curve_file(const ComparedAlgorithm& algorithm) { return "curve-" + algorithm.label + ".csv"; }

std::string curve_csv(const Comparison& comparison, const ComparedAlgorithm& algorithm) {
  std::string text = "iteration,seeds,steps,seconds,return_mean,return_low,return_high";
  for (const std::string& cost : comparison.costs) text += fmt::format(",{0}_mean,{0}_low,{0}_high,{0}_limit", cost);
  text += "\n";
  const std::size_t seeds = finished_runs(algorithm).size();
  const std::size_t length = common_length(algorithm);
  for (std::size_t k = 0; k < length; ++k) {
    const auto at_k = [&](const auto& value) { return at_iteration(algorithm, k, value); };
    text += fmt::format("{},{},{},{}", k, seeds,
                        at_k([](const LogEntry& e) { return static_cast<double>(e.report.steps); }).mean,
                        at_k([](const LogEntry& e) { return e.seconds; }).mean);
    for (std::size_t signal = 0; signal <= comparison.costs.size(); ++signal) {
      const auto band = band_of(at_k([signal](const LogEntry& e) { return signal_of(e, signal); }));
      text += fmt::format(",{},{},{}", band[0], band[1], band[2]);
      if (signal > 0) text += fmt::format(",{}", algorithm.limits[signal - 1]);
    }
    text += "\n";
  }
  return text;
}

std::string curve_script(const Comparison& comparison) {
  const std::size_t signals = 1 + comparison.costs.size();
  std::string text = svg_header("curves", 1000, 360 * static_cast<int>(signals));
  text += fmt::format(
      "set multiplot layout {},2\nset key below\nset style fill transparent solid 0.2 noborder\nset autoscale xfix\n",
      signals);
  for (std::size_t signal = 0; signal < signals; ++signal) {
    // Columns of the CSV: four of time, three of the return, four of each cost.
    const std::size_t mean = signal == 0 ? 5 : 8 + 4 * (signal - 1);
    const std::string name = signal == 0 ? "return" : "cost " + comparison.costs[signal - 1];
    const std::string range = shown_range(comparison, signal);
    for (const auto& [column, axis] : {std::pair(3, "environment steps"), std::pair(4, "seconds")}) {
      text += fmt::format("set xlabel {}; set ylabel {}; set format x {}; set yrange {}\n", quoted(axis), quoted(name),
                          column == 3 ? "'%.1s%c'" : "'%g'", range);
      std::vector<std::string> lines = curve_lines(comparison, column, mean);
      if (signal > 0) {
        for (const std::string& line : limit_lines(comparison, signal - 1)) lines.push_back(line);
      }
      text += fmt::format("plot {}\n", fmt::join(lines, ", \\\n     "));
    }
  }
  return text + "unset multiplot\n";
}

}  // namespace cgpo
