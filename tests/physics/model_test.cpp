// What is read from MJCF, what is refused, what is listed as left out.
#include "cgpo/physics/model/model.hpp"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cgpo/base/error.hpp"
#include "cgpo/physics/mujoco/engine.hpp"

#include "robots.hpp"

namespace cgpo {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string error_of(const std::string& xml) {
  try {
    load_model_from_text(xml, "robot.xml");
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Model, ReadsTheCheetah) {
  const Model model = load_model_from_text(cgpo::testing::robot_xml("cheetah"), "cheetah");
  EXPECT_EQ(model.nq, 9);
  EXPECT_EQ(model.nv, 9);
  EXPECT_EQ(model.nu, 6);
  EXPECT_EQ(model.links.size(), 7u);
  EXPECT_EQ(model.contacts.size(), 10u);
  EXPECT_THAT(model.unsupported, IsEmpty());
  EXPECT_THAT(model.warnings, IsEmpty());
  EXPECT_NEAR(model.total_mass(), 14.0, 1e-9);
  const Body& torso = model.bodies[model.body_id("torso")];
  EXPECT_NEAR(torso.mass, 6.250209, 1e-5);
  EXPECT_NEAR(torso.inertial_position[0], 0.15239, 1e-5);
  const Joint& thigh = model.joints[model.joint_id("bthigh")];
  EXPECT_EQ(thigh.type, JointType::kHinge);
  EXPECT_EQ(thigh.stiffness, 240.0);
  EXPECT_EQ(thigh.damping, 6.0);
  EXPECT_EQ(thigh.armature, 0.1);
  EXPECT_TRUE(thigh.limited);
  EXPECT_EQ(thigh.upper, 1.05);
  for (const ContactPoint& point : model.contacts) {
    EXPECT_EQ(point.friction, 0.4);
    EXPECT_EQ(point.radius, 0.046);
  }
  EXPECT_EQ(model.actuators[0].gear[0], 120.0);
}

TEST(Model, ReadsTheAnt) {
  const Model model = load_model_from_text(cgpo::testing::robot_xml("ant"), "ant");
  EXPECT_EQ(model.nq, 15);
  EXPECT_EQ(model.nv, 14);
  EXPECT_NEAR(model.total_mass(), 0.910880, 1e-6);
  EXPECT_EQ(model.contacts.size(), 4u);
  EXPECT_THAT(model.unsupported, IsEmpty());
  EXPECT_TRUE(model.actuators[0].control_limited);
}

TEST(Model, WeldedBodiesMoveWithTheirLink) {
  const Model model = load_model_from_text(cgpo::testing::robot_xml("tangle"), "tangle");
  EXPECT_EQ(model.links.size(), 4u);
  EXPECT_EQ(model.bodies[model.body_id("bracket")].link, model.bodies[model.body_id("arm")].link);
}

TEST(Model, BadFilesAreOneSentence) {
  const std::string box = "<geom type='box' size='1 1 1'/>";
  const struct {
    std::string xml;
    std::vector<std::string> says;
  } table[] = {
      {"<mujoco><worldbody><body>", {"robot.xml", "XML"}},
      {"<mujoco><worldbody><bodi/></worldbody></mujoco>", {"robot.xml", "bodi"}},
      {"", {"robot.xml"}},
      {"<mujoco><worldbody><body>" + box + "</body></worldbody></mujoco>", {"robot.xml", "joint"}},
      {"<mujoco><worldbody><body><joint/>" + box + "</body></worldbody></mujoco>", {"robot.xml", "actuator"}},
      {"<mujoco><worldbody><body name='ghost'><joint name='j'/></body></worldbody>"
       "<actuator><motor joint='j'/></actuator></mujoco>",
       {"robot.xml", "mass", "ghost"}},
      {"<mujoco><worldbody><body><joint name='j'/>" + box +
           "</body></worldbody><actuator><motor joint='k'/></actuator></mujoco>",
       {"robot.xml", "k"}},
      {"<mujoco><worldbody><body><joint name='j' type='screw'/>" + box + "</body></worldbody></mujoco>",
       {"robot.xml", "screw"}},
      {"<mujoco><worldbody><body><joint name='j' axis='0 0'/>" + box + "</body></worldbody></mujoco>",
       {"robot.xml", "axis"}},
  };
  for (const auto& row : table) {
    const std::string message = error_of(row.xml);
    for (const std::string& part : row.says) EXPECT_THAT(message, HasSubstr(part)) << row.xml;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
}

TEST(Model, MissingFileIsNamed) {
  for (const char* path : {"/nowhere/robot.xml", "/tmp"}) {
    try {
      load_model(path);
      FAIL() << path;
    } catch (const UserError& error) {
      EXPECT_THAT(error.what(), HasSubstr(path));
    }
  }
}

TEST(Model, ReadsFiles) {
  const auto path = std::filesystem::temp_directory_path() / "cgpo_model_test_cartpole.xml";
  std::ofstream(path) << cgpo::testing::robot_xml("cartpole");
  const Model model = load_model(path.string());
  EXPECT_EQ(model.name, path.string());
  const ModelComparison comparison = compare_with_mujoco(path.string(), 10, 1);
  EXPECT_LT(comparison.acceleration, 1e-12);
  std::filesystem::remove(path);
}

TEST(Model, NamesAreSuggested) {
  const Model model = load_model_from_text(cgpo::testing::robot_xml("cheetah"), "cheetah");
  try {
    model.body_id("bfot");
    FAIL();
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("did you mean 'bfoot'"));
  }
}

// A robot with everything that is not supported; each is named.
TEST(Model, ListsWhatIsLeftOut) {
  const Model model = load_model_from_text(R"(<mujoco><option integrator="RK4"/><worldbody>
      <geom name="floor" type="plane" size="1 1 1"/><geom name="step" type="box" size="0.1 0.1 0.1" pos="1 0 0"/>
      <body name="a" pos="0 0 1"><freejoint name="root"/><geom name="chest" type="box" size="0.1 0.1 0.1"/>
        <site name="s" pos="0 0 0"/>
        <body name="b" pos="0.5 0 0"><joint name="j" frictionloss="0.1"/>
          <geom name="ball" type="sphere" size="0.1" condim="6"/>
          <body name="c" pos="0.5 0 0"><joint name="k" type="ball" limited="true" range="0 30"/>
            <geom name="tip" type="capsule" size="0.05 0.1"/></body></body></body></worldbody>
      <tendon><fixed name="t"><joint joint="j" coef="1"/></fixed></tendon>
      <equality><joint name="e" joint1="j"/></equality>
      <actuator><motor name="good" joint="j"/><motor name="pull" tendon="t"/>
        <general name="slow" joint="j" dyntype="filter"/></actuator></mujoco>)",
                                           "robot.xml");
  for (const char* element : {"tendon 't'", "equality 'e'", "geom 'chest'", "geom 'ball': torsional",
                              "joint 'j': friction", "joint 'k'", "actuator 'pull'", "actuator 'slow'",
                              "integrator 'RK4'", "geom 'tip': contact of a capsule with geom 'step'"}) {
    EXPECT_THAT(model.unsupported, Contains(HasSubstr(element)));
  }
  ASSERT_EQ(model.warnings.size(), 1u);
  EXPECT_THAT(model.warnings[0], HasSubstr("geom 'chest' with geom 'tip'"));
  EXPECT_EQ(model.contacts.size(), 3u);  // the ball and both ends of the capsule
}

// Rarer things, each of which would change the motion.
TEST(Model, ListsWhatIsRarelyUsed) {
  const auto unsupported = [](const std::string& extra, const std::string& in_world = "") {
    return load_model_from_text(
               "<mujoco><asset><hfield name='hills' nrow='2' ncol='2' size='1 1 1 1'/></asset><worldbody>"
               "<geom name='floor' type='plane' size='1 1 1'/>" +
               in_world +
               "<body name='a'><joint name='j'/><geom name='g' type='sphere' size='0.1' contype='0' conaffinity='2'/>"
               "<site name='s'/></body></worldbody><actuator><motor joint='j'/></actuator>" +
               extra + "</mujoco>")
        .unsupported;
  };
  EXPECT_THAT(unsupported(""), IsEmpty());
  EXPECT_THAT(unsupported("<sensor><gyro site='s'/></sensor><keyframe><key qpos='1'/></keyframe>"), IsEmpty());
  EXPECT_THAT(unsupported("<contact><pair geom1='g' geom2='floor' friction='0.9 0.8 0 0 0'/></contact>"),
              ElementsAre("geom 'g': friction that depends on the direction"));
  EXPECT_THAT(unsupported("<option><flag override='enable'/></option>"), ElementsAre(HasSubstr("flag 'override'")));
  EXPECT_THAT(unsupported("", "<body name='hand' mocap='true'/>"), ElementsAre("body 'hand': mocap bodies"));
  EXPECT_THAT(unsupported("", "<geom name='hills' type='hfield' hfield='hills' contype='2'/>"),
              ElementsAre("geom 'g': contact of a sphere with geom 'hills' (hfield)"));
  EXPECT_THAT(unsupported("<equality><weld name='w' body1='a'/></equality>"), ElementsAre(HasSubstr("equality 'w'")));
  EXPECT_THAT(unsupported("<equality><weld name='w' body1='a' active='false'/></equality>"), IsEmpty());
  EXPECT_THAT(unsupported("<actuator><motor name='jet' site='s'/></actuator>"),
              ElementsAre("actuator 'jet': transmission 'site'"));
  EXPECT_THAT(unsupported("<actuator><adhesion name='glue' body='a' ctrlrange='0 1'/></actuator>"),
              ElementsAre("actuator 'glue': transmission 'body'"));
  EXPECT_THAT(unsupported("<option integrator='implicit'/>"), ElementsAre(HasSubstr("integrator 'implicit'")));
}

TEST(Model, HonoursMasksPairsAndExcludes) {
  const auto contacts = [](const std::string& extra, const std::string& geom) {
    return load_model_from_text(
               "<mujoco><worldbody><geom name='floor' type='plane' size='1 1 1' friction='0.3'/>"
               "<body name='a'><joint name='j'/><geom name='g' type='sphere' size='0.1' " +
               geom + "/></body></worldbody><actuator><motor joint='j'/></actuator>" + extra + "</mujoco>")
        .contacts;
  };
  EXPECT_EQ(contacts("", "friction='0.7'").at(0).friction, 0.7);
  EXPECT_EQ(contacts("", "friction='0.1'").at(0).friction, 0.3);
  EXPECT_EQ(contacts("", "friction='0.1' priority='1'").at(0).friction, 0.1);
  EXPECT_EQ(contacts("", "condim='1' priority='1'").at(0).friction, 0.0);
  EXPECT_EQ(contacts("", "margin='0.02' gap='0.005'").at(0).margin, 0.015);
  EXPECT_THAT(contacts("", "contype='2' conaffinity='2'"), IsEmpty());
  EXPECT_THAT(contacts("<contact><exclude body1='a' body2='world'/></contact>", ""), IsEmpty());
  EXPECT_THAT(contacts("<option><flag contact='disable'/></option>", ""), IsEmpty());
  const auto pair = contacts("<contact><pair geom1='g' geom2='floor' friction='0.9 0.9 0 0 0'/></contact>",
                             "contype='0' conaffinity='0'");
  ASSERT_EQ(pair.size(), 1u);
  EXPECT_EQ(pair[0].friction, 0.9);
}

TEST(Model, MujocoWritesNoLog) {
  error_of("<mujoco><worldbody><body>");
  MujocoEngine engine = MujocoEngine::from_text(cgpo::testing::robot_xml("pendulum"));
  const std::vector<double> q = {std::nan("")};
  const std::vector<double> v = {0.0};
  engine.set_state(q, v);
  EXPECT_FALSE(engine.step(v));
  engine.set_state(v, q);  // a velocity that is none,
  EXPECT_FALSE(engine.step(v));
  engine.set_state(v, v);
  EXPECT_TRUE(engine.step(v));
  EXPECT_FALSE(engine.step(q));  // or a control
  engine.set_state(v, v);
  EXPECT_TRUE(engine.step(v));
  EXPECT_FALSE(std::filesystem::exists("MUJOCO_LOG.TXT"));
}

}  // namespace
}  // namespace cgpo
