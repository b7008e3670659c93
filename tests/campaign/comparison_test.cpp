// Tables and curves of hand-made runs.
#include "cgpo/campaign/comparison.hpp"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

#include "cgpo/campaign/comparison_tables.hpp"
#include "cgpo/campaign/gnuplot.hpp"
#include "cgpo/campaign/learning_curves.hpp"
#include "cgpo/campaign/pareto.hpp"

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
  for (ComparedAlgorithm& algorithm : comparison.algorithms) algorithm.limits = comparison.limits;
  return comparison;
}

Comparison three() {
  ComparedRun crashed;
  crashed.seed = 1;
  crashed.problem = "it fell over";
  return comparison_of({{"slow", "a", "best", {run_of(0, 6, 100.0, 5.0), run_of(1, 6, 100.0, 5.0)}, {}},
                        {"fast", "b", "best", {run_of(0, 3, 90.0, 9.5), run_of(1, 3, 80.0, 20.0)}, {}},
                        {"gone", "c", "paper", {run_of(0, 3, 90.0, 20.0), crashed}, {}}});
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
  EXPECT_EQ(json["variations"].size(), 4U + 4U + 4U + 2U);
}

// As `eval` has it, in what is looked at here. Deployed it returns 2 more and costs 1 more.
Json evaluated(double value, double cost, bool feasible) {
  const auto estimate = [](double mean) { return Json{{"mean", mean}, {"se", 0.25}}; };
  Json json;
  json["return"] = estimate(value);
  json["costs"] = Json::array({estimate(cost), estimate(-5.0)});
  json["episode_length"] = 50.0;
  json["feasible"] = feasible;
  json["deployed"]["return"] = estimate(value + 2.0);
  json["deployed"]["costs"] = Json::array({estimate(cost + 1.0), estimate(-5.0)});
  return Json::parse(json.dump());
}

Comparison evaluated_three() {
  Comparison comparison = three();
  comparison.evaluated = 64;
  std::vector<ComparedAlgorithm>& algorithms = comparison.algorithms;
  algorithms[0].runs[0].evaluation = evaluated(99.0, 9.0, true);
  algorithms[0].runs[1].evaluation = evaluated(101.0, 11.0, false);
  algorithms[1].runs[0].evaluation = evaluated(80.0, 4.0, true);
  algorithms[1].runs[1].evaluation = evaluated(std::nan(""), 6.0, false);
  algorithms[2].runs[0].evaluation = evaluated(7.0, 8.0, true);
  return comparison;
}

TEST(Comparison, EvaluationsShowMeanAndWorst) {
  const std::string text = comparison_markdown(evaluated_three());
  EXPECT_THAT(text, AllOf(HasSubstr("evaluated on 64 fresh episodes"),
                          HasSubstr("| return (worst) | speed ≤ 10 (worst) | heat, no limit (worst) | return, deployed "
                                    "(worst) | speed ≤ 10, deployed (worst) | heat, no limit, deployed (worst) | "
                                    "feasible |")));
  // Mean of 99 and 101, t's quantile 12.7; the worst return is the smallest, the worst cost the largest.
  EXPECT_THAT(text, HasSubstr("| slow | 2 | 100 ± 13 (99) | 10 ± 13 (11) | -5 ± 0 (-5) | 102 ± 13 (101) | 11 ± 13 "
                              "(12) | -5 ± 0 (-5) | 1 of 2 |"));
  EXPECT_THAT(text, HasSubstr("| fast | 2 | 80 (diverged) | 5 ± 13 (6) | -5 ± 0 (-5) | 82 (diverged) | 6 ± 13 (7) | "
                              "-5 ± 0 (-5) | 1 of 2 |"));
  EXPECT_THAT(text, HasSubstr("| gone | 1 of 2 | 7 (7) | 8 (8) | -5 (-5) | 9 (9) | 9 (9) | -5 (-5) | 1 of 1 |"));
  EXPECT_THAT(text, HasSubstr("| slow | 1 | 101 ± 0.25 | 11 ± 0.25 | -5 ± 0.25 | 103 ± 0.25 | 12 ± 0.25 | -5 ± 0.25 | "
                              "50 | 7.0k | 7.0k | — | 0.0 % | 5 |"));
  EXPECT_THAT(comparison_markdown(three()), Not(HasSubstr("fresh")));

  const Json json = Json::parse(comparison_json(evaluated_three()).dump());
  const Json& slow = json["algorithms"][0]["evaluation"];
  EXPECT_EQ(slow["return"]["mean"], 100.0);
  EXPECT_EQ(slow["return"]["worst"], 99.0);
  EXPECT_EQ(slow["costs"][0]["name"], "speed");
  EXPECT_EQ(slow["costs"][0]["mean"], 10.0);
  EXPECT_EQ(slow["costs"][0]["worst"], 11.0);
  EXPECT_EQ(slow["deployed"]["return"]["mean"], 102.0);
  EXPECT_EQ(slow["deployed"]["return"]["worst"], 101.0);
  EXPECT_EQ(slow["deployed"]["costs"][0]["name"], "speed");
  EXPECT_EQ(slow["deployed"]["costs"][0]["mean"], 11.0);
  EXPECT_EQ(slow["deployed"]["costs"][0]["worst"], 12.0);
  EXPECT_EQ(slow["feasible"], false);
  EXPECT_TRUE(json["algorithms"][1]["evaluation"]["return"]["worst"].is_null());
  EXPECT_EQ(json["algorithms"][2]["evaluation"]["feasible"], true);
  EXPECT_EQ(json["algorithms"][0]["runs"][1]["evaluation"]["costs"][0]["mean"], 11.0);
  EXPECT_FALSE(comparison_json(three())["algorithms"][0].contains("evaluation"));
}

