// Equality constraints beside MuJoCo's: accelerations, motions, residuals; and derivatives of steps with them.
#include "cgpo/physics/dynamics/equality.hpp"

#include <cmath>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cgpo/base/error.hpp"
#include "cgpo/physics/mujoco/engine.hpp"

#include "simulate.hpp"
#include "window.hpp"

namespace cgpo {
namespace {

// Two chains on the world and a floating body with an arm, with places to add what ties them.
std::string chains(const std::string& ties, const std::string& option = "") {
  return fmt::format(R"(<mujoco><option timestep="0.002" iterations="100" tolerance="0">{}</option>
    <default><geom contype="0"/></default><worldbody><site name="hook" pos="0.2 0.1 1.6" euler="10 20 30"/>
    <body name="a" pos="0 0 2"><joint name="a" axis="0 1 0.2" armature="0.01"/>
      <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03"/>
      <body name="b" pos="0.3 0 0"><joint name="b" type="ball"/><geom type="box" size="0.12 0.04 0.02" pos="0.12 0 0"/>
        <site name="b" pos="0.2 0.01 0.02" euler="5 15 -25"/></body></body>
    <body name="c" pos="0.6 0.2 2"><joint name="c" axis="0.1 1 0" ref="10"/>
      <geom type="capsule" fromto="0 0 0 -0.1 0 -0.3" size="0.03"/>
      <body name="d" pos="-0.1 0 -0.3"><joint name="d" type="slide" axis="1 0 0.3"/>
        <joint name="e" axis="0 0 1" pos="0.02 0 0"/><geom type="box" size="0.1 0.03 0.05" pos="0.05 0 0"/>
        <site name="d" pos="0.1 0 0"/></body></body>
    <body name="f" pos="0.2 0.5 1.5"><freejoint name="f"/><geom type="box" size="0.1 0.15 0.05"/>
      <site name="f" pos="0.1 0.15 0"/>
      <body name="g" pos="0.1 0 0"><joint name="g" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0.2 0 0" size="0.02"/>
        <body name="h" pos="0.2 0 0"><joint name="h" axis="0 0.2 1"/>
          <geom type="capsule" fromto="0 0 0 0 0.2 0" size="0.02"/></body></body></body></worldbody>
    <tendon><fixed name="sum"><joint joint="a" coef="1"/><joint joint="d" coef="2"/></fixed>
      <spatial name="string"><site site="b"/><site site="d"/><site site="f"/></spatial></tendon>
    <equality>{}</equality><actuator><motor joint="a"/><motor joint="c"/><motor joint="g"/></actuator></mujoco>)",
                     option, ties);
}

// Largest difference of accelerations, relative to the largest one, over states near the pose of the file.
double acceleration_error(const std::string& xml, double distance) {
  const Model model = load_model_from_text(xml);
  EXPECT_THAT(model.unsupported, ::testing::IsEmpty()) << xml;
  MujocoEngine engine = MujocoEngine::from_text(xml);
  const PhysicsParameters parameters = suggest_parameters(model);
  double error = 0.0, largest = 0.0;
  for (std::uint32_t index = 0; index < 30; ++index) {
    RandomState at = random_state(model, 1, index);
    // Near the pose of the file: a short motion from there.
    const PhysicsState<double> start{model.q0, at.v};
    const std::vector<double> still(model.nv, 0.0);
    const auto kinematics = forward_kinematics<double>(model, start.q, start.v, DofAxes::kTree);
    const PhysicsState<double> state = integrate<double>(model, kinematics, start, still, distance);
    engine.set_state(state.q, state.v);
    engine.forward(at.control);
    const PhysicsState<double> next = physics_step(model, parameters, state, std::span<const double>(at.control));
    for (int i = 0; i < model.nv; ++i) {
      const double ours = (next.v[i] - state.v[i]) / parameters.timestep;
      error = std::max(error, std::abs(ours - engine.acceleration()[i]));
      largest = std::max(largest, std::abs(engine.acceleration()[i]));
    }
  }
  return error / largest;
}

// Where the law is MuJoCo's, so are the accelerations, however large the residual is.
TEST(Equality, AccelerationsAreMujocos) {
  for (const char* ties :
       {"<joint joint1='a' joint2='c' polycoef='0.1 0.5 -0.3 0.2 0.4'/>", "<joint joint1='e' polycoef='0.2 1'/>",
        "<tendon tendon1='sum' tendon2='string' polycoef='0.1 0.7 0.5 0 1'/>", "<tendon tendon1='string'/>",
        "<connect body1='b' body2='d' anchor='0.2 0.05 0.1'/>", "<connect body1='b' anchor='0.2 0.05 0.1'/>",
        "<connect site1='b' site2='f'/>", "<connect site1='f' site2='hook'/>", "<weld body1='f' body2='b'/>",
        "<weld body1='f'/>", "<weld body1='b' body2='f' anchor='0.1 0 0.2' relpose='0.3 0.4 -0.5 0.9 0.1 0.2 0.3'/>",
        "<weld body1='d' body2='f' torquescale='0.3'/>", "<weld site1='b' site2='hook' torquescale='2'/>",
        "<connect body1='b' body2='d' anchor='0.2 0.05 0.1' solref='0.05 0.7' solimp='0.5 0.97 0.1 0.3 3'/>",
        "<connect body1='b' body2='d' anchor='0.2 0.05 0.1' solref='0.001 1' solimp='0.9 0.9'/>",
        "<connect body1='b' body2='d' anchor='0.2 0.05 0.1' solref='-900 -40' solimp='0.8 0.9 0.05 0.5 1'/>",
        "<connect body1='b' body2='d' anchor='0.2 0.05 0.1' solref='0.02 -1' solimp='0.8 0.9 0.05 0.5 2.5'/>",
        "<weld body1='f' body2='b'/><connect body1='h' body2='d' anchor='0 0.1 0'/><joint joint1='c' joint2='a'/>"}) {
    EXPECT_LT(acceleration_error(chains(ties), 0.02), 1e-7) << ties;
    EXPECT_LT(acceleration_error(chains(ties), 0.3), 1e-7) << ties;
  }
  EXPECT_LT(
      acceleration_error(
          chains("<connect body1='b' anchor='0.2 0.05 0.1' solref='0.001 1'/>", "<flag refsafe='disable'/>"), 0.02),
      1e-7);
  EXPECT_LT(acceleration_error(chains("<weld body1='f'/>", "<flag equality='disable'/>"), 0.02), 1e-7);
  EXPECT_LT(acceleration_error(chains("<weld body1='f' active='false'/>"), 0.02), 1e-7);
}

// How a residual moves by itself: its velocity and, where no joint accelerates, its acceleration are the derivatives of
// its place, as the link sees it that both ends hang on, and of u, as the second frame sees it.
TEST(Equality, ResidualsMoveAsTheirJacobiansSay) {
  const Model model = load_model_from_text(chains(
      "<weld body1='h' body2='f' relpose='0.3 0.2 0.1 0.9 0.1 0.2 0.3'/><weld body1='b' body2='d'/>"
      "<weld body1='g' body2='h' relpose='0.1 0.2 0.1 0.9 0.3 0.2 0.3'/><weld body1='f'/><weld body1='d' body2='c'/>"));
  ASSERT_EQ(model.equalities.size(), 5U);
  const double h = 1e-3;
  for (const Equality& equality : model.equalities) {
    const RandomState at = random_state(model, 4, 0);
    const PhysicsState<double> now{at.q, at.v};
    const std::vector<double> still(model.nv, 0.0);
    const int links[] = {equality.ends[0].link, equality.ends[1].link};
    const int base = common_ancestor(model, links[0], links[1]);
    struct Place {
      Vec3<double> y, u;
      Mat3<double> base_axes = Mat3<double>::identity(), second_axes = Mat3<double>::identity();
    };
    const auto place = [&](double t) {
      const auto start = forward_kinematics<double>(model, now.q, now.v, DofAxes::kTree);
      const PhysicsState<double> state = integrate<double>(model, start, now, still, t);
      const auto kinematics = forward_kinematics<double>(model, state.q, state.v, DofAxes::kTree);
      const FrameResidual<double> frames(model, kinematics, equality);
      Place result;
      const auto axes = [&](int link) {
        const Mat3<double> in_tree = kinematics.links[link].rotation;
        return base < 0 ? kinematics.to_world(link) * in_tree : in_tree;
      };
      if (base >= 0) result.base_axes = axes(base);
      if (links[1] >= 0) result.second_axes = axes(links[1]);
      double w = 0.0;
      Vec3<double> u;
      frames.rotation(w, u);
      result.y = transpose_times(result.base_axes, frames.position());
      result.u = transpose_times(result.second_axes, u);
      return result;
    };
    const Place before = place(-h), middle = place(0.0), after = place(h);
    const auto kinematics = forward_kinematics<double>(model, now.q, now.v, DofAxes::kTree);
    const auto accelerations = bias_accelerations(model, kinematics);
    const FrameResidual<double> frames(model, kinematics, equality);
    const Vec3<double> velocity = frames.rate(frames.position_columns());
    const Vec3<double> drift = frames.position_drift(accelerations, velocity);
    const Vec3<double> omega = frames.rate(frames.angular_columns());
    double w = 0.0;
    Vec3<double> u;
    frames.rotation(w, u);
    const Vec3<double> turn = frames.half_turn(w, u, omega);
    const Vec3<double> turn_drift = frames.rotation_drift(accelerations, w, u, omega);
    const auto first = [&](const Vec3<double>& a, const Vec3<double>& b) { return scale(0.5 / h, b - a); };
    const auto second = [&](const Vec3<double>& a, const Vec3<double>& b, const Vec3<double>& c) {
      return scale(1.0 / (h * h), (a - b) + (c - b));
    };
    const auto expect_near = [&](const Mat3<double>& axes, const Vec3<double>& ours, const Vec3<double>& differences) {
      const Vec3<double> in_axes = transpose_times(axes, ours);
      for (int k = 0; k < 3; ++k) EXPECT_NEAR(in_axes[k], differences[k], 2e-4 * (1.0 + std::abs(differences[k])));
    };
    expect_near(middle.base_axes, velocity, first(before.y, after.y));
    expect_near(middle.base_axes, drift, second(before.y, middle.y, after.y));
    expect_near(middle.second_axes, turn, first(before.u, after.u));
    expect_near(middle.second_axes, turn_drift, second(before.u, middle.u, after.u));
  }
}

// Crank, coupler and rocker, closed by a connect; the coupler's joints have a little damping.
const char* const kFourBar =
    R"(<mujoco><option timestep="0.002"/><default><geom contype="0" size="0.02"/></default><worldbody>
    <body name="crank"><joint name="crank" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 0.3"/>
      <body name="coupler" pos="0 0 0.3"><joint name="knee" axis="0 1 0" damping="0.001"/>
        <geom type="capsule" fromto="0 0 0 0.5 0 0.1"/></body></body>
    <body name="rocker" pos="0.5 0 0"><joint name="rocker" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 0.4"/></body>
  </worldbody><equality><connect body1="coupler" body2="rocker" anchor="0.5 0 0.1"/></equality>
  <actuator><motor joint="crank"/></actuator></mujoco>)";

