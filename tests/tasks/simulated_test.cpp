// Robots that a simulator outside moves, and their twins. Here it is mj_step behind class Environment, so all that
// comes of it can be compared with the same robot on task.engine = "mujoco".
#include "cgpo/tasks/robots/simulated.hpp"

#include <cmath>
#include <gtest/gtest.h>

#include "episodes.hpp"

namespace cgpo {
namespace {

constexpr int kSimulatedLanes = 3;
constexpr const char* kSwing = R"(<mujoco model="swing"><option timestep="0.01"/><worldbody>
  <body name="cart" pos="0 0 2"><joint name="rail" type="slide" axis="1 0 0" damping="1"/>
    <geom type="sphere" size="0.1" mass="2" contype="0" conaffinity="0"/>
    <body name="load"><joint name="hinge" axis="0 1 0" damping="0.05"/>
      <geom type="capsule" fromto="0 0 0 0 0 -1" size="0.05" mass="1" contype="0" conaffinity="0"/></body></body>
  </worldbody><actuator><motor joint="rail" gear="10" ctrllimited="true" ctrlrange="-0.5 0.75"/></actuator></mujoco>)";

// What a user would write.
class SwingOutside final : public Environment {
 public:
  void reset(std::uint64_t seed, std::span<double> observation) override {
    RandomStream random(seed, Purpose::kTest);
    for (double& x : state_) x = random.uniform(-0.3, 0.3);
    show(observation);
  }
  Step step(std::span<const double> action, std::span<double> observation, std::span<double> /*costs*/) override {
    EXPECT_TRUE(action[0] >= -0.5 && action[0] <= 0.75) << "what the actuator gets";
    engine_.set_state(std::span(state_).first(2), std::span(state_).last(2));
    EXPECT_TRUE(engine_.step(action, 5));
    std::copy(engine_.q().begin(), engine_.q().end(), state_.begin());
    std::copy(engine_.v().begin(), engine_.v().end(), state_.begin() + 2);
    show(observation);
    return {.reward = 17.0, .ended = state_[0] > 0.2};
  }

 private:
  void show(std::span<double> observation) const { std::copy(state_.begin(), state_.end(), observation.begin()); }

  MujocoEngine engine_ = MujocoEngine::from_text(kSwing);
  std::vector<double> state_ = std::vector<double>(4);
};

// With a goal, which the simulator does not know.
struct SwingTask {
  Robot body;

  const Robot& robot() const { return body; }
  TaskSpec spec() const {
    TaskSpec spec = robot_spec(body, /*observations=*/5, /*extra=*/1);
    spec.horizon = 20;
    spec.costs = {{.name = "swing", .limit = 1.0}};
    return spec;
  }
  void reset(RandomStream& random, std::span<double> state) const {
    for (double& x : state) x = random.uniform(-0.3, 0.3);
  }
  template <class S>
  void observe(const RobotState<S>& state, std::span<S> observation) const {
    auto at = std::copy(state.q.begin(), state.q.end(), observation.begin());
    at = std::copy(state.v.begin(), state.v.end(), at);
    *at = state.extra[0];
  }
  template <class S>
  StepResult<S> outcome(const RobotState<S>& /*before*/, std::span<const S> action, const RobotState<S>& after) const {
    const S miss = after.q[0] - sin(after.q[1]) - after.extra[0];
    StepResult<S> result;
    result.reward = result.reward_paper = -miss * miss - 0.1 * action[0] * action[0];
    result.costs = {after.q[1] * after.q[1]};
    result.ended = select(after.q[1] > 1.0, S(1.0), S(0.0));
    return result;
  }
};

std::shared_ptr<const Task> swing_on(const std::string& engine, double twin_substeps = 5.0) {
  RobotDefaults defaults{.name = "swing", .xml = kSwing, .period = 0.05, .own_substeps = 5, .mujoco_substeps = 5};
  defaults.engine = Engine::kSimulator;
  defaults.action_scale = 2.0;
  TaskOptions options(robot_options(defaults, /*collides=*/false));
  options.set("engine", engine);
  options.set("twin.substeps", twin_substeps);
  Robot robot = make_robot(defaults, options);
  if (robot.engine == Engine::kSimulator) move_by([] { return std::make_unique<SwingOutside>(); }, robot);
  return make_robot_task(SwingTask{robot});
}

struct SimulatedStep {
  TaskSpec spec;
  std::vector<double> state, action, next, observation, signals, paper, ended, adjoint, state_adjoint, action_adjoint;

