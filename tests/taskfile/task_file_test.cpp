// Whole task files: starts, memory, options, added actuators, copies, and what is refused.
#include <cmath>
#include <fmt/format.h>
#include <numbers>
#include <set>

#include "cgpo/base/file.hpp"
#include "cgpo/tasks/robots/robot.hpp"
#include "cgpo/tasks/simulators/simulator.hpp"

#include "files.hpp"
#include "scratch_folder.hpp"

namespace cgpo {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::refusal_of;
using ::testing::StartsWith;
using testing::task_of_text;
using testing::with_reward;

std::vector<double> start_of(const Task& task, std::uint32_t environment = 0) {
  RandomStream random(1, Purpose::kTest, 0, environment);
  std::vector<double> state(static_cast<std::size_t>(task.spec().states));
  task.reset(random, state);
  return state;
}

// One step after the other, by the graph that all kernels come from.
class Walk {
 public:
  explicit Walk(std::shared_ptr<const Task> task)
      : task_(std::move(task)), graph_(task_->trace_step()), state_(start_of(*task_)) {}

  void step(const std::vector<double>& action) {
    std::vector<double> input = state_;
    input.insert(input.end(), action.begin(), action.end());
    result_ = evaluate(graph_, input);
    state_.assign(result_.begin(), result_.begin() + task_->spec().states);
  }
  double reward() const { return result_[static_cast<std::size_t>(task_->layout().reward())]; }
  double paper() const { return result_[static_cast<std::size_t>(task_->layout().reward_paper())]; }
  double ended() const { return result_[static_cast<std::size_t>(task_->layout().ended())]; }
  double cost(int i) const { return result_[static_cast<std::size_t>(task_->layout().cost(i))]; }
  double observation(int i) const { return result_[static_cast<std::size_t>(task_->layout().observation() + i)]; }
  const std::vector<double>& state() const { return state_; }

 private:
  std::shared_ptr<const Task> task_;
  Graph graph_;
  std::vector<double> state_, result_;
};

const std::string kPuck = R"TOML(
name = "puck"
horizon = 80
period = 0.05
actions = 2
observation = ["position", "velocity"]
reward = "1 / (1 + 10 * sum_squares(position))"
reward_paper = "-norm(position)"
end = "max(abs(position)) > 1.2"
[options]
drag = { value = 0.5, low = 0, high = 10, help = "how fast it slows down" }
[states]
position = "uniform(-1, 1, 2)"
velocity = "[0, 0]"
[step]
position = "position + period * next(velocity)"
velocity = "velocity + period * (action - drag * velocity)"
[[costs]]
name = "energy"
expression = "sum_squares(action)"
limit = 5
)TOML";

// The same in C++.
TEST(TaskFileStates, MoveAsTheFormulaSays) {
  Walk walk(task_of_text(kPuck));
  double x = walk.state()[0], y = walk.state()[1], vx = 0.0, vy = 0.0;
  EXPECT_NE(x, y);
  for (int t = 0; t < 60; ++t) {
    const double ax = std::sin(t), ay = 1.0;
    walk.step({ax, ay});
    vx += 0.05 * (ax - 0.5 * vx);
    vy += 0.05 * (ay - 0.5 * vy);
    x += 0.05 * vx;
    y += 0.05 * vy;
    EXPECT_NEAR(walk.state()[0], x, 1e-13);
    EXPECT_NEAR(walk.state()[3], vy, 1e-13);
    EXPECT_NEAR(walk.reward(), 1.0 / (1.0 + 10.0 * (x * x + y * y)), 1e-13);
    EXPECT_NEAR(walk.paper(), -std::hypot(x, y), 1e-13);
    EXPECT_NEAR(walk.cost(0), ax * ax + ay * ay, 1e-13);
    EXPECT_EQ(walk.ended(), std::max(std::abs(x), std::abs(y)) > 1.2 ? 1.0 : 0.0);
  }
  EXPECT_EQ(walk.ended(), 1.0);
}

TEST(TaskFileStates, OptionsChangeIt) {
  const TaskEntry entry = TaskFile::parse(kPuck, "x/other.toml")->entry();
  EXPECT_EQ(entry.name, "puck");
  TaskOptions options(entry.options);
  options.set("drag", 10.0);
  EXPECT_THROW(options.set("drag", 11.0), UserError);
  Walk walk(entry.make(options));
  walk.step({1.0, 0.0});
  walk.step({0.0, 0.0});
  EXPECT_NEAR(walk.state()[2], 0.05 * (1.0 - 0.5), 1e-15);
}

