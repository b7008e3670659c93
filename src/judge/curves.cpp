#include "cgpo/judge/curves.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <functional>
#include <limits>
#include <map>

#include "cgpo/base/numbers.hpp"
#include "cgpo/judge/metrics.hpp"
#include "cgpo/rollout/divergence.hpp"
#include "cgpo/run/report_fields.hpp"

namespace cgpo {
namespace {

// One line of a chart.
struct Series {
  std::string name;
  ReportMember member;
  std::optional<ReportMember> error;  // its standard error
  std::size_t index = 0;              // of a list

  double value(const LogEntry& entry) const { return number_at(entry, member, index); }
  double error_of(const LogEntry& entry) const { return error ? number_at(entry, *error, index) : kNan; }
};

std::vector<Series> all_series(const std::vector<std::string>& costs) {
  std::vector<Series> series;
  for (const ReportField& field : report_fields()) {
    if (!field.chart) continue;
    const FieldChart& chart = *field.chart;
    const auto add = [&](const ChartLine& line) {
      if (chart.lines == Lines::kOne) {
        series.push_back({line.id, line.member, line.error, 0});
        return;
      }
      const bool signals = chart.lines == Lines::kEachSignal;
      if (signals) series.push_back({line.id + "/return", line.member, line.error, 0});
      for (std::size_t i = 0; i < costs.size(); ++i) {
        series.push_back({line.id + "/" + costs[i], line.member, line.error, i + (signals ? 1 : 0)});
      }
    };
    add({chart.id, chart.label, field.member, chart.error});
    for (const ChartLine& line : chart.more) add(line);
  }
  return series;
}

const char* name_of(Lines lines) {
  switch (lines) {
    case Lines::kOne: return "one";
    case Lines::kEachCost: return "cost";
    case Lines::kEachSignal: return "signal";
    case Lines::kChartEachCost: return "chart";
  }
  return "";
}

using Logs = std::span<const std::vector<LogEntry>>;

// The entries of one iteration, of each log that has it. A log that was damaged has gaps.
using Row = std::vector<const LogEntry*>;

std::vector<Row> rows_of(Logs logs) {
  std::map<int, Row> by_iteration;
  for (const std::vector<LogEntry>& log : logs) {
    for (const LogEntry& entry : log) by_iteration[entry.report.iteration].push_back(&entry);
  }
  std::vector<Row> rows;
  for (auto& [iteration, row] : by_iteration) rows.push_back(std::move(row));
  return rows;
}

std::vector<double> values_of(const Row& row, const std::function<double(const LogEntry&)>& value) {
  std::vector<double> values;
  for (const LogEntry* entry : row) values.push_back(value(*entry));
  return values;
}

// Mean and half-width of the line's 95 % interval.
std::pair<double, double> point_of(const Row& row, bool alone, const Series& series) {
  if (alone) return {series.value(*row.front()), 1.96 * series.error_of(*row.front())};
  const SeedMean mean = mean_over_seeds(values_of(row, [&](const LogEntry& entry) { return series.value(entry); }));
  return {mean.mean, mean.half_width.value_or(kNan)};
}

// Why an iteration cannot be judged: of the first log in which too many episodes diverged there. Empty: it can.
std::string words_of_divergence(const Row& row) {
  for (const LogEntry* entry : row) {
    const IterationReport& report = entry->report;
    if (too_many_diverged(report)) return diverged_words(report.diverged, report.episodes);
  }
  return "";
}

void add_series(std::span<const Row> rows, bool alone, const Series& series, Json& all) {
  std::vector<double> means;
  std::vector<double> halves;
  for (const Row& row : rows) {
    const auto [mean, half] = point_of(row, alone, series);
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

Json charts_json() {
  std::vector<FieldChart> charts;
  for (const ReportField& field : report_fields()) {
    if (field.chart) charts.push_back(*field.chart);
  }
  std::sort(charts.begin(), charts.end(), [](const auto& a, const auto& b) { return a.place < b.place; });
  Json result = Json::array();
  for (const FieldChart& chart : charts) {
    Json more = Json::array();
    for (const ChartLine& line : chart.more) more.push_back({{"id", line.id}, {"label", line.label}});
    result.push_back({{"id", chart.id},
                      {"title", chart.title},
                      {"lines", name_of(chart.lines)},
                      {"label", chart.label},
                      {"more", more},
                      {"log", chart.logarithmic},
                      {"percent", chart.percent},
                      {"cases", chart.shows_case},
                      {"onlyIfAny", chart.only_if_any},
                      {"onlyIfVaried", chart.only_if_varied}});
  }
  return result;
}

Json curves_json(Logs logs, const std::vector<std::string>& costs, std::size_t from) {
  const std::vector<Row> all = rows_of(logs);
  from = std::min(from, all.size());
  const std::span<const Row> rows = std::span(all).subspan(from);
  const bool alone = logs.size() == 1;
  Json result;
  result["from"] = from;
  const auto column = [&](const char* name, const std::function<double(const LogEntry&)>& value) {
    std::vector<double> values;
    for (const Row& row : rows) values.push_back(mean_over_seeds(values_of(row, value)).mean);
    result[name] = page_numbers(values);
  };
  column("iteration", [](const LogEntry& entry) { return static_cast<double>(entry.report.iteration + 1); });
  column("steps", [](const LogEntry& entry) { return static_cast<double>(entry.report.steps); });
  column("seconds", [](const LogEntry& entry) { return entry.seconds; });
  // Whether it prepared on our engine, in all logs that have the line.
  result["prepares"] = Json::array();
  for (const Row& row : rows) {
    result["prepares"].push_back(
        std::all_of(row.begin(), row.end(), [](const LogEntry* entry) { return is_preparation(entry->report); }));
  }
  result["case"] = Json::array();
  for (const Row& row : rows) {
    if (alone) result["case"].push_back(row.front()->report.update_case);
  }
  result["diverged"] = Json::array();
  for (const Row& row : rows) result["diverged"].push_back(words_of_divergence(row));
  result["series"] = Json::object();
  for (const Series& series : all_series(costs)) add_series(rows, alone, series, result["series"]);
  return result;
}

}  // namespace cgpo
