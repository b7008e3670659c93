// Actuators with a state of their own: where it stands in a task's state, how it moves on both engines, what names it.
#include <cmath>
#include <fmt/format.h>

#include "cgpo/graph/differentiate.hpp"
#include "cgpo/tasks/robots/robot.hpp"

#include "files.hpp"

namespace cgpo {
namespace {

using ::testing::HasSubstr;
using testing::refusal_of;
using testing::task_of_text;

constexpr const char* kTwoJoints = R"XML(<mujoco><compiler angle="radian"/><option timestep="0.01"/><worldbody>
<body name="cart"><joint name="rail" type="slide" axis="1 0 0" damping="0.5"/><geom type="sphere" size="0.1" mass="1" contype="0" conaffinity="0"/>
<body name="pole"><joint name="hinge" type="hinge" axis="0 1 0" damping="0.1" range="-2 1.5"/>
<geom type="capsule" size="0.04" fromto="0 0 0 0 0 0.5" mass="0.3" contype="0" conaffinity="0"/></body></body>
</worldbody></mujoco>)XML";

// q, v, two activations, a goal, the last action.
std::string lagging_file(const std::string& reward, const std::string& observation = "'qpos'") {
  return fmt::format(
      "horizon = 10\nperiod = 0.05\nobservation = [{}, 'previous_action']\nreward = \"{}\"\n[states]\ngoal = "
      "'uniform(1, 2)'\n[robot]\nmjcf = '''{}'''\n[[robot.actuators]]\njoint = 'rail'\ngear = 4\ntimeconst = 0.1\n"
      "[[robot.actuators]]\nkind = 'intvelocity'\njoint = 'hinge'\ngear = -2\nkp = 20\nkv = 1\n",
      observation, reward, kTwoJoints);
}
constexpr std::size_t kActivation = 4;  // first of the two, behind two positions and two velocities
constexpr std::size_t kGoal = 6;
constexpr std::size_t kStates = 9;

std::vector<double> state_after_reset(const Task& task) {
  std::vector<double> state(static_cast<std::size_t>(task.spec().states), 7.0);
  RandomStream random(1, Purpose::kTest);
  task.reset(random, state);
  return state;
}

std::vector<double> step_on(const Task& task, std::vector<double> state, const std::vector<double>& action) {
  state.insert(state.end(), action.begin(), action.end());
  std::vector<double> all = evaluate(task.trace_step(), state);
  all.resize(kStates);
  return all;
}

TEST(Activations, StandBehindTheVelocitiesAndBeginAtZero) {
  const auto task = task_of_text(lagging_file("0", "\"actuator('*').activation\", 'goal'"));
  ASSERT_EQ(task->spec().states, static_cast<int>(kStates));
  const std::vector<double> start = state_after_reset(*task);
  EXPECT_EQ(start[kActivation], 0.0);
  EXPECT_EQ(start[kActivation + 1], 0.0);
  EXPECT_GT(start[kGoal], 1.0);
  const std::vector<double> seen =
      evaluate(task->trace_observation(), std::vector<double>{0.0, 0.0, 0.0, 0.0, 0.3, -0.4, 1.5, 0.1, 0.2});
  EXPECT_THAT(seen, ::testing::ElementsAre(0.3, -0.4, 1.5, 0.1, 0.2));
}

TEST(Activations, MoveAsTheirLawSays) {
  const auto task = task_of_text(lagging_file("0"));
  std::vector<double> state = state_after_reset(*task);
  const double goal = state[kGoal];
  for (int t = 1; t <= 4; ++t) {
    state = step_on(*task, state, {0.5, 0.8});
    EXPECT_NEAR(state[kActivation], 0.5 * (1.0 - std::exp(-0.05 * t / 0.1)), 1e-12);
    EXPECT_NEAR(state[kActivation + 1], 0.8 * 0.05 * t, 1e-12);
    EXPECT_EQ(state[kGoal], goal);
    EXPECT_EQ(state[kGoal + 1], 0.5);  // the last action
  }
  state[kActivation + 1] = 3.99;  // gear −2: from −3 to 4
  EXPECT_NEAR(step_on(*task, state, {0.0, 0.9})[kActivation + 1], 4.0, 1e-12);
}

// One after the other, both engines move activations alike.
TEST(Activations, AreCarriedThroughMujocosSteps) {
  const TaskEntry entry = TaskFile::parse(lagging_file("0"), "t.toml")->entry();
  TaskOptions options(entry.options);
  const auto own = entry.make(options);
  options.set("engine", std::string("mujoco"));
  const auto mujoco = entry.make(options);
  const auto engine = std::get<OutsideStep>(mujoco->dynamics()).make();
  std::vector<double> ours = state_after_reset(*own);
  std::vector<double> theirs = ours;
  for (int t = 0; t < 10; ++t) {
    const std::vector<double> action = {std::sin(0.7 * t), std::cos(0.4 * t)};
    ours = step_on(*own, ours, action);
    std::vector<double> after(kStates);
    ASSERT_TRUE(engine->step(theirs, action, after));
    theirs = after;
  }
  EXPECT_GT(std::abs(theirs[kActivation]), 0.1);
  for (std::size_t i = kActivation; i < kStates; ++i) EXPECT_NEAR(theirs[i], ours[i], 1e-9) << i;
  for (std::size_t i = 0; i < kActivation; ++i) EXPECT_NEAR(theirs[i], ours[i], 0.05) << i;
}

TEST(Activations, HaveNamesAsForcesAndLengthsHave) {
  const std::vector<double> state = {0.3, 0.4, 0.5, -0.6, 0.7, 0.2, 1.5, 0.0, 0.0};
  const auto reward = [&](const std::string& expression) {
    const auto task = task_of_text(lagging_file(expression));
    std::vector<double> input = state;
    input.insert(input.end(), {0.1, 0.2});
    input.insert(input.end(), state.begin(), state.end());
    return evaluate(task->trace_outcome(), input)[static_cast<std::size_t>(task->layout().reward())];
  };
  EXPECT_NEAR(reward("actuator('rail').activation"), 0.7, 1e-14);
  EXPECT_NEAR(reward("actuator('rail').force"), 0.7, 1e-14);
  EXPECT_NEAR(reward("joint('rail').torque"), 4 * 0.7, 1e-14);
  EXPECT_NEAR(reward("actuator('rail').length"), 4 * 0.3, 1e-14);
  EXPECT_NEAR(reward("actuator('hinge').velocity"), -2 * -0.6, 1e-14);
  EXPECT_NEAR(reward("actuator('hinge').force"), 20 * (0.2 + 2 * 0.4) - 1.2, 1e-13);
  EXPECT_NEAR(reward("length(actuator('*').activation)"), 2.0, 0.0);
}

TEST(Activations, DerivativesAgreeWithDifferences) {
  const auto task = task_of_text(lagging_file("actuator('rail').force * actuator('hinge').force + qpos[0] * qvel[1]"));
  const Graph graph = task->trace_step();
  const int reward = task->layout().reward();
  ReverseRequest request;
  request.seeds = {{reward}};
  const int inputs = task->spec().states + task->spec().actions;
  for (int i = 0; i < inputs; ++i) request.wrt.push_back(i);
  const std::vector<double> input = {0.3, 0.4, 0.5, -0.6, 0.7, 0.2, 1.5, 0.1, 0.2, 0.3, -0.5};
  std::vector<double> seeded = input;
  seeded.push_back(1.0);
  const std::vector<double> slope = evaluate(differentiate(graph, request), seeded);
  EXPECT_NE(slope[kActivation], 0.0);
  EXPECT_NE(slope[kActivation + 1], 0.0);
  for (std::size_t i = 0; i < input.size(); ++i) {
    const auto moved = [&](double by) {
      std::vector<double> there = input;
      there[i] += by;
      return evaluate(graph, there)[static_cast<std::size_t>(reward)];
    };
    EXPECT_NEAR(slope[i], (moved(1e-5) - moved(-1e-5)) / 2e-5, 1e-7) << i;
  }
}

TEST(Activations, KindsAreRefusedWhatTheyHaveNot) {
  const auto with = [](const std::string& keys) {
    return fmt::format(
        "horizon = 10\nperiod = 0.05\nobservation = 'qpos'\nreward = 0\n[robot]\nmjcf = '''{}'''\n"
        "[[robot.actuators]]\njoint = 'hinge'\n{}\n",
        kTwoJoints, keys);
  };
  EXPECT_THAT(refusal_of(with("kind = 'intvelocity'\nkp = 1\ntimeconst = 0.1")),
              HasSubstr("timeconst is not of kind 'intvelocity'"));
  EXPECT_THAT(refusal_of(with("kind = 'damper'\nkv = 1\nrange = [-1, 1]")),
              HasSubstr("the control of kind 'damper' must not be negative"));
  EXPECT_THAT(refusal_of(with("timeconst = -1")), HasSubstr("timeconst of [[robot.actuators]] must be between 0 and"));
  const auto brake = task_of_text(with("kind = 'damper'\nkv = 3\ngear = 2"));
  const Actuator& actuator = brake->find_robot()->model->actuators.at(0);
  EXPECT_EQ(actuator.gain[2], -3.0);
  EXPECT_EQ(actuator.control_lower, 0.0);
  EXPECT_EQ(actuator.control_upper, 1.0);
}

}  // namespace
}  // namespace cgpo