// A leg of a floating robot whose shin is driven through a parallel rod, over a floor.
const char* const kLeg = R"(<mujoco><option timestep="0.002"/><worldbody>
    <geom name="floor" type="plane" size="5 5 1"/>
    <body name="hip" pos="0 0 1"><freejoint/><geom type="box" size="0.15 0.1 0.08" mass="4" contype="0"/>
      <body name="thigh"><joint name="hip" axis="0 1 0" damping="0.1"/>
        <geom type="capsule" fromto="0 0 0 0.1 0 -0.35" size="0.03" contype="0" conaffinity="0"/>
        <body name="shin" pos="0.1 0 -0.35"><joint name="knee" axis="0 1 0" damping="0.1"/>
          <geom type="capsule" fromto="-0.05 0 0 -0.1 0 -0.35" size="0.03" contype="0" conaffinity="0"/>
          <geom name="foot" pos="-0.1 0 -0.35" size="0.04" contype="0" conaffinity="1"/></body></body>
      <body name="lever"><joint name="lever" axis="0 1 0" damping="0.1" armature="0.02"/>
        <geom type="capsule" fromto="0 0 0 -0.08 0 0" size="0.02" contype="0" conaffinity="0"/>
        <body name="rod" pos="-0.08 0 0"><joint name="rod" axis="0 1 0"/>
          <geom type="capsule" fromto="0 0 0 0.1 0 -0.35" size="0.01" contype="0" conaffinity="0"/></body></body></body></worldbody>
  <equality><connect body1="rod" body2="shin" anchor="0.1 0 -0.35"/></equality>
  <actuator><motor joint="hip" gear="20"/><motor joint="lever" gear="20"/></actuator></mujoco>)";

