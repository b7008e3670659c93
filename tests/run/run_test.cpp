#include "cgpo/run/run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

#include "cgpo/base/error.hpp"
#include "cgpo/base/file.hpp"
#include "cgpo/base/numbers.hpp"
#include "cgpo/updates/report.hpp"

#include "fake_algorithm.hpp"
#include "same_run.hpp"
#include "scratch_folder.hpp"

namespace cgpo {
namespace {

namespace fs = std::filesystem;

// Feasible up to 8: the best policies so far are those of iterations 1, then 3; 2 and 4 cost too much, 5 is undefined.
const std::vector<Measured> kScript = {{9.0, 9.0},  {1.0, 7.0},  {5.0, 8.1}, {2.0, 8.0},
                                       {99.0, 9.0}, {kNan, 1.0}, {1.5, 0.0}, {2.0, 1.0}};

class RunTest : public ::testing::Test {
 protected:
  Configuration configuration(int iterations) const {
    ConfigurationRequest request;
    request.task = "function";
    request.sets = {parse_assignment("iterations=" + std::to_string(iterations))};
    return resolve_configuration(request);
  }

  // Starts or continues the run called `name`; stops after `stop_after` iterations.
  TrainingResult train(const std::string& name, int iterations, bool resume = false, int stop_after = 1000) {
    auto algorithm = std::make_unique<FakeAlgorithm>(kScript);
    bool stop = false;
    algorithm->after_iteration = [&](int iteration) { stop = iteration + 1 >= stop_after; };
    RunParts parts = make_parts(name, iterations, resume ? FolderMode::kResume : FolderMode::kNew);
    parts.algorithm = std::move(algorithm);
    cgpo::Run run = resume ? cgpo::Run::resume(std::move(parts)) : cgpo::Run::start(std::move(parts));
    return run.train({}, [&] { return stop; });
  }

  RunParts make_parts(const std::string& name, int iterations, FolderMode mode) const {
    RunParts parts;
    parts.configuration = configuration(iterations);
    parts.folder = std::make_unique<RunFolder>(scratch_ / name, mode);
    return parts;
  }

  void expect_same_run(const std::string& a, const std::string& b) const {
    cgpo::expect_same_run(scratch_ / a, scratch_ / b);
  }

