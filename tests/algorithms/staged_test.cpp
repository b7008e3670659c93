// Trainings that prepare on our engine and go on with MuJoCo's.
#include "cgpo/algorithms/staged.hpp"

#include <gtest/gtest.h>

#include "cgpo/config/configuration.hpp"

namespace cgpo {
namespace {

Configuration configuration_of(const std::string& task, const std::string& algorithm, std::vector<std::string> sets) {
  ConfigurationRequest request;
  request.task = task;
  request.algorithm = algorithm;
  request.seed = 1;
  sets.emplace_back("task.engine=mujoco");
  for (const std::string& set : sets) request.sets.push_back(parse_assignment(set));
  return resolve_configuration(request);
}

std::unique_ptr<Algorithm> begin(const Configuration& configuration, ThreadPool& pool) {
  return make_algorithm(configuration.algorithm, context_of(configuration, pool));
}

const std::vector<std::string> kShort = {"iterations=4", "twin.first=0.5", "environments=16", "horizon=40"};

TEST(Staged, PreparesThenGoesOnWhereTheTaskIs) {
  ThreadPool pool(2);
  for (const char* const algorithm : {"cgpo", "shac-lag", "cpo"}) {
    const Configuration configuration = configuration_of("halfcheetah", algorithm, kShort);
    const auto training = begin(configuration, pool);
    std::int64_t steps = 0;
    double steps_own = 0.0;
    for (int i = 0; i < 4; ++i) {
      const IterationReport report = training->iterate();
      EXPECT_EQ(report.iteration, i);
      EXPECT_EQ(report.stage, i < 2 ? "own" : "task");
      EXPECT_EQ(is_preparation(report), i < 2);
      EXPECT_FALSE(i < 2 && is_feasible(report)) << "of another engine";
      EXPECT_GT(report.steps, steps);
      steps = report.steps;
      if (i < 2) steps_own = static_cast<double>(steps);
      EXPECT_EQ(report.steps_own, steps_own) << i;
      EXPECT_EQ(report.steps_task, static_cast<double>(steps) - steps_own) << i;
      EXPECT_EQ(report.seconds_outside.has_value(), i >= 2) << "where there is an engine outside";
    }
  }
}

// A fitted twin too.
TEST(Staged, GoesOnToTheBitFromEveryCheckpoint) {
  ThreadPool pool(2);
  std::vector<std::string> sets = kShort;
  sets.emplace_back("twin.fit=true");
  const Configuration configuration = configuration_of("halfcheetah", "cgpo", sets);
  const auto whole = begin(configuration, pool);
  for (int i = 0; i < 4; ++i) {
    Tensors before;
    whole->save(before);
    const auto again = begin(configuration, pool);
    again->load(before);
    again->iterate();
    whole->iterate();
    Tensors a, b;
    whole->save(a);
    again->save(b);
    ASSERT_EQ(a.entries.size(), b.entries.size());
    EXPECT_EQ(a.contains("twin.parameters"), i >= 2);
    for (const auto& [name, tensor] : a.entries) EXPECT_EQ(tensor.bytes, b.entries.at(name).bytes) << name << " " << i;
  }
}

TEST(Staged, TheSameBitsForAnyNumberOfThreads) {
  ThreadPool one(1), three(3);
  for (const char* const algorithm : {"cgpo", "shac-lag"}) {
    const Configuration configuration = configuration_of(
        "halfcheetah", algorithm, {"iterations=3", "environments=16", "horizon=40", "kernel.block=4", "twin.fit=true"});
    const auto alone = begin(configuration, one);
    const auto together = begin(configuration, three);
    for (int i = 0; i < 3; ++i) {
      const IterationReport report = alone->iterate();
      EXPECT_EQ(report.twin_parameters, together->iterate().twin_parameters);
      EXPECT_FALSE(report.twin_parameters.empty());
      EXPECT_GT(report.twin_error.value(), 0.0);
      EXPECT_LT(report.twin_error.value(), 0.5);
    }
    Tensors a, b;
    alone->save(a);
    together->save(b);
    for (const auto& [name, tensor] : a.entries) EXPECT_EQ(tensor.bytes, b.entries.at(name).bytes) << name;
  }
}

// The second stage begins with the policy that the first one ended with, not with a new one.
TEST(Staged, TakesThePolicyAlong) {
  ThreadPool pool(2);
  const Configuration configuration =
      configuration_of("halfcheetah", "cgpo", {"iterations=24", "twin.first=0.9", "environments=16"});
  const auto training = begin(configuration, pool);
  IterationReport report;
  double first = 0.0;
  for (int i = 0; i < 24; ++i) {
    report = training->iterate();
    if (i == 0) first = report.return_mean;
  }
  EXPECT_EQ(report.stage, "task");
  EXPECT_GT(report.return_mean, first + 100.0);
}

// However large the share: a run that never came to the task would have learned it nowhere.
TEST(Staged, LeavesAnIterationForTheTask) {
  ThreadPool pool(1);
  const auto stages = [&](std::vector<std::string> sets, int iterations) {
    sets.insert(sets.end(), {"environments=16", "horizon=20"});
    const auto training = begin(configuration_of("halfcheetah", "cgpo", sets), pool);
    std::vector<std::string> found;
    for (int i = 0; i < iterations; ++i) found.push_back(training->iterate().stage);
    return found;
  };
  EXPECT_EQ(stages({"iterations=3", "twin.first=0.99"}, 3), (std::vector<std::string>{"own", "own", "task"}));
  EXPECT_EQ(stages({"iterations=2", "twin.first=0.01"}, 2), (std::vector<std::string>{"own", "task"}));
  EXPECT_EQ(stages({"iterations=1", "twin.first=0.5"}, 1), std::vector<std::string>{""});
}

TEST(Staged, OneStageUnlessThereAreTwoEngines) {
  ThreadPool pool(1);
  ConfigurationRequest request;
  request.task = "cartpole";
  for (const char* const set : {"twin.first=0.5", "environments=16", "iterations=2", "horizon=20"})
    request.sets.push_back(parse_assignment(set));
  const auto training = begin(resolve_configuration(request), pool);
  EXPECT_EQ(training->iterate().stage, "");
}

TEST(Staged, NotForALearnedModel) {
  ThreadPool pool(1);
  EXPECT_THROW(begin(configuration_of("swimmer", "mb-cgpo", kShort), pool), UserError);
}

}  // namespace
}  // namespace cgpo
