// A run from a library: callbacks, stops, several in one process.
#include "cgpo/run/open_run.hpp"

#include <cmath>
#include <csignal>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>

#include "same_run.hpp"
#include "scratch_folder.hpp"

namespace cgpo {
namespace {

constexpr int kIterations = 6;

Configuration small(const std::string& task, int iterations = kIterations, const std::string& algorithm = "cgpo",
                    const std::vector<std::string>& more = {}) {
  ConfigurationRequest request;
  request.task = task;
  request.algorithm = algorithm;
  request.seed = 3;
  for (const std::string& set :
       {"iterations=" + std::to_string(iterations), std::string("environments=8"), std::string("critic.steps=4"),
        std::string("critic.batch=16"), std::string("world.minibatches=20")}) {
    request.sets.push_back(parse_assignment(set));
  }
  for (const std::string& set : more) request.sets.push_back(parse_assignment(set));
  return resolve_configuration(request);
}

class OpenRun : public ::testing::Test {
 protected:
  // Trains a new run, or goes on with it, until so many iterations are done in all.
  TrainingResult train(const std::string& name, const Configuration& configuration, int until = 1000,
                       FolderMode mode = FolderMode::kNew) const {
    cgpo::Run run = open_run(configuration, {.folder = scratch_ / name, .mode = mode});
    return train(run, until);
  }
  static TrainingResult train(cgpo::Run& run, int until) {
    bool stop = false;
    return run.train([&](const LogEntry& entry, double) { stop = entry.report.iteration + 1 >= until; },
                     [&] { return stop; });
  }

