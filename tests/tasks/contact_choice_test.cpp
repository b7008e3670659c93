// The contact parameters that robots choose (docs/physics/contact.md), beside MuJoCo's.
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

#include "cgpo/tasks/robots/models.hpp"
#include "cgpo/tasks/robots/robot.hpp"

#include "episodes.hpp"

namespace cgpo {
namespace {

struct Mover {
  std::shared_ptr<const Task> task;
  std::shared_ptr<const Simulator<double>> simulator;
};

Mover make_engine(const std::string& robot, const std::string& engine) {
  const std::shared_ptr<const Task> task = task_with(robot, {{"engine", engine}});
  return {task, make_simulator<double>(task, {})};
}

// One environment, actions uniform in ±amplitude that depend on environment and step alone.
class Walker {
 public:
  Walker(const Mover& mover, std::uint32_t environment)
      : engine_(mover.simulator), environment_(environment), state_(reset_state(*mover.task, environment)) {}

  void run(int steps, double amplitude) {
    const TaskSpec& spec = engine_->spec();
    const auto rows = [](std::vector<double>& values) { return Rows<double>(values.data(), 1); };
    std::vector<double> next(state_.size()), action(static_cast<std::size_t>(spec.actions)),
        observation(static_cast<std::size_t>(spec.observations)), reward(1);
    for (int i = 0; i < steps; ++i) {
      RandomStream random(5, Purpose::kTest, 0, environment_, taken_++);
      for (double& a : action) a = amplitude * random.uniform(-1.0, 1.0);
      double paper = 0.0;
      double ended = 0.0;
      engine_->step({rows(state_), rows(action), rows(next), rows(observation), rows(reward), &paper, &ended}, 1,
                    scratch_);
      state_.swap(next);
    }
  }
  const std::vector<double>& state() const { return state_; }

 private:
  std::shared_ptr<const Simulator<double>> engine_;
  SimulatorScratch<double> scratch_;
  std::uint32_t environment_;
  std::uint32_t taken_ = 0;
  std::vector<double> state_;
};

Model robot_model(const std::string& name) { return load_model_from_text(std::string(model_text(name)), name); }

double deepest(const Model& model, const std::vector<double>& state) {
  const RobotState<double> robot(model, state);
  double depth = -1.0;
  for (const ContactPoint& point : model.contacts) {
    depth = std::max(depth, point.radius - robot.position(point.body, point.body_position)[2]);
  }
  return depth;
}

// The floor is soft for the gradients' sake: MuJoCo's ant sinks in by 0.4 mm, its halfcheetah by 4 mm.
TEST(ContactChoice, RestsMillimetresDeep) {
  for (const auto& [robot, depth] : {std::pair("ant", 0.0137), std::pair("halfcheetah", 0.0083)}) {
    const Model model = robot_model(robot);
    Walker walker(make_engine(robot, "own"), 0);
    walker.run(200, 0.0);
    EXPECT_NEAR(deepest(model, walker.state()), depth, 0.001) << robot;
  }
}

TEST(ContactChoice, HalfCheetahStaysPut) {
  Walker walker(make_engine("halfcheetah", "own"), 0);
  walker.run(200, 0.0);
  const std::vector<double> before = walker.state();
  walker.run(100, 0.0);
  for (std::size_t i = 0; i < 9; ++i) EXPECT_NEAR(walker.state()[i], before[i], 1e-4) << i;
}

// An idle ant's legs slowly slide apart on both engines, as friction of either is viscous at low speed; ours is set to
// sink as fast as MuJoCo's: 45 cm after 15 s on average.
TEST(ContactChoice, IdleAntSinksAsSlowlyAsOnMujoco) {
  const auto own_engine = make_engine("ant", "own");
  const auto mujoco_engine = make_engine("ant", "mujoco");
  double difference = 0.0;
  for (const std::uint32_t environment : {0U, 1U, 2U, 3U, 4U, 5U, 6U, 7U}) {
    Walker own(own_engine, environment);
    Walker mujoco(mujoco_engine, environment);
    own.run(300, 0.0);
    mujoco.run(300, 0.0);
    EXPECT_GT(own.state()[2], 0.33);
    difference += (own.state()[2] - mujoco.state()[2]) / 8;
  }
  EXPECT_NEAR(difference, 0.0, 0.02);
}

// Root mean square over the joints after steps of random actions, median of 32 environments. The ant's own motion is
// chaotic: MuJoCo at 10 ms and at 1 ms are 0.11 rad apart after 1 s.
double joint_distance(const std::string& robot, int steps) {
  const Model model = robot_model(robot);
  const auto own_engine = make_engine(robot, "own");
  const auto mujoco_engine = make_engine(robot, "mujoco");
  std::vector<double> distances;
  for (std::uint32_t environment = 0; environment < 32; ++environment) {
    Walker own(own_engine, environment);
    Walker mujoco(mujoco_engine, environment);
    own.run(steps, 1.0);
    mujoco.run(steps, 1.0);
    double square = 0.0;
    int count = 0;
    for (const Joint& joint : model.joints) {
      if (!joint.limited) continue;
      square += std::pow(
          own.state()[static_cast<std::size_t>(joint.q)] - mujoco.state()[static_cast<std::size_t>(joint.q)], 2);
      ++count;
    }
    distances.push_back(std::sqrt(square / count));
  }
  std::nth_element(distances.begin(), distances.begin() + 16, distances.end());
  return distances[16];
}

TEST(ContactChoice, RandomMotionStaysNearMujocos) {
  // Measured: 0.024 and 0.15 rad (ant), 0.010 and 0.05 rad (halfcheetah).
  EXPECT_LT(joint_distance("ant", 2), 0.04);
  EXPECT_LT(joint_distance("ant", 20), 0.22);
  EXPECT_LT(joint_distance("halfcheetah", 2), 0.02);
  EXPECT_LT(joint_distance("halfcheetah", 20), 0.09);
}

}  // namespace
}  // namespace cgpo