// The clock counts, and the last action is that of the step before.
TEST(TaskFileMemory, TimeStepAndPreviousAction) {
  const std::string text =
      "horizon = 5\nactions = 2\nperiod = 0.1\nobservation = ['time', 'step', 'previous_action']\n"
      "reward = 'sum(action - previous_action)'\nend = 'step >= 3'\n[states]\nx = 1\n[[costs]]\n"
      "name = 'clock'\nexpression = '100 * step + before(step)'\nlimit = 1\n";
  Walk walk(task_of_text(text));
  EXPECT_EQ(walk.state().size(), 4U);  // x, the clock and two actions
  const std::vector<std::vector<double>> actions = {{1.0, 2.0}, {5.0, 5.0}, {0.5, 0.0}};
  double last = 0.0;
  for (int t = 0; t < 3; ++t) {
    walk.step(actions[static_cast<std::size_t>(t)]);
    const double sum = actions[static_cast<std::size_t>(t)][0] + actions[static_cast<std::size_t>(t)][1];
    EXPECT_EQ(walk.reward(), sum - last);
    last = sum;
    EXPECT_NEAR(walk.observation(0), 0.1 * (t + 1), 1e-15);
    EXPECT_EQ(walk.observation(1), t + 1.0);
    EXPECT_EQ(walk.observation(2), actions[static_cast<std::size_t>(t)][0]);
    EXPECT_EQ(walk.cost(0), 100.0 * (t + 1) + t);
    EXPECT_EQ(walk.ended(), t == 2 ? 1.0 : 0.0);
  }
  EXPECT_EQ(task_of_text(with_reward("x"))->spec().states, 4);  // who does not ask does not pay
}

const std::string kPendulum = R"XML(<mujoco><option timestep="0.01"/><worldbody>
<body name="pole"><joint name="hinge" axis="0 1 0"/><joint name="rail" type="slide" axis="1 0 0"/>
<geom type="sphere" pos="0 0 -1" size="0.1" mass="1" contype="0" conaffinity="0"/></body>
</worldbody></mujoco>)XML";

std::string pendulum(const std::string& top, const std::string& robot, const std::string& more = "") {
  return fmt::format("horizon = 10\nperiod = 0.05\n{}\n[robot]\nmjcf = '''{}'''\n{}\n{}", top, kPendulum, robot, more);
}

// On both engines, whose one step is several substeps of ours.
TEST(TaskFileMemory, IsTheSameOnMujoco) {
  const std::string text =
      pendulum("observation = ['step', 'time', 'previous_action']\nreward = 0", "[[robot.actuators]]\njoint = '*'\n");
  const TaskEntry entry = TaskFile::parse(text, "t.toml")->entry();
  for (const char* const engine : {"own", "mujoco"}) {
    TaskOptions options(entry.options);
    options.set("engine", std::string(engine));
    const auto task = entry.make(options);
    ASSERT_EQ(task->spec().states, 4 + 1 + 2);
    const std::unique_ptr<Simulator<double>> simulator = make_simulator<double>(task, {});
    SimulatorScratch<double> scratch;
    std::vector<double> state = start_of(*task), next(state.size()), observation(4), action = {0.5, -0.25};
    std::vector<double> signals(1), paper(1), ended(1), inner(static_cast<std::size_t>(simulator->inner_rows()) + 1);
    for (int t = 1; t <= 7; ++t) {
      simulator->step({{state.data(), 1},
                       {action.data(), 1},
                       {next.data(), 1},
                       {observation.data(), 1},
                       {signals.data(), 1},
                       paper.data(),
                       ended.data(),
                       {inner.data(), 1}},
                      1, scratch);
      state = next;
      EXPECT_EQ(observation[0], t) << engine;
      EXPECT_NEAR(observation[1], 0.05 * t, 1e-14) << engine;
      EXPECT_EQ(observation[2], 0.5) << engine;
      EXPECT_EQ(observation[3], -0.25) << engine;
    }
  }
}

