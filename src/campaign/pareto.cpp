#include "cgpo/campaign/pareto.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/ranges.h>

#include "cgpo/campaign/gnuplot.hpp"

namespace cgpo {
namespace {

struct Point {
  std::uint64_t seed = 0;
  bool converged = false;
  std::int64_t steps = 0;
  double over = 0.0;
};

// Of the runs that finished; of those without a limit there is none.
std::vector<Point> points_of(const Comparison& comparison, const ComparedAlgorithm& algorithm) {
  std::vector<Point> points;
  for (const ComparedRun* run : finished_runs(algorithm)) {
    const RunMetrics metrics = measure(run->log, comparison.settings);
    if (!metrics.violations_whole) continue;
    const std::optional<std::int64_t>& steps = metrics.convergence_strict;
    points.push_back({run->seed, steps.has_value(),
                      std::max(std::int64_t{1}, steps.value_or(run->log.back().report.steps)),
                      *metrics.violations_whole});
  }
  return points;
}

// Filled and hollow, in gnuplot's numbers.
struct Shape {
  int filled;
  int hollow;
};
constexpr std::array<Shape, 6> kShapes = {{{7, 6}, {5, 4}, {9, 8}, {11, 10}, {13, 12}, {15, 14}}};

// What the axes must hold: the steps of the runs that converged, of all if none did.
struct Extent {
  double first = 0.0;
  double last = 0.0;
  double over = 0.0;  // the largest share
  bool any_failed = false;
};
Extent extent_of(const Comparison& comparison) {
  Extent extent;
  std::vector<double> converged;
  std::vector<double> all;
  for (const ComparedAlgorithm& algorithm : comparison.algorithms) {
    for (const Point& point : points_of(comparison, algorithm)) {
      all.push_back(static_cast<double>(point.steps));
      if (point.converged) converged.push_back(all.back());
      extent.over = std::max(extent.over, point.over);
    }
  }
  extent.any_failed = converged.size() < all.size();
  const auto [first, last] = std::ranges::minmax(converged.empty() ? all : converged);
  extent.first = first;
  extent.last = last;
  return extent;
}

// 1, 2 and 5 times each power of ten: gnuplot would mark the powers alone, of which a range may have one.
std::string ticks_between(double first, double last) {
  std::vector<std::string> ticks;
  for (double power = std::pow(10.0, std::floor(std::log10(first))); power <= last; power *= 10.0) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double tick = factor * power;
      if (tick >= first && tick <= last) ticks.push_back(fmt::format("{:g}", tick));
    }
  }
  if (ticks.empty()) ticks.push_back(fmt::format("{:g}", last));
  return fmt::format("({})", fmt::join(ticks, ", "));
}

std::string panel_script(const ParetoPanel& panel) {
  const Comparison& comparison = *panel.comparison;
  const Extent extent = extent_of(comparison);
  // On the logarithmic axis the runs that did not converge have a strip of their own, behind a line.
  const double begin = extent.first / 1.3;
  const double wall = 1.3 * extent.last;
  const double end = extent.any_failed ? wall * std::pow(wall / begin, 0.3) : wall;
  const double top = std::max(5.0, 105.0 * extent.over);  // percent
  std::string text = fmt::format(
      "set title {}; set xrange [{:g}:{:g}]; set yrange [{:g}:{:g}]; set xtics {}\nunset arrow; unset label\n",
      quoted(comparison.task), begin, end, -0.04 * top, top, ticks_between(begin, wall));
  if (extent.any_failed) {
    text += fmt::format(
        "set arrow from {0:g}, graph 0 to {0:g}, graph 1 nohead dt 2 lc rgb '#888888'\n"
        "set label 'not converged' at {1:g}, graph 1.03 center font ',9' tc rgb '#555555'\n",
        wall, std::sqrt(wall * end));
  }
  std::vector<std::string> plots;
  for (std::size_t i = 0; i < comparison.algorithms.size(); ++i) {
    const ComparedAlgorithm& algorithm = comparison.algorithms[i];
    const std::vector<Point> points = points_of(comparison, algorithm);
    if (points.empty()) continue;
    const std::string file = quoted(panel.folder + pareto_file(algorithm));
    const std::string& colour = line_colours()[i % line_colours().size()];
    const Shape shape = kShapes[i % kShapes.size()];
    plots.push_back(
        fmt::format("{} skip 1 using ($2 == 1 ? $3 : 1/0):(100 * $4) with points pt {} ps 0.9 lc rgb '{}' title {}",
                    file, shape.filled, colour, quoted(algorithm.label)));
    if (std::all_of(points.begin(), points.end(), [](const Point& point) { return point.converged; })) continue;
    // Side by side, so that those of one algorithm do not hide another's.
    const double share = (static_cast<double>(i) + 0.5) / static_cast<double>(comparison.algorithms.size());
    plots.push_back(
        fmt::format("{} skip 1 using ($2 == 0 ? {:g} : 1/0):(100 * $4) with points pt {} ps 0.9 lc rgb '{}' notitle",
                    file, wall * std::pow(end / wall, share), shape.hollow, colour));
  }
  return text + fmt::format("plot {}\n", fmt::join(plots, ", \\\n     "));
}

}  // namespace

std::string pareto_file(const ComparedAlgorithm& algorithm) { return "pareto-" + algorithm.label + ".csv"; }

std::string pareto_csv(const Comparison& comparison, const ComparedAlgorithm& algorithm) {
  std::string text = "seed,converged,steps,over\n";
  for (const Point& point : points_of(comparison, algorithm)) {
    text += fmt::format("{},{:d},{},{}\n", point.seed, point.converged, point.steps, point.over);
  }
  return text;
}

bool has_pareto(const Comparison& comparison) {
  return std::any_of(comparison.algorithms.begin(), comparison.algorithms.end(),
                     [&](const auto& algorithm) { return !points_of(comparison, algorithm).empty(); });
}

std::string pareto_script(const std::string& name, const std::vector<ParetoPanel>& panels) {
  std::vector<ParetoPanel> drawn;
  for (const ParetoPanel& panel : panels) {
    if (has_pareto(*panel.comparison)) drawn.push_back(panel);
  }
  const int columns = drawn.size() > 1 ? 2 : 1;
  const int rows = (static_cast<int>(drawn.size()) + columns - 1) / columns;
  std::string text = svg_header(name, 560 * columns, 420 * std::max(1, rows));
  text += fmt::format(
      "set multiplot layout {},{}\nset key below\nset logscale x\nset format x '%.0s%c'\n"
      "set xlabel 'environment steps until converged'\nset ylabel 'updates over the limit, %'\n",
      std::max(1, rows), columns);
  for (const ParetoPanel& panel : drawn) text += panel_script(panel);
  return text + "unset multiplot\n";
}

}  // namespace cgpo
