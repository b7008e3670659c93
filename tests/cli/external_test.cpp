// A simulator that is a program of its own: trained against, and misbehaving in every way.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <iterator>
#include <sstream>
#include <thread>

#include "cgpo/base/file.hpp"
#include "cgpo/base/tensors.hpp"

#include "http_client.hpp"
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
import math, os, sys, time
if sys.argv[1] == "words": print("hello", flush=True); sys.exit(0)
sys.path.insert(0, ")" CGPO_EXAMPLES R"(")
sys.argv, way, left = [sys.argv[0], "puck"], sys.argv[1], int(sys.argv[2])
import cgpo_simulator, struct
if way == "version": cgpo_simulator.VERSION = 2; cgpo_simulator.json.loads = lambda text: {"protocol": "cgpo-simulator", "version": 2}
if way == "banner": os.write(1, b"welcome to the physics library\n")
pack = struct.pack
def count(*a):
    global left
    if a[0] == "<I":
        left -= 1
        if left < 0 and way == "dies": sys.exit(3)
        if left < 0 and way == "hangs": time.sleep(1000)
        while left < 0 and way == "waits" and not os.path.exists("go"): time.sleep(0.01)
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
  // One that has ended may still stand in the table, as a zombie, until the system's first process takes note.
  static bool is_gone(int number) {
    for (int tries = 0; tries < 500; ++tries) {
      std::ifstream file(fmt::format("/proc/{}/stat", number));
      const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
      if (text.empty() || text.find(") Z ") != std::string::npos) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    ::kill(number, SIGKILL);
    return false;
  }
  std::string bad(const std::string& way, int requests) const {
    return fmt::format("{} bad.py {} {}", CGPO_PYTHON, way, requests);
  }
};

TEST_F(External, TrainsAndEvaluates) {
  ASSERT_EQ(run(training("run", good())).code, 0);
  ASSERT_EQ(run(training("again", good(), {"--threads", "3"})).code, 0);
  EXPECT_EQ(log_without_seconds("run"), log_without_seconds("again"));
  EXPECT_EQ(run({"eval", "run", "--episodes", "10", "--allow-command"}).code, 0);
}

TEST_F(External, OtherAlgorithmsTrainToo) {
  for (const char* const algorithm : {"ppo-lag", "cpo"}) {
    std::vector<std::string> words = training(algorithm, good(), {"iterations=1"});
    words[5] = algorithm;
    const ProgramOutcome outcome = run(words);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
  }
  std::vector<std::string> words = training("cgpo", good());
  words[5] = "cgpo";
  EXPECT_THAT(run(words).err, HasSubstr("mb-cgpo"));
}

// An interpreter with its libraries takes seconds to start. What it writes is the process's number.
TEST_F(External, StartsOnceAndDoesNotOutliveUs) {
  const auto started = [this] {
    std::istringstream text(read_file(at("started")));
    const std::vector<int> numbers{std::istream_iterator<int>(text), std::istream_iterator<int>()};
    for (const int number : numbers) {
      EXPECT_FALSE(std::filesystem::exists(fmt::format("/proc/{}/cmdline", number))) << number;
    }
    return numbers.size();
  };
  ASSERT_EQ(run(training("run", "echo $$ >> started; exec " + good(), {"iterations=1"})).code, 0);
  EXPECT_EQ(started(), 1U);
  const ProgramOutcome resumed =
      run({"train", "--resume", "--out", "run", "--allow-command", "--set", "iterations=2", "task.timeout=50"});
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(started(), 2U);
  ASSERT_EQ(run({"eval", "run", "--episodes", "10", "--allow-command"}).code, 0);
  EXPECT_EQ(started(), 3U);
}