TEST(TaskFileActuators, AreAddedToJointsByPattern) {
  const std::string plain = "observation = 'qpos'\nreward = 0";
  EXPECT_THAT(refusal_of(pendulum(plain, "")), AllOf(HasSubstr("has no actuator"), HasSubstr("[[robot.actuators]]")));
  const auto both = task_of_text(pendulum(plain,
                                          "[[robot.actuators]]\nkind = 'motor'\njoint = 'h*'\ngear = 3\nrange = [-0.5, "
                                          "2]\n[[robot.actuators]]\njoint = 'rail'\n"));
  ASSERT_EQ(both->spec().actions, 2);
  const Model& model = *both->find_robot()->model;
  EXPECT_EQ(model.actuators[0].joint, model.joint_id("hinge"));
  EXPECT_EQ(model.actuators[0].gear[0], 3.0);
  EXPECT_TRUE(model.actuators[0].control_limited);
  EXPECT_EQ(model.actuators[0].control_upper, 2.0);
  EXPECT_EQ(model.actuators[1].gear[0], 1.0);
  EXPECT_FALSE(model.actuators[1].control_limited);
  const std::string bad = "[[robot.actuators]]\njoint = 'hing'\n";
  EXPECT_THAT(refusal_of(pendulum(plain, bad)),
              AllOf(HasSubstr("no joint named 'hing' (did you mean 'hinge'?)"), StartsWith("t.toml:")));
  EXPECT_THAT(
      refusal_of(pendulum(plain, "[[robot.actuators]]\nkind = 'positon'\njoint = '*'\n")),
      HasSubstr("no kind of actuator 'positon' (did you mean 'position'?); there are: motor, position, velocity"));
  EXPECT_THAT(refusal_of(pendulum(plain, "[[robot.actuators]]\njoint = '*'\nrange = [1, -1]\n")),
              HasSubstr("range is [low, high]"));
  const auto refused = [&](const std::string& keys) {
    return refusal_of(pendulum(plain, "[[robot.actuators]]\njoint = '*'\n" + keys));
  };
  EXPECT_THAT(refused("kind = 'position'\n"), HasSubstr("kp of [[robot.actuators]] is missing"));
  EXPECT_THAT(refused("kp = 3\n"), HasSubstr("kp is not of kind 'motor'"));
  EXPECT_THAT(refused("kind = 'velocity'\nkv = -1\n"), HasSubstr("kv of [[robot.actuators]] must be between 0 and"));
  EXPECT_THAT(refused("force_range = 3\n"), HasSubstr("force_range is [low, high]"));
  const auto with_offset = [&](const std::string& offset) {
    return refusal_of(pendulum(plain, "action_offset = " + offset + "\n[[robot.actuators]]\njoint = '*'\n"));
  };
  EXPECT_EQ(with_offset("0.5"), "");
  EXPECT_EQ(with_offset("[0.5, -1]"), "");
  EXPECT_THAT(with_offset("[0.5, 1, 2]"), HasSubstr("action_offset has 3 numbers, but the robot has 2 actuators"));
  EXPECT_THAT(with_offset("['a']"), HasSubstr("action_offset is a number, or a list of one for each actuator"));
}

// Whatever the file's default classes say, they have the forces of the formulas.
TEST(TaskFileActuators, HaveTheForcesOfTheirKind) {
  std::string robot = kPendulum;
  robot.insert(robot.find("<worldbody>"),
               "<default><general gear='9' gainprm='8' biastype='affine' biasprm='1 2 3' ctrlrange='-9 -8' "
               "forcerange='7 8' dyntype='integrator' actrange='-1 1'/></default>");
  const auto torque = [&](const std::string& keys) {
    const auto task = task_of_text(
        fmt::format("horizon = 10\nperiod = 0.05\nobservation = 'qpos'\nreward = \"joint('hinge').torque\"\n"
                    "[robot]\nmjcf = '''{}'''\naction_scale = 2\naction_offset = 0.1\n"
                    "[[robot.actuators]]\njoint = 'hinge'\ngear = 3\n{}\n",
                    robot, keys));
    const std::vector<double> state = {0.4, 0.3, 0.7, -0.2};  // angle, place, their rates
    std::vector<double> input = state;
    input.push_back(0.25);
    input.insert(input.end(), state.begin(), state.end());
    return evaluate(task->trace_outcome(), input)[static_cast<std::size_t>(task->layout().reward())];
  };
  const double u = 2 * 0.25 + 0.1;
  const double l = 3 * 0.4;
  const double rate = 3 * 0.7;
  EXPECT_NEAR(torque(""), 3 * u, 1e-12);
  EXPECT_NEAR(torque("range = [-0.5, 0.2]\n"), 3 * 0.2, 1e-12);
  EXPECT_NEAR(torque("kind = 'position'\nkp = 5\nkv = 0.5\n"), 3 * (5 * (u - l) - 0.5 * rate), 1e-12);
  EXPECT_NEAR(torque("kind = 'velocity'\nkv = 4\n"), 3 * 4 * (u - rate), 1e-12);
  EXPECT_NEAR(torque("kind = 'velocity'\nkv = 4\nforce_range = [-1, 2]\n"), 3 * -1, 1e-12);
}

