// finite_horizon = false with gradients through the simulator: discounted sums, bootstrapped at T, and critics that do
// not know the time. The gradients themselves are tested in tests/gradient.
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cgpo/algorithms/cgpo.hpp"
#include "cgpo/algorithms/registry.hpp"
#include "cgpo/base/error.hpp"
#include "cgpo/updates/actor_critic.hpp"

#include "probe_task.hpp"
#include "states.hpp"
#include "tasks.hpp"

namespace cgpo {
namespace {

using testing::algorithm_test_name;
using testing::expect_same;
using testing::ProbeTask;
using testing::state_of;

AlgorithmContext discounted_context(ThreadPool& pool,
                                    std::shared_ptr<const Task> task = make_task(ProbeTask{.end_at = 2.0})) {
  AlgorithmContext result{std::move(task), {}, 7, &pool};
  Settings& settings = result.settings;
  settings.finite_horizon = false;
  settings.discount = 0.9;
  settings.environments = 24;
  settings.window = 5;
  settings.kernel.block = 8;
  settings.critic.steps = 8;
  settings.critic.batch = 64;
  settings.critic.hidden = {16};
  settings.policy.hidden = {16, 8};
  settings.world.hidden = {16};
  settings.world.batch = 64;
  settings.world.minibatches = 8;
  return result;
}

class Discounted : public ::testing::TestWithParam<std::string> {
 protected:
  static std::unique_ptr<Algorithm> make(const AlgorithmContext& context) {
    return find_algorithm(GetParam()).make(context);
  }
};

TEST_P(Discounted, ThreadsDoNotMatter) {
  std::vector<Tensors> states;
  for (const int threads : {1, 3}) {
    ThreadPool pool(threads);
    AlgorithmContext settings = discounted_context(pool);
    settings.settings.critic.sobolev = 1.0;
    const auto algorithm = make(settings);
    for (int i = 0; i < 3; ++i) algorithm->iterate();
    states.push_back(state_of(*algorithm));
  }
  expect_same(states[0], states[1]);
}

TEST_P(Discounted, ContinuesBitForBitAfterLoading) {
  ThreadPool pool(2);
  const auto whole = make(discounted_context(pool));
  const auto resumed = make(discounted_context(pool));
  for (int i = 0; i < 3; ++i) {
    whole->iterate();
    if (const auto data = whole->take_new_data()) resumed->load_data(*data);
  }
  resumed->load(state_of(*whole));
  for (int i = 0; i < 3; ++i) {
    whole->iterate();
    resumed->iterate();
  }
  expect_same(state_of(*whole), state_of(*resumed));
}

// J, costs and limits stay plain sums over the episode: only what is learned from them differs.
TEST_P(Discounted, ReportsPlainSums) {
  ThreadPool pool(1);
  AlgorithmContext finite = discounted_context(pool);
  finite.settings.finite_horizon = true;
  const IterationReport a = make(discounted_context(pool))->iterate();
  const IterationReport b = make(finite)->iterate();
  EXPECT_EQ(a.return_mean, b.return_mean);
  EXPECT_EQ(a.costs, b.costs);
  EXPECT_EQ(a.limits, b.limits);
  EXPECT_EQ(a.warning, "");
  ASSERT_EQ(a.gradient_norms.size(), 3U);
  for (std::size_t k = 0; k < 3; ++k) EXPECT_NE(a.gradient_norms[k], b.gradient_norms[k]);
}

INSTANTIATE_TEST_SUITE_P(All, Discounted, ::testing::Values("cgpo", "mb-cgpo", "shac-lag", "bptt-lag"),
                         algorithm_test_name);

// γ = 0 is a gradient through single steps, which bptt.window = 1 gives too.
TEST(DiscountedGradient, TheKeysReachIt) {
  ThreadPool pool(1);
  AlgorithmContext single = discounted_context(pool);
  single.settings.finite_horizon = true;
  single.settings.bptt.window = 1;
  const std::vector<double> expected = find_algorithm("bptt-lag").make(single)->iterate().gradient_norms;
  for (const std::string name : {"bptt-lag", "shac-lag", "cgpo"}) {
    for (const GradientSource source : {GradientSource::kShac, GradientSource::kBptt}) {
      AlgorithmContext blind = discounted_context(pool);
      blind.settings.discount = 0.0;
      blind.settings.gradient.source = source;
      const std::vector<double> found = find_algorithm(name).make(blind)->iterate().gradient_norms;
      ASSERT_EQ(found.size(), expected.size());
      for (std::size_t k = 0; k < found.size(); ++k) EXPECT_NEAR(found[k], expected[k], 1e-5 * expected[k]) << name;
    }
  }
}

// In a model too: then no critic has a say.
TEST(DiscountedGradient, TheKeysReachTheModel) {
  ThreadPool pool(1);
  const auto norms = [&](double discount, int critic_steps) {
    AlgorithmContext settings = discounted_context(pool);
    settings.settings.discount = discount;
    settings.settings.critic.steps = critic_steps;
    return find_algorithm("mb-cgpo").make(settings)->iterate().gradient_norms;
  };
  EXPECT_EQ(norms(0.0, 8), norms(0.0, 16));
  EXPECT_NE(norms(0.9, 8), norms(0.9, 16));
}

TEST(DiscountedGradient, ScoresAreRefused) {
  ThreadPool pool(1);
  AlgorithmContext settings = discounted_context(pool);
  settings.settings.gradient.source = GradientSource::kZobg;
  try {
    make_cgpo(settings);
    FAIL() << "accepted";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("gradient.source"));
    EXPECT_THAT(error.what(), ::testing::HasSubstr("finite_horizon"));
  }
}

// One a step, for ever.
struct Constant {
  TaskSpec spec() const { return testing::toy_spec("constant", {.horizon = 6}); }
  void reset(RandomStream& random, std::span<double> state) const { testing::uniform_start(random, state); }
  template <class S>
  void observe(std::span<const S> s, std::span<S> o) const {
    testing::observe_state(s, o);
  }
  template <class S>
  StepResult<S> step(std::span<const S> s, std::span<const S> a) const {
    return {.state = {s[0] + a[0]}, .reward = S(1.0), .reward_paper = S(1.0), .costs = {}, .ended = S(0.0)};
  }
};

// V = 1 + γV, so 1/(1 − γ) in every state: far more than the six steps of an episode, which only bootstrapping can
// know.
TEST(DiscountedCritics, ReachTheFixedPoint) {
  for (const CriticTargets targets : {CriticTargets::kWindow, CriticTargets::kEpisode}) {
    ThreadPool pool(1);
    AlgorithmContext settings = discounted_context(pool, make_task(Constant{}));
    settings.settings.critic.targets = targets;
    settings.settings.critic.steps = 64;
    ActorCritic<double> parts(settings);
    parts.warm_up_normaliser();
    for (int i = 0; i < 60; ++i) {
      parts.collect_episodes(i);
      parts.fit_critics(i);
    }
    const auto& block = parts.batch.blocks[0];
    std::vector<double> values(static_cast<std::size_t>(block.lanes()));
    CriticWorkspace<double> workspace(parts.critics[0].mlp(), block.lanes());
    parts.critics[0].value(block.inputs.view(), 0, values.data(), block.lanes(), workspace);
    for (const double value : values) EXPECT_NEAR(value, 10.0, 0.2);
  }
}

// Whatever the weights of the time say, neither targets nor fits nor gradients notice.
TEST(DiscountedCritics, DoNotKnowTheTime) {
  ThreadPool pool(1);
  const AlgorithmContext settings = discounted_context(pool);
  const auto after = [&](double time_weight) {
    ActorCritic<double> parts(settings);
    parts.warm_up_normaliser();
    parts.collect_episodes(0);
    const int inputs = parts.critics[0].mlp().shape().inputs;
    const auto set_time_weights = [&](double value) {  // the first layer is [hidden × inputs], the time last
      for (Critic<double>& critic : parts.critics) {
        for (int i = 0; i < 16; ++i) {
          const int weight = critic.mlp().weight_offset(0) + i * inputs + inputs - 1;
          critic.parameters()[static_cast<std::size_t>(weight)] = value;
        }
      }
    };
    set_time_weights(time_weight);
    for (int i = 0; i < 2; ++i) parts.fit_critics(i);
    FirstOrderGradient<double> gradient(*parts.simulator, parts.policy, parts.batch, 5,
                                        horizon_rule(settings.settings));
    std::vector<std::vector<double>> result =
        gradient.estimate(parts.batch, parts.actor(), parts.critics, pool).gradients;
    set_time_weights(0.0);
    for (const Critic<double>& critic : parts.critics)
      result.emplace_back(critic.parameters().begin(), critic.parameters().end());
    return result;
  };
  EXPECT_EQ(after(0.0), after(3.0));
}

}  // namespace
}  // namespace cgpo
