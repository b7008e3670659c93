// A task file whose robot is moved by a simulator of one's own, as in examples/external: trained through the twin.
#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "cgpo/base/file.hpp"

#include "program.hpp"

namespace cgpo {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

class SimulatorFile : public ProgramTest {
 protected:
  void SetUp() override {
    if (std::string(CGPO_PYTHON).empty()) GTEST_SKIP() << "there is no Python";
    fs::copy_file(CGPO_EXAMPLES "/crane.xml", at("crane.xml"));
    write("crane.toml", with("python3 examples/external/crane_simulator.py", program("started")));
  }
  void write(const std::string& name, const std::string& text) const { write_file_atomically(at(name), text); }
  // The example's file with something else in place of a part of it.
  static std::string with(const std::string& part, const std::string& instead) {
    std::string text = read_file(CGPO_EXAMPLES "/crane.toml");
    const std::size_t found = text.find(part);
    EXPECT_NE(found, std::string::npos) << part;
    return text.replace(found, part.size(), instead);
  }
  // Leaves a line each time that it is started.
  static std::string program(const std::string& trace) {
    return fmt::format("echo >> {}; exec {} {}/crane_simulator.py", trace, CGPO_PYTHON, CGPO_EXAMPLES);
  }
  static std::string silent() { return std::string(CGPO_PYTHON) + " " CGPO_EXAMPLES "/crane_simulator.py"; }
  std::size_t starts(const std::string& trace = "started") const {
    return fs::exists(at(trace)) ? read_file(at(trace)).size() : 0;
  }
  std::vector<Json> log_of(const std::string& run) const {
    std::vector<Json> lines;
    const std::string text = read_file(at(run + "/log.jsonl"));
    for (std::size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
      lines.push_back(Json::parse(text.substr(begin, end - begin)));
    return lines;
  }
  ProgramOutcome train(const std::string& out, const std::vector<std::string>& more) const {
    std::vector<std::string> words = {"train", "crane.toml", "--out", out};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  }
};

TEST_F(SimulatorFile, IsTrainedThroughItsTwin) {
  const ProgramOutcome trained = train("run", {"--allow-command", "--set", "iterations=12"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_EQ(starts(), 1U);
  const std::vector<Json> log = log_of("run");
  ASSERT_EQ(log.size(), 12U);
  EXPECT_GT(log.back().at("return").get<double>(), log.front().at("return").get<double>() + 30.0);
  EXPECT_LT(log.back().at("costs").at(0).get<double>(), 30.0);
  EXPECT_GT(Json::parse(read_file(at("run/timing.jsonl")).substr(0, read_file(at("run/timing.jsonl")).find('\n')))
                .at("seconds_outside")
                .get<double>(),
            0.0);
  // The folder has the task, and starts nothing by itself; other engines need no program.
  fs::remove(at("crane.toml"));
  fs::remove(at("crane.xml"));
  EXPECT_EQ(run({"eval", "run", "--episodes", "8"}).code, 2);
  EXPECT_EQ(starts(), 1U);
  const ProgramOutcome judged = run({"eval", "run", "--episodes", "40", "--allow-command", "--json"});
  ASSERT_EQ(judged.code, 0) << judged.err;
  EXPECT_EQ(run({"report", "run", "--episodes", "4", "--allow-command"}).code, 0);
}

// One thread or several, in one go or resumed.
TEST_F(SimulatorFile, RepeatsBitForBit) {
  const std::vector<std::string> whole = {"--allow-command", "--threads", "1", "--set", "iterations=3"};
  ASSERT_EQ(train("whole", whole).code, 0);
  ASSERT_EQ(train("parts", {"--allow-command", "--threads", "3", "--set", "iterations=1"}).code, 0);
  const ProgramOutcome resumed =
      run({"train", "--resume", "--out", "parts", "--allow-command", "--threads", "2", "--set", "iterations=3"});
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  expect_same_run("whole", "parts");
}

// A first stage on our engine begins where the simulator's episodes do.
TEST_F(SimulatorFile, MayPrepareOnOurEngine) {
  const ProgramOutcome trained = train("run", {"--allow-command", "--set", "iterations=4", "twin.first=0.5"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  const std::vector<Json> log = log_of("run");
  EXPECT_EQ(log[1].at("stage"), "own");
  EXPECT_EQ(log[3].at("stage"), "task");
  EXPECT_EQ(log[3].at("steps_own"), log[1].at("steps"));
  EXPECT_EQ(log[3].at("steps_own").get<double>() + log[3].at("steps_task").get<double>(), log[3].at("steps"));
}

TEST_F(SimulatorFile, StartsNothingUnlessItIsAllowed) {
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"train", "crane.toml", "--out", "run"}, {"check", "crane.toml"}, {"settings", "crane.toml"}}) {
    const ProgramOutcome refused = run(words);
    EXPECT_EQ(refused.code, 2) << words[0] << refused.out;
    EXPECT_THAT(refused.err, AllOf(HasSubstr("crane.toml:13:"), HasSubstr("crane_simulator.py"),
                                   HasSubstr("--allow-command"), HasSubstr("--set 'task.command=")));
  }
  EXPECT_EQ(starts(), 0U);
  EXPECT_FALSE(fs::exists(at("run")));
  // Our engine and MuJoCo start nothing.
  const ProgramOutcome own = train("own", {"--set", "task.engine=own", "iterations=1"});
  EXPECT_EQ(own.code, 0) << own.err;
  EXPECT_EQ(run({"train", "--resume", "--out", "own", "--set", "iterations=2"}).code, 0);
  EXPECT_EQ(run({"eval", "own", "--episodes", "4", "--engine", "mujoco"}).code, 0);
  EXPECT_EQ(starts(), 0U);
  const ProgramOutcome listed = run({"settings", "crane.toml", "--allow-command"});
  EXPECT_EQ(listed.code, 0) << listed.err;
  EXPECT_EQ(starts(), 1U);
  const ProgramOutcome checked = run({"check", "crane.toml", "--allow-command"});
  EXPECT_EQ(checked.code, 2) << checked.out;
  EXPECT_THAT(checked.err, AllOf(HasSubstr("no derivative to check"), HasSubstr("--set task.engine=own")));
  fs::remove(at("started"));
  // Given again it is another one's.
  const ProgramOutcome given =
      train("given", {"--set", fmt::format("task.command=\"{}\"", program("other")), "iterations=1"});
  EXPECT_EQ(given.code, 0) << given.err;
  EXPECT_EQ(starts(), 0U);
  EXPECT_EQ(starts("other"), 1U);
}

TEST_F(SimulatorFile, WhatDoesNotFitIsRefused) {
  write("crane.toml", with("python3 examples/external/crane_simulator.py",
                           std::string(CGPO_PYTHON) + " " CGPO_EXAMPLES "/gymnasium_task.py puck"));
  expect_refused({"train", "crane.toml", "--allow-command", "--out", "run"},
                 {"takes 2 actions, but robot crane has 1"});
  write("crane.toml", with("period = 0.05", "period = 0.04"));
  expect_refused({"train", "crane.toml", "--out", "run", "--set", "task.command=\"" + silent() + "\""},
                 {"steps of 0.05 s, but those of robot crane are 0.04 s"});
  write("crane.toml", with("command = \"python3 examples/external/crane_simulator.py\"", ""));
  expect_refused({"train", "crane.toml", "--out", "run"}, {"crane.toml: [simulator]", "needs task.command"});
  write("crane.toml", with("command =", "comand ="));
  expect_refused({"train", "crane.toml", "--out", "run"}, {"no key 'comand' in [simulator]", "did you mean 'command'"});
  write("puck.toml", "horizon = 5\nactions = 1\nobservation = 'x'\nreward = 'x'\n[states]\nx = 0\n[simulator]\n");
  expect_refused({"check", "puck.toml"}, {"[simulator] moves a robot", "task external"});
  expect_refused(
      {"train", "external", "--out", "run", "--set", "task.twin=\"crane.xml\"", "task.command=\"" + silent() + "\""},
      {"task.twin", "task file", "[simulator]"});
}

}  // namespace
}  // namespace cgpo
