// Derivatives that our engine lends to MuJoCo's.
#include <array>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>

#include "cgpo/tasks/robots/robot.hpp"

#include "episodes.hpp"

namespace cgpo {
namespace {

constexpr int kTwinLanes = 3;

// One step of a batch and its adjoints, row by row.
struct TwinSweep {
  const TaskSpec spec;
  std::vector<double> state, action, next, observation, signals, paper, ended;
  std::vector<double> next_adjoint, observation_adjoint, weight, state_adjoint, action_adjoint;

  explicit TwinSweep(const Task& task) : spec(task.spec()) {
    RandomStream random(3, Purpose::kTest);
    const auto drawn = [&](int rows) {
      std::vector<double> values(static_cast<std::size_t>(rows * kTwinLanes));
      for (double& x : values) x = random.uniform(-0.5, 0.5);
      return values;
    };
    state.resize(size(spec.states));
    for (int lane = 0; lane < kTwinLanes; ++lane) {
      const std::vector<double> start = reset_state(task, static_cast<std::uint32_t>(lane));
      for (int i = 0; i < spec.states; ++i) state[index(i, lane)] = start[static_cast<std::size_t>(i)];
    }
    action = drawn(spec.actions);
    next_adjoint = drawn(2 * spec.states);
    observation_adjoint = drawn(2 * spec.observations);
    weight = drawn(2);
    next.resize(size(spec.states));
    observation.resize(size(spec.observations));
    signals.resize(size(2));
    paper.resize(size(1));
    ended.resize(size(1));
    state_adjoint.resize(size(2 * spec.states));
    action_adjoint.resize(size(2 * spec.actions));
  }
  static std::size_t size(int rows) { return static_cast<std::size_t>(rows * kTwinLanes); }
  static std::size_t index(int row, int lane) { return static_cast<std::size_t>(row * kTwinLanes + lane); }
  template <class T>
  static Rows<T> rows(std::vector<double>& values) {
    return Rows<T>(values.data(), kTwinLanes);
  }

