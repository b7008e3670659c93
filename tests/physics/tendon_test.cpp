// Tendons against MuJoCo: lengths, moments, forces.
#include "cgpo/physics/dynamics/tendon.hpp"

#include <cmath>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cgpo/base/error.hpp"
#include "cgpo/physics/mujoco/engine.hpp"

#include "compare.hpp"
#include "simulate.hpp"
#include "window.hpp"

namespace cgpo {
namespace {

// Strings between two floating trees, within one, from the world, over pulleys, and sums over joints.
constexpr const char* kPuppet = R"(<mujoco>{0}<worldbody>
  <site name="hook" pos="0.3 0.1 2"/><site name="ring" pos="-0.4 0.2 2"/>
  <body name="torso" pos="0 0 1"><freejoint/><geom size="0.1"/><site name="chest" pos="0.05 0.02 0.08"/>
    <site name="belly" pos="0 0.1 -0.05"/>
    <body name="arm" pos="0.1 0 0"><joint name="shoulder" type="ball"/><geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.02"/>
      <site name="elbow" pos="0.3 0.02 0"/>
      <body name="hand" pos="0.3 0 0"><joint name="wrist" axis="0 1 0"/><joint name="reach" type="slide" axis="1 0 0.2" stiffness="50" damping="2"/>
        <geom type="box" size="0.1 0.03 0.02" pos="0.1 0 0"/><site name="finger" pos="0.2 0.01 0.03"/></body></body></body>
  <body name="kite" pos="1 0 2"><joint name="x" type="slide"/><joint name="turn" axis="0 0.6 0.8" pos="0 0 0.1"/>
    <geom type="box" size="0.2 0.1 0.01"/><site name="tail" pos="-0.2 0.03 0"/></body></worldbody>
  <tendon>
    <spatial name="string" {1}><site site="hook"/><site site="chest"/><site site="belly"/></spatial>
    <spatial name="sinew" {1}><site site="chest"/><site site="elbow"/><site site="finger"/></spatial>
    <spatial name="line" {1}><site site="finger"/><site site="tail"/></spatial>
    <spatial name="tackle" {1}><site site="hook"/><site site="tail"/><pulley divisor="2"/><site site="tail"/><site site="ring"/>
      <pulley divisor="4"/><site site="elbow"/><site site="hook"/><site site="ring"/></spatial>
    <fixed name="sum" {1}><joint joint="wrist" coef="0.5"/><joint joint="x" coef="-2"/><joint joint="turn" coef="1.5"/></fixed>
  </tendon>
  <actuator><motor joint="wrist"/>{2}</actuator></mujoco>)";

std::string puppet(const std::string& tendon = "", const std::string& option = "", const std::string& actuators = "") {
  return fmt::format(kPuppet, option, tendon, actuators);
}

TEST(Tendons, LengthsAndMomentsAreMujocos) {
  const Model model = load_model_from_text(puppet());
  MujocoEngine engine = MujocoEngine::from_text(puppet());
  ASSERT_EQ(model.tendons.size(), 5U);
  EXPECT_EQ(model.tendons[1].name, "sinew");
  for (std::uint32_t index = 0; index < 50; ++index) {
    const RandomState at = random_state(model, 1, index);
    engine.set_state(at.q, at.v);
    engine.forward(at.control);
    const auto kinematics = forward_kinematics<double>(model, at.q, at.v, DofAxes::kMujoco);
    const auto ours = tendon_states<double>(model, kinematics, at.q);
    const auto in_tree =
        tendon_states<double>(model, forward_kinematics<double>(model, at.q, at.v, DofAxes::kTree), at.q);
    const std::vector<double> moments = engine.tendon_moments();
    for (std::size_t i = 0; i < ours.size(); ++i) {
      EXPECT_NEAR(ours[i].length, engine.tendon_lengths()[i], 1e-12) << model.tendons[i].name;
      EXPECT_NEAR(ours[i].velocity, engine.tendon_velocities()[i], 1e-11) << model.tendons[i].name;
      for (int k = 0; k < model.nv; ++k) {
        EXPECT_NEAR(ours[i].moment[k], moments[i * static_cast<std::size_t>(model.nv) + static_cast<std::size_t>(k)],
                    1e-12)
            << model.tendons[i].name << " " << k;
      }
      // In other axes the moments are others, but length and velocity are the same.
      EXPECT_NEAR(in_tree[i].length, ours[i].length, 1e-12) << model.tendons[i].name;
      EXPECT_NEAR(in_tree[i].velocity, ours[i].velocity, 1e-11) << model.tendons[i].name;
    }
  }
}

// What moves both ends is left out, so that a string within a robot does not tie its limbs to the world.
TEST(Tendons, MomentsAreSparse) {
  const Model model = load_model_from_text(puppet());
  const auto kinematics =
      forward_kinematics<double>(model, model.q0, std::vector<double>(model.nv, 1.0), DofAxes::kTree);
  const std::vector<double> sinew = tendon_state<double>(model, kinematics, model.q0, model.tendons[1]).moment;
  for (int dof = 0; dof < 6; ++dof) EXPECT_EQ(sinew[dof], 0.0);
  for (int dof = 11; dof < model.nv; ++dof) EXPECT_EQ(sinew[dof], 0.0);
}

TEST(Tendons, SpringsAndInertiaAreMujocos) {
  for (const char* tendon :
       {"stiffness='30'", "stiffness='30' springlength='0.2'", "stiffness='30' springlength='0.3 1.1'", "damping='4'",
        "stiffness='30 -4 7' springlength='0.3 0.9'", "damping='4 2 0.3'", "armature='0.7'",
        "stiffness='5' damping='2 1' armature='0.2' range='0 1' frictionloss='3'"}) {
    testing::expect_as_mujoco(puppet(tendon));
  }
  const std::string tendon = "stiffness='5' damping='2'";
  testing::expect_as_mujoco(puppet(tendon, "<option><flag spring='disable'/></option>"));
  testing::expect_as_mujoco(puppet(tendon, "<option><flag damper='disable'/></option>"));
}

// A ball on a string of 0.5 m is thrown, and hangs at the string's end where MuJoCo's hangs.
TEST(Tendons, AStringHoldsABall) {
  const std::string xml =
      "<mujoco><option timestep='0.002'/><worldbody><site name='hook' pos='0 0 2'/><body pos='0 0 1.8'>"
      "<joint name='x' type='slide' axis='1 0 0' damping='0.3'/><joint type='slide' axis='0 0 1' damping='0.3'/>"
      "<geom size='0.05' mass='0.4'/><site name='ball'/></body></worldbody>"
      "<tendon><spatial name='string' range='0 0.5'><site site='hook'/><site site='ball'/></spatial></tendon>"
      "<actuator><motor joint='x'/></actuator></mujoco>";
  const Model model = load_model_from_text(xml);
  EXPECT_THAT(model.unsupported, ::testing::IsEmpty());
  MujocoEngine engine = MujocoEngine::from_text(xml);
  PhysicsState<double> state{{0.0, 0.0}, {0.5, 0.0}};
  engine.set_state(state.q, state.v);
  const std::vector<double> still = {0.0};
  double longest = 0.0, apart = 0.0;
  const auto length = [&](std::span<const double> q) { return std::hypot(q[0], q[1] - 0.2); };
  for (int i = 0; i < 500; ++i) {
    state = cgpo::testing::run(model, suggest_parameters(model), state, still, 10);
    engine.step(still, 10);
    longest = std::max(longest, length(state.q));
    if (i < 50) apart = std::max(apart, std::hypot(state.q[0] - engine.q()[0], state.q[1] - engine.q()[1]));
  }
  EXPECT_LT(longest, 0.56);
  EXPECT_GT(length(state.q), 0.5);
  EXPECT_NEAR(length(state.q), length(engine.q()), 0.02);
  EXPECT_LT(apart, 0.1);
  std::printf("string: at most %.3f, at rest %.4f, MuJoCo's %.4f; apart in the first second %.3f\n", longest,
              length(state.q), length(engine.q()), apart);
}

// Two sliders whose sum is held by dry friction: pushed against one another they stay, pushed together they do not.
TEST(Tendons, FrictionActsAlongTheLength) {
  const Model model = load_model_from_text(
      "<mujoco><option timestep='0.002'/><worldbody>"
      "<body><joint name='a' type='slide' axis='1 0 0'/><geom size='0.1' mass='1'/></body>"
      "<body pos='0 1 0'><joint name='b' type='slide' axis='1 0 0'/><geom size='0.1' mass='1'/></body></worldbody>"
      "<tendon><fixed frictionloss='6'><joint joint='a' coef='1'/><joint joint='b' coef='1'/></fixed></tendon>"
      "<actuator><motor joint='a'/><motor joint='b'/></actuator></mujoco>");
  EXPECT_EQ(model.tendons[0].inertia, 0.5);
  const PhysicsParameters parameters = suggest_parameters(model);
  const auto pushed = [&](double a, double b) {
    return cgpo::testing::run(model, parameters, {{0.0, 0.0}, {0.0, 0.0}}, {a, b}, 500).v;
  };
  // v_s is 0.1 m/s, as t F/m = 0.12 m/s is more; the sum creeps at v_s/√3 where half the friction holds.
  EXPECT_NEAR(pushed(3.0, 3.0)[0], 0.5 * 0.1 / std::sqrt(3.0), 1e-3);
  EXPECT_NEAR(pushed(8.0, 8.0)[0], 8.0 - 6.0, 0.1);
  EXPECT_NEAR(pushed(3.0, -3.0)[0], 3.0, 1e-9);
}

// Numbers that no step can use are refused, and ties that would take for ever to record.
TEST(Tendons, WhatCannotBeComputedIsRefused) {
  const auto load = [](const std::string& tendons) {
    return load_model_from_text(
        "<mujoco><worldbody><site name='h' pos='0 0 1'/><body><joint name='a' axis='0 1 0'/><geom size='1'/><site "
        "name='s' pos='1 0 0'/></body>"
        "</worldbody><tendon>" +
        tendons + "</tendon></mujoco>");
  };
  for (const char* pulley : {"nan", "1e-300"}) {
    const std::string path = fmt::format(
        "<spatial name='t'><site site='h'/><site site='s'/><pulley divisor='{}'/>"
        "<site site='h'/><site site='s'/></spatial>",
        pulley);
    EXPECT_THROW(load(path), UserError) << pulley;
  }
  EXPECT_THROW(load("<fixed name='t'><joint joint='a' coef='inf'/></fixed>"), UserError);
  std::string bodies, tendons, ends;
  for (int i = 0; i < 60; ++i) {
    bodies += fmt::format("<body pos='0 0 0.1'><joint name='j{0}' axis='{1} 1 0'/><geom size='0.1'/>", i, i % 2);
    ends += "</body>";
  }
  for (int i = 0; i < 200; ++i) {
    tendons += fmt::format("<spatial name='t{}' damping='1'><site site='h'/><site site='s'/></spatial>", i);
  }
  const std::string chain = "<mujoco><worldbody><site name='h' pos='0 0 1'/>" + bodies + "<site name='s'/>" + ends +
                            "</worldbody><tendon>" + tendons + "</tendon></mujoco>";
  EXPECT_THAT([&] { load_model_from_text(chain); },
              ::testing::ThrowsMessage<UserError>(::testing::HasSubstr("too long; leave some of them out")));
}

TEST(Tendons, DerivativesAreThoseOfTheSteps) {
  const std::string tendon =
      "stiffness='15 3 2' damping='1 0.2' springlength='0.4 0.9' frictionloss='0.5' range='0.1 1.2'";
  const Model model = load_model_from_text(puppet(tendon + " armature='0.05'", "<option timestep='0.002'/>"));
  const PhysicsParameters parameters = suggest_parameters(model);
  const cgpo::testing::Window window(model, parameters, 10);
  RandomStream random(6, Purpose::kTest);
  double worst = 0.0;
  for (std::uint64_t trial = 0; trial < 6; ++trial) {
    const PhysicsState<double> state =
        cgpo::testing::wander(model, parameters, cgpo::testing::start_of(model), trial, 100);
    for (const double v : state.v) ASSERT_LT(std::abs(v), 100.0);
    const auto errors = window.errors(state, random);
    worst = std::max(worst, errors.difference);
    EXPECT_LT(errors.forward, 1e-12);
  }
  EXPECT_LT(worst, 1e-6);
  std::printf("tendons: differences %.1e\n", worst);
}

}  // namespace
}  // namespace cgpo
