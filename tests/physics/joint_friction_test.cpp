// Dry friction, ranges of forces, gravity compensation, polynomials and limits of single joints.
#include <cmath>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cgpo/physics/dynamics/resistance.hpp"
#include "cgpo/physics/mujoco/engine.hpp"

#include "compare.hpp"
#include "simulate.hpp"
#include "window.hpp"

namespace cgpo {
namespace {

// An arm of three links on a ball joint, a hinge and a slide, with places to add to.
struct ArmParts {
  std::string option = {}, body = {}, ball = {}, hinge = {}, slide = {}, actuators = {};
};

std::string arm(const ArmParts& parts) {
  return fmt::format(R"(<mujoco><option timestep="0.002"/>{}<worldbody>
    <body name="upper" pos="0 0 2" {}><joint name="ball" type="ball" armature="0.01" {}/>
      <geom type="capsule" fromto="0 0 0 0.3 0.05 -0.1" size="0.04" contype="0"/>
      <body name="lower" pos="0.3 0.05 -0.1" {}><joint name="hinge" axis="0.3 1 0" {}/>
        <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03" contype="0"/>
        <body name="hand" pos="0.3 0 0" {}><joint name="slide" type="slide" axis="1 0 0.2" {}/>
          <geom type="box" size="0.06 0.03 0.02" contype="0"/></body></body></body></worldbody>
    <actuator><motor joint="hinge" gear="4"/><motor joint="slide" gear="3"/>{}</actuator></mujoco>)",
                     parts.option, parts.body, parts.ball, parts.body, parts.hinge, parts.body, parts.slide,
                     parts.actuators);
}

TEST(JointForces, RangeOfAllActuatorsTogether) {
  testing::expect_as_mujoco(arm({.hinge = "actuatorfrcrange='-2 1.5'",
                                 .slide = "actuatorfrcrange='-1 4'",
                                 .actuators = "<position joint='hinge' kp='3'/><motor joint='ball' gear='1 2 0'/>"}));
}

TEST(JointForces, GravityCompensation) {
  const std::string by_actuators = "actuatorgravcomp='true' actuatorfrcrange='-2 2'";
  for (const char* flags :
       {"", "gravity='disable'", "actuation='disable'", "spring='disable'", "spring='disable' damper='disable'"}) {
    const std::string option = fmt::format("<option gravity='0.5 -1 -9'><flag {}/></option>", flags);
    testing::expect_as_mujoco(arm({.option = option, .body = "gravcomp='0.8'"}));
    testing::expect_as_mujoco(
        arm({.option = option, .body = "gravcomp='1.2'", .ball = "actuatorgravcomp='true'", .hinge = by_actuators}));
  }
  // Where nothing is actuated, nobody lifts.
  testing::expect_as_mujoco(
      "<mujoco><worldbody><body gravcomp='1'><joint axis='0 1 0' actuatorgravcomp='true'/><geom size='0.1' pos='1 0 "
      "0'/>"
      "</body></worldbody></mujoco>");
  // An arm that is held up stays.
  const Model model = load_model_from_text(arm({.body = "gravcomp='1'", .hinge = "actuatorgravcomp='true'"}));
  const PhysicsState<double> state =
      testing::run(model, suggest_parameters(model), testing::start_of(model), {0, 0}, 500);
  for (const double v : state.v) EXPECT_NEAR(v, 0.0, 1e-12);
}

TEST(JointForces, PolynomialSpringsAndDampers) {
  testing::expect_as_mujoco(arm({.ball = "stiffness='3 2 1'",
                                 .hinge = "stiffness='3 -2 5' springref='20' damping='0.3 0.2 0.1'",
                                 .slide = "stiffness='0 4' damping='0 0 2'",
                                 .actuators = "<general joint='hinge' gear='2' damping='0.1 0.3 0.2'/>"}));
  testing::expect_as_mujoco(
      "<mujoco><worldbody><body><freejoint name='f'/><geom type='box' size='0.1 0.2 0.3'/></body>"
      "<body><joint type='free' stiffness='4 3 2'/><geom type='box' size='0.1 0.2 0.3'/></body>"
      "</worldbody></mujoco>");
}

// A block on a slide, m = 2 kg, whose friction is 6 N.
std::string block(const std::string& joint = "frictionloss='6'") {
  return fmt::format(
      "<mujoco><option timestep='0.002'/><worldbody><body><joint name='x' type='slide' axis='1 0 0' {}/>"
      "<geom type='box' size='0.1 0.1 0.1' mass='2'/></body></worldbody>"
      "<actuator><motor joint='x'/></actuator></mujoco>",
      joint);
}

// From 1.5 m/s it stops after v²m/2F = 0.375 m, as MuJoCo's does.
TEST(JointFriction, StopsWhatMoves) {
  const Model model = load_model_from_text(block());
  EXPECT_TRUE(model.unsupported.empty());
  MujocoEngine engine = MujocoEngine::from_text(block());
  PhysicsState<double> state{{0.0}, {1.5}};
  engine.set_state(state.q, state.v);
  const std::vector<double> control = {0.0};
  for (int i = 0; i < 20; ++i) {
    state = testing::run(model, suggest_parameters(model), state, control, 25);
    engine.step(control, 25);
    EXPECT_NEAR(state.q[0], engine.q()[0], 0.005) << i;
    EXPECT_NEAR(state.v[0], engine.v()[0], 0.03) << i;
  }
  EXPECT_NEAR(state.q[0], 0.375, 0.003);
  EXPECT_NEAR(state.v[0], 0.0, 1e-9);
}

// Pushed by less than its friction it creeps at v_s r/√(1 − r²), v_s = t F/m.
TEST(JointFriction, HoldsALoad) {
  const Model model = load_model_from_text(block());
  const PhysicsParameters parameters = suggest_parameters(model);
  const double slip_speed = parameters.friction.stop_time * 6.0 / 2.0;
  for (const double share : {0.2, 0.6, 0.9}) {
    const PhysicsState<double> state = testing::run(model, parameters, {{0.0}, {0.0}}, {share * 6.0}, 1000);
    EXPECT_NEAR(state.v[0], slip_speed * share / std::sqrt(1.0 - share * share), 1e-6) << share;
  }
  // Pushed by more, it accelerates with the rest.
  const PhysicsState<double> state = testing::run(model, parameters, {{0.0}, {0.0}}, {8.0}, 1000);
  EXPECT_NEAR(state.v[0], (8.0 - 6.0) / 2.0 * 2.0, 0.05);
}

TEST(JointFriction, SlipSpeedIsSmall) {
  const FrictionParameters law;
  EXPECT_DOUBLE_EQ(slip_speed(law, 6.0, 2.0), 0.03);
  EXPECT_DOUBLE_EQ(slip_speed(law, 6.0, 0.1), 0.1);    // 0.6 would be fast
  EXPECT_DOUBLE_EQ(slip_speed(law, 1.0, 1e-4), 10.0);  // MuJoCo's joint is hardly held either
  EXPECT_DOUBLE_EQ(slip_speed(law, 1e-6, 1.0), 1e-5);
}

// Whatever the axis it turns about, and in any step.
TEST(JointFriction, StopsBallsAndFreeBodies) {
  const std::string xml =
      "<mujoco><option gravity='0 0 0'/><worldbody>"
      "<body><joint name='b' type='ball' frictionloss='0.2'/><geom size='0.2' mass='3'/></body>"
      "<body pos='2 0 0'><joint name='f' type='free' frictionloss='0.2'/><geom size='0.2' "
      "mass='3'/></body></worldbody></mujoco>";
  const Model model = load_model_from_text(xml);
  const double inertia = 0.4 * 3.0 * 0.04;
  EXPECT_NEAR(model.joints[0].inertia, inertia, 1e-9);
  EXPECT_NEAR(model.joints[1].inertia, 3.0, 1e-9);
  EXPECT_NEAR(model.joints[1].turn_inertia, inertia, 1e-9);
  for (const double timestep : {0.001, 0.05}) {
    PhysicsParameters parameters = suggest_parameters(model);
    parameters.timestep = timestep;
    PhysicsState<double> state = testing::start_of(model);
    const double speed = 1.0;
    for (const int i : {0, 1}) state.v[i] = state.v[6 + i] = speed / std::sqrt(2.0);
    // Stopped after ω I/F = 0.24 s; half way at half the speed.
    const int steps = static_cast<int>(0.12 / timestep);
    state = testing::run(model, parameters, state, {}, steps);
    const double left = speed - 0.2 / inertia * timestep * steps;
    EXPECT_NEAR(std::hypot(state.v[0], state.v[1]), left, 0.1) << timestep;
    EXPECT_NEAR(std::hypot(state.v[6], state.v[7]), left, 0.1) << timestep;
    state = testing::run(model, parameters, state, {}, static_cast<int>(0.5 / timestep));
    for (const double v : state.v) EXPECT_NEAR(v, 0.0, 1e-3) << timestep;
  }
}

// What hangs on a ball joint falls to the end of its range and rests there, whatever it weighs.
TEST(JointLimits, HoldABallJoint) {
  const auto angle = [](std::span<const double> q) {
    const Vec3<double> turn = rotation_vector(read_quaternion(q, 0));
    return std::sqrt(dot(turn, turn));
  };
  const double range = 40.0 / 180.0 * 3.14159265358979;
  const std::vector<double> still = {0.0, 0.0};
  for (const double mass : {0.2, 5.0, 100.0}) {
    const auto scaled = [&](const char* what, double each) { return fmt::format("{}='{}' ", what, each * mass); };
    const std::string xml = arm({.option = fmt::format("<compiler settotalmass='{}'/>", mass),
                                 .ball = "range='0 40' limited='true' " + scaled("damping", 0.04),
                                 .hinge = scaled("stiffness", 40.0) + scaled("damping", 1.0),
                                 .slide = scaled("stiffness", 400.0) + scaled("damping", 4.0)});
    const Model model = load_model_from_text(xml);
    EXPECT_TRUE(model.unsupported.empty());
    MujocoEngine engine = MujocoEngine::from_text(xml);
    PhysicsState<double> state = testing::start_of(model);
    engine.set_state(state.q, state.v);
    double furthest = 0.0;
    for (int i = 0; i < 200; ++i) {
      state = testing::run(model, suggest_parameters(model), state, still, 10);
      engine.step(still, 10);
      furthest = std::max(furthest, angle(state.q));
    }
    EXPECT_LT(furthest, range + 0.15) << mass;  // it strikes at 5 rad/s
    EXPECT_GT(angle(state.q), range + 0.015) << mass;
    EXPECT_NEAR(angle(state.q), angle(engine.q()), 0.03) << mass;
    std::printf("ball joint, %.1f kg: at most %.4f, rests at %.4f, MuJoCo's at %.4f, range %.4f\n", mass, furthest,
                angle(state.q), angle(engine.q()), range);
  }
}

// k and c of a limit are those of the task where the file says nothing, or MuJoCo's default.
TEST(JointLimits, FollowSolref) {
  const auto scale = [](const std::string& joint, const std::string& option = "") {
    const std::string xml = block("range='-0.1 0.1' " + joint);
    return load_model_from_text(xml.substr(0, 8) + option + xml.substr(8)).joints[0].limit;
  };
  for (const char* same : {"", "solreflimit='0.02 1'", "solreflimit='-2500 -100'", "solreflimit='0.02 -3'"}) {
    EXPECT_EQ(scale(same).stiffness, 1.0) << same;
    EXPECT_EQ(scale(same).damping, 1.0) << same;
  }
  EXPECT_NEAR(scale("solreflimit='0.04 0.5'").stiffness, 1.0, 1e-12);
  EXPECT_NEAR(scale("solreflimit='0.04 0.5'").damping, 0.5, 1e-12);
  EXPECT_NEAR(scale("solreflimit='-10000 -50'").stiffness, 4.0, 1e-12);
  EXPECT_NEAR(scale("solreflimit='-10000 -50'").damping, 0.5, 1e-12);
  EXPECT_NEAR(scale("solreflimit='0.001 1'").damping, 5.0, 1e-12);  // two steps of 2 ms
  EXPECT_NEAR(scale("solreflimit='0.001 1'", "<option><flag refsafe='disable'/></option>").damping, 20.0, 1e-12);
  // Four times the stiffness, a quarter of the depth, beyond the soft part of the ramp.
  const auto depth = [](const char* joint) {
    const Model model = load_model_from_text(block(fmt::format("range='-0.1 0.1' {}", joint)));
    PhysicsParameters parameters = suggest_parameters(model);
    return testing::run(model, parameters, {{0.0}, {0.0}}, {1000.0}, 5000).q[0] - 0.1;
  };
  const double soft = 0.5 * (1.0 + kPullWidth) * LimitParameters{}.width;
  EXPECT_NEAR(depth("") - soft, 1000.0 / (2.0 * 2500.0), 1e-6);
  EXPECT_NEAR(depth("solreflimit='0.01 1'") - soft, 1000.0 / (8.0 * 2500.0), 1e-6);
}

TEST(JointFriction, DerivativesAreThoseOfTheSteps) {
  const std::string joint = "frictionloss='0.3'";
  const Model model =
      load_model_from_text(arm({.body = "gravcomp='0.7'",
                                .ball = joint + " range='0 30' limited='true'",
                                .hinge = joint + " actuatorfrcrange='-1 1' damping='0.1 0.2 0.3' stiffness='3 2 1'",
                                .slide = "frictionloss='2' stiffness='40' range='-0.1 0.1' solreflimit='0.01 1'"}));
  const PhysicsParameters parameters = suggest_parameters(model);
  const testing::Window window(model, parameters, 10);
  RandomStream random(6, Purpose::kTest);
  double worst = 0.0;
  for (std::uint64_t trial = 0; trial < 10; ++trial) {
    const auto errors = window.errors(testing::wander(model, parameters, testing::start_of(model), trial, 200), random);
    worst = std::max(worst, errors.difference);
    EXPECT_LT(errors.forward, 1e-12);
  }
  EXPECT_LT(worst, 1e-6);
  std::printf("joint friction and limits: differences %.1e\n", worst);
}

}  // namespace
}  // namespace cgpo
