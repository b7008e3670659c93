// What is read from MJCF, what is refused, what is listed as left out.
#include "cgpo/physics/model/model.hpp"

#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cgpo/base/error.hpp"
#include "cgpo/physics/mujoco/engine.hpp"

#include "robots.hpp"
#include "scratch_folder.hpp"

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

// Motors may be added later; sites are points of bodies.
TEST(Model, NeedsNoActuatorAndReadsSites) {
  const Model model = load_model_from_text(
      "<mujoco><worldbody><body name='a'><joint/><geom size='1'/><site name='tip' pos='1 2 3'/></body></worldbody>"
      "</mujoco>");
  EXPECT_EQ(model.nu, 0);
  ASSERT_EQ(model.sites.size(), 1u);
  EXPECT_EQ(model.sites[0].name, "tip");
  EXPECT_EQ(model.sites[0].body, model.body_id("a"));
  EXPECT_EQ(model.sites[0].position[2], 3.0);
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
      {"<mujoco><worldbody><body name='giant'><inertial pos='1e200 0 0' mass='1' diaginertia='1 1 1'/><joint "
       "name='j'/>" +
           box + "</body></worldbody><actuator><motor joint='j'/></actuator></mujoco>",
       {"robot.xml", "giant", "inertia"}},
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

// MuJoCo takes it for a mass that was not given, so that what it has compiled does not show it.
TEST(Model, ANumberThatIsNoneIsFoundWhereverItIsWritten) {
  const ScratchFolder folder;
  const auto message = [&](const std::string& body, const std::string& before = "") -> std::string {
    std::ofstream(folder / "robot.xml") << "<mujoco>" << before << "<worldbody><body name='b'><joint name='j'/>" << body
                                        << "</body></worldbody><actuator><motor joint='j'/></actuator></mujoco>";
    try {
      load_model((folder / "robot.xml").string());
    } catch (const UserError& error) {
      return error.what();
    }
    return "no error";
  };
  const std::string good = "<geom size='1'/>";
  EXPECT_THAT(message("<geom size='1' mass='nan'/>"), HasSubstr("robot.xml: geom in line 1: mass is nan"));
  for (const char* geom : {"density='nan'", "fromto='nan 0 0 0 0 1' type='capsule'", "euler='nan 0 0'"}) {
    EXPECT_THAT(message(fmt::format("<geom size='1' {}/>", geom)), HasSubstr(" is nan")) << geom;
  }
  EXPECT_THAT(message(good + "<inertial pos='nan 0 0' mass='1' diaginertia='1 1 1'/>"), HasSubstr("pos is nan"));
  const std::string other = "<geom name='nancy' size='1'/><geom name='g' size='1'/>";
  for (const char* pair : {"friction", "margin", "gap", "solref", "solimp"}) {
    EXPECT_THAT(message(other, fmt::format("<contact><pair geom1='g' geom2='nancy' {}='nan'/></contact>", pair)),
                HasSubstr(fmt::format("pair in line 1: {} is nan", pair)));
  }
  EXPECT_THAT(message(good, "<actuator><muscle joint='j' lengthrange='0 1' force='nan'/></actuator>"),
              HasSubstr("muscle in line 1: force is nan"));
  EXPECT_EQ(message(good + "<!-- <geom size='1' mass='nan'/> -->"), "no error");
  EXPECT_EQ(message(good, "<!--\n mass='nan' > \" --><custom><text name='t' data=' mass=\"nan\"'/></custom>"),
            "no error");

  std::filesystem::create_directory(folder / "parts");
  std::ofstream(folder / "parts/outer.xml") << "<mujoco>\n<include file='parts/inner.xml'/></mujoco>";
  const auto inner = [&](const std::string& text) { std::ofstream(folder / "parts/inner.xml") << text; };
  inner("<mujoco>\n\n<worldbody><geom size='1' mass='NaN'/></worldbody></mujoco>");
  EXPECT_THAT(message(good, "<include file='parts/outer.xml'/>"),
              HasSubstr("parts/inner.xml: geom in line 3: mass is nan"));
  EXPECT_EQ(message(good, "<!-- <include file='parts/outer.xml'/> -->"), "no error");
  std::ofstream(folder / "parts/beside.xml") << "<mujoco><include file='inner.xml'/></mujoco>";
  EXPECT_THAT(message(good, "<include file='parts/beside.xml'/>"),
              HasSubstr("parts/inner.xml: geom in line 3: mass is nan"));
  EXPECT_THAT(message(good, "<asset><model name='m' file='parts/inner.xml'/></asset>"),
              HasSubstr("parts/inner.xml: geom in line 3: mass is nan"));
  inner("<mujoco><worldbody><geom size='1' euler='0 1 0'/></worldbody></mujoco>");
  EXPECT_EQ(message(good, "<include file='parts/outer.xml'/>"), "no error");
  inner("<mujoco><include file='parts/outer.xml'/></mujoco>");  // round and round
  EXPECT_THAT(message(good, "<include file='parts/outer.xml'/>"), HasSubstr("robot.xml"));
  EXPECT_THAT(message(good, "<include file='parts/none.xml'/>"), HasSubstr("none.xml"));
}

// What MuJoCo has compiled does, wherever it was written.
TEST(Model, CompiledNumbersAreFinite) {
  const auto message = [](const std::string& geom, const std::string& extra) {
    return error_of("<mujoco><worldbody><body name='b'><joint name='j'/><geom name='g' size='1' " + geom +
                    "/></body></worldbody><actuator><motor joint='j'/></actuator>" + extra + "</mujoco>");
  };
  EXPECT_EQ(message("", ""), "no error");
  EXPECT_THAT(message("solref='nan 1'", ""), HasSubstr("geom 'g': solref is nan"));
  EXPECT_THAT(message("", "<tendon><fixed name='t' stiffness='nan'><joint joint='j' coef='1'/></fixed></tendon>"),
              HasSubstr("tendon 't': stiffness is nan"));
  EXPECT_THAT(message("", "<equality><joint name='e' joint1='j' polycoef='inf 0 0 0 0'/></equality>"),
              HasSubstr("equality 'e': data is inf"));
  EXPECT_THAT(message("", "<option impratio='nan'/>"), HasSubstr("option: impratio is nan"));
}

// A bias that is nothing but rounding has no size to be relative to.
TEST(Model, ZeroIsZeroUpToRounding) {
  const std::string weightless =
      "<mujoco><option gravity='0 0 0'/><worldbody><body name='pole' pos='0.1 0.2 0.3' euler='10 20 30'>"
      "<joint name='hinge' type='hinge' axis='1 2 3' pos='0.01 0.02 0.03'/>"
      "<geom type='capsule' fromto='0 0 0 0.3 0.1 0.6' size='0.05'/></body></worldbody>"
      "<actuator><motor joint='hinge'/></actuator></mujoco>";
  const Model model = load_model_from_text(weightless);
  MujocoEngine engine = MujocoEngine::from_text(weightless);
  const ModelComparison error = compare_with_mujoco(model, engine, 1000, 1);
  EXPECT_LT(error.mass_matrix, 1e-10);
  EXPECT_LT(error.bias, 1e-14);
  EXPECT_LT(error.acceleration, 1e-14);
  // A bias that is there is not taken for rounding, however small: here 1e-4 of what moving the pole takes.
  const std::string light = std::string(weightless).replace(weightless.find("0 0 0"), 5, "0 0 -1e-3");
  EXPECT_GT(compare_with_mujoco(load_model_from_text(light), engine, 10, 1).bias, 1e-5);
}

// Neither a light finger behind a heavy arm, nor a number that is zero.
TEST(Model, EveryDegreeOfFreedomHasItsScale) {
  const std::string text =
      "<mujoco><worldbody><body name='crane' pos='0 0 9'><joint name='turn' axis='0 1 0'/>"
      "<geom type='capsule' fromto='0 0 0 5 0 0' size='0.5' mass='9000'/><body name='finger' pos='5 0 0'>"
      "<joint name='bend' axis='0 1 0' pos='0.1 0 0'/><geom type='capsule' fromto='0 0 0 0.02 0 0' size='0.005' "
      "mass='0.001'/></body></body><body name='cart'><joint name='slide' type='slide' axis='1 0 0'/>"
      "<geom type='box' size='0.3 0.2 0.1' euler='10 20 30'/></body></worldbody>"
      "<actuator><motor joint='turn'/></actuator></mujoco>";
  Model model = load_model_from_text(text);
  MujocoEngine engine = MujocoEngine::from_text(text);
  const ModelComparison right = compare_with_mujoco(model, engine, 100, 1);
  for (const double error : {right.mass_matrix, right.bias, right.passive, right.acceleration}) {
    EXPECT_LT(error, 1e-12);
  }
  Link& finger = model.links[1];
  ASSERT_EQ(finger.mass, 0.001);
  finger.mass *= 1.01;
  const ModelComparison wrong = compare_with_mujoco(model, engine, 100, 1);
  EXPECT_GT(wrong.bias, 1e-3);
}

// A lift whose weight is compensated, and which is not pulled: its acceleration is rounding.
TEST(Model, ForcesThatCancelAreNoError) {
  const auto lift = [](const std::string& compensated) {
    return "<mujoco><worldbody><body name='lift' euler='10 20 30' gravcomp='" + compensated +
           "'><joint type='slide' axis='1 2 3'/><geom size='0.1' mass='3'/></body></worldbody></mujoco>";
  };
  MujocoEngine engine = MujocoEngine::from_text(lift("1"));
  const ModelComparison right = compare_with_mujoco(load_model_from_text(lift("1")), engine, 100, 1);
  EXPECT_LT(right.passive, 1e-14);
  EXPECT_LT(right.acceleration, 1e-14);
  const ModelComparison wrong = compare_with_mujoco(load_model_from_text(lift("1.001")), engine, 100, 1);
  EXPECT_NEAR(wrong.passive, 1e-3, 1e-4);
  EXPECT_GT(wrong.acceleration, 1e-4);
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
      <actuator><motor name="good" joint="j"/><muscle name="pull" joint="j" lengthrange="-1 1"/></actuator></mujoco>)",
                                           "robot.xml");
  EXPECT_THAT(model.unsupported, ElementsAre(HasSubstr("actuator 'pull'")));
  EXPECT_THAT(model.warnings, IsEmpty());
  EXPECT_EQ(model.pairs.size(), 4u);      // all with the step, and the chest with the tip
  EXPECT_EQ(model.contacts.size(), 11u);  // the box, the ball and both ends of the capsule
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
  EXPECT_THAT(unsupported("<contact><pair geom1='g' geom2='floor' friction='0.9 0.8 0 0 0'/></contact>"), IsEmpty());
  EXPECT_THAT(unsupported("<option><flag override='enable'/></option>"), ElementsAre(HasSubstr("flag 'override'")));
  EXPECT_THAT(unsupported("", "<body name='hand' mocap='true'/>"), IsEmpty());
  EXPECT_THAT(unsupported("", "<geom name='hills' type='hfield' hfield='hills' contype='2'/>"),
              ElementsAre("geom 'g': contact of a sphere with a height field, geom 'hills'"));
  EXPECT_THAT(unsupported("<equality><weld name='w' body1='a'/></equality>"), IsEmpty());
  EXPECT_THAT(unsupported("<equality><weld name='w' body1='a' active='false'/></equality>"), IsEmpty());
  EXPECT_THAT(unsupported("<actuator><motor name='jet' site='s'/></actuator>"), IsEmpty());
  EXPECT_THAT(unsupported("<actuator><adhesion name='glue' body='a' ctrlrange='0 1'/></actuator>"),
              ElementsAre("actuator 'glue': transmission 'body'"));
  EXPECT_THAT(unsupported("<option integrator='implicit'/>"), IsEmpty());
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
  EXPECT_EQ(contacts("", "margin='0.02' gap='0.005'").at(0).margin, 0.02);
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
