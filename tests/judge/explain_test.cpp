// Every finding on its own: numbers of a healthy run, and one thing wrong at a time.
#include "cgpo/judge/explain.hpp"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

#include "cgpo/base/numbers.hpp"

namespace cgpo {
namespace {

using ::testing::AllOf;

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// A robot that walks under its speed limit.
Explanation healthy() {
  Explanation all;
  all.task = "walker";
  all.substeps = 5;
  all.offered_costs = {"speed", "energy"};
  all.evaluation.episodes = 4096;
  all.evaluation.return_optimised = {360.0, 1.0};
  all.evaluation.costs = {{"speed", {390.0, 1.0}, 400.0, {380.0, 390.0, 405.0, 0.1}}};
  all.evaluation.episode_length = 200.0;
  all.evaluation.feasible = true;
  all.diagnosis.signals = {"return", "speed"};
  all.diagnosis.environments = 128;
  all.diagnosis.horizon = 200;
  all.diagnosis.window = 10;
  all.diagnosis.radius = 1e-3;
  all.diagnosis.gradient = {{100.0, 30.0}, {110.0, 30.0}};
  all.diagnosis.gradient_signals = {0.6, 0.5};
  all.diagnosis.reach = {10.0, 12.0};
  all.diagnosis.windows = {{1, {{10.0, 1.0}, {10.0, 1.0}}},
                           {5, {{50.0, 8.0}, {50.0, 8.0}}},
                           {10, {{90.0, 30.0}, {90.0, 30.0}}},
                           {200, {{1e6, 1e6}, {1e6, 1e6}}}};
  all.diagnosis.critic_explained = {0.9, 0.9};
  all.diagnosis.critic_cosines = {0.6, 0.5};
  all.diagnosis.contact = ContactShares{.any = 0.8, .geoms = {{"foot", 0.8}}, .states = 1000};
  all.diagnosis.actions.saturated = 0.1;
  all.diagnosis.actions.spectrum.quarters = {0.2, 0.05, 0.02, 0.01};
  all.diagnosis.actions.upper_frequency = 7.5;
  all.diagnosis.inputs = {{3, 1.4}};
  all.history.iterations = 150;
  all.history.recent = 37;
  all.history.at_lower = 0.1;
  all.history.deliveries = {{37, 0.8, 0.1, 3.0}, {37, 0.7, 0.1, 4.0}};
  all.history.best_return = 365.0;
  all.history.recent_return = 360.0;
  all.history.return_range = 360.0;
  return all;
}

std::vector<std::string> causes(const Explanation& explanation) {
  std::vector<std::string> names;
  for (const Finding& finding : find_causes(explanation)) names.push_back(finding.cause);
  return names;
}

// The one finding, as text and advice.
Finding only(const Explanation& explanation) {
  const std::vector<Finding> findings = find_causes(explanation);
  EXPECT_EQ(findings.size(), 1U) << to_text(explanation, findings);
  return findings.empty() ? Finding{} : findings.front();
}

TEST(Explain, NothingIsWrongWithAHealthyRun) {
  EXPECT_THAT(causes(healthy()), IsEmpty());
  EXPECT_THAT(to_text(healthy(), {}), HasSubstr("Nothing looks wrong"));
  Explanation young = healthy();
  young.history = summarise_log({}, young.settings.radius);
  EXPECT_THAT(causes(young), IsEmpty());
  EXPECT_THAT(to_text(young, {}), HasSubstr("no log yet"));
}

TEST(Explain, Divergence) {
  Explanation all = healthy();
  all.evaluation.diverged = 41;
  EXPECT_THAT(causes(all), IsEmpty());  // 1 % of all
  all.evaluation.diverged = 42;
  EXPECT_THAT(causes(all), ::testing::ElementsAre("diverged"));
  all.evaluation.diverged = 600;
  const Finding finding = only(all);
  EXPECT_EQ(finding.cause, "diverged");
  EXPECT_THAT(finding.text, AllOf(HasSubstr("600 of 4696"), HasSubstr("12.8 %")));
  EXPECT_THAT(finding.advice, HasSubstr("task.substeps=10"));
  all.substeps = 0;
  EXPECT_THAT(only(all).advice, HasSubstr("check walker"));
}

TEST(Explain, RefusedAndRetreatedUpdates) {
  Explanation all = healthy();
  all.history.refused = 0.29;
  all.history.retreated = 0.29;
  EXPECT_THAT(causes(all), IsEmpty());
  all.history.refused = 0.6;
  all.history.last_warning = "update refused: a gradient or a J is not finite";
  all.history.warnings = 22;
  EXPECT_EQ(only(all).cause, "refused");
  EXPECT_THAT(only(all).text, AllOf(HasSubstr("60 % of the last 37"), HasSubstr("not finite")));
  all = healthy();
  all.history.retreated = 0.4;
  EXPECT_EQ(only(all).cause, "retreated");
  EXPECT_THAT(only(all).advice, HasSubstr("radius.upper=0.00025"));
}

TEST(Explain, GradientThatExplodes) {
  Explanation all = healthy();
  all.diagnosis.windows[2].signals[1] = {500.0, 499.0};  // tenfold is the window's own growth, 499-fold is not
  const Finding finding = only(all);
  EXPECT_EQ(finding.cause, "gradient-explodes");
  EXPECT_THAT(finding.text, AllOf(HasSubstr("cost speed"), HasSubstr("from 1 to 10 steps"), HasSubstr("499-fold")));
  EXPECT_THAT(finding.advice, AllOf(HasSubstr("window=5"), HasSubstr("task.contact_width")));
  // What follows from it is not told twice.
  all.diagnosis.gradient_signals = {0.0, 0.0};
  all.diagnosis.critic_cosines = {0.0, 0.0};
  EXPECT_EQ(only(all).cause, "gradient-explodes");
  all.history.deliveries[0] = {37, 0.0, 0.01, 200.0};
  EXPECT_THAT(find_causes(all).back().advice, HasSubstr("the gradient that explodes"));
  all = healthy();
  all.diagnosis.windows[2].signals[1] = {500.0, 499.0};
  all.evaluation.costs[0].limit = kInfinity;  // nobody steers by it
  EXPECT_THAT(causes(all), IsEmpty());

  all = healthy();
  all.diagnosis.windows[2].signals[0] = {500.0, 100.0};  // grows, but stands out of its noise
  EXPECT_THAT(causes(all), IsEmpty());
  all.diagnosis.windows[2].signals[0] = {30.0, 30.0};  // nothing but noise, though not more than of a short window
  EXPECT_THAT(causes(all), IsEmpty());
  all.settings.gradient.source = GradientSource::kBptt;
  all.diagnosis.window = 200;
  EXPECT_THAT(only(all).advice, HasSubstr("gradient.source=shac with window="));
  all.diagnosis.windows[3].signals[0] = {kInfinity, kNan};
  EXPECT_THAT(only(all).text, HasSubstr("beyond all numbers"));
}

TEST(Explain, DrownedGradients) {
  Explanation all = healthy();
  all.settings.batch.adaptive = false;
  all.diagnosis.gradient_signals[0] = -0.02;
  const Finding finding = only(all);
  EXPECT_EQ(finding.cause, "gradient-drowned");
  EXPECT_THAT(finding.text, AllOf(HasSubstr("the return"), HasSubstr("0 % of its squared length")));
  EXPECT_THAT(finding.advice, AllOf(HasSubstr("environments=512"), HasSubstr("window=5"), Not(HasSubstr("debias"))));
  EXPECT_THAT(finding.text, Not(HasSubstr("critics")));
  all.diagnosis.gradient[0] = {100.0, 90.0};  // 0.48, where the bare windows have 2.8
  EXPECT_THAT(only(all).text, HasSubstr("Without critics it is 2.8 over the same windows"));
  all.settings.gradient.source = GradientSource::kZobg;
  all.settings.batch.adaptive = true;
  EXPECT_THAT(only(all).advice, AllOf(HasSubstr("gradient.baseline=step"), HasSubstr("batch.smallest=64")));
  all.diagnosis.gradient_signals[0] = 0.11;
  EXPECT_THAT(causes(all), IsEmpty());
  all.diagnosis.gradient_signals[1] = 0.0;
  EXPECT_THAT(only(all).text, HasSubstr("cost speed"));
  all.evaluation.costs[0].estimate.mean = 300.0;  // far from binding
  EXPECT_THAT(causes(all), IsEmpty());
}

TEST(Explain, AFlatReturnIsNoProblemAndNoNoise) {
  Explanation all = healthy();
  all.diagnosis.reach[0] = 0.3;
  all.diagnosis.gradient_signals[0] = 0.0;
  EXPECT_EQ(only(all).cause, "return-flat");
  EXPECT_FALSE(only(all).problem);
  EXPECT_THAT(to_text(all, find_causes(all)), AllOf(HasSubstr("Nothing looks wrong"), HasSubstr("Good to know")));
  all.diagnosis.reach[0] = 0.4;  // 0.1 % of the return is 0.36
  EXPECT_EQ(only(all).cause, "gradient-drowned");
}

TEST(Explain, UselessCritics) {
  Explanation all = healthy();
  all.settings.critic.targets = CriticTargets::kWindow;
  all.diagnosis.critic_explained[1] = -2.0;
  EXPECT_THAT(only(all).text, HasSubstr("no better than a constant"));
  all.diagnosis.critic_explained[1] = 0.1;
  EXPECT_EQ(only(all).cause, "critic-useless");
  EXPECT_THAT(only(all).text, AllOf(HasSubstr("cost speed"), HasSubstr("explains 10 %")));
  EXPECT_THAT(only(all).advice, AllOf(HasSubstr("critic.steps=1024"), HasSubstr("critic.targets=episode")));
  all = healthy();
  all.diagnosis.critic_cosines[0] = -0.3;  // explained variance does not vouch for the slope
  EXPECT_THAT(only(all).text, AllOf(HasSubstr("though it explains 90 %"), HasSubstr("cosine -0.30")));
  EXPECT_THAT(only(all).advice, HasSubstr("critic.sobolev=1 (it"));
  all.settings.critic.fit_first = false;
  EXPECT_THAT(only(all).advice, HasSubstr("critic.fit_first=true"));
  all.diagnosis.critic_cosines[0] = kNan;  // no window ends before the episode
  EXPECT_THAT(causes(all), IsEmpty());
}

TEST(Explain, UnsteerableConstraints) {
  Explanation all = healthy();
  all.evaluation.costs[0].estimate = {500.0, 1.0};
  EXPECT_THAT(causes(all), IsEmpty());  // a dozen updates away
  all.diagnosis.reach[1] = 1.0;
  EXPECT_EQ(only(all).cause, "not-steerable");
  EXPECT_THAT(only(all).text,
              AllOf(HasSubstr("Cost speed is 100 above its limit"), HasSubstr("141 updates")));  // half is noise
  all.diagnosis.gradient_signals[1] = kNan;                                                      // of a single episode
  EXPECT_THAT(only(all).text, HasSubstr("100 updates"));
  all.diagnosis.reach[1] = 0.0;
  EXPECT_THAT(only(all).text, HasSubstr("nothing that the policy does changes it"));
  all.evaluation.costs[0].estimate = {390.0, 1.0};
  EXPECT_THAT(causes(all), IsEmpty());
}

TEST(Explain, PromisesThatAreNotKept) {
  Explanation all = healthy();
  all.history.deliveries[1] = {37, 0.04, 0.02, 20.0};
  EXPECT_EQ(only(all).cause, "not-delivered");
  EXPECT_THAT(only(all).text, AllOf(HasSubstr("cost speed"), HasSubstr("4 ± 2 % came")));
  EXPECT_THAT(only(all).advice, AllOf(HasSubstr("radius.upper=0.00025"), Not(HasSubstr("metric"))));
  all.settings.radius.metric = RadiusMetric::kEuclid;
  EXPECT_THAT(only(all).advice, HasSubstr("radius.metric=action"));
  all.settings.radius.lower = 1e-3;
  EXPECT_THAT(only(all).advice, HasSubstr("radius.lower=0.00025"));
  all.history.deliveries[1].se = 0.2;  // may be chance
  EXPECT_THAT(causes(all), IsEmpty());
  all.history.deliveries[1] = {4, 0.0, 0.0, 20.0};  // too few to tell
  EXPECT_THAT(causes(all), IsEmpty());
}

TEST(Explain, RadiusAtItsBounds) {
  Explanation all = healthy();
  all.history.at_lower = 0.7;
  EXPECT_EQ(only(all).cause, "radius-lower");
  EXPECT_THAT(only(all).text, AllOf(HasSubstr("radius.lower=1e-06"), HasSubstr("70 % of the last 37")));
  EXPECT_THAT(only(all).advice, HasSubstr("radius.lower=1e-05"));
  all.history.deliveries[0].share = 0.35;
  EXPECT_THAT(only(all).text, HasSubstr("even short steps"));
  all.diagnosis.reach[0] = 0.01;  // solved
  for (const Finding& finding : find_causes(all)) EXPECT_FALSE(finding.problem) << finding.text;
  all = healthy();
  all.history.at_upper = 1.0;
  EXPECT_EQ(only(all).cause, "radius-upper");
  EXPECT_FALSE(only(all).problem);
  all.settings.radius.test = RadiusTest::kFixed;
  EXPECT_THAT(causes(all), IsEmpty());
  all = healthy();
  all.settings.radius.lower = all.settings.radius.upper = 1e-8;
  EXPECT_EQ(only(all).cause, "radius-pinned");
}

// PPO has no radius: nothing may be said of one.
TEST(Explain, AlgorithmsWithoutARadius) {
  Explanation all = healthy();
  all.history.trust_region = false;
  all.diagnosis.reach = {1e-3, 1e-3};
  all.history.at_lower = 1.0;
  EXPECT_THAT(causes(all), IsEmpty());
  EXPECT_THAT(to_text(all, {}), Not(HasSubstr("radius")));
}

TEST(Explain, ModelsThatMislead) {
  Explanation all = healthy();
  all.settings.window = 10;
  all.history.model = ModelErrors{.step = 0.07, .window = 0.12};
  EXPECT_THAT(causes(all), IsEmpty());  // updates deliver
  all.history.deliveries[0] = {37, 0.38, 0.02, 3.0};
  EXPECT_EQ(only(all).cause, "model-misleads");
  EXPECT_THAT(only(all).text, HasSubstr("0.12 after a window of 10"));
  EXPECT_THAT(only(all).advice, HasSubstr("window=5"));
  all.settings.world.states = WorldStates::kModel;
  EXPECT_THAT(only(all).advice, HasSubstr("world.states=real"));
  all.history.model->step = 0.5;
  EXPECT_EQ(only(all).cause, "model-poor");
}

TEST(Explain, TwinsOfOtherRobots) {
  Explanation all = healthy();
  all.settings.window = 10;
  all.twin_substeps = 5;
  all.diagnosis.twin = TwinDiagnosis{.error = 0.12,
                                     .window_error = 0.3,
                                     .parameters = {{"limit_width", 0.004}},
                                     .episodes = 1024,
                                     .cosines = {{0.8, 0.1}, {0.7, 0.2}}};
  EXPECT_THAT(causes(all), IsEmpty());
  EXPECT_THAT(to_text(all, {}), AllOf(HasSubstr("off by 12 % of the change in a step, 30 % in a window"),
                                      HasSubstr("limit_width 0.004"), HasSubstr("0.80 ± 0.10")));
  all.diagnosis.twin->error = 0.64;
  EXPECT_EQ(only(all).cause, "twin-poor");
  EXPECT_THAT(only(all).text, AllOf(HasSubstr("64 %"), HasSubstr("30 % after a window of 10")));
  EXPECT_THAT(only(all).advice, AllOf(HasSubstr("twin.fit=true"), HasSubstr("twin.substeps=10")));
  all.twin_fitted = true;
  EXPECT_THAT(only(all).advice, AllOf(Not(HasSubstr("twin.fit")), HasSubstr("twin.prior=0.001")));
  all.diagnosis.twin->cosines[0] = {-0.89, 0.1};
  EXPECT_EQ(only(all).cause, "twin-misleads");
  EXPECT_THAT(only(all).text, AllOf(HasSubstr("the return"), HasSubstr("-0.89 ± 0.10"), HasSubstr("1024 episodes")));
  all.diagnosis.twin->error = 0.12;
  all.diagnosis.twin->cosines[0] = {0.2, 0.3};  // too noisy to tell
  EXPECT_THAT(causes(all), IsEmpty());
  all.diagnosis.twin->cosines[0] = {kNan, kNan};
  EXPECT_THAT(causes(all), IsEmpty());
  EXPECT_EQ(to_json(all, {})["diagnosis"]["twin"]["cosines"][1]["cosine"], 0.7);
}

TEST(Explain, EpisodesThatEndEarly) {
  Explanation all = healthy();
  all.evaluation.episode_length = 190.0;
  EXPECT_THAT(causes(all), IsEmpty());
  all.evaluation.episode_length = 61.5;
  EXPECT_EQ(only(all).cause, "ends-early");
  EXPECT_THAT(only(all).text, HasSubstr("61.5 of 200 steps"));
}

TEST(Explain, LimitsThatOnlyNoiseKeeps) {
  Explanation all = healthy();
  EvaluationReport deployed = all.evaluation;
  all.evaluation.deployed = std::make_shared<const EvaluationReport>(deployed);
  EXPECT_THAT(causes(all), IsEmpty());
  deployed.costs[0].estimate.mean = 446.0;
  all.evaluation.deployed = std::make_shared<const EvaluationReport>(deployed);
  EXPECT_EQ(only(all).cause, "deployed-over");
  EXPECT_THAT(only(all).text, AllOf(HasSubstr("390 with noise and 446 without"), HasSubstr("limit of 400")));
  EXPECT_THAT(only(all).advice, HasSubstr("a limit lower by 56"));
  all.evaluation.costs[0].estimate.mean = 440.0;  // then it is no matter of noise
  EXPECT_THAT(causes(all), Not(::testing::Contains("deployed-over")));
}

TEST(Explain, CostsThatTheMeanHides) {
  Explanation all = healthy();
  all.evaluation.costs[0].spread = {100.0, 390.0, 600.0, 0.4};
  EXPECT_EQ(only(all).cause, "cost-spread");
  EXPECT_THAT(only(all).text, AllOf(HasSubstr("40 % of the episodes"), HasSubstr("above 600")));
  EXPECT_THAT(only(all).advice, HasSubstr("limits=[266.7]"));
  all.evaluation.costs.push_back({"rest", {-60.0, 1.0}, -50.0, {-90.0, -60.0, -20.0, 0.3}});
  all.diagnosis.signals.emplace_back("rest");
  EXPECT_THAT(find_causes(all).back().advice, HasSubstr("limits=[400, -80]"));
  all.evaluation.costs.pop_back();
  all.evaluation.costs[0].spread.high = 490.0;
  EXPECT_THAT(causes(all), IsEmpty());
}

TEST(Explain, ObservationsFarFromTraining) {
  Explanation all = healthy();
  all.diagnosis.inputs = {{7, 12.0}, {2, 1.0}};
  EXPECT_EQ(only(all).cause, "observation-far");
  EXPECT_THAT(only(all).text, AllOf(HasSubstr("Observation 7"), HasSubstr("12 of its standard deviations")));
  all.diagnosis.inputs = {{7, 4.9}};
  EXPECT_THAT(causes(all), IsEmpty());
}

TEST(Explain, Saturation) {
  Explanation all = healthy();
  all.diagnosis.actions.saturated = 0.49;
  EXPECT_THAT(causes(all), IsEmpty());
  all.diagnosis.actions.saturated = 0.92;
  EXPECT_EQ(only(all).cause, "policy-saturated");
  EXPECT_THAT(only(all).text, HasSubstr("92 % of its actions"));
  EXPECT_THAT(only(all).advice, HasSubstr("\"energy\""));
  all.offered_costs = {"speed"};
  EXPECT_THAT(only(all).advice, Not(HasSubstr("\"energy\"")));
}

TEST(Explain, Jitter) {
  Explanation all = healthy();
  all.diagnosis.actions.spectrum.quarters = {0.02, 0.02, 0.02, 0.06};
  EXPECT_EQ(only(all).cause, "action-jitter");
  EXPECT_THAT(only(all).text, AllOf(HasSubstr("50 % of their power"), HasSubstr("above 7.5 Hz")));
  all.diagnosis.actions.spectrum.quarters = {0.0005, 0.0005, 0.0005, 0.0015};  // of actions that hardly move
  EXPECT_THAT(causes(all), IsEmpty());
}

TEST(Explain, Contact) {
  Explanation all = healthy();
  all.diagnosis.contact->any = 0.002;
  EXPECT_EQ(only(all).cause, "no-contact");
  EXPECT_THAT(only(all).text, HasSubstr("0.2 % of 1000 states"));
  all.diagnosis.contact.reset();  // a robot that cannot touch anything
  EXPECT_THAT(causes(all), IsEmpty());
}

TEST(Explain, ABetterPolicyBefore) {
  Explanation all = healthy();
  all.history.recent_return = 100.0;
  all.history.best_iteration = 80;
  EXPECT_EQ(only(all).cause, "fell-back");
  EXPECT_THAT(only(all).text, AllOf(HasSubstr("365 at iteration 81"), HasSubstr("100")));
  EXPECT_THAT(only(all).advice, HasSubstr("--checkpoint best"));
  all.history.recent_return = kNan;
  EXPECT_THAT(only(all).text, AllOf(HasSubstr("365 at iteration 81"), HasSubstr("too many episodes diverged")));
  all.history.last_return = 364.0;  // it still rises: the mean of the last ones is behind it
  EXPECT_THAT(causes(all), IsEmpty());
  all.history.last_return = 100.0;
  EXPECT_EQ(only(all).cause, "fell-back");
  all.history.iterations = 4;  // too young to tell
  EXPECT_THAT(causes(all), IsEmpty());
  all.history.iterations = 150;
  all.history.best_return.reset();  // none was feasible
  EXPECT_THAT(causes(all), IsEmpty());
}

// Iterations with too many diverged episodes are neither the best nor part of the range.
TEST(Explain, HistoryLeavesOutWhatCannotBeJudged) {
  std::vector<LogEntry> log(6);
  for (std::size_t i = 0; i < log.size(); ++i) {
    log[i].report.return_mean = 10.0 * static_cast<double>(i);
    log[i].report.episodes = 8;
  }
  EXPECT_EQ(summarise_log(log, {}).best_return, 50.0);
  log[5].report.diverged = 2;
  const RunHistory history = summarise_log(log, {});
  EXPECT_EQ(history.best_return, 40.0);
  EXPECT_EQ(history.return_range, 40.0);
  EXPECT_DOUBLE_EQ(history.recent_return, 25.0);  // of 10, 20, 30, 40
  for (LogEntry& entry : log) entry.report.diverged = 8;
  EXPECT_TRUE(std::isnan(summarise_log(log, {}).recent_return));
  EXPECT_FALSE(summarise_log(log, {}).best_return.has_value());
}

TEST(Explain, WarningsOfTheLog) {
  Explanation all = healthy();
  all.history.warnings = 3;
  all.history.last_warning = "something odd";
  EXPECT_EQ(only(all).cause, "warnings");
  EXPECT_FALSE(only(all).problem);
  EXPECT_THAT(only(all).text, HasSubstr("something odd"));
}

TEST(Explain, AnEngineWithoutGradientsIsNoProblem) {
  Explanation all = healthy();
  all.diagnosis.gradient.clear();
  all.diagnosis.gradient_signals.clear();
  all.diagnosis.reach.clear();
  all.diagnosis.windows.clear();
  all.diagnosis.critic_explained.clear();
  all.diagnosis.critic_cosines.clear();
  EXPECT_THAT(causes(all), IsEmpty());
  EXPECT_THAT(to_text(all, {}), HasSubstr("no gradient on this engine"));
}

TEST(Explain, JsonHasTheSame) {
  Explanation all = healthy();
  all.diagnosis.actions.saturated = 0.92;
  const std::vector<Finding> findings = find_causes(all);
  const Json json = Json::parse(to_json(all, findings).dump());
  EXPECT_EQ(json.at("findings").at(0).at("cause"), "policy-saturated");
  EXPECT_EQ(json.at("findings").at(0).at("text"), findings[0].text);
  EXPECT_EQ(json.at("findings").at(0).at("try"), findings[0].advice);
  EXPECT_EQ(json.at("diagnosis").at("windows").at(1).at("window"), 5);
  EXPECT_EQ(json.at("diagnosis").at("contact").at("geoms").at("foot"), 0.8);
  EXPECT_EQ(json.at("history").at("delivered").at(0).at("share"), 0.8);
}

LogEntry entry(int iteration, double radius, const std::string& update = "free") {
  LogEntry result;
  result.report.iteration = iteration;
  result.report.return_mean = iteration;
  result.report.costs = {1.0};
  result.report.limits = {2.0};
  result.report.radius = radius;
  result.report.update_case = update;
  return result;
}

TEST(RunHistory, CountsBoundsAndFailures) {
  RadiusSettings radius;
  radius.lower = 1e-4;
  radius.upper = 1e-2;
  std::vector<LogEntry> log;
  for (int i = 0; i < 10; ++i) log.push_back(entry(i, 1.0));  // out of sight: only the last 20 count
  for (int i = 10; i < 15; ++i) log.push_back(entry(i, 1e-4, "retreat"));
  for (int i = 15; i < 25; ++i) log.push_back(entry(i, 1e-3));
  for (int i = 25; i < 30; ++i) log.push_back(entry(i, 1e-2, i < 29 ? "constrained" : "refused"));
  log.back().report.warning = "odd";
  log[20].report.costs = {3.0};
  const RunHistory history = summarise_log(log, radius);
  EXPECT_EQ(history.iterations, 30);
  EXPECT_EQ(history.recent, 20);
  EXPECT_NEAR(history.at_lower, 0.25, 1e-12);
  EXPECT_NEAR(history.at_upper, 0.25, 1e-12);
  EXPECT_NEAR(history.retreated, 0.25, 1e-12);
  EXPECT_NEAR(history.refused, 0.05, 1e-12);
  EXPECT_EQ(history.warnings, 1);
  EXPECT_EQ(history.last_warning, "odd");
  EXPECT_EQ(history.best_return, 29.0);
  EXPECT_EQ(history.best_iteration, 29);
  EXPECT_DOUBLE_EQ(history.recent_return, 27.0);
  EXPECT_DOUBLE_EQ(history.return_range, 29.0);
  EXPECT_TRUE(history.deliveries.empty());  // a log from before there were such fields
}

TEST(RunHistory, AveragesTheModelsErrors) {
  std::vector<LogEntry> log(2);
  EXPECT_FALSE(summarise_log(log, {}).model);
  EXPECT_FALSE(summarise_log(log, {}).trust_region);
  log[1].report.radius = 1e-3;
  EXPECT_TRUE(summarise_log(log, {}).trust_region);
  for (LogEntry& entry : log) entry.report.world.emplace();
  log[0].report.world->state_error = 0.1;
  log[1].report.world->state_error = 0.3;
  log[0].report.world->window_error = 0.2;
  log[1].report.world->window_error = 0.6;
  const auto model = summarise_log(log, {}).model;
  ASSERT_TRUE(model);
  EXPECT_DOUBLE_EQ(model->step, 0.2);
  EXPECT_DOUBLE_EQ(model->window, 0.4);
}

// Slope through 0 of (2, 1), (1, 1), (−1, 0): (2 + 1 + 0) / (4 + 1 + 1).
TEST(RunHistory, SharesThatCameByHand) {
  std::vector<LogEntry> log;
  const double changes[4][3] = {{2.0, 1.0, 0.5}, {1.0, 1.0, 1.0}, {-1.0, 0.0, 2.0}, {kNan, 3.0, 1.0}};
  for (int i = 0; i < 4; ++i) {
    log.push_back(entry(i, 1e-3));
    log.back().report.change_predicted = {changes[i][0]};
    log.back().report.change_realised = {changes[i][1]};
    log.back().report.change_se = {changes[i][2]};
  }
  const Delivery delivery = summarise_log(log, {}).deliveries.at(0);
  EXPECT_EQ(delivery.updates, 3);
  EXPECT_DOUBLE_EQ(delivery.share, 0.5);
  EXPECT_DOUBLE_EQ(delivery.se, std::sqrt(1.0 + 1.0 + 4.0) / 6.0);
  EXPECT_DOUBLE_EQ(delivery.predicted, 4.0 / 3.0);
}

// Of a run in two stages only the second one is looked at, short as it may be.
TEST(RunHistory, LeavesOutWhatAnotherEngineDid) {
  RadiusSettings radius;
  radius.lower = 1e-4;
  std::vector<LogEntry> log;
  for (int i = 0; i < 12; ++i) {
    log.push_back(entry(i, i < 8 ? 1e-4 : 1e-3));
    IterationReport& report = log.back().report;
    report.stage = i < 8 ? "own" : "task";
    report.change_predicted = {1.0};
    report.change_realised = {i < 8 ? 0.0 : 1.0};
    report.change_se = {0.1};
  }
  const RunHistory history = summarise_log(log, radius);
  EXPECT_EQ(history.recent, 4);
  EXPECT_EQ(history.at_lower, 0.0);
  ASSERT_EQ(history.deliveries.size(), 1U);
  EXPECT_EQ(history.deliveries[0].updates, 4);
  EXPECT_DOUBLE_EQ(history.deliveries[0].share, 1.0);
  EXPECT_EQ(history.last_return, 11.0);
  log.resize(8);  // stopped before it came to the second
  EXPECT_EQ(summarise_log(log, radius).recent, 8);
  EXPECT_TRUE(std::isnan(summarise_log(log, radius).last_return));
}

}  // namespace
}  // namespace cgpo