double norm(std::span<const double> x) {
  double square = 0.0;
  for (const double entry : x) square += entry * entry;
  return std::sqrt(square);
}

// Our residual of a connect or weld, as long as MuJoCo's row of it.
std::vector<double> residual(const Model& model, const PhysicsState<double>& state) {
  std::vector<double> all;
  const auto kinematics = forward_kinematics<double>(model, state.q, state.v, DofAxes::kTree);
  for (const Equality& equality : model.equalities) {
    if (equality.type >= EqualityType::kJoint) {
      all.push_back(scalar_residual<double>(model, kinematics, state.q, equality).value);
      continue;
    }
    const FrameResidual<double> frames(model, kinematics, equality);
    const Vec3<double> position = frames.position();
    all.insert(all.end(), position.at.begin(), position.at.end());
    if (equality.type == EqualityType::kConnect) continue;
    double w = 0.0;
    Vec3<double> u;
    frames.rotation(w, u);
    for (const double x : u.at) all.push_back(equality.torque_scale * x);
  }
  return all;
}

struct Comparison {
  double apart = 0.0;     // largest difference of q
  double residual = 0.0;  // largest norm of ours
  double theirs = 0.0;    // of MuJoCo's
};

// Both engines from the same start under the same random controls, each held for 20 ms.
Comparison run_both(const std::string& xml, PhysicsState<double> state, double seconds, double amplitude) {
  const Model model = load_model_from_text(xml);
  EXPECT_THAT(model.unsupported, ::testing::IsEmpty());
  MujocoEngine engine = MujocoEngine::from_text(xml);
  const PhysicsParameters parameters = suggest_parameters(model);
  RandomStream random(3, Purpose::kTest);
  std::vector<double> control(model.nu);
  engine.set_state(state.q, state.v);
  Comparison result;
  for (int i = 0; i * 0.02 < seconds; ++i) {
    for (double& x : control) x = random.uniform(-amplitude, amplitude);
    state = cgpo::testing::run(model, parameters, state, control, 10);
    EXPECT_TRUE(engine.step(control, 10));
    for (int k = 0; k < model.nq; ++k) result.apart = std::max(result.apart, std::abs(state.q[k] - engine.q()[k]));
    result.residual = std::max(result.residual, norm(residual(model, state)));
    engine.forward(control);
    result.theirs = std::max(result.theirs, norm(engine.equality_residuals()));
  }
  return result;
}

