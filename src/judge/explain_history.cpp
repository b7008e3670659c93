#include <algorithm>
#include <cmath>
#include <limits>

#include "cgpo/base/numbers.hpp"
#include "cgpo/judge/explain.hpp"
#include "cgpo/updates/report.hpp"

namespace cgpo {
namespace {

constexpr std::size_t kReturnsOfLast = 5;  // iterations whose mean return is the recent one
constexpr int kRecentAtLeast = 20;

Delivery deliver(const std::vector<LogEntry>& log, std::size_t begin, std::size_t k) {
  Delivery result;
  double products = 0.0;
  double squares = 0.0;
  double noise = 0.0;
  double sizes = 0.0;
  for (std::size_t i = begin; i < log.size(); ++i) {
    const IterationReport& report = log[i].report;
    if (k >= report.change_predicted.size() || k >= report.change_realised.size() || k >= report.change_se.size())
      continue;
    const double predicted = report.change_predicted[k];
    const double realised = report.change_realised[k];
    if (!std::isfinite(predicted) || !std::isfinite(realised) || !std::isfinite(report.change_se[k])) continue;
    products += predicted * realised;
    squares += predicted * predicted;
    noise += std::pow(predicted * report.change_se[k], 2);
    sizes += std::abs(predicted);
    ++result.updates;
  }
  if (!(squares > 0.0)) return {};
  result.share = products / squares;
  result.se = std::sqrt(noise) / squares;
  result.predicted = sizes / result.updates;
  return result;
}

}  // namespace

RunHistory summarise_log(const std::vector<LogEntry>& log, const RadiusSettings& radius) {
  RunHistory history;
  history.iterations = static_cast<int>(log.size());
  if (log.empty()) return history;
  // What updates did on another engine says nothing of those that came after.
  const auto judged = static_cast<int>(
      std::count_if(log.begin(), log.end(), [](const LogEntry& entry) { return !is_preparation(entry.report); }));
  const int last_stage = judged > 0 ? judged : history.iterations;
  history.recent = std::min(last_stage, std::max(kRecentAtLeast, history.iterations / 4));
  const std::size_t begin = log.size() - static_cast<std::size_t>(history.recent);
  const double share = 1.0 / history.recent;
  constexpr double kRounding = 1e-9;
  history.trust_region = std::any_of(log.begin() + static_cast<std::ptrdiff_t>(begin), log.end(),
                                     [](const LogEntry& entry) { return entry.report.radius.has_value(); });
  for (std::size_t i = begin; i < log.size(); ++i) {
    const IterationReport& report = log[i].report;
    if (report.world) {
      if (!history.model) history.model.emplace();
      history.model->step += share * report.world->state_error;
      history.model->window += share * report.world->window_error;
    }
    if (report.radius && *report.radius <= radius.lower * (1.0 + kRounding)) history.at_lower += share;
    if (report.radius && *report.radius >= radius.upper * (1.0 - kRounding)) history.at_upper += share;
    if (report.update_case == "refused") history.refused += share;
    if (report.update_case == "retreat") history.retreated += share;
    if (!report.warning.empty()) {
      ++history.warnings;
      history.last_warning = report.warning;
    }
  }
  std::size_t signals = 0;
  for (const LogEntry& entry : log) signals = std::max(signals, entry.report.change_predicted.size());
  for (std::size_t k = 0; k < signals; ++k) history.deliveries.push_back(deliver(log, begin, k));

  double lowest = std::numeric_limits<double>::infinity();
  double highest = -lowest;
  for (const LogEntry& entry : log) {
    const IterationReport& report = entry.report;
    if (!std::isfinite(report.return_mean) || too_many_diverged(report) || is_preparation(report)) continue;
    lowest = std::min(lowest, report.return_mean);
    highest = std::max(highest, report.return_mean);
    if (is_deployable(report) && !(history.best_return && report.return_mean <= *history.best_return)) {
      history.best_return = report.return_mean;
      history.best_iteration = report.iteration;
    }
  }
  history.return_range = std::max(highest - lowest, 0.0);
  std::vector<double> recent;
  for (std::size_t i = log.size() - std::min(log.size(), kReturnsOfLast); i < log.size(); ++i) {
    const IterationReport& report = log[i].report;
    if (std::isfinite(report.return_mean) && !too_many_diverged(report) && !is_preparation(report))
      recent.push_back(report.return_mean);
  }
  if (recent.empty()) history.recent_return = kNan;
  const IterationReport& last = log.back().report;
  if (!too_many_diverged(last) && !is_preparation(last)) history.last_return = last.return_mean;
  for (const double value : recent) history.recent_return += value / static_cast<double>(recent.size());
  return history;
}

}  // namespace cgpo
