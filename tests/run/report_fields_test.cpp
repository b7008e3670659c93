#include "cgpo/run/report_fields.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <set>

namespace cgpo {
namespace {

// Every field of the table has numbers of its own.
LogEntry filled() {
  LogEntry entry;
  double next = 1.0;
  for (const ReportField& field : report_fields()) {
    std::visit(
        [&](auto member) {
          using Pointer = decltype(member);
          next += 1.25;
          if constexpr (std::is_same_v<Pointer, double LogEntry::*>) {
            entry.*member = next;
          } else if constexpr (std::is_same_v<Pointer, std::string IterationReport::*>) {
            entry.report.*member = "text " + std::to_string(next);
          } else if constexpr (std::is_same_v<Pointer, std::vector<double> IterationReport::*>) {
            entry.report.*member = {next, -next};
          } else if constexpr (std::is_same_v<Pointer, std::optional<WorldReport> IterationReport::*>) {
            (entry.report.*member) = WorldReport{.state_error = 0.5,
                                                 .signal_errors = {1.0, 2.0},
                                                 .window_error = 3.0,
                                                 .spread = 4.0,
                                                 .training_loss = 5.0,
                                                 .minibatches = 6,
                                                 .transitions = 7'000'000'000,
                                                 .model_share = 8.0,
                                                 .return_windows = 9.0,
                                                 .costs_windows = {},
                                                 .return_episodes = 10.0,
                                                 .costs_episodes = {11.0}};
          } else if constexpr (std::is_same_v<Pointer, std::optional<double> IterationReport::*> ||
                               std::is_same_v<Pointer, double IterationReport::*>) {
            entry.report.*member = next;
          } else {
            entry.report.*member = static_cast<int>(next);
          }
        },
        field.member);
  }
  return entry;
}

TEST(ReportFields, SurviveTheLog) {
  const LogEntry entry = filled();
  const Json line = Json::parse(to_json(entry).dump());
  const LogEntry again = from_json(line);
  std::set<std::string> names;
  for (const ReportField& field : report_fields()) {
    EXPECT_TRUE(names.insert(field.name).second) << field.name << " stands twice";
    EXPECT_TRUE(line.contains(field.name)) << field.name;
    for (const std::size_t index : {0, 1, 2}) {
      const double before = number_at(entry, field.member, index);
      const double after = number_at(again, field.member, index);
      EXPECT_TRUE(before == after || (std::isnan(before) && std::isnan(after))) << field.name;
    }
  }
  EXPECT_EQ(line.size(), report_fields().size());
  EXPECT_EQ(again.report.update_case, entry.report.update_case);
  EXPECT_EQ(again.report.warning, entry.report.warning);
  EXPECT_EQ(to_json(again).dump(), to_json(entry).dump());
}

// The words that logs on disk have.
TEST(ReportFields, AreWrittenAsEver) {
  LogEntry entry;
  entry.seconds = 0.12345;
  entry.report.iteration = 1;
  entry.report.steps = 20;
  entry.report.return_mean = 0.1;
  entry.report.return_se = 0.2;
  entry.report.return_paper = 0.3;
  entry.report.costs = {1.0};
  entry.report.limits = {std::numeric_limits<double>::infinity()};
  entry.report.radius = 0.5;
  entry.report.update_case = "free";
  entry.report.world.emplace();
  entry.report.world->minibatches = 3;
  EXPECT_EQ(to_json(entry).dump(),
            R"({"iteration":1,"steps":20,"seconds":0.123,"return":0.1,"return_se":0.2,"return_paper":0.3,)"
            R"("costs":[1.0],"costs_se":[],"limits":[null],"episode_length":0.0,"diverged":0,"case":"free",)"
            R"("radius":0.5,"world":{"state_error":0.0,"signal_errors":[],"window_error":0.0,"spread":0.0,)"
            R"("training_loss":0.0,"minibatches":3,"transitions":0,"model_share":0.0,"return_windows":0.0,)"
            R"("costs_windows":[],"return_episodes":0.0,"costs_episodes":[]}})");
  EXPECT_EQ(from_json(Json::parse(to_json(entry).dump())).report.limits, entry.report.limits);
}

TEST(ReportFields, ChartsHavePlacesOfTheirOwn) {
  std::set<int> places;
  std::set<std::string> ids;
  for (const ReportField& field : report_fields()) {
    if (!field.chart) continue;
    EXPECT_TRUE(places.insert(field.chart->place).second) << field.name;
    EXPECT_TRUE(ids.insert(field.chart->id).second) << field.name;
  }
}

}  // namespace
}  // namespace cgpo
