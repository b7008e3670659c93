// Every baseline as a state machine: the same bits for any number of threads and across save and load; trouble is
// reported, not fatal; limits may be many, none or infinite.
#include "cgpo/algorithms/baselines.hpp"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

#include "cgpo/algorithms/registry.hpp"
#include "cgpo/base/error.hpp"
#include "cgpo/base/numbers.hpp"
#include "cgpo/tasks/registry.hpp"

#include "probe_task.hpp"
#include "states.hpp"
#include "tasks.hpp"

namespace cgpo {
namespace {

using testing::algorithm_test_name;
using testing::expect_same;
using testing::ProbeTask;
using testing::state_of;

const std::vector<std::string> kOnPolicy = {"ppo",  "ppo-lag", "ppo-pid", "trpo-lag", "pdo",
                                            "appo", "cpo",     "focops",  "cup"};

bool is_on_policy(const std::string& name) {
  return std::find(kOnPolicy.begin(), kOnPolicy.end(), name) != kOnPolicy.end();
}

// Limits that all starts break, so that multipliers and penalties are at work.
AlgorithmContext baseline_context(ThreadPool& pool, const std::string& name,
                                  std::shared_ptr<const Task> task = make_task(ProbeTask{.end_at = 2.0})) {
  AlgorithmContext result{std::move(task), {}, 7, &pool};
  Settings& settings = result.settings;
  settings.environments = 40;
  settings.kernel.block = 16;
  settings.window = 4;
  settings.critic.steps = 8;
  settings.critic.batch = 64;
  settings.critic.hidden = {16};
  settings.policy.hidden = {16, 8};
  settings.update = {.passes = 3, .batch = 150, .entropy = 1e-3, .states = 700};
  settings.dual.penalty_growth = 0.1;
  settings.pid.delay = 4;  // neither full nor empty when a state is saved
  if (is_on_policy(name)) {
    settings.finite_horizon = false;
    settings.policy.initial_std = 0.5;
    settings.policy.learn_std = true;
  }
  return result;
}

std::vector<std::vector<std::byte>> policy_of(const Tensors& tensors) {
  std::vector<std::vector<std::byte>> result;
  for (const auto& [name, tensor] : tensors.entries) {
    if (name.starts_with("policy.layer") || name == "policy.log_std") result.push_back(tensor.bytes);
  }
  return result;
}

// Those with noise, and an eighth as many of the deployed policy.
std::int64_t episodes_of(const IterationReport& report) {
  return report.episodes + std::max<std::int64_t>(2, (report.episodes + 7) / 8);
}

class Baseline : public ::testing::TestWithParam<std::string> {
 protected:
  static std::unique_ptr<Algorithm> make(const AlgorithmContext& context) {
    return find_algorithm(GetParam()).make(context);
  }
};

TEST_P(Baseline, ThreadsDoNotMatter) {
  std::vector<Tensors> states;
  for (const int threads : {1, 2, 4}) {
    ThreadPool pool(threads);
    const auto algorithm = make(baseline_context(pool, GetParam()));
    for (int i = 0; i < 3; ++i) algorithm->iterate();
    states.push_back(state_of(*algorithm));
  }
  expect_same(states[0], states[1]);
  expect_same(states[0], states[2]);
}

TEST_P(Baseline, ContinuesBitForBitAfterLoading) {
  for (const DualOptimiser optimiser : {DualOptimiser::kPlain, DualOptimiser::kAdam}) {
    ThreadPool pool(2);
    AlgorithmContext settings = baseline_context(pool, GetParam());
    settings.settings.dual.optimiser = optimiser;
    settings.settings.update.anneal = true;
    const auto whole = make(settings);
    std::int64_t episodes = 16;  // that set the normaliser
    for (int i = 0; i < 3; ++i) episodes += episodes_of(whole->iterate());
    const Tensors saved = state_of(*whole);
    for (int i = 0; i < 3; ++i) whole->iterate();
    const auto resumed = make(settings);
    resumed->load(saved);
    EXPECT_EQ(resumed->iteration(), 3);
    IterationReport last;
    for (int i = 0; i < 3; ++i) {
      last = resumed->iterate();
      episodes += episodes_of(last);
    }
    expect_same(state_of(*whole), state_of(*resumed));
    EXPECT_EQ(last.steps, episodes * 12);
  }
}

TEST_P(Baseline, ReportsAndMoves) {
  ThreadPool pool(1);
  for (const bool finite : {false, true}) {
    AlgorithmContext settings = baseline_context(pool, GetParam());
    settings.settings.finite_horizon = finite;
    const auto algorithm = make(settings);
    const auto before = policy_of(state_of(*algorithm));
    const IterationReport report = algorithm->iterate();
    EXPECT_EQ(report.iteration, 0);
    EXPECT_EQ(report.episodes, 16);
    EXPECT_EQ(report.steps, (16 + 16 + 2) * 12);  // before the first iteration, with noise, without
    EXPECT_EQ(report.limits, std::vector<double>({1.0, 2.0}));
    EXPECT_EQ(report.warning, "");
    if (GetParam() != "bptt-lag") {
      EXPECT_EQ(report.critic_losses.size(), 3U);
    }
    if (GetParam() != "ppo") {
      ASSERT_EQ(report.nu.size(), 2U);
      EXPECT_GT(report.nu[0], 0.0);
    }
    if (is_on_policy(GetParam())) {
      EXPECT_GT(*report.kl, 0.0);
    }
    EXPECT_NE(before, policy_of(state_of(*algorithm)));
  }
}

TEST_P(Baseline, LimitsMayBeInfiniteOrFew) {
  ThreadPool pool(1);
  AlgorithmContext settings = baseline_context(pool, GetParam());
  settings.settings.limits = {kInfinity, 2.0};
  const IterationReport one = make(settings)->iterate();
  if (!one.nu.empty()) {
    EXPECT_EQ(one.nu[0], 0.0);
  }
  settings.settings.limits = {kInfinity, kInfinity};
  const auto none = make(settings);
  for (int i = 0; i < 2; ++i) {
    for (const double nu : none->iterate().nu) EXPECT_EQ(nu, 0.0);
  }
}

// A task without any cost.
struct Free {
  TaskSpec spec() const { return testing::toy_spec("free", {.horizon = 5}); }
  void reset(RandomStream& random, std::span<double> state) const { testing::uniform_start(random, state); }
  template <class S>
  void observe(std::span<const S> s, std::span<S> o) const {
    testing::observe_state(s, o);
  }
  template <class S>
  StepResult<S> step(std::span<const S> s, std::span<const S> a) const {
    return {.state = {s[0] + a[0]}, .reward = -s[0] * s[0], .reward_paper = S(0.0), .costs = {}, .ended = S(0.0)};
  }
};

TEST_P(Baseline, NoCostsAtAll) {
  ThreadPool pool(1);
  const auto algorithm = make(baseline_context(pool, GetParam(), make_task(Free{})));
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(std::isfinite(algorithm->iterate().return_mean));
}

TEST_P(Baseline, DivergedEnvironmentsRefuseTheUpdate) {
  ThreadPool pool(1);
  const auto algorithm = make(baseline_context(pool, GetParam(), make_task(ProbeTask{.diverge_at = 2.4})));
  const IterationReport report = algorithm->iterate();
  EXPECT_GT(report.diverged, 0);
  EXPECT_EQ(report.update_case, "refused");
  EXPECT_THAT(report.warning, ::testing::HasSubstr("diverged"));
  EXPECT_TRUE(std::isfinite(algorithm->iterate().return_mean));
}

// No episode is left: no number, no update, and what acts keeps every bit, the normaliser's included.
TEST_P(Baseline, WhollyDivergedBatchesChangeNothing) {
  ThreadPool pool(1);
  const auto algorithm = make(baseline_context(pool, GetParam(), make_task(ProbeTask{.diverge_at = -9.0})));
  const Tensors before = state_of(*algorithm);
  const IterationReport report = algorithm->iterate();
  EXPECT_EQ(report.diverged, report.episodes);
  EXPECT_TRUE(std::isnan(report.return_mean) && std::isnan(report.costs[0]) && std::isnan(report.return_se));
  EXPECT_FALSE(is_feasible(report));
  EXPECT_EQ(report.update_case, "refused");
  const Tensors after = state_of(*algorithm);
  for (const auto& [name, tensor] : before.entries) {
    if (name == "iteration" || name == "steps") continue;
    EXPECT_EQ(tensor.bytes, after.entries.at(name).bytes) << name;
  }
}

TEST_P(Baseline, TasksWithoutDerivatives) {
  ThreadPool pool(1);
  const AlgorithmContext settings = baseline_context(pool, GetParam(), standard_task("function-floor"));
  if (is_on_policy(GetParam())) {
    EXPECT_NO_THROW(make(settings)->iterate());
  } else {
    EXPECT_THROW(make(settings), UserError);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Baseline,
                         ::testing::Values("ppo", "ppo-lag", "ppo-pid", "trpo-lag", "pdo", "appo", "cpo", "focops",
                                           "cup", "bptt-lag", "shac-lag"),
                         algorithm_test_name);

TEST(Baselines, SettingsThatContradictAreRefused) {
  ThreadPool pool(1);
  AlgorithmContext settings = baseline_context(pool, "cpo");
  settings.settings.cpo.kappa = CpoKappa::kDiscount;
  EXPECT_NO_THROW(find_algorithm("cpo").make(settings)->iterate());
  settings.settings.finite_horizon = true;
  EXPECT_THROW(find_algorithm("cpo").make(settings), UserError);
  settings = baseline_context(pool, "ppo");
  settings.settings.critic.sobolev = 1.0;
  EXPECT_THROW(find_algorithm("ppo").make(settings), UserError);
}

// With multipliers that cannot leave 0 the Lagrangian methods are PPO, bit for bit.
TEST(Baselines, WithoutMultipliersTheyArePpo) {
  ThreadPool pool(2);
  std::vector<std::vector<std::vector<std::byte>>> policies;
  for (const std::string name : {"ppo", "ppo-lag", "ppo-pid", "pdo", "appo", "cup"}) {
    AlgorithmContext settings = baseline_context(pool, name);
    settings.settings.limits = {kInfinity, kInfinity};
    const auto algorithm = find_algorithm(name).make(settings);
    for (int i = 0; i < 3; ++i) algorithm->iterate();
    policies.push_back(policy_of(state_of(*algorithm)));
  }
  for (const auto& policy : policies) EXPECT_EQ(policy, policies[0]);
}

// A controller that only sums up is the Lagrangian's dual ascent, bit for bit; each of its other parts, and the size of
// the objective, changes the policy.
TEST(Baselines, PidThatOnlySumsUpIsPpoLag) {
  ThreadPool pool(2);
  const auto train = [&](const std::string& name, const PidSettings& pid) {
    AlgorithmContext settings = baseline_context(pool, name);
    settings.settings.pid = pid;
    const auto algorithm = find_algorithm(name).make(settings);
    for (int i = 0; i < 10; ++i) algorithm->iterate();
    return policy_of(state_of(*algorithm));
  };
  const PidSettings sum{.proportional = 0.0, .integral = 1.0, .derivative = 0.0};
  const auto lagrangian = train("ppo-lag", {});
  EXPECT_EQ(train("ppo-pid", sum), lagrangian);
  PidSettings other = sum;
  other.proportional = 1.0;
  EXPECT_NE(train("ppo-pid", other), lagrangian);
  other = sum;
  other.derivative = 100.0;
  other.derivative_memory = 0.0;
  other.delay = 1;
  EXPECT_NE(train("ppo-pid", other), lagrangian);
  other = sum;
  other.normalise = false;
  EXPECT_NE(train("ppo-pid", other), lagrangian);
}

// Multipliers end at their cap, and the lower the temperature, the farther a policy goes.
TEST(Baselines, FocopsHasACapAndATemperature) {
  ThreadPool pool(2);
  double before = 0.0;
  for (const double temperature : {100.0, 10.0, 1.0}) {
    AlgorithmContext settings = baseline_context(pool, "focops");
    settings.settings.update.learning_rate = 1e-2;
    settings.settings.update.passes = 20;
    settings.settings.update.kl = 10.0;
    settings.settings.focops.temperature = temperature;
    settings.settings.dual = {.learning_rate = 100.0, .upper = 0.5};
    const auto algorithm = find_algorithm("focops").make(settings);
    const IterationReport report = algorithm->iterate();
    EXPECT_EQ(report.nu, std::vector<double>(2, 0.5));
    EXPECT_GT(*report.kl, 3.0 * before) << temperature;
    before = *report.kl;
  }
}

TEST(Baselines, PdoHasThreeSteps) {
  ThreadPool pool(2);
  std::vector<std::vector<std::vector<std::byte>>> policies;
  for (const PdoStep step : {PdoStep::kClipped, PdoStep::kWeighted, PdoStep::kNatural}) {
    AlgorithmContext settings = baseline_context(pool, "pdo");
    settings.settings.pdo.step = step;
    const auto algorithm = find_algorithm("pdo").make(settings);
    EXPECT_GT(*algorithm->iterate().kl, 0.0);
    policies.push_back(policy_of(state_of(*algorithm)));
  }
  EXPECT_NE(policies[0], policies[2]);
  EXPECT_NE(policies[1], policies[2]);
}

// Trust regions hold whatever the problem is, by their own measure; bandit_test.cpp has another one.
TEST(Baselines, TrustRegionsAreKept) {
  ThreadPool pool(2);
  for (const std::string name : {"trpo-lag", "cpo"}) {
    for (const double kl : {1e-3, 0.05}) {
      AlgorithmContext settings = baseline_context(pool, name);
      settings.settings.update.kl = kl;
      const auto algorithm = find_algorithm(name).make(settings);
      for (int i = 0; i < 5; ++i) EXPECT_LE(*algorithm->iterate().kl, kl);
    }
  }
}

}  // namespace
}  // namespace cgpo
