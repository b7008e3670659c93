// Short trainings with known answers.
#include <cmath>
#include <gtest/gtest.h>
#include <numeric>

#include "cgpo/algorithms/registry.hpp"
#include "cgpo/judge/evaluation.hpp"
#include "cgpo/tasks/registry.hpp"

#include "push_task.hpp"

namespace cgpo {
namespace {

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

using testing::Push;

Evaluation train(const AlgorithmContext& context) {
  const auto algorithm = find_algorithm("cgpo").make(context);
  for (int i = 0; i < context.settings.iterations; ++i) algorithm->iterate();
  Tensors tensors;
  algorithm->save(tensors);
  return evaluate(context, tensors, 4096, false);
}

// Without margin, and so that one observation's narrow band does no harm: the optimum itself is to be found.
RadiusSettings exact_radius() {
  return {.lower = 1e-4,
          .test = RadiusTest::kPaper,
          .metric = RadiusMetric::kEuclid,
          .debias = false,
          .margin = 0.0,
          .margin_se = 0.0,
          .retreat = 0.0,
          .sidestep = true};
}

AlgorithmContext push_context(ThreadPool& pool) {
  AlgorithmContext context{make_task(Push{}), {}, 1, &pool};
  context.settings.radius = exact_radius();
  context.settings.iterations = 60;
  context.settings.environments = 64;
  context.settings.policy.initial_std = 0.03;
  context.settings.critic.steps = 32;
  context.settings.critic.batch = 128;
  context.settings.critic.hidden = {32};
  return context;
}

TEST(Learning, TheConstraintThatBindsIsMetExactly) {
  ThreadPool pool(2);
  const Evaluation both = train(push_context(pool));
  EXPECT_NEAR(mean(both.returns), 4.0, 0.08);
  EXPECT_NEAR(mean(both.costs[1]), 4.0, 0.08);
  EXPECT_LT(mean(both.costs[0]), 2.0);

  AlgorithmContext energy = push_context(pool);
  energy.settings.costs = {"energy"};
  const Evaluation one = train(energy);
  EXPECT_NEAR(mean(one.returns), 5.0, 0.1);
  EXPECT_NEAR(mean(one.costs[0]), 2.5, 0.05);
}

TEST(Learning, BpttLearnsToo) {
  ThreadPool pool(2);
  AlgorithmContext context = push_context(pool);
  context.settings.gradient.source = GradientSource::kBptt;
  const Evaluation result = train(context);
  EXPECT_NEAR(mean(result.returns), 4.0, 0.08);
  EXPECT_NEAR(mean(result.costs[1]), 4.0, 0.08);
}

// What an action brings, it brings at once here: the discount changes nothing about where the optimum is.
TEST(Learning, DiscountedGradientsFindTheSameLimits) {
  for (const GradientSource source : {GradientSource::kShac, GradientSource::kBptt}) {
    ThreadPool pool(2);
    AlgorithmContext context = push_context(pool);
    context.settings.finite_horizon = false;
    context.settings.gradient.source = source;
    const Evaluation result = train(context);
    EXPECT_NEAR(mean(result.returns), 4.0, 0.08);
    EXPECT_NEAR(mean(result.costs[1]), 4.0, 0.08);
    EXPECT_LT(mean(result.costs[0]), 2.0);
  }
}

TEST(Learning, DefaultsEndALittleBelowTheLimit) {
  ThreadPool pool(2);
  AlgorithmContext context = push_context(pool);
  context.settings.radius = {};
  const Evaluation result = train(context);
  EXPECT_GT(mean(result.returns), 3.6);
  EXPECT_LT(mean(result.costs[1]), 4.0);
}

// A robot with contacts, with the defaults: fast, and within its limit.
TEST(SlowLearning, HalfCheetahRunsAtItsLimit) {
  ThreadPool pool(2);
  AlgorithmContext context{standard_task("halfcheetah"), {}, 0, &pool};
  context.settings.iterations = 25;
  context.settings.critic.targets = CriticTargets::kEpisode;
  const Evaluation result = train(context);
  EXPECT_GT(mean(result.returns), 320.0);
  EXPECT_LT(mean(result.costs[0]), 408.0);
  EXPECT_EQ(result.diverged, 0);
}

TEST(SlowLearning, CartPoleStandsUp) {
  ThreadPool pool(2);
  AlgorithmContext context{standard_task("cartpole"), {}, 1, &pool};
  context.settings.iterations = 30;
  context.settings.radius.test = RadiusTest::kPaper;
  context.settings.radius.debias = false;
  context.settings.radius.margin_se = 2.0;
  const Evaluation result = train(context);
  EXPECT_GT(mean(result.returns), 280.0);
  EXPECT_LT(mean(result.costs[0]), -49.0);
}

// The same robot without gradients through it: CPO, as `cgpo train --algo cpo` sets it up.
TEST(SlowLearning, CpoTakesHalfCheetahToItsLimit) {
  ThreadPool pool(2);
  AlgorithmContext context{standard_task("halfcheetah"), {}, 0, &pool};
  context.settings.finite_horizon = false;
  context.settings.policy.initial_std = 0.5;
  context.settings.policy.learn_std = true;
  context.settings.critic.steps = 128;
  context.settings.critic.batch = 1024;
  context.settings.update.kl = 0.01;
  const auto algorithm = find_algorithm("cpo").make(context);
  double reward = 0.0, cost = 0.0;
  for (int i = 0; i < 45; ++i) {
    const IterationReport report = algorithm->iterate();
    if (i < 35) continue;
    reward += report.return_mean / 10.0;
    cost += report.costs[0] / 10.0;
  }
  EXPECT_GT(reward, 340.0);
  EXPECT_LT(cost, 410.0);
}

// The acceptance run of the Function task: reward = cost, so 8 is the exact optimum.
TEST(SlowLearning, FunctionEndsOnItsLimit) {
  for (const std::uint64_t seed : {0, 1}) {
    ThreadPool pool(2);
    AlgorithmContext context{standard_task("function"), {}, seed, &pool};
    context.settings.radius = exact_radius();
    context.settings.policy.initial_std = 0.03;
    context.settings.critic.targets = CriticTargets::kEpisode;
    context.settings.critic.sobolev = 10.0;
    context.settings.critic.batch = 384;
    const Evaluation result = train(context);
    EXPECT_NEAR(mean(result.costs[0]), 8.0, 0.08) << "seed " << seed;
    EXPECT_NEAR(mean(result.returns), 8.0, 0.08) << "seed " << seed;
  }
}

}  // namespace
}  // namespace cgpo
