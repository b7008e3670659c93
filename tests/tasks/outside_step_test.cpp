// MuJoCo's engine behind the simulator's interface.
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <thread>

#include "cgpo/physics/mujoco/engine.hpp"
#include "cgpo/tasks/robots/leftovers.hpp"
#include "cgpo/tasks/robots/models.hpp"
#include "cgpo/tasks/robots/robot.hpp"

#include "episodes.hpp"

namespace cgpo {
namespace {

struct Arrays {
  int lanes;
  std::vector<double> state, action, next, observation, signals, paper, ended;

  Arrays(const Task& task, int lanes_in) : lanes(lanes_in) {
    const TaskSpec& spec = task.spec();
    const auto size = [this](int rows) { return static_cast<std::size_t>(rows * lanes); };
    state.resize(size(spec.states));
    next.resize(size(spec.states));
    action.resize(size(spec.actions));
    observation.resize(size(spec.observations));
    signals.resize(size(2));
    paper.resize(size(1));
    ended.resize(size(1));
    RandomStream random(5, Purpose::kTest);
    for (double& a : action) a = random.uniform(-1.0, 1.0);
    for (int lane = 0; lane < lanes; ++lane) {
      const std::vector<double> start = reset_state(task, static_cast<std::uint32_t>(lane));
      for (int i = 0; i < spec.states; ++i)
        state[static_cast<std::size_t>(i * lanes + lane)] = start[static_cast<std::size_t>(i)];
    }
  }
  StepBatch<double> from(int column) {
    const auto rows = [&](std::vector<double>& values) { return Rows<double>(values.data() + column, lanes); };
    return {rows(state),   rows(action),          rows(next),           rows(observation),
            rows(signals), paper.data() + column, ended.data() + column};
  }
};

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); });
}

TEST(OutsideStep, TakesMujocosStep) {
  const auto task = task_with("ant", {{"engine", std::string("mujoco")}});
  const auto simulator = make_simulator<double>(task, {0});
  Arrays arrays(*task, 3);
  SimulatorScratch<double> scratch;
  simulator->step(arrays.from(0), 3, scratch);
  MujocoEngine engine = MujocoEngine::from_text(std::string(model_text("ant")));
  for (std::size_t lane = 0; lane < 3; ++lane) {
    std::vector<double> q, v, u;
    for (std::size_t i = 0; i < 15; ++i) q.push_back(arrays.state[3 * i + lane]);
    for (std::size_t i = 15; i < 29; ++i) v.push_back(arrays.state[3 * i + lane]);
    for (std::size_t i = 0; i < 8; ++i) u.push_back(arrays.action[3 * i + lane]);
    engine.set_state(q, v);
    ASSERT_TRUE(engine.step(u, 5));
    for (std::size_t i = 0; i < 15; ++i) EXPECT_EQ(arrays.next[3 * i + lane], engine.q()[i]);
    for (std::size_t i = 0; i < 14; ++i) EXPECT_EQ(arrays.next[3 * (15 + i) + lane], engine.v()[i]);
    for (std::size_t i = 0; i < 13; ++i) EXPECT_EQ(arrays.observation[3 * i + lane], engine.q()[2 + i]);
    double energy = 0.0;
    for (const double a : u) energy += a * a;
    EXPECT_NEAR(arrays.signals[lane], (engine.q()[0] - q[0]) / 0.05 + 1.0 - 0.5 * energy, 1e-12);
  }
}

TEST(OutsideStep, ThreadsDoNotChangeBits) {
  const auto task = task_with("halfcheetah", {{"engine", std::string("mujoco")}});
  const auto simulator = make_simulator<double>(task, {0});
  Arrays whole(*task, 32);
  Arrays parts(*task, 32);
  for (int t = 0; t < 10; ++t) {
    SimulatorScratch<double> scratch;
    simulator->step(whole.from(0), 32, scratch);
    std::vector<std::thread> threads;
    for (int begin = 0; begin < 32; begin += 8) {
      threads.emplace_back([&, begin] {
        SimulatorScratch<double> own;
        simulator->step(parts.from(begin), 8, own);
      });
    }
    for (std::thread& thread : threads) thread.join();
    ASSERT_TRUE(same_bits(whole.next, parts.next));
    ASSERT_TRUE(same_bits(whole.observation, parts.observation));
    ASSERT_TRUE(same_bits(whole.signals, parts.signals));
    std::swap(whole.state, whole.next);
    std::swap(parts.state, parts.next);
  }
}

