#include "cgpo/studies/diagnosis.hpp"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

#include "cgpo/algorithms/cgpo.hpp"
#include "cgpo/gradient/first_order.hpp"
#include "cgpo/tasks/registry.hpp"
#include "cgpo/tasks/robots/robot.hpp"
#include "cgpo/updates/actor_critic.hpp"
#include "cgpo/updates/spread.hpp"

namespace cgpo {
namespace {

AlgorithmContext context(ThreadPool& pool, const std::string& task = "function") {
  AlgorithmContext result{standard_task(task), {}, 7, &pool};
  result.settings.environments = 32;
  result.settings.kernel.block = 32;
  result.settings.horizon = 24;
  result.settings.window = 6;
  result.settings.critic.steps = 8;
  result.settings.critic.batch = 64;
  result.settings.critic.hidden = {16};
  result.settings.policy.hidden = {16};
  return result;
}

// After some iterations, as a run leaves it.
Tensors trained(const AlgorithmContext& settings, int iterations = 2) {
  const auto algorithm = make_cgpo(settings);
  for (int i = 0; i < iterations; ++i) algorithm->iterate();
  Tensors tensors;
  algorithm->save(tensors);
  return tensors;
}

TEST(Diagnosis, QuantilesByHand) {
  const Spread spread = spread_over_episodes({4.0, 0.0, 3.0, 1.0, 2.0}, 2.0);
  EXPECT_DOUBLE_EQ(spread.low, 0.2);
  EXPECT_DOUBLE_EQ(spread.median, 2.0);
  EXPECT_DOUBLE_EQ(spread.high, 3.8);
  EXPECT_DOUBLE_EQ(spread.over, 0.4);  // the limit itself is within
  EXPECT_DOUBLE_EQ(spread_over_episodes({5.0}, 2.0).high, 5.0);
  EXPECT_TRUE(std::isnan(spread_over_episodes({}, 2.0).median));
}

TEST(Diagnosis, SignalToNoiseByHand) {
  EXPECT_DOUBLE_EQ((GradientLength{5.0, 3.0}.signal_to_noise()), 4.0 / 3.0);
  EXPECT_EQ((GradientLength{2.0, 3.0}.signal_to_noise()), 0.0);
  EXPECT_TRUE(std::isinf(GradientLength{2.0, 0.0}.signal_to_noise()));
}

TEST(Diagnosis, WindowsClimbToTheWholeEpisode) {
  ThreadPool pool(1);
  const AlgorithmContext settings = context(pool);
  const Diagnosis diagnosis = diagnose(settings, trained(settings));
  std::vector<int> windows;
  for (const WindowGradients& entry : diagnosis.windows) windows.push_back(entry.window);
  EXPECT_EQ(windows, (std::vector<int>{1, 2, 5, 6, 10, 20, 24}));
  EXPECT_EQ(diagnosis.signals, (std::vector<std::string>{"return", "height"}));
  EXPECT_EQ(diagnosis.gradient.size(), 2U);
  EXPECT_EQ(diagnosis.critic_explained.size(), 2U);
  EXPECT_EQ(diagnosis.critic_cosines.size(), 2U);
  EXPECT_FALSE(diagnosis.contact.has_value());
  for (const WindowGradients& entry : diagnosis.windows) {
    EXPECT_EQ(entry.signals[0].norm, entry.signals[1].norm);    // reward and cost are one function
    EXPECT_EQ(entry.signals[0].error > 0.0, entry.window > 1);  // a step's reward is that of the state before it
  }
}

// The batch again, with parts of its own.
TEST(Diagnosis, LengthsAreThoseOfTheRunsGradient) {
  for (const bool finite : {true, false}) {
    ThreadPool pool(1);
    AlgorithmContext settings = context(pool);
    settings.settings.finite_horizon = finite;
    settings.settings.critic.fit_first = false;  // the checkpoint's critics, as they are
    const Tensors checkpoint = trained(settings);
    const Diagnosis diagnosis = diagnose(settings, checkpoint);
    ActorCritic<float> parts(settings);
    parts.load(checkpoint);
    const EpisodeKey key{.seed = 7, .reset = Purpose::kEvalReset, .noise = Purpose::kEvalNoise, .iteration = 1};
    collect(*parts.simulator, parts.actor(), key, false, pool, parts.batch);
    FirstOrderGradient<float> source(*parts.simulator, parts.policy, parts.batch, 6, horizon_rule(settings.settings));
    const GradientEstimate estimate = source.estimate(parts.batch, parts.actor(), parts.critics, pool);
    for (std::size_t k = 0; k < 2; ++k) EXPECT_EQ(diagnosis.gradient[k].norm, estimate.norm(k));
    EXPECT_EQ(diagnosis.critic_cosines, estimate.critic_cosines);
    EXPECT_EQ(diagnosis.radius, checkpoint.number("radius.value"));
  }
}

TEST(Diagnosis, ThreadsDoNotMatter) {
  std::vector<Diagnosis> results;
  for (const int threads : {1, 3}) {
    ThreadPool pool(threads);
    const AlgorithmContext settings = context(pool, "halfcheetah");
    results.push_back(diagnose(settings, trained(settings, 1)));
  }
  EXPECT_EQ(results[0].gradient[0].error, results[1].gradient[0].error);
  EXPECT_EQ(results[0].gradient_signals, results[1].gradient_signals);
  EXPECT_EQ(results[0].reach, results[1].reach);
  EXPECT_EQ(results[0].critic_explained, results[1].critic_explained);
  EXPECT_EQ(results[0].critic_cosines, results[1].critic_cosines);
  EXPECT_EQ(results[0].windows.back().signals[1].norm, results[1].windows.back().signals[1].norm);
  EXPECT_EQ(results[0].actions.spectrum.quarters, results[1].actions.spectrum.quarters);
  EXPECT_EQ(results[0].contact->any, results[1].contact->any);
}

TEST(Diagnosis, CriticsThatWereFittedExplainMore) {
  for (const bool finite : {true, false}) {
    ThreadPool pool(1);
    AlgorithmContext settings = context(pool);
    settings.settings.finite_horizon = finite;
    settings.settings.discount = 0.5;  // short enough that two iterations of bootstrapping settle
    settings.settings.batch.adaptive = false;
    settings.settings.critic.targets = CriticTargets::kEpisode;
    settings.settings.critic.passes = 1e6;
    settings.settings.critic.memory = 0;
    settings.settings.critic.steps = 0;
    const double none = diagnose(settings, trained(settings)).critic_explained[0];
    settings.settings.critic.steps = 1000;
    const double many = diagnose(settings, trained(settings)).critic_explained[0];
    EXPECT_LT(none, 0.1);
    EXPECT_GT(many, 0.8);
  }
}

TEST(Diagnosis, ASingleEpisodeCannotTellSignalFromNoise) {
  ThreadPool pool(1);
  AlgorithmContext settings = context(pool);
  settings.settings.environments = 1;
  const Diagnosis diagnosis = diagnose(settings, trained(settings));
  EXPECT_TRUE(std::isnan(diagnosis.gradient[0].error));
  EXPECT_TRUE(std::isnan(diagnosis.gradient_signals[0]));
  EXPECT_GT(diagnosis.reach[0], 0.0);
}

TEST(Diagnosis, ScoreFunctionsHaveNoWindows) {
  ThreadPool pool(1);
  AlgorithmContext settings = context(pool, "function-floor");
  settings.settings.gradient.source = GradientSource::kZobg;
  const Diagnosis diagnosis = diagnose(settings, trained(settings));
  EXPECT_EQ(diagnosis.gradient.size(), 2U);
  EXPECT_TRUE(diagnosis.windows.empty());
  EXPECT_TRUE(diagnosis.critic_explained.empty());
}

// A policy learned on our engine is looked at on MuJoCo's, which has no gradient without a twin.
TEST(Diagnosis, WithoutADerivativeThereIsStillMotion) {
  ThreadPool pool(1);
  AlgorithmContext settings = context(pool, "cartpole");
  const Tensors checkpoint = trained(settings, 1);
  TaskOptions options(find_task("cartpole").options);
  options.set("engine", std::string("mujoco"));
  settings.task = find_task("cartpole").make(options);
  EXPECT_FALSE(diagnose(settings, checkpoint).gradient.empty());
  options.set("gradient.twin", false);
  settings.task = find_task("cartpole").make(options);
  const Diagnosis diagnosis = diagnose(settings, checkpoint);
  EXPECT_TRUE(diagnosis.gradient.empty());
  EXPECT_EQ(diagnosis.inputs.size(), 3U);
  EXPECT_GT(diagnosis.actions.spectrum.total(), 0.0);
  EXPECT_DOUBLE_EQ(diagnosis.actions.upper_frequency, 0.75 * 12.5);  // steps of 0.04 s
}

// Counted by hand: the lowest point of each sphere against the floor at height 0, in every state of the batch.
TEST(Diagnosis, ContactEqualsCountingByHand) {
  ThreadPool pool(1);
  AlgorithmContext settings = context(pool, "halfcheetah");
  settings.settings.environments = 12;
  settings.settings.kernel.block = 8;
  settings.settings.horizon = 60;
  settings.settings.policy.initial_std = 1.0;
  ActorCritic<float> parts(settings);
  parts.collect_episodes(0);
  const Model& model = *settings.task->find_robot()->model;
  int touching = 0;
  int head = 0;
  for (const auto& block : parts.batch.blocks) {
    for (int t = 0; t < 60; ++t) {
      for (int lane = 0; lane < block.lanes(); ++lane) {
        std::vector<double> state;
        for (int i = 0; i < 18; ++i) state.push_back(block.states.view().row(i)[block.column(t) + lane]);
        const RobotState<double> robot(model, state);
        bool any = false;
        bool by_head = false;
        for (const ContactPoint& point : model.contacts) {
          if (robot.position(point.body, point.body_position)[2] >= point.radius) continue;
          any = true;
          by_head = by_head || point.name == "geom 'head'";
        }
        touching += any ? 1 : 0;
        head += by_head ? 1 : 0;
      }
    }
  }
  ASSERT_GT(touching, 10);
  ASSERT_LT(touching, 710);
  const auto shares = sample_contact(*settings.task, parts.batch, 12 * 60);
  EXPECT_EQ(shares->states, 720);
  EXPECT_DOUBLE_EQ(shares->any, touching / 720.0);
  const auto found = std::find_if(shares->geoms.begin(), shares->geoms.end(),
                                  [](const ContactShares::Geom& geom) { return geom.name == "head"; });
  ASSERT_NE(found, shares->geoms.end());
  EXPECT_DOUBLE_EQ(found->share, head / 720.0);
  EXPECT_NEAR(sample_contact(*settings.task, parts.batch, 256)->any, shares->any, 0.1);
  EXPECT_FALSE(sample_contact(*standard_task("cartpole"), parts.batch, 10).has_value());
}

}  // namespace
}  // namespace cgpo
