// Robots under random controls: those that hold together, and one that cannot.
#include <gtest/gtest.h>

#include "cgpo/studies/robot_check.hpp"

namespace cgpo {
namespace {

constexpr const char* kPendulum = R"(<mujoco><worldbody><body><joint name="swing" axis="0 1 0" damping="0.1"/>
  <geom type="capsule" fromto="0 0 0 0 0 -0.5" size="0.05"/></body></worldbody>
  <actuator><motor joint="swing" ctrlrange="-3 3"/></actuator></mujoco>)";

std::shared_ptr<const Model> model_of(const std::string& text) {
  return std::make_shared<const Model>(load_model_from_text(text));
}

TEST(RobotTrial, APendulumHolds) {
  const RobotTrial trial = try_robot(model_of(kPendulum), {.steps = 300});
  EXPECT_EQ(trial.steps, 300);
  EXPECT_EQ(trial.diverged, 0);
  EXPECT_EQ(trial.where, "");
  EXPECT_GT(trial.operations, 10);
  EXPECT_GT(trial.seconds, 0.0);
  EXPECT_LT(trial.seconds, 1e-5);
}

// q̈ = λ²q, λ = 100: from a kick of rounding's size up it grows by e^(λt).
TEST(RobotTrial, ARunawayDivergesWithUsAndMujoco) {
  const std::string text = R"(<mujoco><worldbody><body name="b"><joint name="still" type="slide" axis="1 0 0"/>
    <geom size="0.1" mass="1"/></body><body pos="1 0 0"><joint name="run" type="slide" axis="0 0 1"/>
    <geom size="0.1" mass="1"/></body></worldbody><actuator><motor joint="still"/>
    <general joint="run" biastype="affine" biasprm="0 10000 0"/></actuator></mujoco>)";
  const RobotTrial trial = try_robot(model_of(text), {.steps = 1000, .seed = 3});
  EXPECT_EQ(trial.diverged, trial.episodes);
  EXPECT_EQ(trial.where, "joint 'run'");
  EXPECT_GT(trial.first_step, 50);
  EXPECT_LT(trial.first_step, 1000);
  EXPECT_EQ(trial.finer, 0);  // it is the robot, not the step
  MujocoEngine engine = MujocoEngine::from_text(text);
  EXPECT_EQ(count_mujocos_divergences(*model_of(text), engine, {.steps = 1000, .seed = 3}), trial.episodes);
  MujocoEngine good = MujocoEngine::from_text(kPendulum);
  EXPECT_EQ(count_mujocos_divergences(*model_of(kPendulum), good, {.steps = 300}), 0);
}

// A spring, k/m = 10⁶/s², whose force is that at the start of a step: stable up to dt = 2 ms.
TEST(RobotTrial, StepsThatAreTooLongCanBeCut) {
  const RobotTrial trial =
      try_robot(model_of(R"(<mujoco><option timestep="0.003"/><worldbody><body><joint name="j" type="slide" axis="1 0 0"
        stiffness="1e6"/><geom size="0.1" mass="1"/></body></worldbody><actuator><motor joint="j"/></actuator></mujoco>)"),
                {.steps = 1000});
  EXPECT_EQ(trial.diverged, trial.episodes);
  EXPECT_EQ(trial.finer, 2);
}

TEST(RobotCheck, CountsKinds) {
  const auto kinds =
      count_kinds({"geom 'a': contact of a box with a mesh, geom 'w: all'",
                   "geom 3 of body 'b': contact of a box with a mesh, geom 7 of body 'c' and 4 more such pairs",
                   "contact between bodies at more than 1000 points: geom 'a' with geom 'b' and 1 more such pair",
                   "joint 'j': frictionloss", "option flag 'override': contact parameters for all geoms"});
  const std::map<std::string, int> expected = {{"contact of a box with a mesh", 6},
                                               {"contact between bodies at more than 1000 points", 2},
                                               {"joint: frictionloss", 1},
                                               {"option flag 'override'", 1}};
  EXPECT_EQ(kinds, expected);
}

}  // namespace
}  // namespace cgpo