TEST(OutsideStep, ABadLaneIsNotANumberAndAlone) {
  const auto task = standard_task("swimmer");
  const auto simulator = make_simulator<double>(task, {0});
  Arrays good(*task, 4);
  Arrays bad(*task, 4);
  bad.state[1] = std::numeric_limits<double>::quiet_NaN();
  bad.state[4 * 7 + 2] = 1e30;
  SimulatorScratch<double> scratch;
  simulator->step(good.from(0), 4, scratch);
  simulator->step(bad.from(0), 4, scratch);
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_TRUE(std::isnan(bad.next[4 * i + 1]));
    EXPECT_TRUE(std::isnan(bad.next[4 * i + 2]));
    EXPECT_EQ(bad.next[4 * i + 0], good.next[4 * i + 0]);
    EXPECT_EQ(bad.next[4 * i + 3], good.next[4 * i + 3]);
  }
}

// Whatever an engine has done before, a step is that of an engine that has done nothing: every robot, states in any
// order, bad ones and long contacts among them. The fresh engines have all of their sensors, too.
TEST(OutsideStep, DependsOnNothingButStateAndAction) {
  for (const char* const name :
       {"cartpole", "reacher", "halfcheetah", "ant", "swimmer", "hopper", "walker2d", "humanoid", "quadruped",
        "SafetyAntVelocity-v1", "SafetyHopperVelocity-v1", "SafetyHumanoidVelocity-v1"}) {
    const auto task = task_with(name, {{"engine", std::string("mujoco")}});
    const Robot& robot = *task->find_robot();
    const TaskSpec& spec = task->spec();
    const auto& make = std::get<OutsideStep>(task->dynamics()).make;
    const auto used = make();
    const auto other = make();  // on the same model, in between
    const auto size = [](int count) { return static_cast<std::size_t>(count); };
    std::vector<double> next(size(spec.states)), scratch(next), action(size(spec.actions));
    RandomStream random(11, Purpose::kTest);
    for (std::uint32_t i = 0; i < 24; ++i) {
      // Some go on from where the last one ended, others begin anew, deep in the floor or with a number that is none.
      std::vector<double> state = i % 4 == 3 ? next : reset_state(*task, i);
      if (i % 4 == 1) {
        const RandomState drawn = random_state(*robot.model, 7, i);
        std::copy(drawn.q.begin(), drawn.q.end(), state.begin());
        std::copy(drawn.v.begin(), drawn.v.end(), state.begin() + robot.model->nq);
      }
      for (double& a : action) a = random.uniform(-1.0, 1.0);
      if (i == 9) {
        std::vector<double> bad = state;
        bad[size(robot.model->nq)] = std::numeric_limits<double>::quiet_NaN();
        EXPECT_FALSE(used->step(bad, action, scratch)) << name;
      }
      other->step(reset_state(*task, 100 + i), action, scratch);
      ASSERT_TRUE(used->step(state, action, next)) << name << " " << i;

      MujocoEngine fresh = make_mujoco_engine(robot);
      const RobotState<double> before(*robot.model, std::span<const double>(state));
      std::vector<double> control;
      for (std::size_t k = 0; k < action.size(); ++k) control.push_back(robot.control(k, action[k]));
      fresh.set_state(before.q, before.v, before.activation);
      begin_with_leftovers(robot, before.extra, fresh);
      ASSERT_TRUE(fresh.step(control, robot.substeps)) << name;
      for (std::size_t k = 0; k < fresh.q().size(); ++k) ASSERT_EQ(next[k], fresh.q()[k]) << name << " " << i;
      for (std::size_t k = 0; k < fresh.v().size(); ++k)
        ASSERT_EQ(next[fresh.q().size() + k], fresh.v()[k]) << name << " " << i;
      std::vector<double> left = next;
      copy_leftovers(robot, fresh, left);
      ASSERT_EQ(next, left) << name << " " << i;
    }
  }
}

