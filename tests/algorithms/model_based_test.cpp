// MB-CGPO: gradients through a model that is learned.
#include "cgpo/algorithms/model_based.hpp"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cgpo/algorithms/cgpo.hpp"
#include "cgpo/base/error.hpp"
#include "cgpo/tasks/registry.hpp"

#include "plain_settings.hpp"
#include "probe_task.hpp"
#include "states.hpp"

namespace cgpo {
namespace {

using testing::expect_same;
using testing::ProbeTask;
using testing::state_of;

AlgorithmContext model_context(ThreadPool& pool, std::shared_ptr<const Task> task) {
  AlgorithmContext result{std::move(task), {}, 7, &pool};
  result.settings.environments = 24;
  result.settings.window = 5;
  result.settings.kernel.block = 8;
  result.settings.critic.steps = 8;
  result.settings.critic.batch = 64;
  result.settings.critic.hidden = {16};
  result.settings.policy.hidden = {16, 8};
  result.settings.world.hidden = {16};
  result.settings.world.batch = 64;
  result.settings.world.minibatches = 8;
  result.settings.world.held_out = 0.2;
  return result;
}

std::shared_ptr<const Task> probe() { return make_task(ProbeTask{.end_at = 2.0}); }

TEST(ModelBased, ThreadsDoNotMatter) {
  std::vector<Tensors> states;
  for (const int threads : {1, 2, 4}) {
    ThreadPool pool(threads);
    AlgorithmContext settings = model_context(pool, probe());
    settings.settings.world.members = 2;
    const auto algorithm = make_mb_cgpo(settings);
    for (int i = 0; i < 3; ++i) algorithm->iterate();
    states.push_back(state_of(*algorithm));
  }
  expect_same(states[0], states[1]);
  expect_same(states[0], states[2]);
}

// With a buffer that holds some of the iterations, all that is needed of the others is what first_data_needed() says.
TEST(ModelBased, SavedAndLoadedItContinuesBitForBit) {
  ThreadPool pool(1);
  AlgorithmContext settings = model_context(pool, probe());
  settings.settings.world.buffer = 500;
  const auto whole = make_mb_cgpo(settings);
  std::vector<std::shared_ptr<const Tensors>> data;
  for (int i = 0; i < 5; ++i) {
    whole->iterate();
    data.push_back(whole->take_new_data());
  }
  const int first = whole->first_data_needed();
  EXPECT_GT(first, 0);
  const auto resumed = make_mb_cgpo(settings);
  for (std::size_t i = static_cast<std::size_t>(first); i < data.size(); ++i) resumed->load_data(*data[i]);
  resumed->load(state_of(*whole));
  EXPECT_EQ(resumed->iteration(), 5);
  for (int i = 0; i < 2; ++i) {
    const IterationReport a = whole->iterate();
    const IterationReport b = resumed->iterate();
    EXPECT_EQ(a.world->state_error, b.world->state_error);
  }
  expect_same(state_of(*whole), state_of(*resumed));

  const auto lost = make_mb_cgpo(settings);
  EXPECT_THROW(lost->load(state_of(*whole)), UserError);  // without its data
}

// With few environments every iteration still has something to learn from, and, unless there is just one, to be judged
// by.
TEST(ModelBased, LearnsFromFewEnvironments) {
  ThreadPool pool(1);
  for (const int environments : {1, 4}) {
    AlgorithmContext settings = model_context(pool, standard_task("function"));
    settings.settings.environments = environments;
    settings.settings.world.held_out = 0.05;
    const auto algorithm = make_mb_cgpo(settings);
    for (int i = 1; i <= 3; ++i) {
      const IterationReport report = algorithm->iterate();
      EXPECT_EQ(report.world->transitions, i * 100 * (environments == 1 ? 1 : environments - 1));
      EXPECT_EQ(std::isfinite(report.world->state_error), environments > 1);
    }
  }
}

TEST(ModelBased, ReportsWhatTheModelIsWorth) {
  ThreadPool pool(1);
  const auto algorithm = make_mb_cgpo(model_context(pool, probe()));
  const IterationReport report = algorithm->iterate();
  ASSERT_TRUE(report.world);
  EXPECT_EQ(report.world->signal_errors.size(), 3U);
  EXPECT_TRUE(std::isfinite(report.world->window_error));
  EXPECT_GT(report.world->transitions, 0);
  EXPECT_EQ(report.world->costs_windows.size(), 2U);
  EXPECT_EQ(report.world->costs_episodes.size(), 2U);
  EXPECT_NEAR(report.world->model_share, 3.0 / 4.0, 1e-12);  // windows, their derivatives, whole episodes
}

// A model that is fitted to a smooth task has its gradient, in direction and length; one without a fit has not.
TEST(ModelBased, AgreesWithTheTrueGradientOnceItIsFitted) {
  ThreadPool pool(1);
  std::vector<GradientAgreement> agreement;
  for (const int minibatches : {2048, 0}) {
    AlgorithmContext settings = model_context(pool, standard_task("function"));
    settings.settings.window = 50;  // the task in the gradient, more than the critics
    settings.settings.world.hidden = {64, 64};
    settings.settings.world.first_scale = 1.0;
    settings.settings.world.minibatches = minibatches;
    const auto algorithm = make_mb_cgpo(settings);
    algorithm->iterate();
    const HorizonErrors found = measure_horizon(settings, state_of(*algorithm), 32, 3);
    ASSERT_EQ(found.gradients.size(), 2U);
    EXPECT_EQ(found.errors.state.size(), 3U);
    agreement.push_back(found.gradients[1]);
  }
  EXPECT_GT(agreement[0].cosine, 0.95);
  EXPECT_NEAR(agreement[0].model_length / agreement[0].true_length, 1.0, 0.5);  // seen 1.39, on a policy it never saw
  EXPECT_LT(agreement[1].model_length, 0.1 * agreement[1].true_length);
}

TEST(ModelBased, OtherGradientsAreRefused) {
  ThreadPool pool(1);
  AlgorithmContext settings = model_context(pool, probe());
  settings.settings.gradient.source = GradientSource::kZobg;
  EXPECT_THROW(make_mb_cgpo(settings), UserError);
}

// The paper's task without derivatives: the best feasible return is exactly the limit, 8.
TEST(SlowModelBased, FunctionFloorEndsAtItsLimit) {
  ThreadPool pool(2);
  AlgorithmContext settings{standard_task("function-floor"), {}, 1, &pool};
  testing::make_plain(settings.settings);
  settings.settings.critic.targets = CriticTargets::kEpisode;
  settings.settings.critic.sobolev = 10.0;
  settings.settings.critic.batch = 384;
  settings.settings.policy.initial_std = 0.03;
  settings.settings.radius = {.lower = 1e-4,
                              .test = RadiusTest::kPaper,
                              .metric = RadiusMetric::kEuclid,
                              .debias = false,
                              .confidence = 0.0,
                              .margin = 0.0,
                              .retreat = 0.0,
                              .sidestep = true};
  settings.settings.world.hidden = {64, 64};
  const auto algorithm = make_mb_cgpo(settings);
  double return_sum = 0.0;
  double cost_sum = 0.0;
  for (int i = 0; i < 35; ++i) {
    const IterationReport report = algorithm->iterate();
    if (i < 30) continue;
    return_sum += report.return_mean / 5.0;
    cost_sum += report.costs[0] / 5.0;
  }
  EXPECT_NEAR(return_sum, 8.0, 0.24);
  EXPECT_NEAR(cost_sum, 8.0, 0.24);
}

}  // namespace
}  // namespace cgpo
