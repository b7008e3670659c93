#include "cgpo/judge/curves.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <functional>
#include <limits>

#include "cgpo/judge/metrics.hpp"

namespace cgpo {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

using Read = std::function<double(const IterationReport&)>;

struct Series {
  std::string name;
  Read value;
  Read error = [](const IterationReport&) { return kNan; };  // standard error
};

Read entry(std::vector<double> IterationReport::*list, std::size_t index) {
  return [=](const IterationReport& report) { return index < (report.*list).size() ? (report.*list)[index] : kNan; };
}

Read optional(std::optional<double> IterationReport::*field) {
  return [=](const IterationReport& report) { return (report.*field).value_or(kNan); };
}

std::vector<Series> all_series(const std::vector<std::string>& costs) {
  using R = IterationReport;
  std::vector<Series> series = {
      {"return", [](const R& report) { return report.return_mean; }, [](const R& report) { return report.return_se; }}};
  for (std::size_t i = 0; i < costs.size(); ++i) {
    series.push_back({"cost/" + costs[i], entry(&R::costs, i), entry(&R::costs_se, i)});
    series.push_back({"violation/" + costs[i], entry(&R::violation_rates, i)});
  }
  series.push_back({"radius", optional(&R::radius)});
  series.push_back({"kl", optional(&R::kl)});
  for (std::size_t i = 0; i <= costs.size(); ++i) {
    const std::string signal = i == 0 ? "return" : costs[i - 1];
    series.push_back({"gradient/" + signal, entry(&R::gradient_norms, i)});
    series.push_back({"critic/" + signal, entry(&R::critic_losses, i)});
    series.push_back({"explained/" + signal, entry(&R::critic_explained, i)});
  }
  series.push_back({"length", [](const R& report) { return report.episode_length; }});
  series.push_back({"contact", optional(&R::contact_share)});
  series.push_back({"diverged", [](const R& report) { return static_cast<double>(report.diverged); }});
  return series;
}

using Logs = std::span<const std::vector<LogEntry>>;

// What each log that has line i says there.
std::vector<double> values_at(Logs logs, std::size_t i, const std::function<double(const LogEntry&)>& value) {
  std::vector<double> values;
  for (const std::vector<LogEntry>& log : logs) {
    if (i < log.size()) values.push_back(value(log[i]));
  }
  return values;
}

// Mean and half-width of the line's 95 % interval.
std::pair<double, double> point_at(Logs logs, std::size_t i, const Series& series) {
  if (logs.size() == 1) {
    const IterationReport& report = logs.front()[i].report;
    return {series.value(report), 1.96 * series.error(report)};
  }
  const SeedMean mean =
      mean_over_seeds(values_at(logs, i, [&](const LogEntry& entry) { return series.value(entry.report); }));
  return {mean.mean, mean.half_width.value_or(kNan)};
}

void add_series(Logs logs, std::size_t from, std::size_t lines, const Series& series, Json& all) {
  std::vector<double> means;
  std::vector<double> halves;
  for (std::size_t i = from; i < lines; ++i) {
    const auto [mean, half] = point_at(logs, i, series);
    means.push_back(mean);
    halves.push_back(half);
  }
  const auto any = [](const std::vector<double>& values) {
    return std::any_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
  };
  if (!any(means)) return;
  Json& target = all[series.name];
  target["mean"] = page_numbers(means);
  if (any(halves)) target["half"] = page_numbers(halves);
}

}  // namespace

Json page_number(double value) {
  if (!std::isfinite(value)) return nullptr;
  return std::strtod(fmt::format("{:.7g}", value).c_str(), nullptr);
}

Json page_numbers(std::span<const double> values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(page_number(value));
  return list;
}

Json curves_json(Logs logs, const std::vector<std::string>& costs, std::size_t from) {
  std::size_t lines = 0;
  for (const std::vector<LogEntry>& log : logs) lines = std::max(lines, log.size());
  from = std::min(from, lines);
  Json result;
  result["from"] = from;
  const auto column = [&](const char* name, const std::function<double(const LogEntry&)>& value) {
    std::vector<double> values;
    for (std::size_t i = from; i < lines; ++i) values.push_back(mean_over_seeds(values_at(logs, i, value)).mean);
    result[name] = page_numbers(values);
  };
  column("iteration", [](const LogEntry& entry) { return static_cast<double>(entry.report.iteration + 1); });
  column("steps", [](const LogEntry& entry) { return static_cast<double>(entry.report.steps); });
  column("seconds", [](const LogEntry& entry) { return entry.seconds; });
  result["case"] = Json::array();
  for (std::size_t i = from; logs.size() == 1 && i < lines; ++i) {
    result["case"].push_back(logs.front()[i].report.update_case);
  }
  result["series"] = Json::object();
  for (const Series& series : all_series(costs)) add_series(logs, from, lines, series, result["series"]);
  return result;
}

}  // namespace cgpo