TEST(Comparison, LimitsThatDifferStandWithEachAlgorithm) {
  Comparison comparison = evaluated_three();
  comparison.limits[0] = std::nan("");
  comparison.algorithms[1].limits[0] = 12.0;
  const std::string text = comparison_markdown(comparison);
  EXPECT_THAT(text, AllOf(HasSubstr("| return | speed | heat, no limit |"), HasSubstr("| 5 ± 0, limit 10 | -5 ± 0 |"),
                          HasSubstr("| fast | 2 | 80 (diverged) | 5 ± 13 (6), limit 12 |")));
  const Json json = Json::parse(comparison_json(comparison).dump());
  EXPECT_TRUE(json["costs"][0]["limit"].is_null());
  EXPECT_EQ(json["algorithms"][1]["limits"][0], 12.0);
  const std::string script = curve_script(comparison);
  EXPECT_THAT(script, AllOf(HasSubstr("10 with lines lw 1.5 dt 2 lc rgb '" + line_colours()[0]),
                            HasSubstr("12 with lines lw 1.5 dt 2 lc rgb '" + line_colours()[1]),
                            Not(HasSubstr("title 'limit"))));
  EXPECT_THAT(curve_csv(comparison, comparison.algorithms[1]), HasSubstr(",12,-5,-5,-5,inf\n"));
}

// All episodes of one run diverged, from the first iteration to the last; half of the other's, in its last.
TEST(Comparison, DivergedRunsAreNotFeasible) {
  Comparison comparison =
      comparison_of({{"gone", "a", "best", {run_of(0, 6, 100.0, 5.0)}, {}},
                     {"late", "b", "best", {run_of(0, 6, 100.0, 5.0), run_of(1, 6, 100.0, 5.0)}, {}}});
  for (LogEntry& entry : comparison.algorithms[0].runs[0].log) {
    entry.report.episodes = entry.report.diverged = 8;
    entry.report.return_mean = std::nan("");
    entry.report.costs = {std::nan(""), std::nan("")};
  }
  IterationReport& last = comparison.algorithms[1].runs[0].log.back().report;
  last.episodes = 8;
  last.diverged = 4;
  const std::string text = comparison_markdown(comparison);
  EXPECT_THAT(text,
              AllOf(HasSubstr("| gone | 1 | diverged | diverged | diverged | 0 of 1 | did not converge | did not "
                              "converge | 100.0 % | 100.0 % |"),
                    HasSubstr("| 1 of 2 |"), HasSubstr("5.0 % ± 63.5 % |"),
                    HasSubstr("- gone, seed 0: in 10 of 10 iterations, in the last one 8 of 8 episodes diverged"),
                    HasSubstr("- late, seed 0: in 1 of 10 iterations, in the last one 4 of 8 episodes diverged")));
  EXPECT_THAT(comparison_markdown(three()), Not(HasSubstr("diverged")));
  const Json json = Json::parse(comparison_json(comparison).dump());
  EXPECT_EQ(json["algorithms"][0]["runs"][0]["feasible"], false);
  EXPECT_EQ(json["algorithms"][0]["runs"][0]["diverged"], 8);
  EXPECT_EQ(json["algorithms"][0]["violations_whole"]["mean"], 1.0);
  EXPECT_EQ(json["algorithms"][1]["runs"][0]["feasible"], false);
  EXPECT_EQ(json["algorithms"][1]["runs"][1]["feasible"], true);
  // A seed without a number is missing in the mean, and that is said.
  comparison.algorithms[1].runs[0].log.back().report.return_mean = std::nan("");
  EXPECT_THAT(comparison_table(comparison), HasSubstr("| late | 2 | 100 (1 of 2 runs) |"));
}

