// Short trainings with known answers.
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <numeric>
#include <ostream>

#include "cgpo/algorithms/registry.hpp"
#include "cgpo/algorithms/staged.hpp"
#include "cgpo/config/configuration.hpp"
#include "cgpo/judge/evaluation.hpp"
#include "cgpo/tasks/registry.hpp"

#include "plain_settings.hpp"
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
          .confidence = 0.0,
          .margin = 0.0,
          .retreat = 0.0,
          .sidestep = true};
}

AlgorithmContext push_context(ThreadPool& pool) {
  AlgorithmContext context{make_task(Push{}), {}, 1, &pool};
  testing::make_plain(context.settings);
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

// The robots as they are shipped, but for the number of iterations: `cgpo train TASK --seed SEED --set iterations=…
// SETS`.
struct ShippedRobot {
  std::string task;
  std::string algorithm;
  std::int64_t seed;
  int iterations;       // some seconds on one core
  double least_return;  // of the last policy
  double least_cost;    // and of its cost with noise: where the limit binds, close to it; the most is the limit itself
  double over;          // share of the updates that may be over the limit by more than 1 %
  std::string set;      // and this
};

// NOLINTNEXTLINE(readability-identifier-naming): gtest finds it by this name
void PrintTo(const ShippedRobot& robot, std::ostream* out) {
  *out << robot.task << " with " << robot.algorithm << " " << robot.set;
}

class Shipped : public ::testing::TestWithParam<ShippedRobot> {};

TEST_P(Shipped, LearnsAndKeepsItsLimit) {
  const ShippedRobot& robot = GetParam();
  ConfigurationRequest request;
  request.task = robot.task;
  request.algorithm = robot.algorithm;
  request.seed = robot.seed;
  request.sets = {parse_assignment("iterations=" + std::to_string(robot.iterations))};
  if (!robot.set.empty()) request.sets.push_back(parse_assignment(robot.set));
  ThreadPool pool(2);
  const Configuration configuration = resolve_configuration(request);
  const AlgorithmContext context = context_of(configuration, pool);
  const double limit = configuration.settings.limits.at(0);
  const auto algorithm = make_algorithm(robot.algorithm, context);
  int over = 0;
  for (int i = 0; i < robot.iterations; ++i) {
    const IterationReport report = algorithm->iterate();
    if (!is_preparation(report) && report.costs.at(0) > limit + 0.01 * std::abs(limit)) ++over;
  }
  Tensors tensors;
  algorithm->save(tensors);
  for (const bool deployed : {false, true}) {
    SCOPED_TRACE(deployed ? "deployed" : "with noise");
    const Evaluation result = evaluate(context, tensors, 256, deployed);
    EXPECT_EQ(result.diverged, 0);
    EXPECT_GT(mean(result.returns), robot.least_return);
    EXPECT_LE(mean(result.costs.at(0)), limit);
    if (!deployed) {
      EXPECT_GT(mean(result.costs.at(0)), robot.least_cost);
    }
  }
  EXPECT_LE(over, robot.over * robot.iterations);
}

// Thresholds are from one run each, with a gap of some 5 to 20 %. Swimmer's first policy is over its limit by its noise
// alone. Hopper falls in some episodes still; seeds 1 to 3 have 394 at 280, 538 at 291 and 387 at 238 there, and the
// quadruped's 380 at 347, 430 at 392 and 348 at 322.
INSTANTIATE_TEST_SUITE_P(Slow, Shipped,
                         ::testing::Values(ShippedRobot{"cartpole", "cgpo", 2, 60, 290.0, -300.0, 0.1, ""},
                                           ShippedRobot{"reacher", "cgpo", 1, 45, -25.0, 340.0, 0.15, ""},
                                           ShippedRobot{"halfcheetah", "cgpo", 1, 45, 365.0, 370.0, 0.05, ""},
                                           ShippedRobot{"ant", "cgpo", 1, 30, 560.0, 340.0, 0.0, ""},
                                           ShippedRobot{"hopper", "cgpo", 1, 60, 340.0, 200.0, 0.05, ""},
                                           ShippedRobot{"quadruped", "cgpo", 1, 40, 310.0, 290.0, 0.0, ""},
                                           ShippedRobot{"halfcheetah", "cgpo", 1, 45, 340.0, 350.0, 0.05,
                                                        "task.engine=mujoco"},
                                           ShippedRobot{"swimmer", "cgpo", 1, 70, 48.0, 90.0, 0.05, ""},
                                           ShippedRobot{"swimmer", "mb-cgpo", 1, 4, 12.0, 60.0, 0.5, ""}),
                         [](const auto& test) {
                           std::string name =
                               test.param.task + "_" + test.param.algorithm + (test.param.set.empty() ? "" : "_mujoco");
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// HalfCheetah without gradients through it. CPO without a margin: it ends on the limit, on either side.
TEST(SlowLearning, CpoTakesHalfCheetahToItsLimit) {
  ConfigurationRequest request;
  request.task = "halfcheetah";
  request.algorithm = "cpo";
  for (const char* text : {"radius.confidence=0.0", "batch.deployed=0.0", "batch.adaptive=false"})
    request.sets.push_back(parse_assignment(text));
  ThreadPool pool(2);
  const Configuration configuration = resolve_configuration(request);
  const auto algorithm = find_algorithm("cpo").make(context_of(configuration, pool));
  double reward = 0.0, cost = 0.0;
  for (int i = 0; i < 45; ++i) {
    const IterationReport report = algorithm->iterate();
    if (i < 35) continue;
    reward += report.return_mean / 10.0;
    cost += report.costs[0] / 10.0;
  }
  EXPECT_GT(reward, 340.0);
  EXPECT_NEAR(cost, configuration.settings.limits.at(0), 10.0);
}

struct Learned {  // over the last iterations
  double reward = 0.0;
  double cost = 0.0;
  double multiplier = 0.0;
  int over = 0;  // of all iterations, those above the limit by more than 1 %
};

// As shipped, but for the keys that are given.
Learned train_shipped(const std::string& task, const std::string& algorithm, const std::vector<std::string>& sets,
                      int iterations, int last) {
  ConfigurationRequest request;
  request.task = task;
  request.algorithm = algorithm;
  request.seed = 0;
  for (const std::string& text : sets) request.sets.push_back(parse_assignment(text));
  request.sets.push_back(parse_assignment("iterations=" + std::to_string(iterations)));
  ThreadPool pool(2);
  const Configuration configuration = resolve_configuration(request);
  const auto trained = find_algorithm(algorithm).make(context_of(configuration, pool));
  Learned learned;
  for (int i = 0; i < iterations; ++i) {
    const IterationReport report = trained->iterate();
    if (report.costs[0] > 1.01 * report.limits[0]) ++learned.over;
    if (i < iterations - last) continue;
    learned.reward += report.return_mean / last;
    learned.cost += report.costs[0] / last;
    learned.multiplier += report.nu[0] / last;
  }
  return learned;
}

// From standing to two thirds of the limit's speed and more, and not beyond. Seed 1 has 276 at 305 with FOCOPS there,
// and 266 at 289 with PID.
TEST(SlowLearning, FocopsAndPidRunWithinHalfCheetahsLimit) {
  for (const std::string algorithm : {"focops", "ppo-pid"}) {
    const Learned learned = train_shipped("halfcheetah", algorithm, {}, 45, 20);
    EXPECT_GT(learned.reward, 270.0) << algorithm;
    EXPECT_LT(learned.cost, 400.0) << algorithm;
    EXPECT_LE(learned.over, 2) << algorithm;
    EXPECT_GT(learned.multiplier, 0.3) << algorithm;
    EXPECT_LT(learned.multiplier, 3.0) << algorithm;
  }
}

// Reward = cost, so that λ* = 1 and a Lagrangian has no curvature: only what damps a multiplier brings it to rest.
TEST(SlowLearning, PidComesToRestOnFunction) {
  const Learned learned = train_shipped("function", "ppo-pid", {"dual.learning_rate=1"}, 100, 40);
  EXPECT_GT(learned.reward, 7.0);
  EXPECT_LT(learned.cost, 8.0);
  EXPECT_NEAR(learned.multiplier, 1.0, 0.1);
}

// The acceptance run of the Function task: reward = cost, so 8 is the exact optimum.
TEST(SlowLearning, FunctionEndsOnItsLimit) {
  for (const std::uint64_t seed : {0, 1}) {
    ThreadPool pool(2);
    AlgorithmContext context{standard_task("function"), {}, seed, &pool};
    testing::make_plain(context.settings);
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