// Nor does what it has started itself: in its group, in a session of its own, or as nobody's child.
TEST_F(External, NothingThatItStartsOutlivesUs) {
  const std::string children =
      "sleep 1000 & echo $! > left; setsid sleep 1000 & echo $! >> left; (setsid sleep 1000 & echo $! >> left); exec ";
  ASSERT_EQ(run(training("run", children + good(), {"iterations=1"})).code, 0);
  std::istringstream text(read_file(at("left")));
  const std::vector<int> numbers{std::istream_iterator<int>(text), std::istream_iterator<int>()};
  EXPECT_EQ(numbers.size(), 3U);
  for (const int number : numbers) EXPECT_TRUE(is_gone(number)) << number;
}

// Nor if there is no time to end it.
TEST_F(External, DoesNotOutliveUsWhenWeAreKilled) {
  const pid_t training_process = start(training("run", "echo $$ > started; exec sleep 1000"));
  int simulator = 0;
  for (int tries = 0; tries < 5000 && simulator == 0; ++tries) {
    std::ifstream(at("started")) >> simulator;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  ASSERT_GT(simulator, 0);
  ASSERT_FALSE(std::filesystem::exists(at("run")));
  ::kill(training_process, SIGKILL);
  EXPECT_EQ(wait(training_process).code, -SIGKILL);
  EXPECT_TRUE(is_gone(simulator));
}

// Readers of the live view see the curves, but no episodes of this simulator: there is one of it, and it trains. It
// waits in the middle of the run until everything was asked for, so that no clock decides what is tested.
TEST_F(External, IsTheSameUnderALiveViewThatIsRead) {
  ASSERT_EQ(run(training("plain", good(), {"iterations=12"})).code, 0);
  const pid_t process = start(training("live", bad("waits", 200), {"iterations=12", "--live", "--port", "0"}));
  const int port = wait_for_live_view();
  ASSERT_GT(port, 0) << read_file(at(".out")) << read_file(at(".err"));
  int asked = 0;
  for (bool finished = false; !finished; ++asked) {
    const HttpReply log = ask(port, "/log?from=0");
    ASSERT_EQ(log.status, 200);
    finished = nlohmann::json::parse(log.content).at("finished").get<bool>();
    const HttpReply replay = ask(port, "/replay");
    ASSERT_EQ(replay.status, 200);
    EXPECT_THAT(replay.content, HasSubstr("simulator is outside"));
    const HttpReply page = ask(port, "/");
    ASSERT_EQ(page.status, 200);
    for (const char* const secret : {"bad.py", "waits", "--live"}) EXPECT_THAT(page.content, Not(HasSubstr(secret)));
    if (asked == 5) write_file_atomically(at("go"), "");
  }
  EXPECT_GT(asked, 5);
  const ProgramOutcome outcome = wait(process);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(log_without_seconds("plain"), log_without_seconds("live"));
}

// A batch is 2 blocks of a reset and 20 steps, the warm-up one more: 126 requests are two iterations and the warm-up.
TEST_F(External, WhateverGoesWrongTheRunIsKept) {
  ASSERT_EQ(run(training("whole", good(), {"batch.deployed=0"})).code, 0);
  const std::vector<std::pair<std::string, std::string>> ways = {
      {"dies", "ended with exit code 3"},
      {"hangs", "gave no answer within 8 s (task.timeout)"},
      {"nan", "sent nan as observation 0 of environment"},
      {"size", "bytes where the answer to a step was expected"}};
  for (const auto& [way, words] : ways) {
    // Long enough for Python to start on a busy machine.
    const ProgramOutcome outcome = run(training(way, bad(way, 150), {"task.timeout=8", "batch.deployed=0"}));
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.err, HasSubstr("the simulator `"));
    EXPECT_THAT(outcome.err, HasSubstr(words));
    EXPECT_THAT(outcome.err, HasSubstr("after 2 iterations"));
    EXPECT_THAT(outcome.err, Not(HasSubstr("internal")));
    // Mended, it ends as if nothing had been.
    std::filesystem::copy(at("whole/config.toml"), at(way + "/config.toml"),
                          std::filesystem::copy_options::overwrite_existing);
    const ProgramOutcome resumed = run({"train", "--resume", "--out", way, "--allow-command"});
    EXPECT_EQ(resumed.code, 0) << resumed.err;
    EXPECT_EQ(log_without_seconds(way), log_without_seconds("whole"));
    EXPECT_EQ(read_file(at(way + "/checkpoint.safetensors")), read_file(at("whole/checkpoint.safetensors")));
  }
}