// What costs too much without noise may not be deployed, so that run does not end feasible.
TEST(Comparison, FeasibleAtTheEndIsWhatMayBeDeployed) {
  Comparison comparison = comparison_of({{"a", "a", "best", {run_of(0, 6, 100.0, 5.0), run_of(1, 6, 100.0, 5.0)}, {}}});
  comparison.algorithms[0].runs[0].log.back().report.costs_deployed = {11.0, 0.0};
  comparison.algorithms[0].runs[1].log.back().report.costs_deployed = {9.0, 0.0};
  EXPECT_THAT(comparison_markdown(comparison), HasSubstr("| 1 of 2 |"));
  const Json runs = comparison_json(comparison)["algorithms"][0]["runs"];
  EXPECT_EQ(runs[0]["feasible"], false);
  EXPECT_EQ(runs[1]["feasible"], true);
}

// Of `fast` one seed converges after 4000 steps and never breaks its limit, the other never keeps it.
TEST(Comparison, ParetoHasAPointASeed) {
  const Comparison comparison = three();
  EXPECT_EQ(pareto_csv(comparison, comparison.algorithms[0]), "seed,converged,steps,over\n0,1,7000,0\n1,1,7000,0\n");
  EXPECT_EQ(pareto_csv(comparison, comparison.algorithms[1]), "seed,converged,steps,over\n0,1,4000,0\n1,0,10000,1\n");
  EXPECT_EQ(pareto_csv(comparison, comparison.algorithms[2]), "seed,converged,steps,over\n0,0,10000,1\n");
  const std::string script = pareto_script("pareto", {{&comparison, "here/"}});
  EXPECT_THAT(script, AllOf(HasSubstr("set output 'pareto.svg'"), HasSubstr("set logscale x"),
                            HasSubstr("'here/pareto-slow.csv' skip 1 using ($2 == 1 ? $3 : 1/0):(100 * $4)"),
                            HasSubstr("lc rgb '" + line_colours()[1] + "' title 'fast'"), HasSubstr("not converged")));
  // Those that converged have the axis for themselves, up to 1.3 times the last of them.
  EXPECT_THAT(script, AllOf(HasSubstr("set xtics (5000)"), HasSubstr("set arrow from 9100, graph 0")));
  // All of slow's converged, so none of them stands at the edge.
  EXPECT_THAT(script, AllOf(Not(HasSubstr("'here/pareto-slow.csv' skip 1 using ($2 == 0")),
                            HasSubstr("'here/pareto-gone.csv' skip 1 using ($2 == 0")));
}

TEST(Comparison, WithoutALimitThereIsNoPareto) {
  Comparison comparison = three();
  EXPECT_TRUE(has_pareto(comparison));
  for (ComparedAlgorithm& algorithm : comparison.algorithms) {
    for (ComparedRun& run : algorithm.runs) {
      for (LogEntry& entry : run.log) entry.report.limits[0] = std::numeric_limits<double>::infinity();
    }
  }
  EXPECT_FALSE(has_pareto(comparison));
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

// The end of a line would end the string, and what follows would be a command.
TEST(Gnuplot, ANameIsAString) {
  EXPECT_EQ(quoted("it's"), "'it''s'");
  EXPECT_EQ(quoted("a\nsystem('touch executed')"), "'a\\nsystem(''touch executed'')'");
}

}  // namespace
}  // namespace cgpo