  void step(const Simulator<double>& simulator) {
    SimulatorScratch<double> scratch;
    simulator.step({rows<const double>(state), rows<const double>(action), rows<double>(next),
                    rows<double>(observation), rows<double>(signals), paper.data(), ended.data()},
                   kTwinLanes, scratch);
  }
  void pull_back(const Simulator<double>& simulator) {
    SimulatorScratch<double> scratch;
    simulator.pull_back({.state = rows<const double>(state),
                         .action = rows<const double>(action),
                         .next_state_adjoint = rows<const double>(next_adjoint),
                         .observation_adjoint = rows<const double>(observation_adjoint),
                         .weight = rows<const double>(weight),
                         .state_adjoint = rows<double>(state_adjoint),
                         .action_adjoint = rows<double>(action_adjoint),
                         .next_state = rows<const double>(next)},
                        kTwinLanes, scratch);
  }
  // What the adjoints are those of, of signal k in a lane.
  double loss(int k, int lane) const {
    double sum = weight[index(k, lane)] * signals[index(k, lane)];
    for (int i = 0; i < spec.states; ++i) sum += next_adjoint[index(k * spec.states + i, lane)] * next[index(i, lane)];
    for (int i = 0; i < spec.observations; ++i)
      sum += observation_adjoint[index(k * spec.observations + i, lane)] * observation[index(i, lane)];
    return sum;
  }
};

// Away from contact and limits both engines do the same, so the twin's derivative is that of mj_step.
TEST(Twin, DerivativeIsThatOfMujocosStepWhereBothEnginesAgree) {
  for (const char* const name : {"cartpole", "reacher", "swimmer"}) {
    const auto task =
        task_with(name, {{"engine", std::string("mujoco")},
                         {"twin.substeps",
                          static_cast<double>(task_with(name, {{"engine", std::string("mujoco")}})->spec().substeps)}});
    const auto simulator = make_simulator<double>(task, {0});
    ASSERT_TRUE(simulator->differentiable());
    EXPECT_FALSE(task->spec().differentiable) << "the step itself has no derivative";
    TwinSweep sweep(*task);
    sweep.step(*simulator);
    sweep.pull_back(*simulator);
    TwinSweep other = sweep;
    for (std::vector<double> TwinSweep::*const part : {&TwinSweep::state, &TwinSweep::action}) {
      const bool of_state = part == &TwinSweep::state;
      const int rows = of_state ? sweep.spec.states : sweep.spec.actions;
      for (int i = 0; i < rows; ++i) {
        for (int lane = 0; lane < kTwinLanes; ++lane) {
          double& x = (other.*part)[TwinSweep::index(i, lane)];
          const double kept = x;
          std::array<double, 2> ends[2];
          for (const int side : {0, 1}) {
            x = kept + (side == 0 ? 1e-5 : -1e-5);
            other.step(*simulator);
            ends[side] = {other.loss(0, lane), other.loss(1, lane)};
          }
          x = kept;
          for (const int k : {0, 1}) {
            const double slope = (ends[0][static_cast<std::size_t>(k)] - ends[1][static_cast<std::size_t>(k)]) / 2e-5;
            const auto& adjoint = of_state ? sweep.state_adjoint : sweep.action_adjoint;
            EXPECT_NEAR(adjoint[TwinSweep::index(k * rows + i, lane)], slope, 1e-5 * std::max(1.0, std::abs(slope)))
                << name << (of_state ? ": state " : ": action ") << i << ", lane " << lane << ", signal " << k;
          }
        }
      }
    }
  }
}

// What follows from a step is taken where MuJoCo's led, not where the twin's would have.
TEST(Twin, OutcomeIsTakenAtTheEnginesOwnNextState) {
  const auto task = task_with("swimmer", {{"engine", std::string("mujoco")}});
  const auto simulator = make_simulator<double>(task, {0});
  TwinSweep here(*task);
  here.step(*simulator);
  std::fill(here.next_adjoint.begin(), here.next_adjoint.end(), 0.0);
  std::fill(here.observation_adjoint.begin(), here.observation_adjoint.end(), 0.0);
  TwinSweep there = here;
  for (int lane = 0; lane < kTwinLanes; ++lane) there.next[TwinSweep::index(0, lane)] += 0.01;  // x
  here.pull_back(*simulator);
  there.pull_back(*simulator);
  // The speed cost's slope is the direction of the way that was made, which is another one now; the reward's is
  // constant.
  const std::size_t of_reward = TwinSweep::index(0, 0);
  const std::size_t of_cost = TwinSweep::index(here.spec.actions, 0);
  EXPECT_NEAR(here.action_adjoint[of_reward], there.action_adjoint[of_reward], 1e-9);
  EXPECT_GT(std::abs(here.action_adjoint[of_cost] - there.action_adjoint[of_cost]), 1e-5);
}

TEST(Twin, AStepWithoutAFiniteDerivativeTellsNothing) {
  const auto task = task_with("halfcheetah", {{"engine", std::string("mujoco")}});
  const auto simulator = make_simulator<double>(task, {0});
  TwinSweep whole(*task);
  whole.step(*simulator);
  TwinSweep broken = whole;
  broken.state[TwinSweep::index(12, 1)] = std::numeric_limits<double>::quiet_NaN();
  whole.pull_back(*simulator);
  broken.pull_back(*simulator);
  for (std::size_t i = 0; i < whole.state_adjoint.size(); ++i) {
    EXPECT_EQ(broken.state_adjoint[i], i % kTwinLanes == 1 ? 0.0 : whole.state_adjoint[i]);
  }
  for (std::size_t i = 0; i < whole.action_adjoint.size(); ++i) {
    EXPECT_EQ(broken.action_adjoint[i], i % kTwinLanes == 1 ? 0.0 : whole.action_adjoint[i]);
  }
}

TEST(Twin, ThereIsNoneUnlessItIsWanted) {
  const auto task = task_with("halfcheetah", {{"engine", std::string("mujoco")}, {"gradient.twin", false}});
  EXPECT_EQ(task->twin(), nullptr);
  EXPECT_FALSE(make_simulator<double>(task, {0})->differentiable());
  EXPECT_EQ(task_with("halfcheetah", {})->twin(), nullptr);
}

TEST(Twin, HasSettingsOfItsOwn) {
  const auto soft = task_with("ant", {{"engine", std::string("mujoco")}});
  const auto stiff = task_with("ant", {{"engine", std::string("mujoco")}, {"twin.contact_stiffness", 5000.0}});
  const auto other = task_with("ant", {{"engine", std::string("mujoco")}, {"contact_stiffness", 5000.0}});
  EXPECT_NE(soft->twin()->find_robot()->twin.physics.contact.stiffness,
            stiff->twin()->find_robot()->twin.physics.contact.stiffness);
  EXPECT_EQ(soft->find_robot()->twin.physics.contact.stiffness, other->find_robot()->twin.physics.contact.stiffness);
  EXPECT_EQ(other->find_robot()->prelude.physics.contact.stiffness, 5000.0);
  EXPECT_EQ(soft->twin()->spec().substeps, soft->prelude()->spec().substeps);
}

// Numbers that are inputs do what the same numbers do as settings.
TEST(Twin, TakesFittedNumbersAsItTakesSettings) {
  for (const char* const name : {"halfcheetah", "ant"}) {
    const std::pair<std::string, OptionValue> engine{"engine", std::string("mujoco")};
    const auto fitted = task_with(name, {engine, {"twin.fit", true}});
    const auto fixed = task_with(name, {engine,
                                        {"twin.fit", false},
                                        {"twin.limit_stiffness", 3100.0},
                                        {"twin.contact_damping", 120.0},
                                        {"twin.slip_speed", 0.3}});
    ASSERT_TRUE(fixed->twin()->parameters().empty());
    std::vector<double> numbers;
    for (const StepParameter& parameter : fitted->twin()->parameters()) {
      numbers.push_back(parameter.name == "limit_stiffness"   ? 3100.0
                        : parameter.name == "contact_damping" ? 120.0
                        : parameter.name == "slip_speed"      ? 0.3
                                                              : parameter.standard);
    }
    const auto with_inputs = make_simulator<double>(fitted, {0});
    const auto with_settings = make_simulator<double>(fixed, {0});
    TwinSweep here(*fitted), there(*fixed), before(*fitted);
    here.step(*with_inputs);
    there.step(*with_settings);
    before.step(*with_inputs);
    before.pull_back(*with_inputs);
    with_inputs->set_parameters(numbers);
    here.pull_back(*with_inputs);
    there.pull_back(*with_settings);
    EXPECT_NE(here.state_adjoint, before.state_adjoint) << name;
    for (std::size_t i = 0; i < here.state_adjoint.size(); ++i)
      EXPECT_NEAR(here.state_adjoint[i], there.state_adjoint[i], 1e-9 * (1.0 + std::abs(there.state_adjoint[i])));
    for (std::size_t i = 0; i < here.action_adjoint.size(); ++i)
      EXPECT_NEAR(here.action_adjoint[i], there.action_adjoint[i], 1e-9 * (1.0 + std::abs(there.action_adjoint[i])));
  }
}

}  // namespace
}  // namespace cgpo
