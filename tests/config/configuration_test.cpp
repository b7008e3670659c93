#include "cgpo/config/configuration.hpp"

#include <functional>
#include <gtest/gtest.h>
#include <limits>

#include "cgpo/base/error.hpp"
#include "cgpo/base/file.hpp"
#include "cgpo/config/keys.hpp"
#include "cgpo/tasks/registry.hpp"

#include "scratch_folder.hpp"

namespace cgpo {
namespace {

ConfigurationRequest request_for(const std::vector<std::string>& sets, const std::string& file = "") {
  ConfigurationRequest request;
  request.task = "function";
  request.file = parse_document(file, "f.toml");
  for (const std::string& text : sets) request.sets.push_back(parse_assignment(text));
  return request;
}

Settings resolve(const std::vector<std::string>& sets, const std::string& file = "") {
  return resolve_configuration(request_for(sets, file)).settings;
}

TEST(Configuration, FillsInWhatTheTaskKnows) {
  const Settings settings = resolve({});
  EXPECT_EQ(settings.horizon, 100);
  EXPECT_EQ(settings.costs, std::vector<std::string>{"height"});
  EXPECT_EQ(settings.limits, std::vector<double>{8.0});
}

TEST(Configuration, LaterSourcesWin) {
  const std::string file = "iterations = 7\n[radius]\ninitial = 2e-3\n";
  EXPECT_EQ(resolve({}).iterations, 100);                           // the task's
  EXPECT_EQ(resolve({}, file).iterations, 7);                       // the file's
  EXPECT_EQ(resolve({"iterations=9"}, file).iterations, 9);         // --set
  EXPECT_EQ(resolve({"iterations=9"}, file).radius.initial, 2e-3);  // what --set leaves alone stays
  EXPECT_EQ(resolve({"iterations=9", "iterations=11"}).iterations, 11);
}

// A policy that is there needs no stage that prepares one, unless somebody asks for it.
TEST(Configuration, RunsThatBeginWithAPolicyHaveNoFirstStage) {
  ConfigurationRequest request;
  request.task = "ant";
  request.sets = {parse_assignment("task.engine=mujoco")};
  EXPECT_EQ(resolve_configuration(request).settings.twin.first, 0.5);
  request.init = "runs/a";
  EXPECT_EQ(resolve_configuration(request).settings.twin.first, 0.0);
  request.sets.push_back(parse_assignment("twin.first=0.25"));
  EXPECT_EQ(resolve_configuration(request).settings.twin.first, 0.25);
}

TEST(Configuration, PaperPresetStandsBetweenTaskAndFile) {
  ConfigurationRequest request = request_for({}, "critic.batch = 32\n");
  request.preset = "paper";
  const Settings settings = resolve_configuration(request).settings;
  EXPECT_FALSE(settings.critic.fit_first);
  EXPECT_EQ(settings.radius.cutoff, 0.0);
  EXPECT_EQ(settings.radius.margin, 0.0);
  EXPECT_EQ(settings.critic.batch, 32);
}

TEST(Configuration, EveryPresetIsValid) {
  for (const char* preset : {"best", "paper"}) {
    ConfigurationRequest request = request_for({});
    request.preset = preset;
    EXPECT_NO_THROW(resolve_configuration(request)) << preset;
  }
}

TEST(Configuration, SetTakesTomlAndBareWords) {
  EXPECT_EQ(resolve({"radius.test=fixed"}).radius.test, RadiusTest::kFixed);
  EXPECT_EQ(resolve({"radius.test=\"fixed\""}).radius.test, RadiusTest::kFixed);
  EXPECT_EQ(resolve({"policy.hidden=[8, 4]"}).policy.hidden, (std::vector<int>{8, 4}));
  EXPECT_EQ(resolve({"limits=[inf]"}).limits, std::vector<double>{std::numeric_limits<double>::infinity()});
  EXPECT_EQ(resolve({"limits=7"}).limits, std::vector<double>{7.0});  // a list of one
  EXPECT_EQ(resolve({"costs=height"}).costs, std::vector<std::string>{"height"});
  EXPECT_EQ(resolve({"policy.learn_std=true"}).policy.learn_std, true);
  EXPECT_EQ(resolve({"kernel.backend=interpreter"}).kernel.backend, Backend::kInterpreter);
}

TEST(Configuration, TaskOptionsAreKeysToo) {
  const Configuration configuration = resolve_configuration(request_for({"task.start_width=2"}));
  EXPECT_EQ(configuration.task_options.number("start_width"), 2.0);
}

// The file that a run writes gives the same run back: each key is moved off its default first.
TEST(Configuration, RoundTripsThroughItsFile) {
  ConfigurationRequest request = request_for({"iterations=3",
                                              "environments=5",
                                              "horizon=40",
                                              "window=7",
                                              "limits=[7.1]",
                                              "batch.adaptive=false",
                                              "batch.smallest=3",
                                              "batch.signal=0.25",
                                              "batch.precision=0.5",
                                              "batch.deployed=0.75",
                                              "policy.hidden=[3, 2]",
                                              "policy.initial_std=0.1234567890123456",
                                              "policy.learn_std=true",
                                              "policy.last_layer_scale=0.5",
                                              "policy.settle=0.75",
                                              "policy.least_std=0.0625",
                                              "critic.hidden=[9]",
                                              "critic.learning_rate=3e-4",
                                              "critic.steps=11",
                                              "critic.batch=13",
                                              "critic.lambda=0.3333333333333333",
                                              "critic.targets=window",
                                              "critic.passes=3",
                                              "critic.memory=7",
                                              "critic.fit_first=false",
                                              "radius.initial=0.1",
                                              "radius.lower=1e-7",
                                              "radius.upper=5",
                                              "radius.shrink=0.7",
                                              "radius.grow=1.7",
                                              "radius.eta_low=0.1",
                                              "radius.eta_high=0.2",
                                              "radius.test=fixed",
                                              "radius.metric=euclid",
                                              "radius.damping=0.7",
                                              "radius.rows=77",
                                              "radius.debias=true",
                                              "radius.margin=0.01",
                                              "radius.retreat=4",
                                              "radius.confidence=0.5",
                                              "radius.certainty=3",
                                              "radius.sidestep=true",
                                              "radius.cutoff=0.5",
                                              "gradient.source=zobg",
                                              "gradient.baseline=step",
                                              "gradient.discount=0.9",
                                              "gradient.correction=none",
                                              "discount=0.5",
                                              "finite_horizon=false",
                                              "update.learning_rate=1e-5",
                                              "update.anneal=true",
                                              "update.passes=3",
                                              "update.batch=99",
                                              "update.clip=0.3",
                                              "update.kl=0.5",
                                              "update.entropy=0.25",
                                              "update.max_norm=2",
                                              "update.advantages=raw",
                                              "update.damping=0.3",
                                              "update.states=5",
                                              "update.conjugate=7",
                                              "update.backtracks=3",
                                              "dual.optimiser=adam",
                                              "dual.learning_rate=0.7",
                                              "dual.initial=0.5",
                                              "dual.upper=3",
                                              "dual.penalty=6",
                                              "dual.penalty_growth=0.5",
                                              "dual.penalty_upper=7",
                                              "twin.first=0.25",
                                              "twin.smallest=3",
                                              "twin.prior=0.3",
                                              "bptt.window=3",
                                              "focops.temperature=2.5",
                                              "pid.proportional=3",
                                              "pid.integral=0.5",
                                              "pid.derivative=2",
                                              "pid.proportional_memory=0.25",
                                              "pid.derivative_memory=0.75",
                                              "pid.delay=4",
                                              "pid.normalise=false",
                                              "pdo.step=natural",
                                              "cpo.kappa=one",
                                              "world.states=model",
                                              "world.correction=true",
                                              "world.hidden=[9]",
                                              "world.first_scale=2",
                                              "world.members=2",
                                              "world.minibatches=33",
                                              "world.first_fit=2",
                                              "world.batch=31",
                                              "world.learning_rate=0.5",
                                              "world.held_out=0.25",
                                              "world.check_every=3",
                                              "world.patience=2",
                                              "world.buffer=1234",
                                              "kernel.backend=interpreter",
                                              "kernel.block=17",
                                              "snapshots=2",
                                              "task.start_width=0.3"});
  request.seed = 9'007'199'254'740'993;  // beyond what a double holds
  request.init = "runs/a \"quoted\" name";
  const Configuration configuration = resolve_configuration(request);
  const std::string text = write_configuration(configuration);

  ConfigurationRequest again;
  again.file = parse_document(text, "config.toml");
  const Configuration back = resolve_configuration(again);
  EXPECT_EQ(write_configuration(back), text);
  EXPECT_EQ(back.seed, 9'007'199'254'740'993U);
  EXPECT_EQ(back.init, configuration.init);
  const Settings standard;
  for (const Key& key : settings_keys()) {
    EXPECT_EQ(format_value(key.get(back.settings)), format_value(key.get(configuration.settings))) << key.name;
    if (key.name != "costs") {
      EXPECT_NE(format_value(key.get(back.settings)), format_value(key.get(standard))) << key.name << " was not tried";
    }
  }
}

TEST(Configuration, EveryKeyHasHelpInTheFile) {
  const std::string text = write_configuration(resolve_configuration(request_for({})));
  for (const Key& key : settings_keys()) EXPECT_NE(text.find(key.meaning), std::string::npos) << key.name;
}

class Continued : public ::testing::Test {
 protected:
  void SetUp() override {
    write_file_atomically(stored_,
                          write_configuration(resolve_configuration(request_for({"iterations=5", "window=4"}))));
  }
  ScratchFolder folder_;
  const std::filesystem::path stored_ = folder_ / "config.toml";
};

TEST_F(Continued, KeepsWhatWasStored) {
  ConfigurationRequest request;
  EXPECT_EQ(continue_configuration(stored_, request).settings.window, 4);
  request = request_for({"window=4"});  // saying the same again is no conflict
  EXPECT_EQ(continue_configuration(stored_, request).settings.window, 4);
}

TEST_F(Continued, MayChangeTheIterations) {
  EXPECT_EQ(continue_configuration(stored_, request_for({"iterations=50"})).settings.iterations, 50);
}

// A file of an older version has keys that are gone, and lacks those that came later: the run goes on as it began.
TEST_F(Continued, OfAnOlderVersionKeepsWhatItDid) {
  ConfigurationRequest request = request_for({});
  request.task = "cartpole";
  const Configuration now = resolve_configuration(request);
  std::string old = "radius.margin_se = 1.0\nradius.margin_miss = 1.0\nradius.chance_se = 0.0\n";
  for (const ConfigurationLine& line : configuration_lines(now)) {
    const bool later = line.key.starts_with("batch.") || line.key == "policy.settle" ||
                       line.key == "policy.least_std" || line.key == "critic.passes" || line.key == "critic.memory" ||
                       line.key == "radius.confidence" || line.key == "gradient.correction";
    if (!later) old += line.key + " = " + line.value + "\n";
  }
  write_file_atomically(stored_, old);
  ConfigurationRequest more;
  more.sets = {parse_assignment("iterations=500")};
  const Configuration going_on = continue_configuration(stored_, more);
  EXPECT_EQ(going_on.settings.iterations, 500);
  for (const Settings& settings : {read_configuration(stored_).settings, going_on.settings}) {
    EXPECT_FALSE(settings.batch.adaptive);
    EXPECT_EQ(settings.batch.deployed, 0.0);
    EXPECT_EQ(settings.policy.settle, 1.0);
    EXPECT_EQ(settings.critic.passes, 1e6);
    EXPECT_EQ(settings.critic.memory, 0);
    EXPECT_EQ(settings.radius.confidence, 0.0);
    EXPECT_EQ(settings.gradient.correction, GradientCorrection::kNone);
    EXPECT_EQ(settings.environments, now.settings.environments);
  }
  EXPECT_TRUE(now.settings.batch.adaptive);  // a run that begins today
}

TEST(Configuration, RetiredKeysAreRefusedByNameUnlessARunHasThem) {
  const std::string said = " was replaced by radius.confidence, the probability with which an update keeps the limits";
  for (const std::string key : {"radius.margin_se", "radius.margin_miss", "radius.chance_se"}) {
    for (const bool in_file : {false, true}) {
      try {
        resolve(in_file ? std::vector<std::string>{} : std::vector<std::string>{key + "=1"},
                in_file ? key + " = 1\n" : "");
        ADD_FAILURE() << key;
      } catch (const UserError& error) {
        const std::string where = in_file ? "f.toml, line 1: " : "--set: ";
        EXPECT_EQ(error.what(), std::string(where).append(key).append(said));
      }
    }
  }
}

// A simulator outside takes seconds to start, so a run that goes on makes its task once.
TEST_F(Continued, MakesTheTaskOnce) {
  int made = 0;
  TaskEntry counted = find_task("function");
  counted.name = "counted";
  counted.make = [&made, make = counted.make](const TaskOptions& options) {
    ++made;
    return make(options);
  };
  task_registry().push_back(counted);
  ConfigurationRequest request = request_for({});
  request.task = "counted";
  write_file_atomically(stored_, write_configuration(resolve_configuration(request)));

  made = 0;
  request.sets = {parse_assignment("iterations=50")};
  const Configuration after = continue_configuration(stored_, request);
  const Configuration before = read_configuration(stored_, after);
  EXPECT_EQ(made, 1);
  EXPECT_EQ(before.made, after.made);
  EXPECT_EQ(differences(before, after).size(), 1U);

  Configuration other = after;
  change_task_options({parse_assignment("task.start_width=3")}, other);
  other.made = task_of(other);
  EXPECT_EQ(made, 2);
  EXPECT_NE(read_configuration(stored_, other).made, other.made);  // it is another task
  EXPECT_EQ(made, 3);
  task_registry().pop_back();
}

TEST_F(Continued, RefusesAnythingElseByName) {
  const auto message = [&](const ConfigurationRequest& request) -> std::string {
    try {
      continue_configuration(stored_, request);
    } catch (const UserError& error) {
      return error.what();
    }
    return "nothing was thrown";
  };
  EXPECT_NE(message(request_for({"window=5"})).find("window is 4"), std::string::npos);
  ConfigurationRequest other_seed = request_for({});
  other_seed.seed = 3;
  EXPECT_NE(message(other_seed).find("seed is 0"), std::string::npos);
  EXPECT_NE(message(request_for({"task.start_width=1"})).find("task.start_width is 0.1"), std::string::npos);
}

// A task that is started by a text, and counts how often.
class Started : public ::testing::Test {
 protected:
  void SetUp() override {
    TaskEntry entry = find_task("function");
    entry.name = "started";
    entry.options.push_back({.name = "program", .standard = std::string(), .help = "", .executes = true});
    entry.options.push_back({.name = "patience", .standard = 1.0, .help = "", .may_change = true});
    entry.make = [this, make = entry.make](const TaskOptions& options) {
      started_.push_back(options.text("program"));
      return make(TaskOptions(find_task("function").options));
    };
    task_registry().push_back(entry);
  }
  void TearDown() override { task_registry().pop_back(); }

  static ConfigurationRequest request(const std::vector<std::string>& sets) {
    ConfigurationRequest request = request_for(sets);
    request.task = "started";
    return request;
  }
  void store(const std::string& program) {
    write_file_atomically(stored_, write_configuration(resolve_configuration(request({"task.program=" + program}))));
    started_.clear();
  }
  static std::string message(const std::function<void()>& call) {
    try {
      call();
    } catch (const UserError& error) {
      return error.what();
    }
    return "nothing was thrown";
  }

  ScratchFolder folder_;
  const std::filesystem::path stored_ = folder_ / "config.toml";
  std::vector<std::string> started_;
  using Programs = std::vector<std::string>;
};

TEST_F(Started, ByWhatTheUserSays) {
  resolve_configuration(request({"task.program=mine"}));
  EXPECT_EQ(started_, Programs{"mine"});
}

TEST_F(Started, NotByAFile) {
  store("theirs");
  const std::string refused = message([&] { read_configuration(stored_); });
  EXPECT_NE(refused.find("config.toml, line "), std::string::npos) << refused;
  EXPECT_NE(refused.find("`theirs`"), std::string::npos) << refused;
  EXPECT_EQ(message([&] { continue_configuration(stored_, {}); }), refused);
  ConfigurationRequest file = request({});
  file.file = parse_document(read_file(stored_), stored_.string());
  EXPECT_EQ(message([&] { resolve_configuration(file); }), refused);
  EXPECT_EQ(started_, Programs{});
}

TEST_F(Started, WithConsent) {
  store("theirs");
  const Configuration allowed = read_configuration(stored_, {.commands = true});
  EXPECT_EQ(started_, Programs{"theirs"});
  EXPECT_EQ(consent_to_same(allowed).given.size(), 1U);
  read_configuration(stored_, consent_to_same(allowed));
  EXPECT_EQ(started_, (Programs{"theirs", "theirs"}));
  // What is given again takes the place of what is stored; what starts nothing is not taken from there.
  const Configuration other = read_configuration(
      stored_, {.given = {parse_assignment("task.program=mine"), parse_assignment("task.start_width=3")}});
  EXPECT_EQ(started_, (Programs{"theirs", "theirs", "mine"}));
  EXPECT_EQ(other.task_options.number("start_width"), 0.1);
  EXPECT_TRUE(consent_to_same(resolve_configuration(request_for({}))).given.empty());
}

TEST_F(Started, OnResumeTheSameGivenAgainIsConsent) {
  store("theirs");
  continue_configuration(stored_, request({"task.program=theirs", "task.patience=3"}));
  EXPECT_EQ(started_, Programs{"theirs"});
  ConfigurationRequest allowing = request({});
  allowing.allow_commands = true;
  continue_configuration(stored_, allowing);
  EXPECT_EQ(started_, (Programs{"theirs", "theirs"}));
  const std::string refused = message([&] { continue_configuration(stored_, request({"task.program=mine"})); });
  EXPECT_NE(refused.find("task.program is \"theirs\""), std::string::npos) << refused;
  EXPECT_NE(refused.find("only iterations and task.patience may change"), std::string::npos) << refused;
  EXPECT_EQ(started_, (Programs{"theirs", "theirs", "mine"}));  // what is compared is not started
}

TEST_F(Started, OtherOptionsLeaveItRunning) {
  Configuration configuration = resolve_configuration(request({"task.program=mine"}));
  const std::shared_ptr<const Task> task = configuration.made;
  change_task_options({parse_assignment("task.program=mine")}, configuration);
  EXPECT_EQ(configuration.made, task);
  change_task_options({parse_assignment("task.program=other")}, configuration);
  EXPECT_EQ(configuration.made, nullptr);
}

TEST(Configuration, WhatItKeepsIsUtf8) {
  ConfigurationRequest request = request_for({});
  request.init = "\xff";
  EXPECT_THROW(resolve_configuration(request), UserError);
}

}  // namespace
}  // namespace cgpo
