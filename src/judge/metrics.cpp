#include "cgpo/judge/metrics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <limits>

#include "cgpo/base/numbers.hpp"
#include "cgpo/base/statistics.hpp"
#include "cgpo/updates/report.hpp"

namespace cgpo {
namespace {

// NaN if too many episodes diverged: those that are left do not speak for the policy.
// Nor does another engine.
double return_of(const LogEntry& entry) {
  return too_many_diverged(entry.report) || is_preparation(entry.report) ? kNan : entry.report.return_mean;
}

// From where the run began, be it on another engine, to its best on the task's own.
double return_range(std::span<const LogEntry> log) {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const LogEntry& entry : log) {
    const double value = entry.report.return_mean;
    if (!std::isfinite(value) || too_many_diverged(entry.report)) continue;
    low = std::min(low, value);
    if (!is_preparation(entry.report)) high = std::max(high, value);
  }
  return high >= low ? high - low : 0.0;
}

std::optional<double> best_feasible_return(std::span<const LogEntry> log) {
  std::optional<double> best;
  for (const LogEntry& entry : log) {
    if (is_feasible(entry.report)) best = std::max(best.value_or(entry.report.return_mean), entry.report.return_mean);
  }
  return best;
}

// Whether the return stays within `tolerance` of the point's over the points that follow it.
bool stays_near(std::span<const LogEntry> following, double value, double tolerance) {
  return std::all_of(following.begin(), following.end(), [&](const LogEntry& entry) {
    return std::abs(return_of(entry) - value) <= tolerance;  // a NaN is nowhere near
  });
}

// How many iterations must follow a point of convergence. A share of them, not of the steps: iterations may have
// different numbers of episodes.
std::size_t window_of(std::span<const LogEntry> log, const MetricSettings& settings) {
  const auto share = std::llround(settings.window * static_cast<double>(log.size()));
  return static_cast<std::size_t>(std::max(1LL, share));
}

std::optional<std::int64_t> converged_as_in_paper(std::span<const LogEntry> log, const MetricSettings& settings) {
  const double tolerance = settings.threshold * return_range(log);
  const std::size_t window = window_of(log, settings);
  for (std::size_t k = 0; k < log.size(); ++k) {
    const IterationReport& report = log[k].report;
    const std::size_t follow = std::min(window, log.size() - k - 1);
    if (is_feasible(report) && stays_near(log.subspan(k + 1, follow), report.return_mean, tolerance))
      return report.steps;
  }
  return std::nullopt;
}

std::optional<std::int64_t> converged_strictly(std::span<const LogEntry> log, const MetricSettings& settings) {
  const std::optional<double> best = best_feasible_return(log);
  if (!best) return std::nullopt;
  const double least = *best - settings.near_best * return_range(log);
  const std::size_t stretch = 1 + window_of(log, settings);
  std::size_t good = 0;  // in a row, up to k
  for (std::size_t k = 0; k < log.size(); ++k) {
    const IterationReport& report = log[k].report;
    good = is_feasible(report) && report.return_mean >= least ? good + 1 : 0;
    if (good == stretch) return log[k + 1 - stretch].report.steps;
  }
  return std::nullopt;
}

// Whether any cost is above its limit by more than `share` of max(|b|, 1), or not known.
bool any_above(const IterationReport& report, double share) {
  if (is_preparation(report)) return false;
  for (std::size_t i = 0; i < report.costs.size() && i < report.limits.size(); ++i) {
    const double limit = report.limits[i];
    if (!std::isfinite(limit)) continue;  // no limit
    if (too_many_diverged(report)) return true;
    if (!(report.costs[i] <= limit + share * std::max(std::abs(limit), 1.0))) return true;
  }
  return false;
}

bool has_limits(std::span<const LogEntry> log) {
  return std::any_of(log.begin(), log.end(), [](const LogEntry& entry) {
    return std::any_of(entry.report.limits.begin(), entry.report.limits.end(),
                       [](double limit) { return std::isfinite(limit); });
  });
}

}  // namespace

double student_quantile(int degrees) {
  static constexpr std::array<double, 30> kTable = {
      12.7062, 4.30265, 3.18245, 2.77645, 2.57058, 2.44691, 2.36462, 2.30600, 2.26216, 2.22814,
      2.20099, 2.17881, 2.16037, 2.14479, 2.13145, 2.11991, 2.10982, 2.10092, 2.09302, 2.08596,
      2.07961, 2.07387, 2.06866, 2.06390, 2.05954, 2.05553, 2.05183, 2.04841, 2.04523, 2.04227};
  if (degrees <= static_cast<int>(kTable.size())) return kTable[static_cast<std::size_t>(degrees - 1)];
  // Its expansion in 1/degrees from the normal one's quantile z, right to 1e-4 from here on.
  const double z = 1.959964;
  const double n = degrees;
  return z + (std::pow(z, 3) + z) / (4.0 * n) +
         (5.0 * std::pow(z, 5) + 16.0 * std::pow(z, 3) + 3.0 * z) / (96.0 * n * n);
}

const std::vector<MetricSetting>& metric_settings() {
  static const std::vector<MetricSetting> settings = {
      {"window", &MetricSettings::window, "of the iterations"},
      {"threshold", &MetricSettings::threshold, "of the run's range of returns"},
      {"near_best", &MetricSettings::near_best, "of the run's range of returns"},
      {"radius", &MetricSettings::radius, "of max(|b|, 1)"},
      {"margin", &MetricSettings::margin, "of max(|b|, 1)"},
  };
  return settings;
}

std::string describe(const MetricSettings& settings) {
  std::string text;
  for (const MetricSetting& setting : metric_settings()) {
    text += fmt::format("{}{} = {:g} % {}", text.empty() ? "" : ", ", setting.name, 100.0 * settings.*setting.field,
                        setting.unit);
  }
  return text;
}

RunMetrics measure(std::span<const LogEntry> log, const MetricSettings& settings) {
  RunMetrics metrics;
  metrics.convergence_paper = converged_as_in_paper(log, settings);
  metrics.convergence_strict = converged_strictly(log, settings);
  if (!has_limits(log)) return metrics;
  std::size_t updates = 0;
  std::size_t over = 0;
  std::size_t critical = 0;
  for (const LogEntry& entry : log) {
    updates += is_preparation(entry.report) ? 0 : 1;
    over += any_above(entry.report, settings.margin) ? 1 : 0;
    critical += any_above(entry.report, -settings.radius) ? 1 : 0;
  }
  if (updates > 0) metrics.violations_whole = static_cast<double>(over) / static_cast<double>(updates);
  if (critical > 0) metrics.violations_critical = static_cast<double>(over) / static_cast<double>(critical);
  return metrics;
}

SeedMean mean_over_seeds(std::span<const double> values) {
  std::vector<double> finite;
  for (const double value : values) {
    if (std::isfinite(value)) finite.push_back(value);
  }
  SeedMean result{static_cast<int>(finite.size()), std::numeric_limits<double>::quiet_NaN(), std::nullopt};
  if (finite.empty()) return result;
  double sum = 0.0;
  for (const double value : finite) sum += value;
  result.mean = sum / static_cast<double>(finite.size());
  if (finite.size() > 1) result.half_width = student_quantile(result.count - 1) * standard_error(finite);
  return result;
}

}  // namespace cgpo