  explicit SimulatedStep(const Task& task) : spec(task.spec()) {
    const auto sized = [](int rows) { return std::vector<double>(static_cast<std::size_t>(rows * kSimulatedLanes)); };
    state = next = sized(spec.states);
    action = sized(spec.actions);
    observation = sized(spec.observations);
    signals = sized(2);
    paper = ended = sized(1);
    adjoint = state_adjoint = sized(2 * spec.states);
    action_adjoint = sized(2 * spec.actions);
    RandomStream random(2, Purpose::kTest);
    for (double& x : action) x = random.uniform(-1.0, 1.0);
    for (double& x : adjoint) x = random.uniform(-1.0, 1.0);
  }
  template <class T>
  static Rows<T> rows(std::vector<double>& values) {
    return Rows<T>(values.data(), kSimulatedLanes);
  }
  void start(const Simulator<double>& simulator) {
    SimulatorScratch<double> scratch;
    simulator.start({.seed = 1, .environments = kSimulatedLanes}, rows<double>(state), kSimulatedLanes, scratch);
  }
  void step(const Simulator<double>& simulator) {
    SimulatorScratch<double> scratch;
    simulator.step({rows<const double>(state), rows<const double>(action), rows<double>(next),
                    rows<double>(observation), rows<double>(signals), paper.data(), ended.data()},
                   kSimulatedLanes, scratch);
  }
  void pull_back(const Simulator<double>& simulator) {
    SimulatorScratch<double> scratch;
    std::vector<double> nothing(static_cast<std::size_t>(2 * spec.observations * kSimulatedLanes));
    std::vector<double> weight(static_cast<std::size_t>(2 * kSimulatedLanes), 1.0);
    simulator.pull_back({.state = rows<const double>(state),
                         .action = rows<const double>(action),
                         .next_state_adjoint = rows<const double>(adjoint),
                         .observation_adjoint = rows<const double>(nothing),
                         .weight = rows<const double>(weight),
                         .state_adjoint = rows<double>(state_adjoint),
                         .action_adjoint = rows<double>(action_adjoint),
                         .next_state = rows<const double>(next)},
                        kSimulatedLanes, scratch);
  }
};

TEST(SimulatedRobot, DoesAndDerivesWhatTheSameEngineWouldInside) {
  const auto outside = swing_on("simulator");
  const auto inside = swing_on("mujoco");
  EXPECT_TRUE(outside->has_environments_outside());
  EXPECT_FALSE(inside->has_environments_outside());
  ASSERT_NE(outside->twin(), nullptr);
  const auto a = make_simulator<double>(outside, {0});
  const auto b = make_simulator<double>(inside, {0});
  SimulatedStep shown(*outside);
  shown.start(*a);
  bool any_ended = false;
  for (int t = 0; t < 20; ++t) {
    SimulatedStep same = shown;
    shown.step(*a);
    same.step(*b);
    EXPECT_EQ(shown.next, same.next) << t;
    EXPECT_EQ(shown.observation, same.observation);
    EXPECT_EQ(shown.signals, same.signals) << "and not the reward of the simulator";
    for (int lane = 0; lane < kSimulatedLanes; ++lane) {
      const auto l = static_cast<std::size_t>(lane);
      EXPECT_EQ(shown.ended[l] != 0.0, same.ended[l] != 0.0 || shown.next[l] > 0.2) << "for either of two reasons";
      any_ended = any_ended || shown.ended[l] != 0.0;
    }
    shown.pull_back(*a);
    same.pull_back(*b);
    EXPECT_EQ(shown.state_adjoint, same.state_adjoint);
    EXPECT_EQ(shown.action_adjoint, same.action_adjoint);
    shown.state = shown.next;
  }
  EXPECT_TRUE(any_ended);
}

// The simulator cannot be set to a state, but its episodes can be repeated: so the slope of their sum by the first
// action, once by differences of whole episodes, once by the twin's adjoints along one.
TEST(SimulatedRobot, TwinGivesTheSlopeOfItsEpisodes) {
  const auto task = swing_on("simulator");
  const auto simulator = make_simulator<double>(task, {0});
  constexpr int kSteps = 12;
  const auto play = [&](double change) {
    std::vector<SimulatedStep> steps;
    SimulatedStep step(*task);
    step.start(*simulator);
    for (int t = 0; t < kSteps; ++t) {
      for (std::size_t lane = 0; lane < kSimulatedLanes; ++lane)
        step.action[lane] = 0.2 * std::sin(t + static_cast<double>(lane)) + (t == 0 ? change : 0.0);
      step.step(*simulator);
      steps.push_back(step);
      step.state = step.next;
    }
    return steps;
  };
  const auto sum = [](const std::vector<SimulatedStep>& steps, std::size_t index) {
    double total = 0.0;
    for (const SimulatedStep& step : steps) total += step.signals[index];
    return total;
  };
  std::vector<SimulatedStep> along = play(0.0);
  const auto up = play(1e-4), down = play(-1e-4);
  std::vector<double> adjoint(along.front().adjoint.size(), 0.0);
  for (std::size_t t = along.size(); t-- > 0;) {
    along[t].adjoint = adjoint;
    along[t].pull_back(*simulator);
    adjoint = along[t].state_adjoint;
  }
  for (std::size_t index = 0; index < 2 * kSimulatedLanes; ++index) {
    const double slope = (sum(up, index) - sum(down, index)) / 2e-4;
    EXPECT_GT(std::abs(slope), 1e-3);
    EXPECT_NEAR(along.front().action_adjoint[index], slope, 1e-5 * std::max(1.0, std::abs(slope)));
  }
}

// What does not count any more stays; environments are those of the batch, whatever episodes they play.
TEST(SimulatedRobot, EpisodesAndEnvironmentsAreCountedApart) {
  const auto task = swing_on("simulator");
  const auto simulator = make_simulator<double>(task, {0});
  SimulatedStep whole(*task), part(*task);
  whole.start(*simulator);
  SimulatorScratch<double> scratch;
  simulator->start({.seed = 1, .every = 2, .environments = kSimulatedLanes}, SimulatedStep::rows<double>(part.state), 2,
                   scratch);
  for (int i = 0; i < task->spec().states; ++i) {
    const auto row = static_cast<std::size_t>(i * kSimulatedLanes);
    EXPECT_EQ(part.state[row], whole.state[row]);
    EXPECT_EQ(part.state[row + 1], whole.state[row + 2]);
  }
}

TEST(SimulatedRobot, ItsSizesAreTheRobots) {
  RobotDefaults defaults{.name = "swing", .xml = kSwing, .period = 0.05};
  defaults.engine = Engine::kSimulator;
  const TaskOptions options(robot_options(defaults, /*collides=*/false));
  Robot robot = make_robot(defaults, options);
  const auto refusal = [&](int observations, int actions, double dt) {
    TaskSpec said;
    said.observations = observations;
    said.actions = actions;
    said.dt = dt;
    try {
      move_by(nullptr, said, "the simulator", /*extra=*/1, robot);
    } catch (const UserError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(refusal(4, 1, 0.0), "");
  EXPECT_EQ(refusal(5, 1, 0.05), "");
  EXPECT_NE(refusal(3, 1, 0.0).find("shows 3 numbers, but the state of robot swing has 4"), std::string::npos);
  EXPECT_NE(refusal(4, 2, 0.0).find("takes 2 actions, but robot swing has 1"), std::string::npos);
  EXPECT_NE(refusal(4, 1, 0.02).find("steps of 0.02 s"), std::string::npos);
  TaskOptions changed = options;
  changed.set("substeps", 3.0);
  EXPECT_THROW(make_robot(defaults, changed), UserError);
}

}  // namespace
}  // namespace cgpo
