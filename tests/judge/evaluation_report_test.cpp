#include "cgpo/judge/evaluation_report.hpp"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

namespace cgpo {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

Evaluation with_costs(const std::vector<double>& costs) {
  Evaluation evaluation;
  evaluation.returns = std::vector<double>(costs.size(), 2.0);
  evaluation.returns_paper = evaluation.returns;
  evaluation.lengths = std::vector<double>(costs.size(), 10.0);
  evaluation.costs = {costs};
  return evaluation;
}

const Constraints kLimitOfThree = {{0}, {"height"}, {3.0}};

TEST(EvaluationReport, MeanAndStandardErrorByHand) {
  const Estimate estimate = estimate_mean({1.0, 2.0, 3.0, 6.0});
  EXPECT_DOUBLE_EQ(estimate.mean, 3.0);
  EXPECT_DOUBLE_EQ(estimate.se, std::sqrt(14.0 / 3.0 / 4.0));  // squares 4 + 1 + 0 + 9
  EXPECT_TRUE(std::isnan(estimate_mean({1.0}).se));
  EXPECT_TRUE(std::isnan(estimate_mean({}).mean));
}

TEST(EvaluationReport, VerdictFollowsTheConfidenceInterval) {
  EXPECT_EQ(summarise(with_costs({1.0, 1.1, 0.9}), kLimitOfThree).costs[0].verdict(), Verdict::kHolds);
  EXPECT_EQ(summarise(with_costs({4.0, 4.1, 3.9}), kLimitOfThree).costs[0].verdict(), Verdict::kExceeded);
  EXPECT_EQ(summarise(with_costs({2.0, 3.9}), kLimitOfThree).costs[0].verdict(), Verdict::kTooClose);
  const Constraints unlimited = {{0}, {"height"}, {std::numeric_limits<double>::infinity()}};
  EXPECT_EQ(summarise(with_costs({4.0}), unlimited).costs[0].verdict(), Verdict::kHolds);
}

TEST(EvaluationReport, CountsEpisodesOverTheLimit) {
  const EvaluationReport report = summarise(with_costs({2.0, 3.0, 3.5, 1.0}), kLimitOfThree);
  EXPECT_DOUBLE_EQ(report.costs[0].spread.over, 0.25);  // 3.0 is within
  EXPECT_TRUE(report.feasible);
}

TEST(EvaluationReport, JsonHasThePromisedFields) {
  const Json json = Json::parse(to_json(summarise(with_costs({2.0, 3.9}), kLimitOfThree)).dump());
  for (const char* name : {"episodes", "return", "return_paper", "costs", "episode_length", "feasible", "diverged"}) {
    EXPECT_TRUE(json.contains(name)) << name;
  }
  for (const char* name : {"name", "mean", "se", "limit", "violation_rate", "low", "median", "high"}) {
    EXPECT_TRUE(json.at("costs").at(0).contains(name)) << name;
  }
  EXPECT_TRUE(json.at("return").contains("se"));
}

TEST(EvaluationReport, NothingLeftIsNoNumberAndNotFeasible) {
  Evaluation evaluation = with_costs({});
  evaluation.diverged = 7;
  const EvaluationReport report = summarise(evaluation, kLimitOfThree);
  EXPECT_FALSE(report.feasible);
  const Json json = Json::parse(to_json(report).dump());
  EXPECT_TRUE(json.at("return").at("mean").is_null());
  EXPECT_TRUE(json.at("costs").at(0).at("violation_rate").is_null());
  EXPECT_EQ(json.at("verdict"), "diverged");
  EXPECT_EQ(json.at("costs").at(0).at("verdict"), "diverged");
  EXPECT_THAT(to_text(report), AllOf(HasSubstr("not feasible: 7 of 7 episodes diverged"), Not(HasSubstr("nan"))));
}

// Far below the limit, and certain, of those that are left.
TEST(EvaluationReport, TooManyDivergedAreNeverFeasible) {
  Evaluation evaluation = with_costs(std::vector<double>(99, 1.0));
  evaluation.diverged = 1;
  EXPECT_TRUE(summarise(evaluation, kLimitOfThree).feasible);
  EXPECT_EQ(overall_sentence(summarise(evaluation, kLimitOfThree)), "feasible, with 95 % confidence");
  evaluation.diverged = 2;
  const EvaluationReport report = summarise(evaluation, kLimitOfThree);
  EXPECT_FALSE(report.feasible);
  EXPECT_EQ(report.verdict(), Verdict::kDiverged);
  EXPECT_EQ(report.costs[0].verdict(), Verdict::kDiverged);
  EXPECT_EQ(overall_sentence(report), "not feasible: 2 of 101 episodes diverged, more than 1 %");
  EXPECT_THAT(to_text(report), Not(HasSubstr("holds")));
  // Nor without any constraint.
  evaluation.costs.clear();
  EXPECT_FALSE(summarise(evaluation, {}).feasible);
  EXPECT_THAT(overall_sentence(summarise(evaluation, {})), HasSubstr("not feasible: 2 of 101"));

  Evaluation few = with_costs({1.0, 1.1, 0.9});
  few.diverged = 1;
  EXPECT_TRUE(summarise(few, kLimitOfThree).feasible);
  few.diverged = 2;
  EXPECT_EQ(overall_sentence(summarise(few, kLimitOfThree)), "not feasible: 2 of 5 episodes diverged, more than one");
}

TEST(EvaluationReport, OneEpisodeHasNoStandardErrorAndNoVerdict) {
  const EvaluationReport report = summarise(with_costs({1.0}), kLimitOfThree);
  EXPECT_FALSE(report.feasible);
  EXPECT_EQ(report.verdict(), Verdict::kUnknown);
  EXPECT_EQ(overall_sentence(report), "cannot be judged: one episode has no standard error");
  EXPECT_THAT(to_text(report), Not(HasSubstr("±")));
  const Json json = Json::parse(to_json(report).dump());
  EXPECT_EQ(json.at("costs").at(0).at("verdict"), "cannot be judged");
  EXPECT_TRUE(json.at("return").at("se").is_null());
  // Of limits that there are not, one episode says enough.
  const Constraints unlimited = {{0}, {"height"}, {std::numeric_limits<double>::infinity()}};
  EXPECT_TRUE(summarise(with_costs({4.0}), unlimited).feasible);
}

}  // namespace
}  // namespace cgpo
