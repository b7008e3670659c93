// Task files as a user has them: checked, trained, judged, resumed, changed, moved and lost.
#include <filesystem>
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

constexpr const char* kCart = R"TOML(
name = "cart"
summary = "a cart goes to the middle"
horizon = 20
period = 0.05
observation = ["qpos", "qvel", "previous_action", "goal"]
reward = "-(body('cart').position.x - goal)^2 - weight * square(action - previous_action)[0]"
end = "abs(qpos[0]) > 3"
[options]
weight = 0.01
[robot]
file = "cart.xml"
actuators = [{ kind = "motor", joint = "ra*", gear = 5, range = [-1, 1] }]
[reset]
qpos = "uniform(-1, 1)"
[states]
goal = "uniform(-0.5, 0.5)"
[[costs]]
name = "energy"
expression = "square(controls)[0]"
limit = 2
[defaults]
environments = 16
critic.steps = 8
iterations = 3
)TOML";
constexpr const char* kCartRobot = R"XML(<mujoco><option timestep="0.01"/><worldbody>
<body name="cart"><joint name="rail" type="slide" axis="1 0 0" damping="0.5"/><geom type="sphere" size="0.1" mass="1" contype="0" conaffinity="0"/></body>
</worldbody></mujoco>)XML";

class TaskFiles : public ProgramTest {
 protected:
  void write(const std::string& name, const std::string& text) const { write_file_atomically(at(name), text); }
  void write_cart() const {
    write("cart.toml", kCart);
    write("cart.xml", kCartRobot);
  }
  std::string without(std::string text, const std::string& what, const std::string& instead = "") const {
    const std::size_t found = text.find(what);
    EXPECT_NE(found, std::string::npos) << what;
    return text.replace(found, what.size(), instead);
  }
};

TEST_F(TaskFiles, AreCheckedTrainedAndJudged) {
  write_cart();
  const ProgramOutcome check = run({"check", "cart.toml"});
  EXPECT_EQ(check.code, 0) << check.out << check.err;
  EXPECT_THAT(check.out, HasSubstr("cart: derivatives and central differences agree"));
  const ProgramOutcome train = run({"train", "cart.toml", "--out", "run"});
  ASSERT_EQ(train.code, 0) << train.err;
  EXPECT_THAT(train.out, HasSubstr("train --resume --out run --set iterations=6"));
  // Wherever the folder goes, and whatever becomes of the files.
  fs::remove(at("cart.toml"));
  fs::remove(at("cart.xml"));
  fs::rename(at("run"), at("moved"));
  const ProgramOutcome eval = run({"eval", "moved", "--episodes", "64", "--json"});
  ASSERT_EQ(eval.code, 0) << eval.err;
  EXPECT_EQ(Json::parse(eval.out).at("task"), "cart");
  EXPECT_EQ(run({"eval", "moved", "--episodes", "16", "--engine", "mujoco", "--set", "task.weight=1"}).code, 0);
  EXPECT_EQ(run({"report", "moved"}).code, 0);
  EXPECT_EQ(run({"train", "--resume", "--out", "moved", "--set", "iterations=5"}).code, 0);
  EXPECT_EQ(run({"train", "moved/definition.toml", "--init", "moved", "--out", "warm"}).code, 0);
  EXPECT_EQ(run({"check", "moved/definition.toml"}).code, 0);
}

