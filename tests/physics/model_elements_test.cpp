// Elements of MJCF that are younger than most robots: those that the dynamics has are MuJoCo's, the others are named,
// and without them the rest is MuJoCo's again.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cgpo/base/error.hpp"
#include "cgpo/physics/mujoco/engine.hpp"

#include "compare.hpp"

namespace cgpo {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using testing::expect_as_mujoco;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Two links in a fluid, with places to add to.
struct RobotParts {
  std::string option = {}, world = {}, joint = {}, geom = {}, actuators = {}, more = {};
};

std::string two_links(const RobotParts& parts) {
  return fmt::format(
      R"(<mujoco><option density="100" viscosity="0.5"/>{}<worldbody>{}
         <body name="arm" pos="0 0 2"><joint name="shoulder" axis="0 1 0" {}/>
           <geom name="arm" type="capsule" size="0.1 0.3" contype="0" conaffinity="0" {}/>
           <body name="hand" pos="0 0 0.5"><joint name="wrist" type="ball" damping="0.3" armature="0.02"/>
             <geom name="hand" type="box" size="0.1 0.05 0.02" pos="0.1 0 0" contype="0" conaffinity="0"/></body></body>
         </worldbody><actuator><motor name="push" joint="shoulder" gear="3"/>{}</actuator>{}</mujoco>)",
      parts.option, parts.world, parts.joint, parts.geom, parts.actuators, parts.more);
}

TEST(ModelElements, SpringsAndDampersAreSwitchedOffApartAndTheFluidWithBoth) {
  for (const char* flags : {"", "spring='disable'", "damper='disable'", "spring='disable' damper='disable'"}) {
    expect_as_mujoco(two_links({.option = fmt::format("<option><flag {}/></option>", flags),
                                .joint = "stiffness='5' springref='20' damping='3'",
                                .actuators = "<general joint='shoulder' damping='0.7'/>"}));
  }
}

TEST(ModelElements, DampingAndInertiaOfActuatorsAreReflectedThroughTheirGears) {
  const std::string geared =
      "<general joint='shoulder' gear='3' damping='2' armature='0.5' group='2'/>"
      "<general jointinparent='shoulder' gear='-2' armature='0.1'/>"
      "<general joint='wrist' gear='0.5 1 -2' damping='0.3' armature='0.2'/>";
  expect_as_mujoco(two_links({.actuators = geared}));
  expect_as_mujoco(two_links({.option = "<option><flag actuation='disable'/></option>", .actuators = geared}));
  expect_as_mujoco(two_links({.option = "<option actuatorgroupdisable='2'/>", .actuators = geared}));
  expect_as_mujoco(two_links({.option = "<option actuatorgroupdisable='0 1'/>", .actuators = geared}));
}

// A servo's setpoint on a ball joint means the nearest turn; on any other actuator that is affine it is a number.
TEST(ModelElements, ServosOfBallJointsTurnTheShortWay) {
  const char* const servos[] = {
      "<position joint='wrist' kp='3' kv='0.2' gear='1 0 0.5'/>",
      "<general joint='wrist' gainprm='-3' biastype='affine' biasprm='0.1 3 0'/>",
      "<general joint='wrist' gainprm='3' biastype='affine' biasprm='0 -2 0'/>",
      "<general joint='wrist' gaintype='affine' gainprm='3' biastype='affine' biasprm='0 -3'/>",
      "<velocity joint='wrist' kv='2'/>",
      "<position joint='wrist' kp='3' ctrlrange='-4 4' forcerange='-2 2'/>"};
  for (const char* servo : servos) expect_as_mujoco(two_links({.actuators = servo}));
}