TEST(Equality, AFourBarLinkageSwingsAsMujocos) {
  const Comparison swing = run_both(kFourBar, {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}}, 1.0, 0.0);
  EXPECT_LT(swing.apart, 1e-3);
  EXPECT_LT(swing.residual, 1e-3);
  const Comparison driven = run_both(kFourBar, {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}}, 1.0, 1.0);
  EXPECT_LT(driven.apart, 1e-3);
  std::printf("four-bar: apart %.1e, driven %.1e; residual %.1e, MuJoCo's %.1e; driven %.1e, %.1e\n", swing.apart,
              driven.apart, swing.residual, swing.theirs, driven.residual, driven.theirs);
}

// In the air the leg moves as MuJoCo's; when it has fallen and kicks about, the rod still holds as well.
TEST(Equality, ALoopInARobotThatFallsHolds) {
  const Model model = load_model_from_text(kLeg);
  PhysicsState<double> start = cgpo::testing::start_of(model);
  start.q[2] += 5.0;
  const Comparison flight = run_both(kLeg, start, 0.5, 0.01);
  EXPECT_LT(flight.apart, 1e-3);
  start.q[2] -= 5.0;
  const Comparison fallen = run_both(kLeg, start, 4.0, 0.5);
  EXPECT_LT(fallen.residual, 3.0 * fallen.theirs);
  EXPECT_LT(fallen.residual, 0.01);
  std::printf("leg: apart in flight %.1e; residual %.1e, MuJoCo's %.1e; after a fall %.1e, %.1e\n", flight.apart,
              flight.residual, flight.theirs, fallen.residual, fallen.theirs);
}