// A limit on what the floor carries is judged by MuJoCo's own forces, where MuJoCo moves the robot.
TEST_F(TaskFiles, ContactIsJudgedOnEitherEngine) {
  write("box.toml", R"TOML(
horizon = 40
period = 0.02
observation = ["qpos", "qvel"]
reward = 0
robot = { file = "box.xml", action_scale = "range" }
[[costs]]
name = "weight"
expression = "where(step > 39.5, body('box').contact_force.z, 0)"
limit = 10
[defaults]
environments = 8
iterations = 1
batch.adaptive = false
)TOML");
  write("box.xml", R"XML(<mujoco><option timestep="0.002"/><worldbody><geom type="plane" size="5 5 1"/>
<body name="box" pos="0 0 0.1"><freejoint/><geom type="box" size="0.1 0.1 0.1" mass="8"/></body>
<body pos="3 0 1"><joint name="arm"/><geom size="0.1" contype="0" conaffinity="0"/></body></worldbody>
<actuator><motor joint="arm" ctrlrange="-3 3"/></actuator></mujoco>)XML");
  const ProgramOutcome train = run({"train", "box.toml", "--out", "run"});
  ASSERT_EQ(train.code, 0) << train.err;
  EXPECT_THAT(train.err, Not(HasSubstr("warning: actions")));
  for (const std::string engine : {"own", "mujoco"}) {
    const ProgramOutcome eval = run({"eval", "run", "--engine", engine, "--episodes", "8"});
    EXPECT_THAT(eval.out, AllOf(HasSubstr("78.4"), HasSubstr("not feasible"))) << engine << eval.err;
  }
  const ProgramOutcome trained =
      run({"train", "box.toml", "--out", "there", "--set", "task.engine=mujoco", "iterations=2"});
  EXPECT_EQ(trained.code, 0) << trained.err;
  EXPECT_THAT(trained.out, AllOf(HasSubstr("78.4"), HasSubstr("over the limit")));
}

// What is not finite is named, by check and by training.
TEST_F(TaskFiles, WhatIsNotFiniteIsNamed) {
  write("cart.xml", kCartRobot);
  write("cart.toml", without(kCart, "square(controls)[0]", "log(-1 - square(controls)[0])"));
  const ProgramOutcome check = run({"check", "cart.toml"});
  EXPECT_EQ(check.code, 1);
  EXPECT_THAT(check.out, HasSubstr("in 32 windows of 10 steps: cost energy is not finite there"));
  const ProgramOutcome train = run({"train", "cart.toml", "--out", "run"});
  EXPECT_THAT(read_file(at("run/log.jsonl")),
              HasSubstr("16 of 16 environments diverged: cost energy was not finite\""));
}

TEST_F(TaskFiles, ActionsThatReachLittleAreWarnedOf) {
  write("cart.xml", kCartRobot);
  write("cart.toml", without(kCart, "range = [-1, 1]", "range = [-9, 9]"));
  const char* const warning = "warning: actions reach less than half of the control range of 'rail' (11 %)";
  EXPECT_THAT(run({"check", "cart.toml"}).err, HasSubstr(warning));
  EXPECT_THAT(run({"train", "cart.toml", "--out", "run"}).err, HasSubstr(warning));
}

// Nothing is kept where there is no limit, however many episodes say so.
TEST_F(TaskFiles, CostsWithoutALimitKeepNone) {
  write("cart.xml", kCartRobot);
  write("cart.toml", without(kCart, "limit = 2", "limit = inf"));
  ASSERT_EQ(run({"train", "cart.toml", "--out", "run"}).code, 0);
  const ProgramOutcome eval = run({"eval", "run", "--episodes", "16"});
  EXPECT_THAT(eval.out, AllOf(HasSubstr("feasible: no cost has a limit to keep"), Not(HasSubstr("confidence"))));
}

// A motor behind a filter, on either engine: its activation is part of the state, which a resumed run continues.
TEST_F(TaskFiles, ActuatorsMayHaveAState) {
  write("cart.xml", kCartRobot);
  write("cart.toml", without(without(kCart, "gear = 5", "gear = 5, timeconst = 0.1"), "\"qvel\"",
                             "\"qvel\", \"actuator('rail').activation\""));
  const ProgramOutcome check = run({"check", "cart.toml"});
  EXPECT_EQ(check.code, 0) << check.out << check.err;
  EXPECT_THAT(check.out, HasSubstr("derivatives and central differences agree"));
  for (const std::string engine : {"own", "mujoco"}) {
    const std::vector<std::string> start = {"train", "cart.toml", "--set", "task.engine=" + engine,
                                            engine == "own" ? "gradient.source=shac" : "gradient.source=zobg"};
    const auto train = [&](std::vector<std::string> more) {
      more.insert(more.begin(), start.begin(), start.end());
      const ProgramOutcome outcome = run(more);
      ASSERT_EQ(outcome.code, 0) << outcome.err;
    };
    train({"iterations=2", "--out", engine});
    train({"iterations=1", "--out", engine + "-parts"});
    ASSERT_EQ(run({"train", "--resume", "--out", engine + "-parts", "--set", "iterations=2"}).code, 0);
    expect_same_run(engine, engine + "-parts");
    EXPECT_EQ(run({"report", engine}).code, 0);
  }
}

