// A simulator that is a program of its own: trained against, and misbehaving in every way.
#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "cgpo/base/file.hpp"

#include "program.hpp"

namespace cgpo {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class External : public ProgramTest {
 protected:
  void SetUp() override {
    if (std::string(CGPO_PYTHON).empty()) GTEST_SKIP() << "there is no Python";
    // The example's puck, which fails in the way that the second word says, after so many requests.
    write_file_atomically(at("bad.py"), R"(
import math, sys, time
sys.path.insert(0, ")" CGPO_EXAMPLES R"(")
sys.argv, way, left = [sys.argv[0], "puck"], sys.argv[1], int(sys.argv[2])
import cgpo_simulator, struct
if way == "version": cgpo_simulator.VERSION = 2; cgpo_simulator.json.loads = lambda text: {"protocol": "cgpo-simulator", "version": 2}
if way == "words": print("hello"); sys.exit(0)
pack = struct.pack
def count(*a):
    global left
    if a[0] == "<I":
        left -= 1
        if left < 0 and way == "dies": sys.exit(3)
        if left < 0 and way == "hangs": time.sleep(1000)
        if left < 0 and way == "size": return pack("<I", a[1] + 4)
    elif left <= 0 and way == "nan": a = (a[0], math.nan) + a[2:]
    return pack(*a)
cgpo_simulator.struct = type(sys)("struct"); cgpo_simulator.struct.pack = count; cgpo_simulator.struct.unpack = struct.unpack
serve = cgpo_simulator.serve
if way == "header":
    def no_sizes(make, **rest): serve(make, **dict(rest, observations="many"))
    cgpo_simulator.serve = no_sizes
exec(open(")" CGPO_EXAMPLES R"(/gymnasium_task.py").read())
)");
  }

  std::vector<std::string> training(const std::string& out, const std::string& command,
                                    const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = {"train",
                                      "external",
                                      "--out",
                                      out,
                                      "--algo",
                                      "mb-cgpo",
                                      "--set",
                                      "task.command=\"" + command + "\"",
                                      "iterations=4",
                                      "environments=8",
                                      "horizon=20",
                                      "kernel.block=4",
                                      "critic.steps=4",
                                      "critic.batch=64",
                                      "policy.hidden=[8]",
                                      "critic.hidden=[8]",
                                      "world.hidden=[8]",
                                      "world.minibatches=8",
                                      "world.batch=64"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  static std::string good() { return std::string(CGPO_PYTHON) + " " CGPO_EXAMPLES "/gymnasium_task.py puck"; }
  std::string bad(const std::string& way, int requests) const {
    return fmt::format("{} bad.py {} {}", CGPO_PYTHON, way, requests);
  }
};

TEST_F(External, TrainsAndEvaluates) {
  ASSERT_EQ(run(training("run", good())).code, 0);
  ASSERT_EQ(run(training("again", good(), {"--threads", "3"})).code, 0);
  EXPECT_EQ(log_without_seconds("run"), log_without_seconds("again"));
  EXPECT_EQ(run({"eval", "run", "--episodes", "10"}).code, 0);
}

TEST_F(External, OtherAlgorithmsTrainToo) {
  for (const char* const algorithm : {"ppo-lag", "cpo"}) {
    std::vector<std::string> words = training(algorithm, good(), {"iterations=1"});
    words[5] = algorithm;
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
  }
  std::vector<std::string> words = training("cgpo", good());
  words[5] = "cgpo";
  EXPECT_THAT(run(words).err, HasSubstr("mb-cgpo"));
}

// A batch is 2 blocks of a reset and 20 steps, the warm-up one more: 126 requests are two iterations and the warm-up.
TEST_F(External, WhateverGoesWrongTheRunIsKept) {
  ASSERT_EQ(run(training("whole", good())).code, 0);
  const std::vector<std::pair<std::string, std::string>> ways = {{"dies", "ended with exit code 3"},
                                                                 {"hangs", "gave no answer within 8 s (task.timeout)"},
                                                                 {"nan", "sent nan as observation 0 of environment"},
                                                                 {"size", "where the answer to a step was expected"}};
  for (const auto& [way, words] : ways) {
    // Long enough for Python to start on a busy machine.
    const Outcome outcome = run(training(way, bad(way, 150), {"task.timeout=8"}));
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.err, HasSubstr("the simulator `"));
    EXPECT_THAT(outcome.err, HasSubstr(words));
    EXPECT_THAT(outcome.err, HasSubstr("after 2 iterations"));
    EXPECT_THAT(outcome.err, Not(HasSubstr("internal")));
    // Mended, it ends as if nothing had been.
    std::filesystem::copy(at("whole/config.toml"), at(way + "/config.toml"),
                          std::filesystem::copy_options::overwrite_existing);
    const Outcome resumed = run({"train", "--resume", "--out", way});
    EXPECT_EQ(resumed.code, 0) << resumed.err;
    EXPECT_EQ(log_without_seconds(way), log_without_seconds("whole"));
    EXPECT_EQ(read_file(at(way + "/checkpoint.safetensors")), read_file(at("whole/checkpoint.safetensors")));
  }
}

// The page's simulator in C++: its program has the whole command line.
TEST_F(External, AnEnvironmentInCppIsATask) {
  std::filesystem::create_symlink(CGPO_EXAMPLE, at("tank"));
  const auto training = [](const std::string& out, const char* threads) {
    return std::vector<std::string>{"train",           "tank",
                                    "--algo",          "mb-cgpo",
                                    "--out",           out,
                                    "--threads",       threads,
                                    "--set",           "iterations=3",
                                    "environments=16", "kernel.block=4",
                                    "critic.steps=8",  "critic.batch=64",
                                    "world.batch=64",  "world.minibatches=16"};
  };
  const Outcome outcome = run(training("one", "1"), "tank");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  ASSERT_EQ(run(training("three", "3"), "tank").code, 0);
  expect_same_run("one", "three");
  EXPECT_EQ(run({"eval", "one", "--episodes", "20"}, "tank").code, 0);
}

TEST_F(External, AWrongStartIsRefused) {
  expect_refused({"train", "external"}, {"task.command"});
  expect_refused(training("run", "/no/such/program 2>/dev/null"), {"/no/such/program", "could not be started"});
  expect_refused(training("run", bad("words", 0)), {"sent no header", "hello"});
  expect_refused(training("run", bad("header", 0)), {"wrong header", "'observations'", "many"});
  expect_refused(training("run", bad("version", 0)), {"version 2 of the protocol, this program version 1"});
  expect_refused(training("run", "sleep 100", {"task.timeout=0.2"}), {"sleep 100", "gave no answer within 0.2 s"});
  EXPECT_EQ(run({"tasks"}).code, 0);
  EXPECT_THAT(run({"tasks", "--json"}).out, HasSubstr("\"external\""));
}

}  // namespace
}  // namespace cgpo