// A box of 3 kg is held out on an arm by a weld, where MuJoCo holds it; its weight lets it sink by micrometres.
TEST(Equality, AWeldHoldsABody) {
  const std::string xml = R"(<mujoco><option timestep="0.002"/><default><geom contype="0"/></default><worldbody>
      <body name="arm" pos="0 0 1"><joint name="arm" axis="0 1 0" stiffness="500" damping="20"/>
        <geom type="capsule" fromto="0 0 0 0.5 0 0" size="0.03"/></body>
      <body name="box" pos="0.6 0 1"><freejoint/><geom type="box" size="0.1 0.05 0.05" mass="3"/></body></worldbody>
      <equality><weld body1="arm" body2="box"/></equality><actuator><motor joint="arm"/></actuator></mujoco>)";
  const Model model = load_model_from_text(xml);
  const PhysicsState<double> start = cgpo::testing::start_of(model);
  const Comparison held = run_both(xml, start, 2.0, 0.0);
  EXPECT_LT(held.apart, 2e-3);  // the damping of joints is implicit in another way
  EXPECT_LT(held.residual, 2.0 * held.theirs);
  const PhysicsState<double> rest = cgpo::testing::run(model, suggest_parameters(model), start, {0.0}, 3000);
  for (const double v : rest.v) EXPECT_NEAR(v, 0.0, 1e-6);
  EXPECT_LT(norm(residual(model, rest)), 1e-3);
  std::printf("weld: apart %.1e; residual %.1e, MuJoCo's %.1e; at rest %.1e\n", held.apart, held.residual, held.theirs,
              norm(residual(model, rest)));
}

// Two fingers of a gripper: one is driven, the other one follows.
TEST(Equality, AMimicJointFollows) {
  const std::string xml = R"(<mujoco><option timestep="0.002"/><default><geom contype="0"/></default><worldbody>
      <body><joint name="left" type="slide" axis="0 1 0" range="0 0.04"/><geom type="box" size="0.01 0.01 0.05" mass="0.1"/></body>
      <body><joint name="right" type="slide" axis="0 -1 0" range="-0.1 0.08"/>
        <geom type="box" size="0.01 0.01 0.05" mass="0.3"/></body></worldbody>
      <equality><joint joint1="right" joint2="left" polycoef="0 2 0 0 0"/></equality>
      <actuator><position joint="left" kp="100" kv="10" ctrlrange="0 0.04"/></actuator></mujoco>)";
  const Model model = load_model_from_text(xml);
  PhysicsState<double> state = cgpo::testing::start_of(model);
  double furthest = 0.0, most = 0.0;
  for (int i = 0; i < 1000; ++i) {
    state = cgpo::testing::run(model, suggest_parameters(model), state, {i % 500 < 250 ? 0.03 : 0.01}, 1);
    most = std::max(most, state.q[0]);
    furthest = std::max(furthest, std::abs(state.q[1] - 2.0 * state.q[0]));
  }
  EXPECT_GT(most, 0.02);
  EXPECT_LT(furthest, 1e-3);
  const Comparison both = run_both(xml, cgpo::testing::start_of(model), 0.2, 0.04);
  EXPECT_LT(both.residual, 1.5 * both.theirs);
  std::printf("mimic: off by %.1e at most; random control %.1e, MuJoCo's %.1e\n", furthest, both.residual, both.theirs);
}

