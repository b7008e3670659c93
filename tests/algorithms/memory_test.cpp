// The estimate of what a training takes, beside what it asks for; and what happens when it does not get it.
#include "cgpo/algorithms/memory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cgpo/algorithms/registry.hpp"
#include "cgpo/tasks/registry.hpp"

#include "counted_memory.hpp"

namespace cgpo {
namespace {

struct MemoryCase {
  std::string algorithm;
  std::string task;
  void (*set)(Settings&) = [](Settings&) {};
};

Settings settings_of(const MemoryCase& which, int environments, int horizon) {
  Settings settings;
  settings.environments = environments;
  settings.horizon = horizon;
  settings.critic.steps = 2;
  settings.iterations = 3;
  settings.update.passes = 1;
  settings.world.minibatches = 2;
  settings.world.first_fit = 1;
  settings.radius.retreat = 0.0;
  settings.batch.adaptive = false;  // as many as there may ever be
  which.set(settings);
  return settings;
}

// Bytes in use at the most in two iterations. What compiling the simulator takes for a while is left out: it does not
// depend on the settings.
long long peak_of(const MemoryCase& which, const Settings& settings) {
  const std::shared_ptr<const Task> task = standard_task(which.task);
  ThreadPool pool(2);
  const long long before = counted::live;
  const auto algorithm = find_algorithm(which.algorithm).make({task, settings, 1, &pool});
  counted::peak = counted::live.load();
  for (int i = 0; i < 2; ++i) algorithm->iterate();
  return counted::peak - before;
}

long long estimate_of(const MemoryCase& which, const Settings& settings) {
  return memory_of_training(which.algorithm, *standard_task(which.task), settings).total();
}

class MemoryOfTraining : public ::testing::TestWithParam<MemoryCase> {};

TEST_P(MemoryOfTraining, GrowsAsTheAlgorithmDoes) {
  const MemoryCase& which = GetParam();
  const Settings small = settings_of(which, 64, 40);
  const long long measured = peak_of(which, small);
  const long long estimated = estimate_of(which, small);
  EXPECT_GT(static_cast<double>(estimated), 0.9 * static_cast<double>(measured));
  for (const Settings& large : {settings_of(which, 256, 40), settings_of(which, 64, 200)}) {
    const auto growth = static_cast<double>(peak_of(which, large) - measured);
    const auto expected = static_cast<double>(estimate_of(which, large) - estimated);
    EXPECT_GT(expected, 0.85 * growth) << large.environments << " × " << large.horizon << ": " << growth;
    EXPECT_LT(expected, 1.4 * growth) << large.environments << " × " << large.horizon << ": " << growth;
  }
}

const MemoryCase kCases[] = {
    {"cgpo", "function", [](Settings& s) { s.gradient.correction = GradientCorrection::kNone; }},
    {"cgpo", "cartpole"},
    {"cgpo", "cartpole", [](Settings& s) { s.critic.sobolev = 1.0; }},
    {"cgpo", "cartpole", [](Settings& s) { s.radius.test = RadiusTest::kPaired; }},
    {"cgpo", "cartpole", [](Settings& s) { s.gradient.source = GradientSource::kZobg; }},
    {"cgpo", "cartpole", [](Settings& s) { s.critic.memory = 128; }},
    {"cgpo", "cartpole", [](Settings& s) { s.batch.deployed = 1.0; }},
    {"cgpo", "halfcheetah",
     [](Settings& s) {
       s.kernel.block = 8;
       s.gradient.correction = GradientCorrection::kNone;
     }},
    {"mb-cgpo", "cartpole"},
    {"mb-cgpo", "cartpole", [](Settings& s) { s.world.states = WorldStates::kModel; }},
    {"mb-cgpo", "cartpole", [](Settings& s) { s.world.correction = true; }},
    {"shac-lag", "halfcheetah"},
    {"ppo", "halfcheetah"},
    {"ppo", "cartpole", [](Settings& s) { s.kernel.block = 256; }},
    {"cpo", "cartpole"},
    {"trpo-lag", "cartpole"},
    {"focops", "cartpole"},
};
INSTANTIATE_TEST_SUITE_P(All, MemoryOfTraining, ::testing::ValuesIn(kCases));

// Corrections that no episode asks for, because none ends, and environments that few episodes leave idle: the estimate
// is of the most that there may be.
TEST(MemoryEstimate, IsEnoughForWhatMayNotBeNeeded) {
  const MemoryCase cases[] = {
      {"cgpo", "function"},
      {"cgpo", "halfcheetah", [](Settings& s) { s.kernel.block = 8; }},
      {"cgpo", "cartpole", [](Settings& s) { s.batch.adaptive = true; }},
      {"shac-lag", "cartpole", [](Settings& s) { s.batch.adaptive = true; }},
      {"cpo", "cartpole", [](Settings& s) { s.batch.adaptive = true; }},
  };
  for (const MemoryCase& which : cases) {
    const Settings small = settings_of(which, 64, 40);
    const Settings large = settings_of(which, 256, 80);
    EXPECT_GT(estimate_of(which, large) - estimate_of(which, small), peak_of(which, large) - peak_of(which, small))
        << which.algorithm << " on " << which.task;
  }
}

TEST(MemoryEstimate, OfAllSettingsIsANumber) {
  for (const AlgorithmEntry& entry : algorithm_registry()) {
    Settings settings;
    settings.environments = 1 << 20;
    settings.horizon = 2000;
    settings.kernel.block = 1;
    settings.policy.hidden = settings.critic.hidden = settings.world.hidden = std::vector<int>(8, 4096);
    settings.world.members = 64;
    settings.world.buffer = 1 << 28;
    settings.world.batch = 1 << 20;
    settings.critic.batch = settings.update.states = 1 << 24;
    settings.critic.sobolev = 1.0;
    settings.radius.rows = 1 << 14;
    const MemoryEstimate estimate = memory_of_training(entry.name, *standard_task("halfcheetah"), settings);
    for (const MemoryPart& part : estimate.parts) EXPECT_GE(part.bytes, 0) << entry.name << ", " << part.name;
    EXPECT_GT(estimate.total(), std::int64_t{1} << 40) << entry.name;
  }
}

TEST(MemoryEstimate, TooMuchIsASentence) {
  const MemoryEstimate estimate{{{"episodes", "lower environments or horizon", std::int64_t{3} << 30},
                                 {"model", "lower world.hidden", std::int64_t{1} << 30}}};
  EXPECT_NO_THROW(check_memory(estimate, "this run", std::nullopt));
  EXPECT_NO_THROW(check_memory(estimate, "this run", MemoryLimit{std::int64_t{4} << 30, "free on this machine"}));
  try {
    check_memory(estimate, "this run", MemoryLimit{std::int64_t{2} << 30, "free on this machine"});
    FAIL();
  } catch (const TooLittleMemory& error) {
    EXPECT_STREQ(error.what(),
                 "this run needs about 4.0 GiB of memory, 3.0 GiB of it for episodes, and only 2.0 GiB are free on "
                 "this machine: lower environments or horizon");
  }
}

// The n-th allocation fails, and all after it, as long as the algorithm is made and runs: an exception for the caller,
// whatever thread met it.
TEST(MemoryEstimate, WhatFailsIsAnException) {
  for (const MemoryCase& which : {MemoryCase{"cgpo", "function"}, MemoryCase{"ppo", "function"}}) {
    const Settings settings = settings_of(which, 64, 20);
    const std::shared_ptr<const Task> task = standard_task(which.task);
    int failures = 0;
    bool done = false;
    for (long long n = 1; !done; n += 1 + n / 8) {
      ThreadPool pool(2);
      counted::fail_after = n;
      try {
        const auto algorithm = find_algorithm(which.algorithm).make({task, settings, 1, &pool});
        algorithm->iterate();
        done = counted::fail_after > 0;
      } catch (const std::bad_alloc&) {
        ++failures;
      }
      counted::fail_after = -1;
    }
    EXPECT_GT(failures, 20) << which.algorithm;
  }
}

}  // namespace
}  // namespace cgpo