  ScratchFolder scratch_;
};

TEST_F(RunTest, WritesALineAnIteration) {
  const TrainingResult result = train("run", 8);
  EXPECT_TRUE(result.finished);
  EXPECT_EQ(result.iterations, 8);
  EXPECT_EQ(result.last->report.steps, 80);
  EXPECT_EQ(cut_lines(RunPaths{scratch_ / "run"}.log(), 100).count, 8);
  EXPECT_EQ(cut_lines(RunPaths{scratch_ / "run"}.timing(), 100).count, 8);
}

TEST_F(RunTest, KeepsSnapshotsAlsoWhenInterrupted) {
  train("whole", 8);
  train("cut", 8, false, 3);
  train("cut", 8, true);
  const RunPaths whole{scratch_ / "whole"};
  const RunPaths cut{scratch_ / "cut"};
  EXPECT_EQ(find_snapshots(whole), (std::vector<int>{0, 2, 4, 6, 8}));
  EXPECT_EQ(find_snapshots(cut), find_snapshots(whole));
  for (const int iteration : find_snapshots(whole)) {
    EXPECT_EQ(read_file(cut.snapshot(iteration)), read_file(whole.snapshot(iteration)));
    EXPECT_EQ(read_tensors(whole.snapshot(iteration)).metadata.at("iteration"), std::to_string(iteration));
  }
}

TEST_F(RunTest, BestHoldsThePolicyThatWasMeasured) {
  train("run", 8);
  const Tensors best = read_tensors(RunPaths{scratch_ / "run"}.best());
  // Iteration 3 measured the state that three updates had made; 2.0 again in iteration 7 is not better.
  FakeAlgorithm reference(kScript);
  for (int i = 0; i < 3; ++i) reference.iterate();
  EXPECT_EQ(best.number("state"), reference.state());
  EXPECT_EQ(best.integer("iteration"), 3);
  EXPECT_EQ(best.metadata.at("return"), "2");
  EXPECT_EQ(best.metadata.at("costs"), "8");
}

TEST_F(RunTest, WithoutAFeasiblePolicyThereIsNoBest) {
  train("run", 1);
  EXPECT_FALSE(fs::exists(RunPaths{scratch_ / "run"}.best()));
}

TEST_F(RunTest, InterruptedAnywhereItContinuesBitForBit) {
  train("whole", 8);
  for (int cut = 1; cut < 8; ++cut) {
    const std::string name = "cut" + std::to_string(cut);
    const TrainingResult first = train(name, 8, false, cut);
    EXPECT_FALSE(first.finished);
    EXPECT_EQ(first.iterations, cut);
    EXPECT_TRUE(train(name, 8, true).finished);
    expect_same_run("whole", name);
  }
}

// A crash between log and checkpoint, a torn line, and a best policy that is newer than the checkpoint.
TEST_F(RunTest, CrashBetweenFilesIsMended) {
  train("whole", 8);
  train("crashed", 8, false, 3);
  const RunPaths paths{scratch_ / "crashed"};
  const std::string checkpoint = read_file(paths.checkpoint());
  train("crashed", 8, true, 5);                           // writes best (iteration 3) and two more lines …
  write_file_atomically(paths.checkpoint(), checkpoint);  // … that the checkpoint does not know of
  write_file_atomically(paths.log(), read_file(paths.log()) + "{\"iteration\":5,\"st");
  train("crashed", 8, true);
  expect_same_run("whole", "crashed");
}

TEST_F(RunTest, SecondsGoOnAcrossSessions) {
  train("run", 8, false, 3);
  const RunPaths paths{scratch_ / "run"};
  std::string log = read_file(paths.log());
  const std::size_t last = log.rfind("\"seconds\":") + 10;
  log.replace(last, log.find(',', last) - last, "1000.0");
  write_file_atomically(paths.log(), log);
  EXPECT_GE(train("run", 8, true).last->seconds, 1000.0);
}

TEST_F(RunTest, FinishedRunIsLeftAlone) {
  train("run", 8);
  const RunPaths paths{scratch_ / "run"};
  std::map<fs::path, fs::file_time_type> before;
  for (const auto& entry : fs::directory_iterator(paths.folder))
    before[entry.path()] = fs::last_write_time(entry.path());
  const TrainingResult result = train("run", 8, true);
  EXPECT_TRUE(result.finished);
  EXPECT_EQ(result.last->report.iteration, 7);
  for (const auto& [path, time] : before) EXPECT_EQ(fs::last_write_time(path), time) << path;
}

TEST_F(RunTest, MoreIterationsContinueAFinishedRun) {
  train("whole", 8);
  train("run", 5);
  train("run", 8, true);
  expect_same_run("whole", "run");
}

TEST_F(RunTest, LogIsNotCutBeforeTheRunGoesOn) {
  train("run", 8, false, 5);
  const RunPaths paths{scratch_ / "run"};
  write_file_atomically(paths.log(), read_file(paths.log()) + "torn");
  {
    RunParts parts = make_parts("run", 8, FolderMode::kResume);
    parts.algorithm = std::make_unique<FakeAlgorithm>(kScript);
    cgpo::Run::resume(std::move(parts));
  }
  EXPECT_TRUE(read_file(paths.log()).ends_with("torn"));
}

TEST_F(RunTest, ShortenedLogIsRefused) {
  train("run", 8, false, 5);
  write_file_atomically(RunPaths{scratch_ / "run"}.log(), "");
  EXPECT_THROW(train("run", 8, true), UserError);
}

TEST_F(RunTest, WarmStartTakesTheBestPolicy) {
  train("teacher", 8);
  Configuration student = configuration(8);
  student.init = (scratch_ / "teacher").string();
  FakeAlgorithm algorithm(kScript);
  start_from(algorithm, student);
  EXPECT_EQ(algorithm.state(), read_tensors(RunPaths{scratch_ / "teacher"}.best()).number("state"));
  EXPECT_EQ(algorithm.iteration(), 0);
  student.init = (scratch_ / "nobody").string();
  EXPECT_THROW(start_from(algorithm, student), UserError);
}

// The script's best, but too many episodes diverged, or the policy is not made of numbers: it replaces nothing.
TEST_F(RunTest, BestIsNeverReplacedByWhatCannotBeJudged) {
  const auto best_return = [&](const std::string& name, const auto& spoil) {
    auto algorithm = std::make_unique<FakeAlgorithm>(std::vector<Measured>{{1.0, 7.0}, {50.0, 1.0}});
    spoil(*algorithm);
    RunParts parts = make_parts(name, 2, FolderMode::kNew);
    parts.algorithm = std::move(algorithm);
    cgpo::Run::start(std::move(parts)).train();
    return read_tensors(RunPaths{scratch_ / name}.best()).metadata.at("return");
  };
  EXPECT_EQ(best_return("sound", [](FakeAlgorithm&) {}), "50");
  EXPECT_EQ(best_return("few", [](FakeAlgorithm& fake) { fake.diverged = {0, 1}; }), "50");
  EXPECT_EQ(best_return("diverged", [](FakeAlgorithm& fake) { fake.diverged = {0, 2}; }), "1");
  EXPECT_EQ(best_return("weights", [](FakeAlgorithm& fake) { fake.weights = {0.5F, NAN}; }), "1");
  EXPECT_EQ(best_return("infinite", [](FakeAlgorithm& fake) { fake.weights = {0.5F, INFINITY}; }), "1");
}

// As version 0.1.0 left it: a policy whose episodes had all diverged, with a return of 0, above all that follow.
TEST_F(RunTest, BestOfAnOlderVersionThatDivergedIsReplaced) {
  train("run", 8, false, 3);
  const RunPaths paths{scratch_ / "run"};
  Tensors best = read_tensors(paths.best());
  ASSERT_EQ(best.integer("iteration"), 1);
  best.metadata["return"] = "1000";
  write_tensors(paths.best(), best);
  std::string log = read_file(paths.log());
  const std::size_t second = log.find('\n') + 1;
  const std::string zero = "\"diverged\":0";
  const auto environments = std::to_string(configuration(8).settings.environments);
  log.replace(log.find(zero, second), zero.size(), "\"diverged\":" + environments);
  write_file_atomically(paths.log(), log);
  train("run", 8, true);
  EXPECT_EQ(read_tensors(paths.best()).metadata.at("return"), "2");
}

TEST_F(RunTest, CheckpointsWhosePolicyIsNotFiniteAreRefused) {
  train("run", 8, false, 3);
  const RunPaths paths{scratch_ / "run"};
  Tensors checkpoint = read_tensors(paths.checkpoint());
  checkpoint.put("policy.weight", std::span<const float>(std::vector<float>{1.0F, NAN}));
  write_tensors(paths.checkpoint(), checkpoint);
  const auto message = [&](const auto& act) -> std::string {
    try {
      act();
    } catch (const UserError& error) {
      return error.what();
    }
    return "";
  };
  using ::testing::AllOf;
  using ::testing::HasSubstr;
  EXPECT_THAT(message([&] { train("run", 8, true); }),
              AllOf(HasSubstr("checkpoint.safetensors"), HasSubstr("policy.weight"), HasSubstr("not finite")));
  fs::remove(paths.best());
  Configuration student = configuration(8);
  student.init = paths.folder.string();
  FakeAlgorithm algorithm(kScript);
  EXPECT_THAT(message([&] { start_from(algorithm, student); }), HasSubstr("policy.weight"));
}

TEST(Feasible, NeverIfTooManyEpisodesDiverged) {
  IterationReport report;
  report.costs = {1.0};
  report.limits = {2.0};
  report.environments = 256;
  report.diverged = 2;
  EXPECT_TRUE(is_feasible(report));
  EXPECT_STREQ(limit_sign(report, 0), "<=");
  report.diverged = 3;
  EXPECT_FALSE(is_feasible(report));
  EXPECT_STREQ(limit_sign(report, 0), "?");
  report.costs[0] = 3.0;
  report.diverged = 0;
  EXPECT_STREQ(limit_sign(report, 0), ">");
}

TEST(Feasible, NeedsEveryCostWithinItsLimit) {
  IterationReport report;
  report.costs = {1.0, 2.0};
  report.limits = {1.0, std::numeric_limits<double>::infinity()};
  EXPECT_TRUE(is_feasible(report));
  report.costs[0] = 1.1;
  EXPECT_FALSE(is_feasible(report));
  report.costs[0] = kNan;
  EXPECT_FALSE(is_feasible(report));
}

}  // namespace
}  // namespace cgpo