// A light rod with a range that is tied to a heavy one: the limit feels both, and holds both where it would hold one.
TEST(Equality, LimitsFeelWhatIsTied) {
  const std::string xml = R"(<mujoco><option timestep="0.002"/><default><geom contype="0"/></default><worldbody>
      <body><joint name="light" axis="0 1 0" range="-10 30" damping="0.05"/>
        <geom type="capsule" fromto="0 0 0 0.2 0 0" size="0.01"/></body>
      <body pos="0 0.3 0"><joint name="heavy" axis="0 1 0" damping="0.05"/><geom size="0.02" pos="0.15 0 0" mass="0.3"/></body>
      </worldbody><equality><joint joint1="light" joint2="heavy"/></equality><actuator><motor joint="heavy"/></actuator></mujoco>)";
  const Model model = load_model_from_text(xml);
  const Model apart = load_model_from_text(xml.substr(0, xml.find("<equality>")) + "</mujoco>");
  const double heavy = 0.3 * 0.15 * 0.15, light = apart.joints[0].inertia;
  EXPECT_GT(model.joints[0].inertia, light + 0.4 * heavy);  // the spring between them is soft, too
  EXPECT_LT(model.joints[0].inertia, light + heavy);
  const PhysicsState<double> rest =
      cgpo::testing::run(model, suggest_parameters(model), cgpo::testing::start_of(model), {0.0}, 3000);
  const double range = 30.0 / 180.0 * 3.14159265358979;
  EXPECT_GT(rest.q[0], range);
  EXPECT_LT(rest.q[0], range + 0.06);  // 0.2 if it felt the light rod alone
  EXPECT_NEAR(rest.q[1], rest.q[0], 0.05);
}

// From a state in which the ends are nearly half a turn and a metre apart, they come together as they do in MuJoCo.
TEST(Equality, WhatIsApartComesTogether) {
  const std::string xml = chains("<weld body1='f' relpose='0.2 0.3 1.2 0.8 0.6 0 0'/>", "");
  const Model model = load_model_from_text(xml);
  PhysicsState<double> state = cgpo::testing::start_of(model);
  const int q = model.joints[model.joint_id("f")].q;
  const double turned[] = {1.0, 0.0, 0.3, -0.6, 0.8, 0.0};
  std::copy(std::begin(turned), std::end(turned), state.q.begin() + q);
  state.q[q + 6] = 0.0;
  const Comparison both = run_both(xml, state, 0.2, 0.0);
  EXPECT_LT(both.apart, 1e-5);
  state = cgpo::testing::run(model, suggest_parameters(model), state, {0.0, 0.0, 0.0}, 1000);
  EXPECT_LT(norm(residual(model, state)), 0.2);  // its arm still swings
  std::printf("weld from afar: apart %.1e, then %.1e\n", both.apart, norm(residual(model, state)));
}

TEST(Equality, DerivativesAreThoseOfTheSteps) {
  const std::string ties =
      "<weld body1='f' body2='b'/><joint joint1='a' joint2='c' polycoef='0 0.5 -0.3 0.2 0.4'/>"
      "<connect body1='h' body2='d' anchor='0 0.1 0' solimp='0.8 0.9 0.02 0.4 2.5'/><tendon tendon1='string'/>";
  for (const std::string& xml : {chains(ties), std::string(kFourBar), std::string(kLeg)}) {
    const Model model = load_model_from_text(xml);
    const PhysicsParameters parameters = suggest_parameters(model);
    const cgpo::testing::Window window(model, parameters, 10);
    RandomStream random(6, Purpose::kTest);
    double worst = 0.0;
    for (std::uint64_t trial = 0; trial < 5; ++trial) {
      const PhysicsState<double> state =
          cgpo::testing::wander(model, parameters, cgpo::testing::start_of(model), trial, 200);
      for (const double v : state.v) ASSERT_LT(std::abs(v), 100.0);
      const auto errors = window.errors(state, random);
      worst = std::max(worst, errors.difference);
      EXPECT_LT(errors.forward, 1e-11);
    }
    EXPECT_LT(worst, 1e-6);
    std::printf("equality: differences %.1e\n", worst);
  }
}

}  // namespace
}  // namespace cgpo
