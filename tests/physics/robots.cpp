#include "robots.hpp"

#include <fmt/format.h>
#include <stdexcept>

namespace cgpo::testing {
namespace {

constexpr const char* kPendulum = R"(<mujoco><worldbody><body pos="0 0 1">
  <joint name="swing" type="hinge" axis="0 1 0" pos="0 0 0.1" damping="0.1" armature="0.02"/>
  <geom type="capsule" fromto="0 0 0 0.1 0.2 -0.6" size="0.03"/></body></worldbody>
  <actuator><motor joint="swing" gear="3"/></actuator></mujoco>)";

constexpr const char* kCartPole = R"(<mujoco><worldbody>
  <body name="cart"><joint name="slider" type="slide" axis="1 0 0" range="-1 1" limited="true" damping="1"/>
    <geom type="capsule" size="0.1 0.1" quat="0.7071067811865476 0 0.7071067811865476 0" contype="0"/>
    <body name="pole"><joint name="hinge" type="hinge" axis="0 1 0" range="-90 90" limited="true" damping="1"/>
      <geom type="capsule" fromto="0 0 0 0.001 0 0.6" size="0.049" contype="0"/></body></body></worldbody>
  <actuator><motor joint="slider" gear="100" ctrllimited="true" ctrlrange="-3 3"/></actuator></mujoco>)";

constexpr const char* kCheetah = R"(<mujoco><compiler angle="radian" settotalmass="14"/>
  <default><joint type="hinge" axis="0 1 0" limited="true" armature="0.1"/>
    <geom contype="0" conaffinity="1" friction="0.4" size="0.046" type="capsule"/></default>
  <worldbody><geom name="floor" type="plane" size="40 40 1" contype="1"/>
  <body name="torso" pos="0 0 0.7">
    <joint name="x" type="slide" axis="1 0 0" limited="false" armature="0"/>
    <joint name="z" type="slide" axis="0 0 1" limited="false" armature="0"/>
    <joint name="pitch" limited="false" armature="0"/>
    <geom name="torso" fromto="-0.5 0 0 0.5 0 0" conaffinity="0"/>
    <geom name="head" pos="0.6 0 0.1" size="0.046 0.15" euler="0 0.87 0"/>
    <body name="bthigh" pos="-0.5 0 0"><joint name="bthigh" range="-0.52 1.05" stiffness="240" damping="6"/>
      <geom name="bthigh" pos="0.1 0 -0.13" size="0.046 0.145" euler="0 -3.8 0"/>
      <body name="bshin" pos="0.16 0 -0.25"><joint name="bshin" range="-0.785 0.785" stiffness="180" damping="4.5"/>
        <geom name="bshin" pos="-0.14 0 -0.07" size="0.046 0.15" euler="0 -2.03 0" conaffinity="0"/>
        <body name="bfoot" pos="-0.28 0 -0.14"><joint name="bfoot" range="-0.4 0.785" stiffness="120" damping="3"/>
          <geom name="bfoot" pos="0.03 0 -0.097" size="0.046 0.094" euler="0 -0.27 0"/></body></body></body>
    <body name="fthigh" pos="0.5 0 0"><joint name="fthigh" range="-1 0.7" stiffness="180" damping="4.5"/>
      <geom name="fthigh" pos="-0.07 0 -0.12" size="0.046 0.133" euler="0 0.52 0"/>
      <body name="fshin" pos="-0.14 0 -0.24"><joint name="fshin" range="-1.2 0.87" stiffness="120" damping="3"/>
        <geom name="fshin" pos="0.065 0 -0.09" size="0.046 0.106" euler="0 -0.6 0" conaffinity="0"/>
        <body name="ffoot" pos="0.13 0 -0.18"><joint name="ffoot" range="-0.5 0.5" stiffness="60" damping="1.5"/>
          <geom name="ffoot" pos="0.045 0 -0.07" size="0.046 0.07" euler="0 -0.6 0"/></body></body></body>
  </body></worldbody>
  <actuator><motor joint="bthigh" gear="120"/><motor joint="bshin" gear="90"/><motor joint="bfoot" gear="60"/>
    <motor joint="fthigh" gear="120"/><motor joint="fshin" gear="60"/><motor joint="ffoot" gear="30"/></actuator>
  <option timestep="0.01"/></mujoco>)";