// Elements whose memory is not only in q, v and activations: what one step leaves must not reach the next.
TEST(OutsideStep, NothingOfAStepIsLeftForTheNext) {
  const std::string text =
      R"(<mujoco><option timestep="0.01"><flag energy="enable" fwdinv="enable"/></option><worldbody>
    <body name="tray" mocap="true" pos="0 0 0.1"><geom type="box" size="0.3 0.3 0.02"/></body>
    <body pos="0 0 0.3"><freejoint/><geom type="sphere" size="0.1" mass="1"/><site name="s" size="0.2"/></body>
    <body pos="1 0 0.3"><joint name="h" axis="0 1 0" frictionloss="0.1" limited="true" range="-30 30"/>
      <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.02"/></body></worldbody>
    <equality><joint joint1="h" active="false"/></equality>
    <actuator><general name="a" joint="h" dyntype="filter" dynprm="0.1" gainprm="5"/></actuator>
    <sensor><touch site="s"/><accelerometer site="s"/><actuatorfrc actuator="a"/></sensor></mujoco>)";
  MujocoEngine used = MujocoEngine::from_text(text);
  used.leave_out_measurements();
  const std::vector<double> q = {0.05, 0, 0.21, 1, 0, 0, 0, 0.6};
  for (int i = 0; i < 6; ++i) {
    const std::vector<double> v = {0.1 * i, 0, -0.5, 0, 0.2 * i, 0, 1.0};
    const std::vector<double> activation = {0.3 * i};
    const std::vector<double> control = {i % 2 == 0 ? 1.0 : -1.0};
    MujocoEngine fresh = MujocoEngine::from_text(text);
    for (MujocoEngine* const engine : {&used, &fresh}) {
      engine->set_state(q, v, activation);
      ASSERT_TRUE(engine->step(control, 3));
    }
    EXPECT_TRUE(std::equal(used.q().begin(), used.q().end(), fresh.q().begin()));
    EXPECT_TRUE(std::equal(used.v().begin(), used.v().end(), fresh.v().begin()));
    EXPECT_EQ(used.activation()[0], fresh.activation()[0]);
  }
}

// Those that do not count any more are left where they are, and cost nothing.
TEST(OutsideStep, LeavesAloneWhatNobodyLooksAt) {
  const auto task = task_with("halfcheetah", {{"engine", std::string("mujoco")}});
  const auto simulator = make_simulator<double>(task, {0});
  Arrays all(*task, 4);
  Arrays some(*task, 4);
  const std::uint8_t keep[] = {1, 0, 1, 0};
  SimulatorScratch<double> scratch;
  simulator->step(all.from(0), 4, scratch);
  StepBatch<double> batch = some.from(0);
  batch.keep = keep;
  simulator->step(batch, 4, scratch);
  for (std::size_t i = 0; i < all.next.size(); ++i) {
    EXPECT_EQ(some.next[i], keep[i % 4] != 0 ? all.next[i] : some.state[i]);
  }
  EXPECT_GT(simulator->take_seconds_outside().value_or(0.0), 0.0);
  EXPECT_EQ(simulator->take_seconds_outside(), 0.0) << "it has been asked before";
}

TEST(OutsideStep, EnginesAgreeInFlight) {
  const auto mujoco = task_with("halfcheetah", {{"engine", std::string("mujoco")}, {"substeps", 1.0}, {"dt", 0.01}});
  const auto own = task_with("halfcheetah", {{"substeps", 1.0}, {"dt", 0.01}});
  Arrays a(*mujoco, 4);
  for (std::size_t lane = 0; lane < 4; ++lane) a.state[4 + lane] += 1.0;  // a metre up
  Arrays b = a;
  SimulatorScratch<double> scratch;
  make_simulator<double>(mujoco, {0})->step(a.from(0), 4, scratch);
  make_simulator<double>(own, {0})->step(b.from(0), 4, scratch);
  for (std::size_t i = 0; i < a.next.size(); ++i) EXPECT_NEAR(a.next[i], b.next[i], 1e-10);
}

}  // namespace
}  // namespace cgpo