TEST(ModelElements, WhatIsNotSupportedIsNamed) {
  const auto unsupported = [](const RobotParts& parts) { return load_model_from_text(two_links(parts)).unsupported; };
  EXPECT_THAT(unsupported({}), IsEmpty());
  EXPECT_THAT(unsupported({.joint = "stiffness='1' springyield='5'"}),
              ElementsAre("joint 'shoulder': a spring that yields"));
  EXPECT_THAT(unsupported({.geom = "adhesion='2'"}), ElementsAre("geom 'arm': adhesion"));
  EXPECT_THAT(unsupported({.geom = "surfacevel='0 1 0 0 0 0'"}), ElementsAre("geom 'arm': surfacevel"));
  EXPECT_THAT(unsupported({.actuators = "<motor name='late' joint='shoulder' delay='0.1' nsample='60'/>"}),
              ElementsAre("actuator 'late': a control that is delayed"));
  EXPECT_THAT(unsupported({.actuators = "<general name='oil' joint='wrist' damping='1 2'/>"}),
              ElementsAre("actuator 'oil': damping that is not linear"));
  EXPECT_THAT(unsupported({.actuators = "<pid name='both' joint='shoulder' kp='3' input='pos vel'/>"}),
              ElementsAre("actuator 'both': 2 controls"));
  EXPECT_THAT(unsupported({.actuators = "<orientation name='aim' joint='wrist' kp='3'/>"}),
              ElementsAre("actuator 'aim': transmission 'orientation'"));
  EXPECT_THAT(unsupported({.actuators = "<dcmotor name='dc' joint='shoulder' resistance='1' motorconst='0.1'/>"}),
              ElementsAre("actuator 'dc': activation dynamics 'dcmotor'"));
  EXPECT_THAT(unsupported({.actuators = "<position name='slow' joint='shoulder' kp='3' timeconst='0.1'/>"}), IsEmpty());
  EXPECT_THAT(unsupported({.actuators = "<muscle name='biceps' joint='shoulder' lengthrange='-1 1'/>"}),
              ElementsAre("actuator 'biceps': activation dynamics 'muscle'"));
  EXPECT_THAT(load_model_from_text(two_links({.option = "<option><flag sleep='enable'/></option>"})).warnings,
              ElementsAre(HasSubstr("flag 'sleep'")));
}

// Our step is ours, whatever the file asks MuJoCo for: that is said, and refuses nothing.
TEST(ModelElements, EveryIntegratorIsAccepted) {
  EXPECT_THAT(load_model_from_text(two_links({})).notes, IsEmpty());
  for (const char* integrator : {"implicit", "implicitfast", "discrete", "RK4"}) {
    const std::string xml = two_links({.option = fmt::format("<option integrator='{}'/>", integrator)});
    expect_as_mujoco(xml);
    EXPECT_THAT(load_model_from_text(xml).notes, ElementsAre(HasSubstr(fmt::format("integrator '{}'", integrator))));
  }
}

// MuJoCo's impedance has no counterpart in our laws: where it would matter, it is said.
TEST(ModelElements, ImpedancesThatAreNotUsedAreNoted) {
  const auto notes = [](const std::string& geom, const std::string& joint) {
    const std::string world = fmt::format("<geom name='block' pos='5 0 0' size='.1' {}/>", geom);
    return load_model_from_text(two_links({.world = world, .joint = joint})).notes;
  };
  EXPECT_THAT(notes("solimp='.8 .9 .01'", ""), ElementsAre(HasSubstr("solimp of geom 'block'")));
  EXPECT_THAT(notes("solimp='.9 .95 .001'", ""), IsEmpty());  // as by default
  EXPECT_THAT(notes("solimp='.8 .9 .01' contype='0' conaffinity='0'", ""), IsEmpty());
  EXPECT_THAT(notes("", "range='-1 1' solimplimit='.8 .9 .01'"), ElementsAre(HasSubstr("solimplimit of joint")));
  EXPECT_THAT(notes("", "solimplimit='.8 .9 .01'"), IsEmpty());  // without a limit
  EXPECT_THAT(notes("solimp='.8 .9 .01'", "frictionloss='1' solimpfriction='.8 .9 .01'"),
              ElementsAre(HasSubstr("and 1 more")));
}

TEST(ModelElements, WithoutThemTheRestIsMujocos) {
  const std::string tendon =
      "<tendon><spatial name='band' damping='1 2' stiffness='1 2'><site site='hook'/>"
      "<geom geom='ball'/><site site='hand'/></spatial></tendon>";
  expect_as_mujoco(two_links({.world = "<geom name='ball' size='0.1' contype='0'/><site name='hook' pos='0 1 0'/>",
                              .joint = "stiffness='1' springyield='5'",
                              .geom = "/><site name='hand' pos='0.3 0 0'",
                              .actuators = "<general joint='wrist' damping='1 2' armature='0.1' gear='2'/>"
                                           "<general tendon='band' damping='1 3'/>"
                                           "<pid joint='shoulder' kp='3' input='pos vel'/>"
                                           "<orientation joint='wrist' kp='3'/>",
                              .more = tendon}),
                   /*leave_out=*/true);
}

