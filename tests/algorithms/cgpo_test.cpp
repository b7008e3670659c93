// CGPO as a state machine: same bits for any number of threads and across save and load; trouble is reported, not
// fatal.
#include "cgpo/algorithms/cgpo.hpp"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <map>

#include "cgpo/base/error.hpp"
#include "cgpo/judge/evaluation.hpp"
#include "cgpo/tasks/registry.hpp"

#include "plain_settings.hpp"
#include "probe_task.hpp"
#include "states.hpp"

namespace cgpo {
namespace {

using testing::expect_same;
using testing::make_plain;
using testing::ProbeTask;
using testing::state_of;

AlgorithmContext cgpo_context(ThreadPool& pool, std::shared_ptr<const Task> task = standard_task("function")) {
  AlgorithmContext result{std::move(task), {}, 7, &pool};
  result.settings.environments = 24;
  result.settings.kernel.block = 8;
  result.settings.critic.steps = 8;
  result.settings.critic.batch = 64;
  result.settings.critic.hidden = {16};
  result.settings.policy.hidden = {16, 8};
  return result;
}

TEST(Cgpo, ThreadsDoNotMatter) {
  std::vector<Tensors> states;
  for (const int threads : {1, 2, 4}) {
    ThreadPool pool(threads);
    const auto algorithm = make_cgpo(cgpo_context(pool, make_task(ProbeTask{.end_at = 2.0})));
    for (int i = 0; i < 4; ++i) algorithm->iterate();
    states.push_back(state_of(*algorithm));
  }
  expect_same(states[0], states[1]);
  expect_same(states[0], states[2]);
}

TEST(Cgpo, SeedsMatter) {
  ThreadPool pool(1);
  AlgorithmContext other = cgpo_context(pool);
  other.seed = 8;
  const auto a = make_cgpo(cgpo_context(pool))->iterate();
  const auto b = make_cgpo(other)->iterate();
  EXPECT_NE(a.return_mean, b.return_mean);
}

// Steps far too long, so that some are taken back, in the action metric and with the paired test: all of it must
// travel.
TEST(Cgpo, RetreatsContinueBitForBitAfterLoading) {
  for (const RadiusTest test : {RadiusTest::kOneSided, RadiusTest::kPaired}) {
    ThreadPool pool(2);
    AlgorithmContext settings = cgpo_context(pool);
    settings.settings.radius = {.initial = 1.0,
                                .lower = 1e-6,
                                .upper = 10.0,
                                .test = test,
                                .metric = RadiusMetric::kAction,
                                .retreat = 1.0,
                                .sidestep = false};
    const auto whole = make_cgpo(settings);
    int retreats = 0;
    for (int i = 0; i < 12; ++i) {
      const Tensors saved = state_of(*whole);
      const auto resumed = make_cgpo(settings);
      resumed->load(saved);
      if (whole->iterate().update_case == "retreat") ++retreats;
      resumed->iterate();
      expect_same(state_of(*whole), state_of(*resumed));
    }
    EXPECT_GT(retreats, 0);
  }
}

TEST(Cgpo, ContinuesBitForBitAfterLoading) {
  for (const GradientSource source : {GradientSource::kShac, GradientSource::kBptt, GradientSource::kZobg}) {
    ThreadPool pool(2);
    AlgorithmContext settings = cgpo_context(pool);
    settings.settings.gradient.source = source;
    const auto whole = make_cgpo(settings);
    for (int i = 0; i < 3; ++i) whole->iterate();
    const Tensors saved = state_of(*whole);
    for (int i = 0; i < 3; ++i) whole->iterate();
    const auto resumed = make_cgpo(settings);
    resumed->load(saved);
    EXPECT_EQ(resumed->iteration(), 3);
    for (int i = 0; i < 3; ++i) resumed->iterate();
    expect_same(state_of(*whole), state_of(*resumed));
  }
}

// With scores that put right what ends of episodes do to windows: their weights travel, too.
TEST(Cgpo, CorrectionsDependOnNeitherThreadsNorResume) {
  for (const GradientCorrection correction : {GradientCorrection::kEnds, GradientCorrection::kAll}) {
    std::vector<Tensors> states;
    for (const int threads : {1, 3}) {
      ThreadPool pool(threads);
      AlgorithmContext context = cgpo_context(pool, make_task(ProbeTask{.end_at = 2.0}));
      context.settings.gradient.correction = correction;
      const auto whole = make_cgpo(context);
      IterationReport report;
      for (int i = 0; i < 3; ++i) report = whole->iterate();
      ASSERT_EQ(report.gradient_mixture.size(), 5U);  // three signals, two residuals
      EXPECT_GT(*std::max_element(report.gradient_mixture.begin(), report.gradient_mixture.end()), 0.0);
      const auto resumed = make_cgpo(context);
      resumed->load(state_of(*whole));
      for (int i = 0; i < 3; ++i) {
        whole->iterate();
        resumed->iterate();
      }
      expect_same(state_of(*whole), state_of(*resumed));
      states.push_back(state_of(*whole));
    }
    expect_same(states[0], states[1]);
  }
}

TEST(Cgpo, NothingIsCorrectedWhereNothingEnds) {
  ThreadPool pool(1);
  AlgorithmContext context = cgpo_context(pool, make_task(ProbeTask{}));
  const auto corrected = make_cgpo(context);  // as it comes
  context.settings.gradient.correction = GradientCorrection::kNone;
  const auto plain = make_cgpo(context);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(plain->iterate().gradient_mixture.empty());
    EXPECT_TRUE(corrected->iterate().gradient_mixture.empty());
  }
  const Tensors state = state_of(*corrected);
  for (const auto& [name, entry] : state_of(*plain).entries)
    EXPECT_EQ(entry.bytes, state.entries.at(name).bytes) << name;
}

TEST(Cgpo, ReportsWhatItPromises) {
  ThreadPool pool(1);
  AlgorithmContext settings = cgpo_context(pool);
  make_plain(settings.settings);
  settings.settings.radius.retreat = 0.0;
  settings.settings.radius.debias = true;
  const auto algorithm = make_cgpo(settings);
  const IterationReport first = algorithm->iterate();
  EXPECT_EQ(first.iteration, 0);
  EXPECT_EQ(first.steps, 2 * 24 * 100);  // with those that set the normaliser
  EXPECT_FALSE(first.rho.has_value());
  EXPECT_EQ(first.costs.size(), 1U);
  EXPECT_EQ(first.limits, std::vector<double>{8.0});
  EXPECT_EQ(first.gradient_norms.size(), 2U);
  EXPECT_EQ(first.gradient_signals.size(), 2U);
  for (const double signal : first.gradient_signals) EXPECT_LE(signal, 1.0);
  EXPECT_EQ(first.critic_losses.size(), 2U);
  ASSERT_EQ(first.gradient_errors.size(), 2U);
  for (const double error : first.gradient_errors) EXPECT_GT(error, 0.0);
  ASSERT_EQ(first.critic_cosines.size(), 2U);
  for (const double cosine : first.critic_cosines) EXPECT_LE(std::abs(cosine), 1.0);
  EXPECT_LT(first.costs_low[0], first.costs[0]);
  EXPECT_GT(first.costs_high[0], first.costs[0]);
  EXPECT_EQ(first.violation_rates.size(), 1U);
  EXPECT_FALSE(first.contact_share.has_value());  // a point has nothing to touch
  EXPECT_TRUE(first.change_predicted.empty());
  EXPECT_EQ(first.return_mean, first.costs[0]);
  const IterationReport second = algorithm->iterate();
  EXPECT_EQ(second.iteration, 1);
  EXPECT_EQ(second.steps, 3 * 24 * 100);
  EXPECT_TRUE(second.rho.has_value());
  ASSERT_EQ(second.change_predicted.size(), 2U);
  for (const double change : second.change_predicted) EXPECT_LT(change, 0.0);  // from above the limit, where J_R = J_C
  EXPECT_EQ(second.change_realised[0], second.return_mean - first.return_mean);
  EXPECT_EQ(second.change_realised[1], second.costs[0] - first.costs[0]);
  // An episode's variance is known as a running mean over the iterations.
  const double smoothed = std::sqrt(0.8 * std::pow(first.return_se, 2) + 0.2 * std::pow(second.return_se, 2));
  EXPECT_NEAR(second.change_se[0], std::hypot(smoothed, first.return_se), 1e-9);
  EXPECT_EQ(second.change_se[1], std::hypot(second.costs_se[0], first.costs_se[0]));
}

// The step that was tried at once is judged at once, in the same report.
TEST(Cgpo, PairedTrialsReportTheirOwnChange) {
  ThreadPool pool(1);
  AlgorithmContext settings = cgpo_context(pool);
  settings.settings.radius.test = RadiusTest::kPaired;
  const IterationReport first = make_cgpo(settings)->iterate();
  ASSERT_EQ(first.change_predicted.size(), 2U);
  EXPECT_TRUE(first.rho.has_value());
}

// A cost without a limit has no prediction, and the log says so.
TEST(Cgpo, UnlimitedCostsHaveNoPrediction) {
  ThreadPool pool(1);
  AlgorithmContext settings = cgpo_context(pool);
  settings.settings.limits = {std::numeric_limits<double>::infinity()};
  const auto algorithm = make_cgpo(settings);
  algorithm->iterate();
  const IterationReport second = algorithm->iterate();
  EXPECT_TRUE(std::isfinite(second.change_predicted[0]));
  EXPECT_TRUE(std::isnan(second.change_predicted[1]));
  EXPECT_TRUE(std::isfinite(second.change_realised[1]));
}

// Reward and cost are one function here, so g and q must be one vector when no critic comes between.
TEST(Cgpo, EqualSignalsHaveEqualGradients) {
  ThreadPool pool(1);
  AlgorithmContext settings = cgpo_context(pool);
  settings.settings.gradient.source = GradientSource::kBptt;
  const IterationReport report = make_cgpo(settings)->iterate();
  EXPECT_EQ(report.gradient_norms[0], report.gradient_norms[1]);
  EXPECT_TRUE(report.critic_losses.empty());
}

// What acts: the policy and the scale of what it sees.
std::map<std::string, std::vector<std::byte>> acting_part(const Tensors& tensors) {
  std::map<std::string, std::vector<std::byte>> result;
  for (const auto& [name, tensor] : tensors.entries) {
    if (name.starts_with("policy.") || name.starts_with("normaliser.")) result[name] = tensor.bytes;
  }
  return result;
}

TEST(Cgpo, DivergedEnvironmentsRefuseTheUpdate) {
  ThreadPool pool(1);
  const auto sound = make_cgpo(cgpo_context(pool, make_task(ProbeTask{})));
  const auto first = acting_part(state_of(*sound));
  sound->iterate();
  for (const auto& [name, bytes] : acting_part(state_of(*sound))) {
    if (name != "policy.log_std") {
      EXPECT_NE(bytes, first.at(name)) << name;  // it would have moved
    }
  }
  const auto algorithm = make_cgpo(cgpo_context(pool, make_task(ProbeTask{.diverge_at = 2.4})));
  const auto before = acting_part(state_of(*algorithm));
  const IterationReport report = algorithm->iterate();
  EXPECT_EQ(acting_part(state_of(*algorithm)), before);
  EXPECT_GT(report.diverged, 0);
  EXPECT_EQ(report.update_case, "refused");
  EXPECT_THAT(report.warning, ::testing::HasSubstr("diverged"));
  EXPECT_TRUE(std::isfinite(report.return_mean));
  const IterationReport next = algorithm->iterate();
  EXPECT_FALSE(next.rho.has_value());
  EXPECT_LT(*next.radius, *report.radius);
}

TEST(Cgpo, WhollyDivergedBatchesChangeNothingButTheRadius) {
  ThreadPool pool(1);
  AlgorithmContext settings = cgpo_context(pool, make_task(ProbeTask{.diverge_at = -9.0}));
  settings.settings.batch.adaptive = false;
  const auto algorithm = make_cgpo(settings);
  const Tensors before = state_of(*algorithm);
  const IterationReport report = algorithm->iterate();
  EXPECT_EQ(report.diverged, 24);
  EXPECT_TRUE(std::isnan(report.return_mean) && std::isnan(report.costs[0]) && std::isnan(report.return_se));
  EXPECT_FALSE(is_feasible(report));
  EXPECT_EQ(report.update_case, "refused");
  EXPECT_TRUE(report.gradient_norms.empty());
  const Tensors after = state_of(*algorithm);
  for (const auto& [name, tensor] : before.entries) {
    if (name != "iteration" && name != "steps" && name != "radius.value") {
      EXPECT_EQ(tensor.bytes, after.entries.at(name).bytes) << name;
    }
  }
}

// The step before has led to where everything diverges: back to where it began, and a shorter one.
TEST(Cgpo, StepsIntoDivergenceAreTakenBack) {
  ThreadPool pool(1);
  AlgorithmContext settings = cgpo_context(pool, make_task(ProbeTask{.diverge_at = 5.5}));
  settings.settings.batch.adaptive = false;
  settings.settings.radius.retreat = 3.0;
  const auto algorithm = make_cgpo(settings);
  ASSERT_EQ(algorithm->iterate().diverged, 0);
  Tensors spoilt = state_of(*algorithm);
  std::vector<float> bias(2);
  spoilt.get("policy.layer2.bias", std::span(bias));
  spoilt.put("policy.layer2.bias", std::span<const float>(std::vector<float>{50.0F, 0.0F}));  // forwards, always
  algorithm->load(spoilt);
  const IterationReport report = algorithm->iterate();
  EXPECT_GT(report.diverged, 12);
  EXPECT_EQ(report.update_case, "retreat");
  EXPECT_THAT(report.warning, ::testing::HasSubstr("of 24 episodes diverged"));
  EXPECT_TRUE(std::isnan(report.change_realised[0]));
  std::vector<float> again(2);
  state_of(*algorithm).get("policy.layer2.bias", std::span(again));
  EXPECT_NEAR(again[0], bias[0], 0.1);
  EXPECT_EQ(algorithm->iterate().diverged, 0);
}

// There is no standard error: nothing is put down to chance, the report says that it is not known, and it learns.
TEST(Cgpo, OneEnvironmentTrains) {
  for (const RadiusTest test : {RadiusTest::kOneSided, RadiusTest::kPaired, RadiusTest::kPaper}) {
    ThreadPool pool(1);
    AlgorithmContext settings = cgpo_context(pool);
    settings.settings.environments = 1;
    settings.settings.radius.test = test;
    const auto algorithm = make_cgpo(settings);
    IterationReport report = algorithm->iterate();
    EXPECT_GT(report.costs[0], report.limits[0]);
    for (int i = 0; i < 20; ++i) {
      report = algorithm->iterate();
      EXPECT_NE(report.update_case, "refused") << report.warning;
      EXPECT_TRUE(std::isnan(report.return_se) && std::isnan(report.costs_se[0]));
      for (const double se : report.change_se) EXPECT_TRUE(std::isnan(se));
      EXPECT_TRUE(!report.rho || !std::isnan(*report.rho));
    }
    EXPECT_LT(report.costs[0], report.limits[0]);
    for (const auto& [name, tensor] : state_of(*algorithm).entries) {
      if (tensor.type != Tensor::Type::kF64) continue;
      for (const double value : state_of(*algorithm).numbers(name)) EXPECT_TRUE(std::isfinite(value)) << name;
    }
  }
}

TEST(Cgpo, AnInfiniteLimitIsNoConstraint) {
  ThreadPool pool(1);
  AlgorithmContext settings = cgpo_context(pool);
  settings.settings.limits = {std::numeric_limits<double>::infinity()};
  const auto algorithm = make_cgpo(settings);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(algorithm->iterate().update_case, "free");
}

TEST(Cgpo, SeveralConstraintsAndTheirErrors) {
  ThreadPool pool(1);
  AlgorithmContext settings = cgpo_context(pool, make_task(ProbeTask{}));
  EXPECT_EQ(make_cgpo(settings)->iterate().costs.size(), 2U);
  settings.settings.costs = {"goes_on"};
  EXPECT_EQ(make_cgpo(settings)->iterate().limits, std::vector<double>{2.0});
  settings.settings.limits = {1.0, 2.0};
  EXPECT_THROW(make_cgpo(settings), UserError);
  settings.settings.costs = {"goes_on", "goes_on"};
  EXPECT_THROW(make_cgpo(settings), UserError);
}

TEST(Cgpo, NonDifferentiableTasksAreRefusedAtOnce) {
  ThreadPool pool(1);
  AlgorithmContext settings = cgpo_context(pool, standard_task("function-floor"));
  EXPECT_THROW(make_cgpo(settings), UserError);
  settings.settings.gradient.source = GradientSource::kBptt;
  EXPECT_THROW(make_cgpo(settings), UserError);
  settings.settings.gradient.source = GradientSource::kZobg;
  EXPECT_NO_THROW(make_cgpo(settings)->iterate());
}

TEST(Cgpo, SlopesBelongToThePolicyBeforeTheUpdate) {
  ThreadPool pool(1);
  AlgorithmContext settings = cgpo_context(pool);
  settings.settings.critic.sobolev = 1.0;
  EXPECT_NO_THROW(make_cgpo(settings)->iterate());
  settings.settings.critic.fit_first = false;
  EXPECT_THROW(make_cgpo(settings), UserError);
}

TEST(Evaluation, ChunksAndThreadsDoNotMatter) {
  ThreadPool pool(2);
  const AlgorithmContext settings = cgpo_context(pool);
  const auto algorithm = make_cgpo(settings);
  const Tensors state = state_of(*algorithm);
  const Evaluation many = evaluate(settings, state, 1500, false);
  const Evaluation few = evaluate(settings, state, 40, false);
  ASSERT_EQ(many.returns.size(), 1500U);
  for (std::size_t i = 0; i < 40; ++i) EXPECT_EQ(few.returns[i], many.returns[i]);
  EXPECT_EQ(many.costs[0], many.returns);
  const Evaluation mode = evaluate(settings, state, 40, true);
  EXPECT_NE(mode.returns[0], few.returns[0]);
}

}  // namespace
}  // namespace cgpo