// A servo without a range can be sent where its joint can go.
TEST(TaskFileActuators, ServosHaveTheRangeOfTheirJoint) {
  std::string robot = kPendulum;
  robot.insert(robot.find("name=\"hinge\""), "limited=\"true\" range=\"-40 80\" ");
  const auto task = task_of_text(
      fmt::format("horizon = 10\nperiod = 0.05\nobservation = 'qpos'\nreward = 0\n[robot]\nmjcf = '''{}'''\n"
                  "[[robot.actuators]]\nkind = 'position'\njoint = '*'\nkp = 2\ngear = -1\n",
                  robot));
  const Model& model = *task->find_robot()->model;
  ASSERT_EQ(model.actuators.size(), 2U);
  EXPECT_NEAR(model.actuators[0].control_lower, -80 * std::numbers::pi / 180, 1e-9);
  EXPECT_NEAR(model.actuators[0].control_upper, 40 * std::numbers::pi / 180, 1e-9);
  EXPECT_FALSE(model.actuators[1].control_limited) << "the rail has no limits";
}

TEST(TaskFileReset, DrawsForEveryEntryAndEveryJoint) {
  const std::string motor = "[[robot.actuators]]\njoint = '*'\n";
  const auto task = task_of_text(pendulum("observation = 'qpos'\nreward = 0", motor,
                                          "[reset]\nqpos = 'qpos0 + uniform(2, 3)'\nqvel = 'normal(5, 0.1)'\n"
                                          "[reset.velocity]\nrail = -7\n[states]\ngoal = '[uniform(0, 1), 4]'\n"));
  ASSERT_EQ(task->spec().states, 6);
  std::set<double> seen;
  for (std::uint32_t i = 0; i < 50; ++i) {
    const std::vector<double> state = start_of(*task, i);
    for (const std::size_t k : {0U, 1U}) {
      EXPECT_GE(state[k], 2.0);
      EXPECT_LE(state[k], 3.0);
      EXPECT_TRUE(seen.insert(state[k]).second) << "every entry has its own draw";
    }
    EXPECT_NEAR(state[2], 5.0, 0.6);
    EXPECT_EQ(state[3], -7.0);
    EXPECT_GE(state[4], 0.0);
    EXPECT_EQ(state[5], 4.0);
    EXPECT_EQ(state, start_of(*task, i));  // the seed says it all
  }
  // What a start drew stays.
  Walk walk(task);
  const double goal = walk.state()[4];
  for (int i = 0; i < 3; ++i) walk.step({1.0, 0.0});
  EXPECT_EQ(walk.state()[4], goal);
}

// One file, with all that it includes; only its meshes stay where they are.
// Every use of a name in [draws] is the same number; every start has others.
TEST(TaskFileReset, UsesWhatWasDrawnTwice) {
  const std::string text =
      "horizon = 5\nactions = 1\nobservation = 'x'\nreward = 'REWARD'\n"
      "[draws]\nangle = 'uniform(-pi, pi)'\nfar = 'normal(5, angle^2, 2)'\n"
      "[states]\nx = 'cos(angle)'\ny = 'sin(angle)'\nz = 'far'\ntwice = '2 * far'\n";
  const auto with = [&](const std::string& reward) {
    std::string result = text;
    return result.replace(result.find("REWARD"), 6, reward);
  };
  const auto task = task_of_text(with("x"));
  std::set<double> seen;
  for (std::uint32_t i = 0; i < 20; ++i) {
    const std::vector<double> start = start_of(*task, i);
    EXPECT_NEAR(std::hypot(start[0], start[1]), 1.0, 1e-14);
    EXPECT_EQ(start[4], 2.0 * start[2]);
    EXPECT_EQ(start[5], 2.0 * start[3]);
    EXPECT_NE(start[2], start[3]);
    seen.insert(start[0]);
  }
  EXPECT_EQ(seen.size(), 20U);
  EXPECT_THAT(refusal_of(with("angle")),
              AllOf(StartsWith("t.toml:4:11: "), HasSubstr("angle is drawn for a start"), HasSubstr("after a step")));
  EXPECT_THAT(refusal_of(with("x") + "[define]\nangle = 1\n"), HasSubstr("second time"));
  std::string early = with("x");
  early.replace(early.find("uniform(-pi, pi)"), 16, "2 * far[0]");
  EXPECT_THAT(refusal_of(early), HasSubstr("far is not drawn yet"));
}