std::string ant() {
  std::string legs, motors;
  const int signs[4][2] = {{1, 1}, {-1, 1}, {-1, -1}, {1, -1}};
  for (int k = 0; k < 4; ++k) {
    const int x = signs[k][0], y = signs[k][1];
    legs += fmt::format(
        R"(<geom fromto="0 0 0 {0} {1} 0"/><body name="upper{4}" pos="{0} {1} 0">
           <joint name="hip{4}" axis="0 0 1" range="-30 30"/><geom fromto="0 0 0 {0} {1} 0"/>
           <body name="lower{4}" pos="{0} {1} 0"><joint name="ankle{4}" axis="{5} 1 0" range="{6}"/>
           <geom fromto="0 0 0 {2} {3} 0"/>
           <geom name="foot{4}" type="sphere" size="0.08" pos="{2} {3} 0" mass="0" contype="1"/></body></body>)",
        0.2 * x, 0.2 * y, 0.4 * x, 0.4 * y, k + 1, k % 2 == 0 ? -1 : 1, k == 0 || k == 3 ? "30 70" : "-70 -30");
    motors += fmt::format(R"(<motor joint="hip{0}" gear="150"/><motor joint="ankle{0}" gear="150"/>)", k + 1);
  }
  return fmt::format(R"(<mujoco><default><joint armature="1" damping="1" limited="true"/>
      <geom type="capsule" size="0.08" density="5" contype="0" conaffinity="0"/>
      <motor ctrllimited="true" ctrlrange="-1 1"/></default><option timestep="0.01"/><worldbody>
      <geom name="floor" type="plane" size="40 40 1" conaffinity="1"/>
      <body name="torso" pos="0 0 0.55"><joint name="root" type="free" armature="0" damping="0" limited="false"/>
      <geom type="sphere" size="0.25"/>{}</body></worldbody><actuator>{}</actuator></mujoco>)",
                     legs, motors);
}

constexpr const char* kSwimmer = R"(<mujoco><option density="4000" viscosity="0.1" wind="0.3 -0.2 0.1"/>
  <default><joint armature="0.1"/><geom type="capsule" size="0.1" density="1000" contype="0"/></default><worldbody>
  <body name="torso"><joint name="x" type="slide" axis="1 0 0"/><joint name="y" type="slide" axis="0 1 0"/>
    <joint name="turn" type="hinge" axis="0 0 1"/><geom fromto="1.5 0 0 0.5 0 0"/>
    <body pos="0.5 0 0"><joint name="rot2" type="hinge" axis="0 0 1" range="-100 100" limited="true"/>
      <geom fromto="0 0 0 -1 0 0"/><body pos="-1 0 0">
      <joint name="rot3" type="hinge" axis="0 0 1" range="-100 100" limited="true"/><geom fromto="0 0 0 -1 0 0"/>
    </body></body></body></worldbody>
  <actuator><motor joint="rot2" gear="150"/><motor joint="rot3" gear="150"/></actuator></mujoco>)";

// Ball joints with springs and dampers, free fall in a fluid, turned frames, welded bodies, two trees.
constexpr const char* kTangle = R"(<mujoco><option density="800" viscosity="0.5" gravity="1 -2 -9"/>
  <compiler angle="radian"/><worldbody>
  <body name="base" pos="0.1 0.2 0.3" euler="0.3 -0.2 0.5">
    <joint name="root" type="free" stiffness="3" damping="0.2" armature="0.1"/>
    <inertial pos="0.05 -0.02 0.03" mass="2" diaginertia="0.04 0.05 0.06" euler="0.2 0.4 -0.7"/>
    <body name="arm" pos="0.2 0.1 0" euler="0.1 0.9 0.3">
      <joint name="shoulder" type="ball" pos="0.02 0.03 -0.01" damping="0.3" armature="0.05" stiffness="2"/>
      <geom type="box" size="0.1 0.05 0.03" pos="0.1 0 0" euler="0.4 0 0.2" contype="0" conaffinity="0"/>
      <body name="bracket" pos="0.2 0.05 0.02" euler="0 0.3 0.2">
        <geom type="sphere" size="0.04" pos="0.02 0 0.03" contype="0" conaffinity="0"/>
        <body name="hand" pos="0.05 0 0.1" euler="0.5 0.2 0.1">
          <joint name="wrist1" type="hinge" axis="1 2 -1" pos="0.01 0.02 0.03" damping="0.1" armature="0.01"/>
          <joint name="wrist2" type="slide" axis="0 1 1" ref="0.05" stiffness="20" springref="0.1"/>
          <joint name="wrist3" type="hinge" axis="0 0 1" pos="-0.02 0.01 0" stiffness="3" springref="0.4" ref="0.2"/>
          <geom type="ellipsoid" size="0.08 0.05 0.03" pos="0.05 0.01 0" contype="0" conaffinity="0"/>
        </body></body></body></body>
  <body name="second" pos="1 0 1"><joint name="rail" type="slide" axis="1 1 0"/>
    <joint name="spin" type="ball" damping="0.2"/>
    <geom type="cylinder" size="0.1 0.2" euler="0.3 0.1 0" pos="0.1 0 0" contype="0" conaffinity="0"/></body>
  </worldbody><actuator>
    <motor joint="wrist1" gear="2"/><position joint="wrist2" kp="30" gear="1.5"/><velocity joint="wrist3" kv="2"/>
    <motor joint="shoulder" gear="0.5 1 -2"/><motor joint="root" gear="1 2 3 0.1 0.2 0.3"/>
    <general joint="wrist1" gaintype="affine" gainprm="1 0.2 0.1" biastype="affine" biasprm="0.3 -1 -0.2"
      forcelimited="true" forcerange="-2 1.5" ctrllimited="true" ctrlrange="-1 1"/>
    <position joint="spin" kp="3" gear="1 0 0.5"/></actuator></mujoco>)";