  ScratchFolder scratch_;
};

TEST_F(OpenRun, TellsOfEveryIteration) {
  cgpo::Run run = open_run(small("function"), {.folder = scratch_ / "run"});
  EXPECT_EQ(run.paths().folder, scratch_ / "run");
  EXPECT_EQ(run.task().spec().name, "function");
  std::vector<std::string> heard;
  const TrainingResult result = run.train([&](const LogEntry& entry, double steps_per_second) {
    heard.push_back(to_json(entry).dump());
    EXPECT_GT(steps_per_second, 0.0);
    EXPECT_EQ(run.iteration(), entry.report.iteration + 1);
  });
  EXPECT_TRUE(result.finished);
  EXPECT_TRUE(run.is_finished());
  std::string lines;
  for (const std::string& line : heard) lines += line + "\n";
  EXPECT_EQ(lines, read_file(run.paths().log()));
  EXPECT_THAT(heard, ::testing::SizeIs(kIterations));
}

TEST_F(OpenRun, StoppedFromTheCallbackGoesOnBitForBit) {
  EXPECT_TRUE(train("whole", small("cartpole")).finished);
  const TrainingResult first = train("cut", small("cartpole"), 2);
  EXPECT_FALSE(first.finished);
  EXPECT_EQ(first.iterations, 2);
  EXPECT_TRUE(train("cut", small("cartpole"), 1000, FolderMode::kResume).finished);
  expect_same_run(scratch_ / "whole", scratch_ / "cut");
}

TEST_F(OpenRun, TrainsInSeveralSessions) {
  for (const std::string algorithm : {"cgpo", "mb-cgpo"}) {  // the second has data beside its checkpoint
    const Configuration configuration = small("cartpole", kIterations, algorithm);
    train(algorithm, configuration);
    cgpo::Run run = open_run(configuration, {.folder = scratch_ / (algorithm + "-sessions")});
    for (int until = 1; until <= kIterations; ++until) EXPECT_EQ(train(run, until).iterations, until);
    EXPECT_EQ(train(run, 1000).iterations, kIterations);  // nothing is left to do
    expect_same_run(scratch_ / algorithm, scratch_ / (algorithm + "-sessions"));
  }
}

TEST_F(OpenRun, CallbackThatThrowsLeavesACheckpoint) {
  train("whole", small("function"));
  {
    cgpo::Run run = open_run(small("function"), {.folder = scratch_ / "thrown"});
    EXPECT_THROW(run.train([](const LogEntry& entry, double) {
      if (entry.report.iteration == 2) throw std::runtime_error("enough");
    }),
                 std::runtime_error);
    EXPECT_EQ(read_tensors(run.paths().checkpoint()).integer("iteration"), 3);
  }
  train("thrown", small("function"), 1000, FolderMode::kResume);
  expect_same_run(scratch_ / "whole", scratch_ / "thrown");
}

TEST_F(OpenRun, ResumedMayOnlyChangeItsIterations) {
  train("whole", small("function"));
  train("run", small("function", 4));
  Configuration other = small("function");
  other.settings.environments = 9;
  try {
    train("run", other, 1000, FolderMode::kResume);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("environments is 8"));
  }
  EXPECT_THROW(train("run", small("function", 3), 1000, FolderMode::kResume), UserError);
  EXPECT_TRUE(train("run", small("function"), 1000, FolderMode::kResume).finished);
  EXPECT_EQ(read_configuration(RunPaths{scratch_ / "run"}.config()).settings.iterations, kIterations);
  expect_same_run(scratch_ / "whole", scratch_ / "run");
}

TEST_F(OpenRun, NeitherPrintsNorTouchesSignals) {
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  struct sigaction before = {};
  sigaction(SIGINT, nullptr, &before);
  cgpo::Run run = open_run(small("function"), {.folder = scratch_ / "run"});
  run.train([&](const LogEntry&, double) {
    struct sigaction now = {};
    sigaction(SIGINT, nullptr, &now);
    EXPECT_EQ(now.sa_handler, before.sa_handler);
  });
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST_F(OpenRun, AFolderHasOneRunAtATime) {
  const cgpo::Run run = open_run(small("function"), {.folder = scratch_ / "run"});
  EXPECT_THROW(train("run", small("function"), 1000, FolderMode::kResume), UserError);
  EXPECT_THROW(train("run", small("function"), 1000, FolderMode::kForce), UserError);
}

// Two actions, whose noise differs: the teacher has learned it.
class NoiseOfAnother : public OpenRun {
 protected:
  void SetUp() override {
    train("teacher", small("reacher", 2, "cgpo", {"policy.learn_std=true"}));
    const RunPaths paths{scratch_ / "teacher"};
    std::filesystem::remove(paths.best());
    Tensors teacher = read_tensors(paths.checkpoint());
    teacher.put("policy.log_std", std::span<const float>(std::vector<float>{std::log(0.02F), std::log(0.05F)}));
    write_tensors(paths.checkpoint(), teacher);
    taught_ = values(teacher, "policy.layer0.weight");
  }

  Configuration student(const std::vector<std::string>& more = {}) const {
    Configuration configuration = small("reacher", 2, "cgpo", more);
    configuration.init = (scratch_ / "teacher").string();
    return configuration;
  }
  static std::vector<float> values(const Tensors& tensors, const std::string& name) {
    std::vector<float> all(tensors.entries.at(name).bytes.size() / sizeof(float));
    tensors.get(name, std::span(all));
    return all;
  }
  // What a run begins with.
  std::vector<float> noise(const std::string& name) const {
    const Tensors first = read_tensors(RunPaths{scratch_ / name}.checkpoint());
    EXPECT_EQ(first.integer("iteration"), 0);
    EXPECT_EQ(values(first, "policy.layer0.weight"), taught_);
    std::vector<float> result;
    for (const float log_std : values(first, "policy.log_std")) result.push_back(std::exp(log_std));
    return result;
  }
  double stored(const std::string& name) const {
    return read_configuration(RunPaths{scratch_ / name}.config()).settings.policy.initial_std;
  }

  std::vector<float> taught_;
};

TEST_F(NoiseOfAnother, IsKeptAndSaid) {
  const cgpo::Run run = open_run(student(), {.folder = scratch_ / "run"});
  EXPECT_THAT(noise("run"),
              ::testing::ElementsAre(::testing::FloatNear(0.02F, 1e-6F), ::testing::FloatNear(0.05F, 1e-6F)));
  ASSERT_EQ(run.notes().size(), 1U);
  EXPECT_THAT(run.notes()[0], ::testing::HasSubstr("keeps its noise of 0.035; --set policy.initial_std"));
  EXPECT_EQ(run.configuration().settings.policy.initial_std, 0.035);
  EXPECT_EQ(stored("run"), 0.035);  // its file says what is so
}

TEST_F(NoiseOfAnother, GivesWayToTheOneThatIsGiven) {
  // The task's own default, given: it counts as much as any other.
  const double usual = small("reacher").settings.policy.initial_std;
  for (const double given : {0.3, usual}) {
    const std::string name = fmt::format("given-{}", given);
    const cgpo::Run run = open_run(student({fmt::format("policy.initial_std={}", given)}), {.folder = scratch_ / name});
    const auto wanted = ::testing::FloatNear(static_cast<float>(given), 1e-6F);
    EXPECT_THAT(noise(name), ::testing::ElementsAre(wanted, wanted));
    EXPECT_TRUE(run.notes().empty());
    EXPECT_EQ(stored(name), given);
  }
}

// Ended before its first checkpoint, and begun again with what its file says, or by a program that asks for the same.
TEST_F(NoiseOfAnother, IsTheSameWhenARunBeginsAgain) {
  const std::vector<std::vector<std::string>> sets = {{}, {"policy.initial_std=0.3"}};
  for (std::size_t i = 0; i < sets.size(); ++i) {
    for (const bool file : {true, false}) {
      const std::string name = fmt::format("run-{}-{}", i, file);
      std::vector<float> first;
      {
        const cgpo::Run run = open_run(student(sets[i]), {.folder = scratch_ / name});
        first = noise(name);
      }
      const RunPaths paths{scratch_ / name};
      for (const auto& path : {paths.checkpoint(), paths.log(), paths.timing()}) std::filesystem::remove(path);
      const Configuration again = file ? continue_configuration(paths.config(), {}) : student(sets[i]);
      const cgpo::Run run = open_run(again, {.folder = scratch_ / name, .mode = FolderMode::kResume});
      EXPECT_EQ(noise(name), first) << name;
    }
  }
}

// It goes on though the other is gone.
TEST_F(NoiseOfAnother, IsNotAskedForOnResume) {
  train("whole", student());
  train("cut", student(), 1);
  std::filesystem::remove_all(scratch_ / "teacher");
  EXPECT_TRUE(train("cut", student(), 1000, FolderMode::kResume).finished);
  expect_same_run(scratch_ / "whole", scratch_ / "cut");
}

// Whatever else the process does, a run is the same.
TEST_F(OpenRun, SeveralInOneProcess) {
  train("function", small("function"));
  train("cartpole", small("cartpole", kIterations, "mb-cgpo"));
  train("again", small("function"));
  expect_same_run(scratch_ / "function", scratch_ / "again");

  std::thread first([&] { train("function-beside", small("function")); });
  std::thread second([&] { train("cartpole-beside", small("cartpole", kIterations, "mb-cgpo")); });
  first.join();
  second.join();
  expect_same_run(scratch_ / "function", scratch_ / "function-beside");
  expect_same_run(scratch_ / "cartpole", scratch_ / "cartpole-beside");
}

}  // namespace
}  // namespace cgpo