// The paired test asks the simulator after an iteration's data has been taken in. With a buffer of less than an
// iteration the data of the one before is then no longer needed, but the checkpoint that is written is the one that
// does.
TEST_F(External, AFailureInATrialTakesNoDataAway) {
  const std::vector<std::string> more = {"radius.test=\"paired\"", "world.buffer=100", "batch.deployed=0",
                                         "task.timeout=8"};
  ASSERT_EQ(run(training("whole", good(), more)).code, 0);
  // Batches of 42 requests: the warm-up, episodes and trial of the first iteration, episodes of the second, and the
  // trial that fails.
  const ProgramOutcome outcome = run(training("dies", bad("dies", 42 * 4 + 20), more));
  ASSERT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("ended with exit code 3"));
  EXPECT_THAT(outcome.err, HasSubstr("after 1 iteration:"));
  std::filesystem::copy(at("whole/config.toml"), at("dies/config.toml"),
                        std::filesystem::copy_options::overwrite_existing);
  const ProgramOutcome resumed = run({"train", "--resume", "--out", "dies", "--allow-command"});
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(log_without_seconds("dies"), log_without_seconds("whole"));
}

TEST_F(External, ItMayBeGivenMoreTimeOnResume) {
  ASSERT_EQ(run(training("run", good(), {"iterations=1"})).code, 0);
  const ProgramOutcome refused = run({"train", "--resume", "--out", "run", "--allow-command", "--set", "window=3"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("only iterations and task.timeout may change"));
  const ProgramOutcome outcome =
      run({"train", "--resume", "--out", "run", "--allow-command", "--set", "iterations=2", "task.timeout=123"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(read_file(at("run/config.toml")), HasSubstr("timeout = 123"));
}

TEST_F(External, WhatItPrintsIsNotTakenForAnAnswer) {
  const ProgramOutcome outcome = run(training("run", bad("banner", 1'000'000), {"iterations=1"}));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("welcome to the physics library"));
}

// A stand-in for the library: an environment that is over after 3 of 7 steps, in units of its own, that shows the
// action it got and a time stamp, and of which no more than there are episodes in a batch may be made.
class Gymnasium : public External {
 protected:
  void SetUp() override {
    External::SetUp();
    if (IsSkipped()) return;
    write_file_atomically(at("gymnasium.py"), R"(
import sys
class Bag:
    def __init__(self, **all): self.__dict__.update(all)
class Environment:
    made = 0
    def __init__(self):
        Environment.made += 1
        if Environment.made > 1 + 8: sys.exit("too many environments")
        self.action_space = Bag(low=[-2.0, 0.0], high=[2.0, 10.0], shape=(2,))
        self.observation_space = Bag(low=[-2.0, 0.0, 0.0], high=[2.0, 10.0, 1e9], shape=(3,))
        self.spec = Bag(max_episode_steps=7)
    def reset(self, *, seed=None, options=None):
        assert 0 <= seed < 2**32
        self.steps = 0
        return [0.0, 5.0, 2e6 + seed % 1000], {}
    def step(self, action):
        assert all(low <= a <= high for a, low, high in zip(action, self.action_space.low, self.action_space.high))
        self.got = action
        self.steps += 1
        return [*action, 2e6 + self.steps], 1.5, self.steps == 3, self.steps == 7, {"cost": 0.25}
def make(name):
    assert name == "Stub-v0"
    return Environment()
)");
    // The example with an eye on what goes in and what the library gets.
    write_file_atomically(at("watched.py"), R"(
import sys
sys.path.insert(0, ")" CGPO_EXAMPLES R"(")
sys.argv = [sys.argv[0], "Stub-v0"]
import cgpo_simulator
serve = cgpo_simulator.serve
def watched(make, **rest):
    def made():
        outer = make()
        step = outer.step
        def check(action):
            answer = step(action)
            first, second = outer.environment.got
            if abs(first - 2.0 * action[0]) > 1e-6 or abs(second - 5.0 * (1.0 + action[1])) > 1e-6: sys.exit("wrong action")
            return answer
        outer.step = check
        return outer
    serve(made, **rest)
cgpo_simulator.serve = watched
exec(open(")" CGPO_EXAMPLES R"(/gymnasium_task.py").read())
)");
  }
  std::vector<std::string> stub_training(const std::string& out, const std::string& program) const {
    std::vector<std::string> words =
        training(out, fmt::format("PYTHONPATH={} {} {}", at("").string(), CGPO_PYTHON, program));
    std::replace(words.begin(), words.end(), std::string("horizon=20"), std::string("window=4"));
    return words;
  }
};

TEST_F(Gymnasium, TrainsOnAnEnvironmentOfTheLibrary) {
  const ProgramOutcome outcome = run(stub_training("run", CGPO_EXAMPLES "/gymnasium_task.py Stub-v0"));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(read_file(at("run/config.toml")), HasSubstr("horizon = 7 "));
  const std::string log = read_file(at("run/log.jsonl"));
  const nlohmann::json line = nlohmann::json::parse(log.substr(0, log.find('\n')));
  EXPECT_EQ(line.at("return"), 4.5);
  EXPECT_EQ(line.at("costs").at(0), 0.75);
  EXPECT_EQ(line.at("episode_length"), 3.0);
  EXPECT_EQ(line.at("diverged"), 0);
  const ProgramOutcome evaluated = run({"eval", "run", "--episodes", "30", "--json", "--allow-command"});
  ASSERT_EQ(evaluated.code, 0) << evaluated.err;
  const nlohmann::json result = nlohmann::json::parse(evaluated.out);
  EXPECT_EQ(result.at("episodes"), 30);
}

TEST_F(Gymnasium, GetsActionsInItsOwnRange) {
  const ProgramOutcome outcome = run(stub_training("run", "watched.py"));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
}

// How many episodes run at once is not seen in the numbers.
TEST_F(External, AnEvaluationInPiecesIsTheSame) {
  ASSERT_EQ(run(training("run", good(), {"iterations=1"})).code, 0);
  const ProgramOutcome pieces = run({"eval", "run", "--episodes", "30", "--json", "--allow-command"});
  std::string text = read_file(at("run/config.toml"));
  const std::size_t place = text.find("environments = 8 ");
  ASSERT_NE(place, std::string::npos);
  write_file_atomically(at("run/config.toml"), text.replace(place, 17, "environments = 64 "));
  Tensors checkpoint = read_tensors(at("run/checkpoint.safetensors"));
  checkpoint.metadata.erase("configuration");  // that would tell it from one of these settings
  write_tensors(at("run/checkpoint.safetensors"), checkpoint);
  const ProgramOutcome whole = run({"eval", "run", "--episodes", "30", "--json", "--allow-command"});
  ASSERT_EQ(pieces.code, 0) << pieces.err;
  ASSERT_EQ(whole.code, 0) << whole.err;
  EXPECT_EQ(pieces.out, whole.out);
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
  const ProgramOutcome outcome = run(training("one", "1"), "tank");
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
  // Letter by letter it never ends.
  write_file_atomically(at("slow.sh"), "for i in 1 2 3 4 5 6; do printf x; sleep 0.4; done\n");
  expect_refused(training("run", "sh slow.sh", {"task.timeout=1"}), {"gave no answer within 1 s"});
  write_file_atomically(at("deaf.sh"), R"(read hello
exec 0<&-
echo '{"protocol": "cgpo-simulator", "version": 1, "observations": 1, "actions": 1, "horizon": 20}'
exec sleep 100
)");
  expect_refused(training("run", "exec sh deaf.sh", {"task.timeout=8"}), {"closed its input"});
  EXPECT_EQ(run({"tasks"}).code, 0);
  EXPECT_THAT(run({"tasks", "--json"}).out, HasSubstr("\"external\""));
}

}  // namespace
}  // namespace cgpo