// A floating body whose motion is checked against conservation laws: no gravity, no friction anywhere.
constexpr const char* kFloater = R"(<mujoco><option gravity="0 0 0" timestep="0.001"/><compiler angle="radian"/>
  <default><geom contype="0" conaffinity="0"/></default><worldbody>
  <body name="hub"><freejoint/><geom type="box" size="0.2 0.1 0.05"/>
    <body pos="0.2 0 0"><joint name="a" type="hinge" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0.4 0 0.1"
      size="0.03"/><body pos="0.4 0 0.1"><joint name="b" type="ball"/><geom type="capsule" fromto="0 0 0 0 0.3 0"
      size="0.02"/></body></body>
    <body pos="-0.2 0 0"><joint name="c" type="slide" axis="1 1 0"/><geom type="sphere" size="0.08"/></body>
  </body></worldbody><actuator><motor joint="a"/></actuator></mujoco>)";

// A body on three spheres: for contact at rest.
constexpr const char* kTripod = R"(<mujoco><option timestep="0.005"/><worldbody>
  <geom name="floor" type="plane" size="10 10 1" friction="0.5"/>
  <body name="tripod" pos="0 0 0.1"><freejoint/>
    <geom type="box" size="0.2 0.2 0.02" pos="0 0 0.05" mass="1" contype="0" conaffinity="0"/>
    <geom name="f1" type="sphere" size="0.1" pos="0.3 0 0" mass="0.1" friction="0.5"/>
    <geom name="f2" type="sphere" size="0.1" pos="-0.2 0.2 0" mass="0.1" friction="0.5"/>
    <geom name="f3" type="sphere" size="0.1" pos="-0.2 -0.2 0" mass="0.1" friction="0.5"/>
    <body pos="0 0 0.1"><joint name="wheel" type="hinge" axis="0 0 1"/>
      <geom type="cylinder" size="0.05 0.02" mass="0.1" contype="0" conaffinity="0"/></body>
  </body></worldbody><actuator><motor joint="wheel" gear="0.1"/></actuator></mujoco>)";

// One of each kind that a plane holds up by more than spheres, with all kinds of friction.
constexpr const char* kSkittles = R"(<mujoco><option timestep="0.005"/><default><geom condim="6" density="300"
  friction="0.8 0.01 0.005" contype="1" conaffinity="2"/></default><worldbody>
  <geom name="floor" type="plane" size="10 10 1" contype="2" conaffinity="1"/>
  <body pos="0 0 0.11"><freejoint/><geom type="box" size="0.1 0.08 0.1"/></body>
  <body pos="2 0 0.11" euler="80 20 0"><freejoint/><geom type="cylinder" size="0.1 0.15"/></body>
  <body pos="4 0 0.11"><freejoint/><geom type="ellipsoid" size="0.1 0.15 0.1"/>
    <body pos="0 0 0.1"><joint name="wheel" type="hinge" axis="0 0 1"/>
      <geom type="cylinder" size="0.05 0.02" mass="0.1" contype="0" conaffinity="0"/></body></body>
  </worldbody><actuator><motor joint="wheel" gear="0.1"/></actuator></mujoco>)";

}  // namespace

const std::vector<Robot>& robots() {
  static const std::vector<Robot> list = {{"pendulum", kPendulum}, {"cartpole", kCartPole}, {"cheetah", kCheetah},
                                          {"ant", ant()},          {"swimmer", kSwimmer},   {"tangle", kTangle},
                                          {"floater", kFloater},   {"tripod", kTripod},     {"skittles", kSkittles}};
  return list;
}

const std::string& robot_xml(const std::string& name) {
  for (const Robot& robot : robots()) {
    if (robot.name == name) return robot.xml;
  }
  throw std::logic_error("no robot " + name);
}

}  // namespace cgpo::testing
