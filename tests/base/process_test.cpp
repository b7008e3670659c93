// Programs of the shell, which do what the test says.
#include "cgpo/base/process.hpp"

#include <csignal>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <string>
#include <system_error>
#include <thread>

#include "cgpo/base/file.hpp"

#include "scratch_folder.hpp"

namespace cgpo {
namespace {

using Transfer = Process::Transfer;

ProcessPlan shell(const std::string& script) { return {.words = {"sh", "-c", script}}; }

ProcessPlan talking(const std::string& script) {
  ProcessPlan plan = shell(script);
  plan.reads_at = 0;
  plan.writes_at = 1;
  return plan;
}

// One that has ended may still stand in the table, as a zombie, until the system's first process takes note.
bool is_gone(pid_t id) {
  for (int i = 0; i < 300; ++i) {
    std::ifstream file("/proc/" + std::to_string(id) + "/stat");
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    if (text.empty() || text.find(") Z ") != std::string::npos) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

std::string read_line(Process& process) {
  std::string line;
  for (char letter = 0; process.read({&letter, 1}, Deadline(20.0)) == Transfer::kDone && letter != '\n';)
    line += letter;
  return line;
}

TEST(Process, TellsHowItEnded) {
  EXPECT_TRUE(Process(shell("exit 0")).wait().good());
  Process three(shell("exit 3"));
  EXPECT_EQ(three.wait().code, 3);
  EXPECT_EQ(three.wait().words(), "ended with exit code 3");
  EXPECT_EQ(three.wait_for(0.0)->code, 3);
  const ProcessEnd killed = Process(shell("kill -TERM $$")).wait();
  EXPECT_FALSE(killed.good());
  EXPECT_EQ(killed.signal, SIGTERM);
  EXPECT_EQ(killed.shell_code(), 128 + SIGTERM);
  EXPECT_EQ(killed.words(), "was ended by signal 15 (Terminated)");
  EXPECT_EQ(Process({.words = {"/no/such/program"}}).wait().words(), "could not be started (exit code 127)");
}

TEST(Process, IsTalkedTo) {
  Process process(talking("while read line; do echo \"[$line]\"; done; exit 7"));
  const std::string text = "one\ntwo\n";
  EXPECT_EQ(process.write(text, Deadline(20.0)), Transfer::kDone);
  EXPECT_EQ(read_line(process), "[one]");
  EXPECT_EQ(read_line(process), "[two]");
  // The end of its input is the end of its loop.
  EXPECT_EQ(process.end(20.0).code, 7);
}

TEST(Process, FilesMayHaveOtherNumbers) {
  ProcessPlan plan = shell("read line <&3; echo \"$line again\" >&4");
  plan.reads_at = 3;
  plan.writes_at = 4;
  Process process(plan);
  const std::string text = "here\n";
  EXPECT_EQ(process.write(text, Deadline(20.0)), Transfer::kDone);
  EXPECT_EQ(read_line(process), "here again");
}

TEST(Process, WaitsNoLongerThanItMay) {
  Process process(talking("exec sleep 100"));
  char letter = 0;
  EXPECT_EQ(process.read({&letter, 1}, Deadline(0.05)), Transfer::kTimeout);
  const std::string much(1 << 22, 'x');
  EXPECT_EQ(process.write(much, Deadline(0.05)), Transfer::kTimeout);
  EXPECT_FALSE(process.wait_for(0.05).has_value());
  EXPECT_EQ(process.end(0.05).signal, SIGKILL);
}

TEST(Process, OneThatHasGoneIsClosedAndNoSignal) {
  Process process(talking("exit 5"));
  EXPECT_EQ(process.wait().code, 5);
  char letter = 0;
  EXPECT_EQ(process.read({&letter, 1}, Deadline(20.0)), Transfer::kClosed);
  const std::string text = "anyone there?";
  EXPECT_EQ(process.write(text, Deadline(20.0)), Transfer::kClosed);
}

TEST(Process, OutputGoesToAFile) {
  const ScratchFolder folder;
  ProcessPlan plan = shell("pwd; echo wrong >&2; cat");  // cat ends at once: there is nothing to read
  plan.output = folder / "output";
  plan.folder = folder.path();
  EXPECT_TRUE(Process(plan).wait().good());
  EXPECT_EQ(read_file(folder / "output"), std::filesystem::canonical(folder.path()).string() + "\nwrong\n");
  plan.folder = folder / "nowhere";
  EXPECT_EQ(Process(plan).wait().code, 126);
  plan.output = folder / "nowhere" / "output";
  EXPECT_THROW(Process{plan}, std::system_error);
}

TEST(Process, TheNameItIsToldNeedNotBeTheFile) {
  ProcessPlan plan = talking("echo $0");
  plan.words[0] = "other";
  plan.program = "sh";
  plan.words.push_back("named");
  Process process(plan);
  EXPECT_EQ(read_line(process), "named");
}

// Also what it has started itself, and not only if it is killed.
TEST(Process, NothingOutlivesIt) {
  pid_t killed = 0;
  pid_t left = 0;
  {
    Process process(talking("sleep 100 & echo $!; wait"));
    killed = std::stoi(read_line(process));
    ASSERT_EQ(::kill(killed, 0), 0);
  }
  EXPECT_TRUE(is_gone(killed));
  {
    Process process(talking("sleep 100 & echo $!; exit 0"));
    left = std::stoi(read_line(process));
    EXPECT_TRUE(process.wait().good());
  }
  EXPECT_TRUE(is_gone(left));
}

TEST(Process, MovesWithItsOwner) {
  Process first(shell("exec sleep 100"));
  Process second(std::move(first));
  EXPECT_FALSE(second.wait_for(0.0).has_value());
  second.send_signal(SIGTERM);
  EXPECT_EQ(second.wait().signal, SIGTERM);
  first = Process(shell("exit 4"));
  EXPECT_EQ(first.wait().code, 4);
}

TEST(RunProgram, GivesTheExitCodeAndTheOutput) {
  const ScratchFolder folder;
  const auto run = [&](const std::vector<std::string>& words) {
    return run_program(words, folder.path(), folder.path() / "out");
  };
  EXPECT_EQ(run({"sh", "-c", "pwd; echo wrong >&2; exit 3"}), 3);
  EXPECT_EQ(read_file(folder.path() / "out"), std::filesystem::canonical(folder.path()).string() + "\nwrong\n");
  EXPECT_EQ(run({"no-such-program"}), 127);
  EXPECT_EQ(run({"sh", "-c", "kill -9 $$"}), 128 + 9);
  EXPECT_EQ(run_program({"true"}, folder.path(), folder.path() / "no" / "such" / "folder"), 126);
}

}  // namespace
}  // namespace cgpo
