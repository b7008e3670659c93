// Runs that are stopped, killed and continued end up where an uninterrupted one does, to the last bit.
#include <csignal>
#include <filesystem>
#include <gmock/gmock.h>

#include "cgpo/base/file.hpp"

#include "program.hpp"

namespace cgpo {
namespace {

using ::testing::HasSubstr;

class Interrupted : public ProgramTest {
 protected:
  // Ends a long run by a signal after a few iterations, continues it for five more and compares it with one that did as
  // many in one go. Returns how the first part ended.
  ProgramOutcome interrupt_and_compare(int signal) {
    const pid_t process = start(small_training("cut", 100'000));
    wait_for_lines("cut", 4);
    ::kill(process, signal);
    ProgramOutcome first = wait(process);
    // Whatever the moment, the checkpoint can be used, and it tells how far the run got.
    EXPECT_EQ(run({"eval", "cut", "--episodes", "8"}).code, 0);
    const std::string log = read_file(at("cut/log.jsonl"));
    const int total = static_cast<int>(std::count(log.begin(), log.end(), '\n')) + 5;
    const ProgramOutcome second = run(small_training("cut", total, {"--resume"}));
    EXPECT_EQ(second.code, 0) << second.err;
    EXPECT_EQ(run(small_training("whole", total)).code, 0);
    expect_same_run("cut", "whole");
    return first;
  }
};

TEST_F(Interrupted, BySigterm) {
  const ProgramOutcome first = interrupt_and_compare(SIGTERM);
  EXPECT_EQ(first.code, 128 + SIGTERM);
  EXPECT_THAT(first.out, HasSubstr("to go on: cgpo train function --resume --out cut"));
}

TEST_F(Interrupted, ByControlC) { EXPECT_EQ(interrupt_and_compare(SIGINT).code, 128 + SIGINT); }

// A terminal that is closed, a connection that breaks.
TEST_F(Interrupted, ByHangup) { EXPECT_EQ(interrupt_and_compare(SIGHUP).code, 128 + SIGHUP); }

// `train | head`: it goes on without its output.
TEST_F(Interrupted, NotByAnOutputThatNobodyReads) {
  nobody_reads_ = true;
  EXPECT_EQ(run(small_training("run", 3)).code, 0);
  EXPECT_EQ(run(small_training("run", 4, {"--resume"})).code, 0);
  nobody_reads_ = false;
  const std::string log = read_file(at("run/log.jsonl"));
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 4);
}

// Files that were damaged by something else than us: the run goes on from its checkpoint and says so.
TEST_F(Interrupted, DamagedLogDoesNotEndARun) {
  ASSERT_EQ(run(small_training("run", 3)).code, 0);
  std::string log = read_file(at("run/log.jsonl"));
  const std::string number = "\"iteration\":1,";
  log.replace(log.find(number), number.size(), "\"iteration\":\"1\",");
  write_file_atomically(at("run/log.jsonl"), log);
  const ProgramOutcome outcome = run(small_training("run", 5, {"--resume", "--json"}));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("note: 'run/log.jsonl' has whole lines of 2 of the 3 iterations"));
  EXPECT_THAT(outcome.out, HasSubstr("\"notes\":[\"'run/log.jsonl' has"));
  EXPECT_EQ(read_file(at("run/log.jsonl.damaged-1")), log);
  ASSERT_EQ(run(small_training("whole", 5)).code, 0);
  EXPECT_EQ(read_file(at("run/checkpoint.safetensors")), read_file(at("whole/checkpoint.safetensors")));
  const ProgramOutcome report = run({"report", "run", "--episodes", "8", "--json"});
  EXPECT_THAT(report.out, HasSubstr("The log has no line of 1 of the 5 iterations"));
}

TEST_F(Interrupted, ByKill) { EXPECT_EQ(interrupt_and_compare(SIGKILL).code, -SIGKILL); }

TEST_F(Interrupted, TwoProcessesCannotWriteOneRun) {
  const pid_t process = start(small_training("run", 100'000));
  wait_for_lines("run", 1);
  const ProgramOutcome second = run({"train", "--resume", "--out", "run"});
  EXPECT_EQ(second.code, 2);
  EXPECT_THAT(second.err, HasSubstr("another process is writing 'run'"));
  ::kill(process, SIGTERM);
  wait(process);
}

TEST_F(Interrupted, FinishedRunChangesNothing) {
  ASSERT_EQ(run(small_training("run", 3)).code, 0);
  const auto before = snapshot();
  const ProgramOutcome again = run({"train", "function", "--out", "run", "--resume"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(snapshot(), before);
}

TEST_F(Interrupted, ConfigurationOfARunRepeatsIt) {
  ASSERT_EQ(run(small_training("first", 4, {"--seed", "5"})).code, 0);
  ASSERT_EQ(run({"train", "--config", "first/config.toml", "--out", "second"}).code, 0);
  expect_same_run("first", "second");
}

TEST_F(Interrupted, AnyNumberOfThreadsGivesTheSameBits) {
  ASSERT_EQ(run(small_training("one", 4, {"--threads", "1"})).code, 0);
  ASSERT_EQ(run(small_training("two", 4, {"--threads", "2"})).code, 0);
  ASSERT_EQ(run(small_training("four", 4, {"--threads", "4"})).code, 0);
  ASSERT_EQ(run(small_training("other", 4, {"--seed", "1"})).code, 0);
  expect_same_run("one", "two");
  expect_same_run("one", "four");
  EXPECT_NE(log_without_seconds("one"), log_without_seconds("other"));
}

}  // namespace
}  // namespace cgpo
