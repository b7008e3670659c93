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
          } else if constexpr (std::is_same_v<Pointer, NamedNumbers IterationReport::*>) {
            entry.report.*member = {{"one", next}, {"two", -next}};
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

// The words that logs on disk have, each with its own number.
TEST(ReportFields, AreWrittenAsEver) {
  LogEntry entry;
  entry.seconds = 0.12345;
  IterationReport& report = entry.report;
  report.iteration = 1;
  report.steps = 20;
  report.return_mean = 0.1;
  report.return_se = 0.2;
  report.return_paper = 0.3;
  report.costs = {1.0};
  report.limits = {std::numeric_limits<double>::infinity()};
  report.episodes = 23;
  report.costs_filtered = {24.0};
  report.costs_filtered_se = {25.0};
  report.return_deployed = 26.0;
  report.costs_deployed = {27.0};
  report.costs_deployed_se = {28.0};
  report.noise = 29.0;
  report.costs_low = {2.0};
  report.costs_high = {3.0};
  report.violation_rates = {4.0};
  report.episode_length = 5.0;
  report.contact_share = 6.0;
  report.diverged = 7;
  report.update_case = "free";
  report.radius = 8.0;
  report.rho = 9.0;
  report.zeta = 10.0;
  report.change_predicted = {11.0};
  report.change_realised = {12.0};
  report.change_se = {13.0};
  report.kl = 14.0;
  report.lambda = 15.0;
  report.nu = {16.0};
  report.gradient_norms = {17.0};
  report.gradient_errors = {18.0};
  report.gradient_signals = {19.0};
  report.gradient_mixture = {19.5};
  report.critic_losses = {20.0};
  report.critic_explained = {21.0};
  report.critic_cosines = {22.0};
  report.world.emplace();
  report.world->minibatches = 3;
  report.twin_error = 30.0;
  report.twin_window_error = 31.0;
  report.twin_parameters = {{"limit_width", 32.0}};
  report.warning = "words";
  EXPECT_EQ(to_json(entry).dump(),
            R"({"iteration":1,"steps":20,"seconds":0.123,"return":0.1,"return_se":0.2,"return_paper":0.3,)"
            R"("costs":[1.0],"costs_se":[],"limits":[null],"episodes":23,)"
            R"("costs_filtered":[24.0],"costs_filtered_se":[25.0],)"
            R"("return_deployed":26.0,"costs_deployed":[27.0],"costs_deployed_se":[28.0],"noise":29.0,)"
            R"("costs_low":[2.0],"costs_high":[3.0],)"
            R"("violation_rates":[4.0],"episode_length":5.0,"contact_share":6.0,"diverged":7,"case":"free",)"
            R"("radius":8.0,"rho":9.0,"zeta":10.0,"change_predicted":[11.0],"change_realised":[12.0],)"
            R"("change_se":[13.0],"kl":14.0,"lambda":15.0,"nu":[16.0],"gradient_norms":[17.0],)"
            R"("gradient_errors":[18.0],"gradient_signals":[19.0],"gradient_mixture":[19.5],)"
            R"("critic_losses":[20.0],)"
            R"("critic_explained":[21.0],"critic_cosines":[22.0],"world":{"state_error":0.0,"signal_errors":[],)"
            R"("window_error":0.0,"spread":0.0,"training_loss":0.0,"minibatches":3,"transitions":0,)"
            R"("model_share":0.0,"return_windows":0.0,"costs_windows":[],"return_episodes":0.0,)"
            R"("costs_episodes":[]},"twin_error":30.0,"twin_window_error":31.0,)"
            R"("twin_parameters":{"limit_width":32.0},"warning":"words"})");
  EXPECT_EQ(from_json(Json::parse(to_json(entry).dump())).report.twin_parameters, report.twin_parameters);
  EXPECT_EQ(from_json(Json::parse(to_json(entry).dump())).report.limits, report.limits);
}

TEST(ReportFields, ChartsHavePlacesOfTheirOwn) {
  std::set<int> places;
  std::set<std::string> ids;
  for (const ReportField& field : report_fields()) {
    if (!field.chart) continue;
    EXPECT_TRUE(places.insert(field.chart->place).second) << field.name;
    EXPECT_TRUE(ids.insert(field.chart->id).second) << field.name;
    for (const ChartLine& line : field.chart->more) EXPECT_TRUE(ids.insert(line.id).second) << line.id;
  }
}

}  // namespace
}  // namespace cgpo
