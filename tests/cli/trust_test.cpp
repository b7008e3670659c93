// What comes from somebody else: a folder starts no program unasked, and its names do not reach the terminal as orders.
#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <iterator>
#include <sstream>
#include <stdlib.h>

#include "cgpo/base/file.hpp"

#include "program.hpp"

namespace cgpo {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

class Trust : public ProgramTest {
 protected:
  // The run's task becomes a program. Its folder is otherwise in order.
  void plant(const std::string& run, const std::string& command) const {
    std::string text = read_file(at(run + "/config.toml"));
    text = text.substr(0, text.find("[task]"));
    write_file_atomically(at(run + "/config.toml"),
                          text + "[task]\nname = \"external\"\ncommand = \"" + command + "\"\n");
  }
};

// expect_refused() compares the whole folder: `executed` would be new.
TEST_F(Trust, AFolderStartsNothing) {
  ASSERT_EQ(run(small_training("run", 2)).code, 0);
  plant("run", "touch executed");
  const std::vector<std::string> says = {"run/config.toml, line ", "`touch executed`", "--allow-command",
                                         "--set 'task.command="};
  const std::vector<std::vector<std::string>> commands = {
      {"eval", "run"},
      {"eval", "run", "--explain", "--json"},
      {"report", "run"},
      {"replay", "run"},
      {"replay", "run", "--video", "film.webp"},
      {"train", "--resume", "--out", "run"},
      {"train", "external", "--resume", "--out", "run", "--set", "iterations=9"},
      {"train", "--config", "run/config.toml", "--out", "new"},
      {"train", "external", "--config", "run/config.toml", "--out", "new", "--force"}};
  for (const std::vector<std::string>& command : commands) expect_refused(command, says);
  // The policy of another run is read, and nothing else of it.
  EXPECT_EQ(run(small_training("warm", 1, {"--init", "run"})).code, 0);
  EXPECT_FALSE(fs::exists(at("executed")));
  fs::create_directories(at("all"));
  fs::copy(at("run"), at("all/cgpo-0"), fs::copy_options::recursive);
  write_file_atomically(at("all/comparison.json"), "{\"task\": \"function\"}");
  write_file_atomically(at("all/.lock"), "");  // compare would make it
  expect_refused({"report", "all"}, {"`touch executed`"});
  expect_refused({"compare", "function", "--algos", "cgpo", "--seeds", "1", "--out", "all"}, {"`touch executed`"});
}

TEST_F(Trust, TheCommandIsShownAndNotObeyed) {
  ASSERT_EQ(run(small_training("run", 1)).code, 0);
  plant("run", R"(touch executed # \u001b[2K\u001b]0;title\u0007 \u009b8m \u202E \n harmless)");
  expect_refused({"eval", "run"}, {R"(`touch executed # \x1b[2K\x1b]0;title\x07 \u009b8m \u202e \n harmless`)"});
}

TEST_F(Trust, OnlyWhatStartsAProgramIsGivenAgain) {
  ASSERT_EQ(run(small_training("run", 1)).code, 0);
  for (const char* command : {"report", "replay"}) {
    expect_refused({command, "run", "--set", "window=3"}, {"--set window: only", "task.command"});
  }
}

class TrustedSimulator : public Trust {
 protected:
  void SetUp() override {
    if (std::string(CGPO_PYTHON).empty()) GTEST_SKIP() << "there is no Python";
  }
  // It leaves a line each time that it is started.
  static std::string command(const std::string& name = "started") {
    return fmt::format("task.command=\"echo >> {}; exec {} {}/gymnasium_task.py puck\"", name, CGPO_PYTHON,
                       CGPO_EXAMPLES);
  }
  std::size_t starts(const std::string& name = "started") const {
    return fs::exists(at(name)) ? read_file(at(name)).size() : 0;
  }
  static std::vector<std::string> sets(int iterations) {
    return {"--set",
            command(),
            fmt::format("iterations={}", iterations),
            "environments=8",
            "horizon=10",
            "kernel.block=4",
            "critic.steps=2",
            "critic.batch=32",
            "policy.hidden=[8]",
            "critic.hidden=[8]"};
  }
  static std::vector<std::string> join(std::vector<std::string> first, const std::vector<std::string>& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
  }
};

TEST_F(TrustedSimulator, RunsWhenAllowedOrGivenAgain) {
  const ProgramOutcome trained = run(join({"train", "external", "--algo", "ppo-lag", "--out", "run"}, sets(1)));
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_THAT(trained.out, HasSubstr("eval run --allow-command"));
  EXPECT_THAT(read_file(at("run/config.toml")), HasSubstr("--config FILE --allow-command` repeats it"));
  std::size_t before = starts();
  const std::vector<std::vector<std::string>> opening = {{"eval", "run", "--episodes", "4"},
                                                         {"report", "run", "--episodes", "4"},
                                                         {"replay", "run"},
                                                         {"train", "--resume", "--out", "run"}};
  for (const std::vector<std::string>& words : opening) {
    for (const std::vector<std::string>& consent :
         std::vector<std::vector<std::string>>{{"--allow-command"}, {"--set", command()}}) {
      const ProgramOutcome outcome = run(join(words, consent));
      EXPECT_EQ(outcome.code, 0) << outcome.err;
      EXPECT_EQ(starts(), ++before) << words[0] << consent[0];  // once each
    }
    EXPECT_EQ(run(words).code, 2);
    EXPECT_EQ(starts(), before);
  }
  // Another one takes its place, but not in a run that goes on.
  EXPECT_EQ(run({"eval", "run", "--episodes", "4", "--set", command("other")}).code, 0);
  EXPECT_EQ(starts("other"), 1U);
  const ProgramOutcome resumed = run({"train", "--resume", "--out", "run", "--set", command("other")});
  EXPECT_EQ(resumed.code, 2);
  EXPECT_THAT(resumed.err, AllOf(HasSubstr("a run that is resumed keeps its settings"), HasSubstr("task.command is")));
  EXPECT_EQ(starts(), before);
  EXPECT_EQ(run({"train", "--config", "run/config.toml", "--out", "again", "--allow-command"}).code, 0);
  expect_same_run("run", "again");
}

TEST_F(TrustedSimulator, ACommandGivenToCompareReachesItsRuns) {
  const auto comparison = [&](int iterations) {
    return join({"compare", "external", "--algos", "ppo-lag", "--seeds", "1", "--out", "all", "--evaluate", "4"},
                sets(iterations));
  };
  const ProgramOutcome first = run(comparison(1));
  ASSERT_EQ(first.code, 0) << first.out << first.err;
  const ProgramOutcome second = run(comparison(2));  // continues the run
  ASSERT_EQ(second.code, 0) << second.out << second.err;
  EXPECT_EQ(Json::parse(read_file(at("all/table.json"))).at("algorithms").at(0).at("runs").at(0).at("iterations"), 2);
  const std::string text = read_file(at("all/ppo-lag-0/config.toml"));
  const std::size_t place = text.find("echo >> started");
  ASSERT_NE(place, std::string::npos);
  write_file_atomically(at("all/ppo-lag-0/config.toml"), std::string(text).replace(place, 15, "echo >> planted"));
  const ProgramOutcome planted = run(comparison(3));
  EXPECT_EQ(planted.code, 2);
  EXPECT_THAT(planted.err, HasSubstr("was made with other settings: task.command is"));
  EXPECT_FALSE(fs::exists(at("planted")));
}

TEST_F(Trust, NamesReachTheScreenAsText) {
  constexpr const char* kName =
      "red\x1b[31m\xc2\x9b"
      "8m";
  write_file_atomically(at("robot.xml"), fmt::format("<mujoco><worldbody><body name='{0}'><joint name='j'/>"
                                                     "<geom name='{0}' type='box' size='1 1 1'/></body></worldbody>"
                                                     "<actuator><muscle name='{0}' joint='j' lengthrange='0 1'/>"
                                                     "</actuator></mujoco>",
                                                     kName));
  const ProgramOutcome model = run({"model", "robot.xml", "--states", "2"});
  EXPECT_THAT(model.out, AllOf(HasSubstr(R"(red\x1b[31m\u009b8m)"), Not(HasSubstr("\x1b")), Not(HasSubstr("\x9b"))));
  const ProgramOutcome json = run({"model", "robot.xml", "--states", "2", "--json"});
  EXPECT_THAT(json.out, AllOf(HasSubstr(R"(red\u001b[31m\u009b8m)"), Not(HasSubstr("\x1b")), Not(HasSubstr("\x9b"))));

  const ProgramOutcome refused = run({"eval", kName});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, AllOf(HasSubstr(R"('red\x1b[31m\u009b8m')"), Not(HasSubstr("\x1b"))));
  const ProgramOutcome trained = run(small_training(std::string("a\n") + kName, 1));
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_THAT(trained.out, AllOf(HasSubstr(R"(folder  a\nred\x1b[31m\u009b8m)"), Not(HasSubstr("\x1b"))));
}