TEST(TaskFileCopy, NeedsNoOtherFile) {
  const ScratchFolder folder;
  std::filesystem::create_directories(folder / "robots/parts");
  std::string robot = kPendulum;
  robot.replace(
      robot.find("</mujoco>"), 0,
      "<!-- <include file='no.xml'/> --><include file=\"parts/drive.xml\"/><include file='parts/empty.xml'></include>");
  write_file_atomically(folder / "robots/r.xml", robot);
  write_file_atomically(folder / "robots/parts/drive.xml",
                        "<mujocoinclude><actuator><motor name='it''s' joint='hinge'/></actuator></mujocoinclude>");
  write_file_atomically(folder / "robots/parts/drive.xml",
                        "<mujocoinclude><actuator><motor joint='hinge' gear='4'/></actuator></mujocoinclude>");
  write_file_atomically(folder / "robots/parts/empty.xml", "<mujocoinclude>\n</mujocoinclude>");
  write_file_atomically(folder / "t.toml",
                        "horizon = 5\nperiod = 0.1\nobservation = 'qpos'\nreward = 'qpos[0]'\nrobot = "
                        "{file = 'robots/r.xml'}\n");
  const auto file = TaskFile::read(folder / "t.toml");
  EXPECT_TRUE(file->needed_files().empty());
  std::filesystem::remove_all(folder / "robots");
  const auto copy = TaskFile::parse(file->text(), "elsewhere/definition.toml");
  EXPECT_EQ(copy->text(), file->text());
  EXPECT_EQ(copy->checksum(), file->checksum());
  EXPECT_EQ(copy->entry().name, "t");
  const auto a = file->entry().make(TaskOptions(file->entry().options));
  const auto b = copy->entry().make(TaskOptions(copy->entry().options));
  EXPECT_EQ(a->find_robot()->model->actuators[0].gear[0], 4.0);
  const std::vector<double> input = {0.1, 0.2, 0.3, 0.4, 0.5};
  EXPECT_EQ(evaluate(a->trace_step(), input), evaluate(b->trace_step(), input));
}

