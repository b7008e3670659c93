#include "cgpo/run/run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <new>

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
    notes_ = run.notes();
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
  std::vector<std::string> notes_;  // of the last run
};

TEST_F(RunTest, WritesALineAnIteration) {
  const TrainingResult result = train("run", 8);
  EXPECT_TRUE(result.finished);
  EXPECT_EQ(result.iterations, 8);
  EXPECT_EQ(result.last->report.steps, 80);
  EXPECT_EQ(find_lines(RunPaths{scratch_ / "run"}.log(), 100, LineKind::kLog).count, 8);
  EXPECT_EQ(find_lines(RunPaths{scratch_ / "run"}.timing(), 100, LineKind::kTiming).count, 8);
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

// Neither a lost log nor a damaged line ends a run whose checkpoint is good.
TEST_F(RunTest, DamagedLogIsAGapAndNoEnd) {
  train("whole", 8);
  for (const bool all : {true, false}) {
    const std::string name = all ? "lost" : "line";
    train(name, 8, false, 5);
    const RunPaths paths{scratch_ / name};
    std::string log = read_file(paths.log());
    const std::string number = "\"iteration\":2,";
    if (!all) log.replace(log.find(number), number.size(), "\"iteration\":\"2\",");
    const std::string damaged = all ? "" : log;
    write_file_atomically(paths.log(), damaged);
    EXPECT_TRUE(train(name, 8, true).finished);
    ASSERT_EQ(notes_.size(), 1U);
    EXPECT_THAT(notes_[0], ::testing::HasSubstr(all ? "whole lines of 0 of the 5 iterations" : "lines of 4 of the 5"));
    EXPECT_EQ(read_file(paths.checkpoint()), read_file(RunPaths{scratch_ / "whole"}.checkpoint()));
    EXPECT_EQ(read_file(paths.best()), read_file(RunPaths{scratch_ / "whole"}.best()));
    std::vector<int> iterations;
    for (const LogEntry& entry : read_log(paths.log())) iterations.push_back(entry.report.iteration);
    EXPECT_EQ(iterations, all ? (std::vector<int>{5, 6, 7}) : (std::vector<int>{0, 1, 3, 4, 5, 6, 7}));
    if (!all) {
      EXPECT_EQ(read_file(paths.log().string() + ".damaged-1"), damaged);
    }
  }
}

TEST_F(RunTest, DamagedBestIsKeptBesideAndReplaced) {
  train("whole", 8);
  train("run", 8, false, 3);
  const RunPaths paths{scratch_ / "run"};
  write_file_atomically(paths.best(), "damaged");
  EXPECT_TRUE(train("run", 8, true).finished);
  ASSERT_EQ(notes_.size(), 1U);
  EXPECT_THAT(notes_[0], ::testing::HasSubstr("best.safetensors' is not a usable checkpoint"));
  EXPECT_EQ(read_file(paths.best().string() + ".damaged-1"), "damaged");
  expect_same_run("whole", "run");
}

// Ended while it began: it is begun with the configuration that is there.
TEST_F(RunTest, ResumedBeforeItsFirstCheckpointItBegins) {
  train("whole", 8);
  for (const bool log : {true, false}) {
    const std::string name = log ? "log" : "none";
    train(name, 8, false, 1);
    const RunPaths paths{scratch_ / name};
    for (const fs::path& path : {paths.checkpoint(), paths.best(), paths.timing(), paths.log()}) fs::remove(path);
    if (log) write_file_atomically(paths.log(), "");
    EXPECT_TRUE(train(name, 8, true).finished);
    ASSERT_EQ(notes_.size(), 1U);
    EXPECT_THAT(notes_[0], ::testing::HasSubstr("before its first checkpoint"));
    expect_same_run("whole", name);
  }
}

TEST_F(RunTest, WithALogAndNoCheckpointNothingIsTouched) {
  train("run", 8, false, 5);
  const RunPaths paths{scratch_ / "run"};
  fs::remove(paths.checkpoint());
  const std::string log = read_file(paths.log());
  EXPECT_THROW(train("run", 8, true), UserError);
  EXPECT_THROW(train("run", 8), UserError);
  EXPECT_EQ(read_file(paths.log()), log);
}

TEST_F(RunTest, WarmStartTakesTheBestPolicy) {
  train("teacher", 8);
  Configuration student = configuration(8);
  student.init = (scratch_ / "teacher").string();
  FakeAlgorithm algorithm(kScript);
  start_from(algorithm, read_first_policy(student));
  EXPECT_EQ(algorithm.state(), read_tensors(RunPaths{scratch_ / "teacher"}.best()).number("state"));
  EXPECT_EQ(algorithm.iteration(), 0);
  student.init = (scratch_ / "nobody").string();
  EXPECT_THROW(read_first_policy(student), UserError);
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

// The script's best but for what it costs without noise, which is how it would be deployed.
TEST_F(RunTest, BestMayBeDeployed) {
  const auto best_of = [&](const std::string& name, const std::vector<double>& deployed) {
    auto algorithm =
        std::make_unique<FakeAlgorithm>(std::vector<Measured>{{1.0, 7.0}, {50.0, 1.0}, {20.0, 2.0}, {60.0, 9.0}});
    algorithm->deployed = deployed;
    RunParts parts = make_parts(name, 4, FolderMode::kNew);
    parts.algorithm = std::move(algorithm);
    cgpo::Run::start(std::move(parts)).train();
    return read_tensors(RunPaths{scratch_ / name}.best()).metadata;
  };
  EXPECT_EQ(best_of("unknown", {}).at("return"), "50");
  EXPECT_FALSE(best_of("unknown again", {}).contains("costs_deployed"));
  EXPECT_EQ(best_of("kept", {8.0, 8.0, 8.0, 1.0}).at("return"), "50");
  EXPECT_EQ(best_of("over", {8.0, 8.1, 7.5, 1.0}).at("return"), "20");
  EXPECT_EQ(best_of("over again", {8.0, 8.1, 7.5, 1.0}).at("costs_deployed"), "7.5");
  EXPECT_EQ(best_of("not a number", {8.0, kNan, 9.0, 1.0}).at("return"), "1");
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
  EXPECT_THAT(message([&] { read_first_policy(student); }), HasSubstr("policy.weight"));
}

TEST(Feasible, NeverIfTooManyEpisodesDiverged) {
  IterationReport report;
  report.costs = {1.0};
  report.limits = {2.0};
  report.episodes = 256;
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

// As when the user's simulator fails: the iterations before it are kept, and a run that goes on is the same run.
TEST_F(RunTest, KeepsWhatWasDoneWhenMemoryRunsOut) {
  train("whole", 8);
  auto algorithm = std::make_unique<FakeAlgorithm>(kScript);
  algorithm->after_iteration = [](int iteration) {
    if (iteration == 5) throw std::bad_alloc();
  };
  RunParts parts = make_parts("short", 8, FolderMode::kNew);
  parts.algorithm = std::move(algorithm);
  {
    cgpo::Run run = cgpo::Run::start(std::move(parts));
    try {
      run.train();
      FAIL();
    } catch (const IterationFailed& error) {
      EXPECT_THAT(error.what(), ::testing::HasSubstr("not enough memory"));
    }
  }
  EXPECT_EQ(read_tensors(RunPaths{scratch_ / "short"}.checkpoint()).integer("iteration"), 5);
  train("short", 8, /*resume=*/true);
  expect_same_run("whole", "short");
}

}  // namespace
}  // namespace cgpo
