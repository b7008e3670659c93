// Programs of the shell, which do what the test says.
#include "cgpo/base/process.hpp"

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <iterator>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <system_error>
#include <thread>
#include <unistd.h>

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

// What becomes of some calls of the system from here on, for this process and those that it starts.
bool rule_calls(const std::vector<long>& calls, unsigned verdict) {
  std::vector<sock_filter> rules = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (const long call : calls) {
    rules.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(call), 0, 1));
    rules.push_back(BPF_STMT(BPF_RET | BPF_K, verdict));
  }
  rules.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog program{static_cast<unsigned short>(rules.size()), rules.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

bool forbid_kill() { return rule_calls({SYS_kill}, SECCOMP_RET_KILL_PROCESS); }

bool forbid_children() {
  return rule_calls({SYS_clone, SYS_clone3, SYS_fork, SYS_vfork}, SECCOMP_RET_ERRNO | static_cast<unsigned>(EAGAIN));
}

// How a process of its own ends that does this, and then ends with 0.
ProcessEnd apart(const std::function<void()>& act) {
  const pid_t id = ::fork();
  if (id == 0) {
    act();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(id, &status, 0);
  return WIFSIGNALED(status) ? ProcessEnd{.code = 0, .signal = WTERMSIG(status)}
                             : ProcessEnd{.code = WEXITSTATUS(status), .signal = 0};
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

// In a session of its own, as a child of its own or, after the one between has gone, as nobody's.
TEST(Process, NothingOutlivesItThatHasLeftItsGroup) {
  for (const char* script : {"setsid sleep 100 & echo $!; wait", "setsid sleep 100 & echo $!; exit 0",
                             "(setsid sleep 100 > /dev/null & echo $!); exec cat > /dev/null"}) {
    pid_t left = 0;
    {
      Process process(talking(script));
      left = std::stoi(read_line(process));
      process.end(0.1);
    }
    EXPECT_TRUE(is_gone(left)) << script;
    if (!is_gone(left)) ::kill(left, SIGKILL);
  }
}

// Others, whose environment has none of it, are not touched.
TEST(Process, OthersOutliveIt) {
  Process other(shell("exec sleep 100"));
  EXPECT_TRUE(Process(shell("exit 0")).wait().good());
  EXPECT_FALSE(other.wait_for(0.0).has_value());
}

TEST(Process, WithoutAChildThereIsAnErrorAndNoSignal) {
  const ProcessEnd end = apart([] {
    if (!forbid_children() || !forbid_kill()) ::_exit(9);
    try {
      const Process process(shell("exit 0"));
    } catch (const std::system_error& error) {
      const bool one_more = run_program({"true"}, "/", "/dev/null") == 126;
      ::_exit(error.code().value() == EAGAIN && one_more ? 0 : 2);
    }
    ::_exit(3);
  });
  if (end.code == 9) GTEST_SKIP() << "calls of the system cannot be made to fail here";
  EXPECT_TRUE(end.good()) << end.words();
}

// Its number may be another's by then.
TEST(Process, OneThatSomebodyElseBuriedIsNotSignalled) {
  const ProcessEnd buried = apart([] {
    Process process(talking("exit 3"));
    if (!forbid_kill()) ::_exit(9);
    while (::waitpid(-1, nullptr, 0) > 0 || errno == EINTR) {
    }
    process.send_signal(SIGTERM);
    const ProcessEnd found = process.end(0.0);
    if (found.good() || found.code != ProcessEnd::kUnknown) ::_exit(2);
  });
  if (buried.code == 9) GTEST_SKIP() << "calls of the system cannot be made to fail here";
  EXPECT_TRUE(buried.good()) << buried.words();
  const ProcessEnd ignored = apart([] {
    ::signal(SIGCHLD, SIG_IGN);
    Process process(talking("exit 3"));
    if (!forbid_kill()) ::_exit(9);
    if (process.wait().code != ProcessEnd::kUnknown) ::_exit(2);
    process.send_signal(SIGTERM);
  });
  EXPECT_TRUE(ignored.good()) << ignored.words();
}

TEST(Process, WhatWeIgnoreItDoesNot) {
  const auto before = ::signal(SIGPIPE, SIG_IGN);
  Process process(shell("kill -PIPE $$; exit 0"));
  ::signal(SIGPIPE, before);
  EXPECT_EQ(process.wait().signal, SIGPIPE);
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

// Where the PATH has a relative entry, a folder that is not ours must not bring its own programs along.
TEST(RunProgram, TakesNoProgramOutOfTheFolderItStartsIn) {
  const ScratchFolder folder;
  std::ofstream(folder / "no-such-program") << "#!/bin/sh\nexit 7\n";
  std::filesystem::permissions(folder / "no-such-program", std::filesystem::perms::owner_all);
  const char* const before = ::getenv("PATH");
  const std::string path = before == nullptr ? "" : before;
  for (const char* first : {".:", ":"}) {
    ::setenv("PATH", (first + path).c_str(), 1);
    EXPECT_EQ(run_program({"no-such-program"}, folder.path(), folder / "out"), 127);
  }
  ::setenv("PATH", (folder.path().string() + ":" + path).c_str(), 1);
  EXPECT_EQ(run_program({"no-such-program"}, folder.path(), folder / "out"), 7);
  ::setenv("PATH", path.c_str(), 1);
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