TEST_F(Trust, NamesNeedNotBeUtf8) {
  const std::string name = "run\xff\xfe";
  std::vector<std::string> words = small_training(name, 1, {"--json"});
  const ProgramOutcome trained = run(words);
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_EQ(Json::parse(trained.out).at("out"), "run\ufffd\ufffd");
  const ProgramOutcome evaluated = run({"eval", name, "--episodes", "4", "--json"});
  ASSERT_EQ(evaluated.code, 0) << evaluated.err;
  EXPECT_EQ(Json::parse(evaluated.out).at("checkpoint"), "run\ufffd\ufffd/checkpoint.safetensors");
  words = {"compare", "function", "--algos", "cgpo", "--seeds", "1", "--json", "--out", name + "s"};
  words.insert(words.end(), {"--set", "iterations=1", "environments=8", "horizon=10", "critic.steps=1"});
  const ProgramOutcome compared = run(words);
  ASSERT_EQ(compared.code, 0) << compared.err;
  EXPECT_EQ(Json::parse(compared.out).at("algorithms").at(0).at("runs").at(0).at("out"), "run\ufffd\ufffds/cgpo-0");
}

TEST_F(Trust, WithoutAPlaceForTemporaryFiles) {
  ASSERT_EQ(run(small_training("run", 1)).code, 0);
  const char* const before = ::getenv("TMPDIR");
  const std::string kept = before == nullptr ? "" : before;
  ::setenv("TMPDIR", "/nowhere", 1);
  expect_refused({"replay", "run", "--video", "film.png"}, {"/nowhere", "TMPDIR"});
  if (before == nullptr) {
    ::unsetenv("TMPDIR");
  } else {
    ::setenv("TMPDIR", kept.c_str(), 1);
  }
}

}  // namespace
}  // namespace cgpo