TEST(TaskFileCopy, NamesTheMeshesThatItNeeds) {
  const ScratchFolder folder;
  std::filesystem::create_directories(folder / "robots/meshes");
  std::string robot = kPendulum;
  robot.replace(robot.find("<worldbody>"), 0,
                "<compiler meshdir=\"meshes\"/><asset><mesh name=\"m\" file=\"tetra.stl\"/></asset>");
  robot.replace(robot.find("</body>"), 0, "<geom type=\"mesh\" mesh=\"m\" contype=\"0\" conaffinity=\"0\"/>");
  robot.replace(robot.find("</mujoco>"), 0, "<actuator><motor joint=\"hinge\"/></actuator>");
  write_file_atomically(folder / "robots/r.xml", robot);
  std::string stl(80, ' ');
  const float corners[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  const int faces[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
  const std::uint32_t count = 4;
  stl.append(reinterpret_cast<const char*>(&count), 4);
  for (const auto& face : faces) {
    stl.append(12, '\0');
    for (const int corner : face) stl.append(reinterpret_cast<const char*>(corners[corner]), 12);
    stl.append(2, '\0');
  }
  write_file_atomically(folder / "robots/meshes/tetra.stl", stl);
  write_file_atomically(
      folder / "t.toml",
      "horizon = 5\nperiod = 0.1\nobservation = 'qpos'\nreward = 0\nrobot = {file = 'robots/r.xml'}\n");
  const auto file = TaskFile::read(folder / "t.toml");
  const std::string mesh = (folder / "robots/meshes/tetra.stl").string();
  EXPECT_THAT(file->needed_files(), ::testing::ElementsAre(mesh));
  EXPECT_THAT(file->text(), HasSubstr(mesh));
  const auto task = file->entry().make(TaskOptions(file->entry().options));
  EXPECT_THAT(task->spec().warnings, ::testing::Contains(HasSubstr(mesh)));
  const auto copy = TaskFile::parse(file->text(), "elsewhere.toml");  // the mesh is found from anywhere
  std::filesystem::remove(mesh);
  EXPECT_THAT(refusal_of(file->text()), HasSubstr("tetra.stl"));
}

TEST(TaskFile, RefusesWhatItDoesNotUnderstand) {
  const auto refused = [](const std::string& text, const std::string& words) {
    EXPECT_THAT(refusal_of(text), AllOf(StartsWith("t.toml:"), HasSubstr(words))) << text;
  };
  const std::string good = with_reward("x");
  EXPECT_EQ(refusal_of(good), "");
  refused("", "horizon is missing");
  refused(good + "[embedded]\n", "name of [embedded] is missing");
  refused(
      "horizon = 1\nperiod = 1\nobservation = 'qpos'\nreward = 1\n[robot]\nfile = 'r.xml'\n[embedded]\nname = 'a'\n",
      "lacks the robot");
  refused("horizon = ", "not TOML");
  refused(good + "[optoins]\na = 1\n", "9:2: there is no key 'optoins' (did you mean 'options'?)");
  refused("horizn = 1\n" + good, "1:1: there is no key 'horizn' (did you mean 'horizon'?)");
  refused("reward_paper = true\n" + good, "is an expression in quotes, or a number, not true or false");
  refused("end = 'v'\n" + good, "the end is one number, not a vector of 3");
  refused(good + "[options]\nx = 1\n", "'x' in [states] is there a second time");
  refused(good + "[define]\nsin = '1'\n", "'sin' in [define] means something already");
  refused(good + "[define]\n\"a b\" = '1'\n", "cannot stand in an expression");
  refused(good + "[options]\nk = 'text'\n", "k of [options] is a number, true or false");
  refused(good + "[options]\nk = {value = 3, high = 2}\n", "value of [options.k] must be between");
  refused(good + "[step]\ny = 'x'\n", "[step] has no state 'y'");
  refused(good + "[step]\nx = 'v'\n", "the state x takes 1 number, not a vector of 3");
  refused(good + "[step]\nx = 'next(x)'\n", "the next x needs itself");
  refused(good + "[reset]\nqpos = '1'\n", "[reset] is of a robot");
  refused(good + "[[costs]]\nname = 'c'\nexpression = 'x'\n", "limit of [[costs]] is missing");
  refused(good + "[[costs]]\nexpression = 'x'\nlimit = 1\n", "name of [[costs]] is missing");
  refused("name = '../evil'\n" + good, "the task's name is '../evil'");
  refused("horizon = 0\nactions = 1\nobservation = '1'\nreward = 1\n[states]\nx = 1\n",
          "horizon is a whole number from 1");
  refused("horizon = 1\nobservation = '1'\nreward = 1\n[states]\nx = 1\n", "actions is missing");
  refused("horizon = 1\nactions = 1\nobservation = '1'\nreward = 1\n", "states is missing");
  refused("horizon = 1\nobservation = 'qpos'\nreward = 1\n[robot]\nfile = 'none.xml'\n", "period is missing");
  refused("horizon = 1\nperiod = 1\nobservation = 'qpos'\nreward = 1\n[robot]\nfile = 'none.xml'\n",
          "6:8: cannot read 'none.xml'");
  refused("horizon = 1\nperiod = 1\nobservation = 'qpos'\nreward = 1\n[robot]\n", "file of [robot] is missing");
  refused(with_reward("x") + "[defaults]\niterations = 1979-05-27\n", "cannot be a date");
  EXPECT_THAT(refusal_of(pendulum("observation = 'qpos'\nreward = 0", "[[robot.actuators]]\njoint = '*'\n",
                                  "[options]\nengine = 1\n")),
              HasSubstr("the option 'engine' would be task.engine"));
}

}  // namespace
}  // namespace cgpo