TEST(ModelElements, EveryControlHasAPlace) {
  const Model model = load_model_from_text(
      two_links({.actuators = "<pid name='servo' joint='shoulder' kp='3' input='pos vel'/>"
                              "<dcmotor name='brake' joint='shoulder' resistance='1' motorconst='0.1' input='none'/>"
                              "<motor name='last' joint='shoulder' gear='7' ctrlrange='-2 3'/>"}));
  ASSERT_EQ(model.nu, 4);
  ASSERT_EQ(model.actuators.size(), 4U);
  EXPECT_EQ(model.actuators[1].name, "servo");
  EXPECT_EQ(model.actuators[2].name, "servo");
  EXPECT_EQ(model.actuators[2].gain[0], 0.0);
  EXPECT_EQ(model.actuators[3].name, "last");
  EXPECT_EQ(model.actuators[3].gear[0], 7.0);
  EXPECT_EQ(model.actuators[3].control_upper, 3.0);
  // Nothing to control is no reason not to read it.
  const Model brake = load_model_from_text(
      "<mujoco><worldbody><body><joint name='j'/><geom size='1'/></body></worldbody><actuator>"
      "<dcmotor joint='j' resistance='1' motorconst='0.1' input='none'/></actuator></mujoco>");
  EXPECT_EQ(brake.nu, 0);
}

std::string two_balls(const std::string& floor, const std::string& ball, const std::string& more) {
  return fmt::format(
      R"(<mujoco><worldbody><geom name="floor" type="plane" size="5 5 1" {}/>
         <body name="a"><joint name="lift" type="slide" axis="0 0 1"/><geom name="a" size="0.1" {}/></body>
         <body name="b" pos="0 1 3"><joint type="slide" axis="0 0 1"/><geom name="b" size="0.1"/></body></worldbody>
         <actuator><motor joint="lift"/></actuator>{}</mujoco>)",
      floor, ball, more);
}

// Margins of two geoms add up, and a gap is beyond them, where there is a contact and no force.
TEST(ModelElements, ForcesBeginAtTheSumOfTheMargins) {
  const std::string xml = two_balls("margin='0.02' gap='0.01'", "margin='0.03' gap='0.02'", "");
  const double margin = load_model_from_text(xml).contacts.at(0).margin;
  EXPECT_DOUBLE_EQ(margin, 0.05);
  MujocoEngine engine = MujocoEngine::from_text(xml);
  const std::vector<double> still(2), control(1);
  for (const double beyond : {-0.002, 0.002}) {
    const std::vector<double> q = {0.1 + margin + beyond, 0.0};
    engine.set_state(q, still);
    engine.forward(control);
    ASSERT_EQ(engine.contact_count(), 1);
    EXPECT_EQ(engine.contact_forces()[0].force[2] > 0.0, beyond < 0.0);
  }
}

TEST(ModelElements, BodiesAreExcludedByTheirNames) {
  const Model meeting = load_model_from_text(two_balls("", "", ""));
  ASSERT_EQ(meeting.pairs.size(), 1U);
  EXPECT_EQ(meeting.pairs[0].first.name, "geom 'a'");
  EXPECT_EQ(meeting.pairs[0].second.name, "geom 'b'");
  const Model apart = load_model_from_text(two_balls("", "", "<contact><exclude body1='b' body2='a'/></contact>"));
  EXPECT_THAT(apart.pairs, IsEmpty());
  EXPECT_EQ(apart.contacts.size(), 2U);
}

// A mocap body stands where the file has it: it touches what moves, and nothing else that stands.
TEST(ModelElements, MocapBodiesStand) {
  const std::string xml =
      two_links({.world = "<geom name='floor' type='plane' size='1 1 1' contype='2' conaffinity='2'/>"
                          "<body name='hint' mocap='true'><geom name='hint' size='0.1' contype='2' "
                          "conaffinity='2'/></body>"
                          "<body pos='0 0 3'><freejoint/><geom name='ball' size='0.1' contype='2' "
                          "conaffinity='2'/></body>"});
  const Model model = load_model_from_text(xml);
  EXPECT_THAT(model.warnings, IsEmpty());
  EXPECT_THAT(model.unsupported, IsEmpty());
  EXPECT_EQ(model.contacts.size(), 1U);
  ASSERT_EQ(model.pairs.size(), 1U);
  EXPECT_EQ(model.pairs[0].first.link, -1);
}

}  // namespace
}  // namespace cgpo
