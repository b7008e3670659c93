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

// Costs of the noisy policy and of its mean action, both with a limit of three.
EvaluationReport both(const std::vector<double>& noisy, const std::vector<double>& deployed) {
  return summarise({with_costs(noisy), with_costs(deployed)}, kLimitOfThree);
}

// What is deployed is what is judged: HalfCheetah's 388 with noise and 446 without, of 400, is not feasible.
TEST(EvaluationReport, FeasibleMeansWithNoiseAndDeployed) {
  const std::vector<double> within = {1.0, 1.1, 0.9};
  const std::vector<double> over = {4.0, 4.1, 3.9};
  const std::vector<double> just_within = {2.0, 3.9};  // mean 2.95
  const std::vector<double> just_over = {2.0, 4.1};
  struct Case {
    const std::vector<double>& noisy;
    const std::vector<double>& deployed;
    bool feasible;
    Verdict verdict;
    const char* sentence;
  };
  const Case cases[] = {
      {within, within, true, Verdict::kHolds, "feasible, with 95 % confidence"},
      {within, over, false, Verdict::kExceeded, "not feasible when deployed, with 95 % confidence"},
      {over, within, false, Verdict::kExceeded, "not feasible with noise, with 95 % confidence"},
      {over, over, false, Verdict::kExceeded, "not feasible, with 95 % confidence"},
      {just_over, over, false, Verdict::kExceeded, "not feasible when deployed, with 95 % confidence"},
      {within, just_within, true, Verdict::kTooClose,
       "feasible on average, but within the uncertainty of these episodes"},
      {just_within, just_over, false, Verdict::kTooClose,
       "not feasible when deployed on average, but within the uncertainty of these episodes"},
      {just_over, within, false, Verdict::kTooClose,
       "not feasible with noise on average, but within the uncertainty of these episodes"},
  };
  for (const Case& one : cases) {
    const EvaluationReport report = both(one.noisy, one.deployed);
    EXPECT_EQ(report.feasible, one.feasible) << one.sentence;
    EXPECT_EQ(report.verdict(), one.verdict) << one.sentence;
    EXPECT_EQ(overall_sentence(report), one.sentence);
  }
}

TEST(EvaluationReport, DivergedDeployedEpisodesAreToldAsTheirs) {
  Evaluation gone = with_costs({1.0, 1.1, 0.9});
  gone.diverged = 2;
  const EvaluationReport report = summarise({with_costs({1.0, 1.1, 0.9}), gone}, kLimitOfThree);
  EXPECT_FALSE(report.feasible);
  EXPECT_EQ(report.verdict(), Verdict::kDiverged);
  EXPECT_EQ(overall_sentence(report), "not feasible when deployed: 2 of 5 episodes diverged, more than one");
  // Without any constraint, too.
  gone.costs.clear();
  Evaluation whole = with_costs({1.0});
  whole.costs.clear();
  EXPECT_EQ(overall_sentence(summarise({whole, gone}, {})),
            "not feasible when deployed: 2 of 5 episodes diverged, more than one");
}

// Each part has its own numbers and its own verdict; on top stands that of both.
TEST(EvaluationReport, JsonHasBothParts) {
  const Json json = Json::parse(to_json(both({1.0, 1.1, 0.9}, {4.0, 4.1, 3.9, 4.0})).dump());
  EXPECT_DOUBLE_EQ(json.at("costs").at(0).at("mean").get<double>(), 1.0);
  EXPECT_EQ(json.at("costs").at(0).at("verdict"), "holds");
  EXPECT_EQ(json.at("feasible"), false);
  EXPECT_EQ(json.at("verdict"), "exceeded");
  const Json& deployed = json.at("deployed");
  for (const char* name : {"return", "return_paper", "episode_length", "diverged"}) {
    EXPECT_TRUE(deployed.contains(name)) << name;
  }
  EXPECT_EQ(deployed.at("episodes"), 4);
  EXPECT_DOUBLE_EQ(deployed.at("costs").at(0).at("mean").get<double>(), 4.0);
  EXPECT_EQ(deployed.at("costs").at(0).at("limit"), 3.0);
  EXPECT_EQ(deployed.at("feasible"), false);
  EXPECT_EQ(deployed.at("verdict"), "exceeded");
  const Json other = to_json(both({4.0, 4.1, 3.9}, {1.0, 1.1, 0.9}));
  EXPECT_EQ(other.at("feasible"), false);
  EXPECT_EQ(other.at("deployed").at("feasible"), true);
  EXPECT_EQ(other.at("deployed").at("verdict"), "holds");
  EXPECT_FALSE(to_json(summarise(with_costs({1.0, 1.1}), kLimitOfThree)).contains("deployed"));
}

// Side by side, so that a limit that only noise keeps is seen at a glance.
TEST(EvaluationReport, TextHasAColumnForEach) {
  EXPECT_EQ(to_text(both({1.0, 1.1, 0.9}, {4.0, 4.1, 3.9})),
            "                    with noise                deployed: the mean action\n"
            "return              2 ± 0                     2 ± 0\n"
            "cost height <= 3    1 ± 0.058, holds          4 ± 0.058, exceeded\n"
            "  95 % interval     0.75159 to 1.2484         3.7516 to 4.2484\n"
            "  episodes over it  0.0 %                     100.0 %\n"
            "episodes            3 of 10 steps on average  3 of 10 steps on average\n"
            "verdict             not feasible when deployed, with 95 % confidence\n");
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