// Resumed, repeated from its configuration, with one thread or two: the same bits.
TEST_F(TaskFiles, RepeatBitForBit) {
  write_cart();
  const auto train = [&](std::vector<std::string> more) {
    more.insert(more.begin(), "train");
    const ProgramOutcome outcome = run(more);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
  };
  train({"cart.toml", "--out", "whole", "--threads", "1", "--set", "iterations=4"});
  train({"cart.toml", "--out", "parts", "--threads", "2", "--set", "iterations=2"});
  train({"cart.toml", "--out", "parts", "--resume", "--set", "iterations=4"});
  expect_same_run("whole", "parts");
  train({"--config", "whole/config.toml", "--out", "again"});
  expect_same_run("whole", "again");
  train({"cart.toml", "--out", "whole", "--force", "--set", "iterations=4"});
  expect_same_run("whole", "again");
  EXPECT_EQ(read_file(at("whole/definition.toml")), read_file(at("again/definition.toml")));
}

TEST_F(TaskFiles, AChangedFileIsNoticed) {
  write_cart();
  ASSERT_EQ(run({"train", "cart.toml", "--out", "run"}).code, 0);
  write("cart.toml", without(kCart, "weight = 0.01", "weight = 0.02"));
  const std::vector<std::string> says = {"'cart.toml', or its robot, has changed since the run began",
                                         "run/definition.toml"};
  expect_refused({"train", "cart.toml", "--resume", "--out", "run"}, says);
  write("cart.toml", kCart);
  write("cart.xml", without(kCartRobot, "mass=\"1\"", "mass=\"2\""));
  expect_refused({"train", "cart.toml", "--resume", "--out", "run"}, says);
  EXPECT_EQ(run({"train", "cart", "--resume", "--out", "run", "--set", "iterations=4"}).code, 0);
  // Nor is the copy changed in silence.
  write("run/definition.toml", without(read_file(at("run/definition.toml")), "mass=\"1\"", "mass=\"2\""));
  for (const char* const command : {"eval", "report"}) {
    expect_refused({command, "run"}, {"'run/definition.toml' has changed since the run began"});
  }
  expect_refused({"train", "--resume", "--out", "run"}, {"'run/definition.toml' has changed since the run began"});
  fs::remove(at("run/definition.toml"));
  expect_refused({"eval", "run"}, {"run/definition.toml"});
}

TEST_F(TaskFiles, ErrorsAreOneSentenceWithAPlace) {
  write_cart();
  const auto refused = [&](const std::string& from, const std::string& to, const std::vector<std::string>& words) {
    write("bad.toml", without(kCart, from, to));
    for (const char* const command : {"check", "train", "settings", "bench"})
      expect_refused({command, "bad.toml"}, words);
    expect_refused({"compare", "bad.toml", "--algos", "cgpo", "--seeds", "1"}, words);
  };
  refused("body('cart')", "body('crat')",
          {"bad.toml:7:", "the robot has no body named 'crat' (did you mean 'cart'?); it has: world, cart"});
  refused("horizon = 20", "horizon = \"20\"", {"bad.toml:4:11: horizon is a whole number from 1"});
  refused("\"ra*\"", "\"x*\"", {"bad.toml:13:", "the robot has no joint"});
  refused("kind = \"motor\"", "kind = \"servo\"",
          {"bad.toml:13:", "no kind of actuator 'servo'; there are: motor, position, velocity"});
  refused("cart.xml", "gone.xml", {"bad.toml:12:", "gone.xml"});
  refused("environments = 16", "environment = 16",
          {"defaults of task cart", "unknown key 'environment'", "did you mean"});
  refused("actuators = [{ kind = \"motor\", joint = \"ra*\", gear = 5, range = [-1, 1] }]", "",
          {"has no actuator", "[[robot.actuators]]"});
  expect_refused({"train", "missing.toml"}, {"missing.toml"});
  expect_refused({"train", "cart.toml", "--set", "task.wieght=1"}, {"task.wieght", "did you mean 'task.weight'?"});
  expect_refused({"train", "cart"}, {"unknown task 'cart'", "a task file is named with its ending, .toml"});
}

