// Trainings whose number of episodes, noise and critics' samples follow what they see: same bits for any number of
// threads and across save and load, the same course for any blocks, and every episode counted.
#include <cmath>
#include <gtest/gtest.h>

#include "cgpo/algorithms/registry.hpp"
#include "cgpo/tasks/registry.hpp"

#include "probe_task.hpp"
#include "states.hpp"

namespace cgpo {
namespace {

using testing::expect_same;
using testing::ProbeTask;
using testing::state_of;

AlgorithmContext adaptive_context(ThreadPool& pool) {
  AlgorithmContext context{make_task(ProbeTask{.end_at = 2.0}), {}, 5, &pool};
  Settings& settings = context.settings;
  settings.environments = 64;
  settings.window = 4;
  settings.critic.batch = 64;
  settings.critic.hidden = {16};
  settings.critic.memory = 48;
  settings.policy.hidden = {16, 8};
  settings.policy.initial_std = 0.3;
  settings.policy.least_std = 0.2;  // so that episodes are added after that
  settings.batch.smallest = 8;
  settings.update.passes = 2;
  settings.update.batch = 100;
  return context;
}

class Adaptive : public ::testing::TestWithParam<std::string> {
 protected:
  static constexpr int kIterations = 30;
  static std::unique_ptr<Algorithm> make(const AlgorithmContext& context) {
    return find_algorithm(GetParam()).make(context);
  }
};

TEST_P(Adaptive, DependsOnNeitherThreadsNorResume) {
  std::vector<Tensors> states;
  for (const int threads : {1, 3}) {
    ThreadPool pool(threads);
    const AlgorithmContext context = adaptive_context(pool);
    auto whole = make(context);
    int fewest = context.settings.environments, most = 0;
    double noise = 0.0;
    const double first_noise = context.settings.policy.initial_std;
    bool remembered = false;
    for (int i = 0; i < kIterations; ++i) {
      const Tensors before = state_of(*whole);
      remembered = remembered || before.contains("critics.samples");
      const IterationReport report = whole->iterate();
      fewest = std::min(fewest, static_cast<int>(report.episodes));
      most = std::max(most, static_cast<int>(report.episodes));
      noise = report.noise.value();
      if (i % 3 != 2) continue;
      const auto resumed = make(context);
      resumed->load(before);
      EXPECT_EQ(resumed->iterate().episodes, report.episodes);
      expect_same(state_of(*whole), state_of(*resumed));
    }
    EXPECT_GT(most, fewest);  // all of it was at work
    EXPECT_LT(noise, first_noise);
    EXPECT_TRUE(remembered);
    states.push_back(state_of(*whole));
  }
  expect_same(states[0], states[1]);
}

INSTANTIATE_TEST_SUITE_P(All, Adaptive, ::testing::Values("cgpo", "cpo", "shac-lag"), [](const auto& test) {
  return test.param == "shac-lag" ? std::string("shac_lag") : test.param;
});

TEST(AdaptiveBatch, DoesNotDependOnBlocks) {
  std::vector<std::vector<IterationReport>> runs;
  for (const int block : {8, 32}) {
    ThreadPool pool(2);
    AlgorithmContext context = adaptive_context(pool);
    context.settings.kernel.block = block;
    const auto algorithm = find_algorithm("cgpo").make(context);
    runs.emplace_back();
    for (int i = 0; i < 6; ++i) runs.back().push_back(algorithm->iterate());
  }
  for (std::size_t i = 0; i < runs[0].size(); ++i) {
    const IterationReport& a = runs[0][i];
    const IterationReport& b = runs[1][i];
    EXPECT_EQ(a.episodes, b.episodes) << i;
    EXPECT_EQ(a.steps, b.steps) << i;
    EXPECT_NEAR(a.return_mean, b.return_mean, 1e-3 * std::abs(a.return_mean)) << i;
    for (std::size_t k = 0; k < a.costs.size(); ++k)
      EXPECT_NEAR(a.costs[k], b.costs[k], 1e-3 * std::abs(a.costs[k])) << i;
    for (std::size_t k = 0; k < a.gradient_signals.size(); ++k)
      EXPECT_NEAR(a.gradient_signals[k], b.gradient_signals[k], 5e-3) << i;
  }
}

// Those that set the normaliser, the batch's, the deployed policy's, and of each step that is tried at once 16.
TEST(AdaptiveBatch, StepsAreAllEpisodes) {
  ThreadPool pool(2);
  for (const double deployed : {0.0, 0.125, 0.5}) {
    for (const RadiusTest test : {RadiusTest::kOneSided, RadiusTest::kPaired}) {
      AlgorithmContext context = adaptive_context(pool);
      context.settings.batch.deployed = deployed;
      context.settings.radius.test = test;
      context.settings.radius.retreat = 0.0;  // one trial an update
      const auto algorithm = find_algorithm("cgpo").make(context);
      std::int64_t episodes = 8;
      for (int i = 0; i < 12; ++i) {
        const IterationReport report = algorithm->iterate();
        episodes += report.episodes;
        if (deployed > 0.0)
          episodes +=
              std::max<std::int64_t>(2, std::llround(std::ceil(deployed * static_cast<double>(report.episodes))));
        EXPECT_EQ(report.steps, episodes * 12) << i;
        if (test == RadiusTest::kPaired && report.update_case != "refused")
          episodes += std::min<std::int64_t>(16, report.episodes);
      }
    }
  }
}

// An action is worth what it agrees with the state, and noise costs: −100 a² of a cost that is never in the way. The
// second state counts steps, and an episode may end half-way.
struct NoisyTask {
  bool ends = false;
  TaskSpec spec() const {
    return testing::toy_spec("noisy", {.states = 2, .observations = 2, .actions = 1, .horizon = 4},
                             {{.name = "effort", .limit = 1000.0}});
  }
  void reset(RandomStream& random, std::span<double> state) const {
    testing::uniform_start(random, state.first(1));
    state[1] = 0.0;
  }
  template <class S>
  void observe(std::span<const S> s, std::span<S> o) const {
    testing::observe_state(s, o);
  }
  template <class S>
  StepResult<S> step(std::span<const S> s, std::span<const S> a) const {
    return {.state = {s[0], s[1] + 1.0},
            .reward = s[0] * a[0],
            .reward_paper = S(0.0),
            .costs = {-100.0 * a[0] * a[0]},
            .ended = ends ? select(s[1] > 0.5, S(1.0), S(0.0)) : S(0.0)};
  }
};

// Noise falls once there is no progress any more, not before there were ten iterations to make some in; and not at all
// while episodes end early, since only noise lets anything be learned of that.
TEST(SettlingNoise, WaitsForProgressAndForEpisodesThatLast) {
  ThreadPool pool(1);
  const auto noise_of = [&](bool ends) {
    constexpr int kIterations = 60;
    AlgorithmContext context = adaptive_context(pool);
    context.task = make_task(NoisyTask{.ends = ends});
    context.settings.policy.least_std = 0.001;
    const auto algorithm = find_algorithm("cgpo").make(context);
    std::vector<double> noise;
    for (int i = 0; i < kIterations; ++i) noise.push_back(algorithm->iterate().noise.value());
    return noise;
  };
  const std::vector<double> lasting = noise_of(false);
  for (std::size_t i = 1; i < 10; ++i) EXPECT_EQ(lasting[i], lasting[0]) << i;
  EXPECT_LT(lasting.back(), 0.5 * lasting[0]);
  const std::vector<double> ending = noise_of(true);
  for (const double noise : ending) EXPECT_EQ(noise, ending[0]);
}

// passes · new samples / batch Adam steps, at most critic.steps: Adam counts them itself.
TEST(AdaptiveBatch, CriticsWorkInProportionToWhatIsNew) {
  ThreadPool pool(2);
  const auto adam_steps = [&](double passes, int most, int memory, int environments, int iterations) {
    AlgorithmContext context = adaptive_context(pool);
    context.task = make_task(ProbeTask{});  // nothing ends: every step of every episode counts
    context.settings.batch.adaptive = false;
    context.settings.environments = environments;
    context.settings.critic.passes = passes;
    context.settings.critic.steps = most;
    context.settings.critic.memory = memory;
    const auto algorithm = find_algorithm("cgpo").make(context);
    for (int i = 0; i < iterations; ++i) algorithm->iterate();
    // Adam has β₂ to the number of its steps.
    return std::llround(std::log(state_of(*algorithm).numbers("critic0.adam.beta_powers").at(1)) / std::log(0.999));
  };
  EXPECT_EQ(adam_steps(4.0, 1000, 0, 16, 1), 12);   // 4 · 16 · 12 / 64
  EXPECT_EQ(adam_steps(4.0, 1000, 0, 32, 1), 24);   // twice as many episodes
  EXPECT_EQ(adam_steps(4.5, 1000, 0, 16, 1), 14);   // 13.5
  EXPECT_EQ(adam_steps(4.0, 1000, 48, 16, 3), 36);  // older samples are no work of their own
  EXPECT_EQ(adam_steps(4.0, 7, 0, 16, 2), 14);      // at most
}

}  // namespace
}  // namespace cgpo
