// Tables and curves of hand-made runs.
#include "cgpo/campaign/comparison.hpp"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

namespace cgpo {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Ten iterations of 1000 steps and half a second: the return rises from 0 to `last` at iteration `rise` and stays.
ComparedRun run_of(std::uint64_t seed, int rise, double last, double cost) {
  ComparedRun run;
  run.seed = seed;
  run.folder = "all/x";
  for (int i = 0; i < 10; ++i) {
    LogEntry entry;
    entry.seconds = 0.5 * (i + 1);
    entry.report.iteration = i;
    entry.report.steps = 1000 * (i + 1);
    entry.report.return_mean = i < rise ? last * i / rise : last;
    entry.report.costs = {cost, -5.0};
    entry.report.limits = {10.0, std::numeric_limits<double>::infinity()};
    run.log.push_back(entry);
  }
  return run;
}

Comparison comparison_of(std::vector<ComparedAlgorithm> algorithms) {
  Comparison comparison;
  comparison.task = "test";
  comparison.costs = {"speed", "heat"};
  comparison.limits = {10.0, std::numeric_limits<double>::infinity()};
  comparison.algorithms = std::move(algorithms);
  return comparison;
}

Comparison three() {
  ComparedRun crashed;
  crashed.seed = 1;
  crashed.problem = "it fell over";
  return comparison_of({{"slow", "a", "best", {run_of(0, 6, 100.0, 5.0), run_of(1, 6, 100.0, 5.0)}},
                        {"fast", "b", "best", {run_of(0, 3, 90.0, 9.5), run_of(1, 3, 80.0, 20.0)}},
                        {"gone", "c", "paper", {run_of(0, 3, 90.0, 20.0), crashed}}});
}

TEST(Comparison, TableSaysWhatEachDid) {
  const std::string text = comparison_markdown(three());
  EXPECT_THAT(text, AllOf(HasSubstr("speed ≤ 10 | heat, no limit |"),
                          HasSubstr("| slow | 2 | 100 ± 0 | 5 ± 0 | -5 ± 0 | 2 of 2 | 7.0k ± 0 | 7.0k ± 0 | — "
                                    "| 0.0 % ± 0.0 % | 10.0k | 5 |")));
  // Mean 85, standard error 5, t's quantile 12.7062; seed 1 is over its limit in all updates.
  EXPECT_THAT(text, AllOf(HasSubstr("| fast | 2 | 85 ± 64 |"), HasSubstr("| 1 of 2 | 4.0k (1 of 2 runs) |")));
  EXPECT_THAT(text, AllOf(HasSubstr("| gone | 1 of 2 | 90 | 20 | -5 | 0 of 1 | did not converge | did not converge | "
                                    "100.0 % | 100.0 % |"),
                          HasSubstr("- gone, seed 1: it fell over")));
  EXPECT_THAT(text, HasSubstr("window = 10 % of the iterations"));
}

TEST(Comparison, RanksPutThoseFirstThatConvergeOnMoreSeeds) {
  const std::string text = comparison_markdown(three());
  EXPECT_THAT(text, HasSubstr("| Conv. Steps, strict | as above | 7.0k ± 0, 1. | 4.0k (1 of 2 runs), 2. | did not "
                              "converge |  |"));
  // Half of a radius of 1 below 10: 9.5 is no longer critical.
  EXPECT_THAT(text,
              HasSubstr("| Vio. Ratio, critical area | radius 5 % | — | 100.0 % (1 of 2 runs), 1. | 100.0 %, 1. | "
                        "moves |"));
  for (const char* row : {"window 5 %", "window 20 %", "threshold 2.5 %", "threshold 10 %", "near_best 2.5 %",
                          "near_best 10 %", "radius 5 %", "radius 20 %", "margin 0.5 %", "margin 2 %"}) {
    EXPECT_THAT(text, HasSubstr(row));
  }
}

TEST(Comparison, JsonHasTheRunsAndNoNan) {
  const Json json = Json::parse(comparison_json(three()).dump());
  EXPECT_EQ(json["settings"]["margin"], 0.01);
  EXPECT_TRUE(json["costs"][1]["limit"].is_null());
  EXPECT_EQ(json["algorithms"][0]["convergence_strict"]["mean"], 7000.0);
  EXPECT_EQ(json["algorithms"][1]["convergence_paper"]["runs"], 1);
  EXPECT_TRUE(json["algorithms"][2]["return"]["half_width"].is_null());
  EXPECT_EQ(json["algorithms"][2]["runs"][1]["problem"], "it fell over");
  EXPECT_FALSE(json["algorithms"][2]["runs"][1]["finished"]);
  EXPECT_EQ(json["variations"].size(), 4U + 6U + 4U + 2U);
}

TEST(Comparison, CurveLeavesOutValuesThatAreNotNumbers) {
  Comparison comparison = three();
  comparison.algorithms[0].runs[0].log[1].report.return_mean = std::nan("");
  const std::string text = curve_csv(comparison, comparison.algorithms[0]);
  EXPECT_THAT(text, HasSubstr("\n1,2,2000,1,16.666666666666668,16.666666666666668,16.666666666666668,5,5,5,10,"));
  for (ComparedRun& run : comparison.algorithms[0].runs) run.log[1].report.return_mean = std::nan("");
  EXPECT_THAT(curve_csv(comparison, comparison.algorithms[0]), HasSubstr("\n1,2,2000,1,nan,nan,nan,5,5,5,10,"));
}

TEST(Comparison, ScriptDrawsWhatThereIs) {
  const std::string script = curve_script(three());
  EXPECT_THAT(script, AllOf(HasSubstr("layout 3,2"), HasSubstr("'curve-slow.csv' skip 1 using 3:6:7"),
                            HasSubstr("using 4:12"), HasSubstr("title 'limit 10'"), Not(HasSubstr("limit inf"))));
  Comparison nothing = three();
  for (ComparedAlgorithm& algorithm : nothing.algorithms) {
    for (ComparedRun& run : algorithm.runs) run.problem = "stopped";
  }
  EXPECT_THAT(comparison_markdown(nothing), HasSubstr("| slow | 0 of 2 | — | — | — | — | — | — | — | — | — | — |"));
}

}  // namespace
}  // namespace cgpo
