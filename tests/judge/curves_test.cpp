#include "cgpo/judge/curves.hpp"

#include <gtest/gtest.h>

namespace cgpo {
namespace {

std::string words(const Json& chart) {
  std::string text = chart.at("id").get<std::string>() + " " + chart.at("lines").get<std::string>();
  for (const char* flag : {"log", "percent", "cases", "onlyIfAny", "onlyIfVaried"}) {
    if (chart.at(flag).get<bool>()) text += std::string(" ") + flag;
  }
  for (const Json& line : chart.at("more")) text += " +" + line.at("id").get<std::string>();
  return text;
}

// The page shows them in this order, whatever that of the log is.
TEST(Charts, AreThoseOfThePage) {
  std::vector<std::string> charts;
  for (const Json& chart : charts_json()) charts.push_back(words(chart));
  EXPECT_EQ(charts, (std::vector<std::string>{
                        "return one +return-deployed", "cost chart +cost-filtered +cost-deployed",
                        "violation cost percent", "radius one log cases", "gradient signal log", "critic signal log",
                        "explained signal", "length one", "kl one log", "contact one percent", "diverged one onlyIfAny",
                        "episodes one onlyIfVaried", "noise one log onlyIfVaried", "twin one log +twin-window"}));
}

// In words, of whichever seed it was.
TEST(Charts, CurvesSayWhichLinesCannotBeJudged) {
  std::vector<std::vector<LogEntry>> logs(2, std::vector<LogEntry>(3));
  for (auto& log : logs) {
    for (std::size_t i = 0; i < log.size(); ++i) {
      log[i].report.iteration = static_cast<int>(i);
      log[i].report.episodes = 8;
    }
  }
  logs[0][0].report.diverged = 1;
  logs[1][2].report.diverged = 5;
  EXPECT_EQ(curves_json(logs, {}).at("diverged"), Json({"", "", "5 of 8 episodes diverged"}));
  EXPECT_EQ(curves_json(logs, {}, 2).at("diverged"), Json::array({"5 of 8 episodes diverged"}));
}

TEST(Charts, CurvesSayWhereARunPrepares) {
  std::vector<std::vector<LogEntry>> logs(2, std::vector<LogEntry>(3));
  for (auto& log : logs) {
    for (std::size_t i = 0; i < log.size(); ++i) {
      log[i].report.iteration = static_cast<int>(i);
      log[i].report.stage = i < 2 ? "own" : "task";
    }
  }
  logs[1][1].report.stage = "task";
  EXPECT_EQ(curves_json(logs, {}).at("prepares"), Json({true, false, false}));
  EXPECT_EQ(curves_json(std::span(logs).first(1), {}, 1).at("prepares"), Json({true, false}));
}

TEST(Charts, CurvesHaveTheirNames) {
  LogEntry entry;
  IterationReport& report = entry.report;
  report.costs = {1.0, 2.0};
  report.costs_se = {0.5, 1.0};
  report.violation_rates = {0.1, 0.2};
  report.gradient_norms = {3.0, 4.0, 5.0};
  report.contact_share = 0.25;
  const std::vector<std::vector<LogEntry>> logs = {{entry}};
  const Json series = curves_json(logs, {"speed", "energy"}).at("series");
  EXPECT_EQ(series.at("cost/energy").at("mean"), Json::array({2.0}));
  EXPECT_EQ(series.at("cost/energy").at("half"), Json::array({1.96}));
  EXPECT_EQ(series.at("violation/speed").at("mean"), Json::array({0.1}));
  EXPECT_FALSE(series.at("violation/speed").contains("half"));
  EXPECT_EQ(series.at("gradient/return").at("mean"), Json::array({3.0}));
  EXPECT_EQ(series.at("gradient/energy").at("mean"), Json::array({5.0}));
  EXPECT_EQ(series.at("contact").at("mean"), Json::array({0.25}));
  EXPECT_FALSE(series.contains("explained/return"));
  EXPECT_FALSE(series.contains("cost-deployed/speed"));  // an older log
}

// The same cost, known in other ways: lines beside its own.
TEST(Charts, CostsAreAlsoThereFilteredAndDeployed) {
  LogEntry entry;
  IterationReport& report = entry.report;
  report.costs = {1.0, 2.0};
  report.costs_filtered = {1.1, 2.2};
  report.costs_filtered_se = {0.5, 0.25};
  report.costs_deployed = {1.3, 2.4};
  report.costs_deployed_se = {0.1, 0.2};
  report.return_deployed = 7.0;
  report.noise = 0.05;
  report.episodes = 8;
  const std::vector<std::vector<LogEntry>> logs = {{entry}};
  const Json series = curves_json(logs, {"speed", "energy"}).at("series");
  EXPECT_EQ(series.at("cost-filtered/energy").at("mean"), Json::array({2.2}));
  EXPECT_EQ(series.at("cost-filtered/energy").at("half"), Json::array({0.49}));
  EXPECT_EQ(series.at("cost-deployed/speed").at("mean"), Json::array({1.3}));
  EXPECT_EQ(series.at("cost-deployed/speed").at("half"), Json::array({0.196}));
  EXPECT_EQ(series.at("return-deployed").at("mean"), Json::array({7.0}));
  EXPECT_EQ(series.at("noise").at("mean"), Json::array({0.05}));
  EXPECT_EQ(series.at("episodes").at("mean"), Json::array({8.0}));
}

}  // namespace
}  // namespace cgpo