// A folder in which somebody keeps task files is not a run's, and nothing in it is lost.
TEST_F(TaskFiles, AFolderOfTaskFilesIsNoRun) {
  write_cart();
  fs::create_directory(at("mine"));
  write("mine/definition.toml", kCart);
  expect_refused({"train", "cart.toml", "--out", "mine"}, {"'mine' holds other files and no run"});
  EXPECT_EQ(read_file(at("mine/definition.toml")), kCart);
}

// A file may have the name of a task of the program, and gets nothing of its settings.
TEST_F(TaskFiles, ATaskOfTheSameNameIsAnother) {
  write("ant.toml", without(kCart, "name = \"cart\"", "name = \"ant\""));
  write("cart.xml", kCartRobot);
  const ProgramOutcome settings = run({"settings", "ant.toml", "--json"});
  ASSERT_EQ(settings.code, 0) << settings.err;
  EXPECT_THAT(settings.out,
              AllOf(HasSubstr("task.weight"), HasSubstr("task.engine"), Not(HasSubstr("Feet on the ground"))));
  ASSERT_EQ(run({"train", "ant.toml", "--out", "run"}).code, 0);
  expect_refused({"train", "--config", "run/config.toml", "ant.toml", "--out", "x", "--set", "seed=1"}, {"--seed"});
  expect_refused({"train", "function", "--config", "run/config.toml", "--out", "x"},
                 {"is for task 'ant', not 'function'"});
}

// A configuration of one's own may name a task file, which lies where it says from where it is.
TEST_F(TaskFiles, AreNamedInAConfiguration) {
  fs::create_directory(at("project"));
  write("project/cart.toml", kCart);
  write("project/cart.xml", kCartRobot);
  write("project/long.toml", "iterations = 4\n[task]\nname = \"cart.toml\"\nweight = 0.5\n");
  ASSERT_EQ(run({"train", "--config", "project/long.toml", "--out", "run"}).code, 0);
  EXPECT_THAT(read_file(at("run/config.toml")), AllOf(HasSubstr("iterations = 4"), HasSubstr("weight = 0.5")));
  EXPECT_EQ(run({"train", "project/cart.toml", "--resume", "--out", "run"}).code, 0);
}

TEST_F(TaskFiles, AreCompared) {
  write_cart();
  const std::vector<std::string> compare = {"compare", "cart.toml", "--algos", "cgpo,ppo-lag", "--seeds", "1",
                                            "--out",   "all",       "--set",   "iterations=2", "--json"};
  const ProgramOutcome first = run(compare);
  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(Json::parse(first.out).at("task"), "cart");
  EXPECT_TRUE(fs::exists(at("all/cgpo-0/definition.toml")) || fs::exists(at("all/cgpo-s0/definition.toml")));
  write("cart.toml", without(kCart, "weight = 0.01", "weight = 0.02"));
  const ProgramOutcome second = run(compare);
  EXPECT_EQ(second.code, 2);
  EXPECT_THAT(second.err, HasSubstr("was made with"));
}

// What a file says is read, not run: the definition of a run is one file beside its configuration.
TEST_F(TaskFiles, AConfigurationNamesNoFileElsewhere) {
  write_cart();
  ASSERT_EQ(run({"train", "cart.toml", "--out", "run"}).code, 0);
  const std::string text = read_file(at("run/config.toml"));
  write("run/config.toml", without(text, "\"definition.toml\"", "\"../cart.toml\""));
  expect_refused({"eval", "run"}, {"run/config.toml, line ", "task.definition is the name of a file beside this one"});
}

}  // namespace
}  // namespace cgpo
