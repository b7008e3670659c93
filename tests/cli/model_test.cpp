// `cgpo model`: robots that are fine, robots with elements that our dynamics leaves out, and files that are no robots.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "cgpo/base/file.hpp"
#include "cgpo/base/random.hpp"

#include "program.hpp"

namespace cgpo {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using Json = nlohmann::json;

constexpr const char* kHopper = R"(<mujoco><option timestep="0.004" density="1.2" viscosity="1e-5"/>
  <default><geom type="capsule" size="0.05"/><joint axis="0 1 0" damping="1" armature="0.5"/>
    <motor ctrllimited="true" ctrlrange="-1 1" gear="100"/></default>
  <worldbody><geom name="floor" type="plane" size="20 20 1"/>
    <body name="torso" pos="0 0 1.2"><joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1"/>
      <joint name="pitch"/><geom fromto="0 0 0.2 0 0 -0.2"/>
      <body name="leg" pos="0 0 -0.2"><joint name="knee" range="-100 0" limited="true"/><geom fromto="0 0 0 0 0 -0.5"/>
        <body name="foot" pos="0 0 -0.5"><joint name="ankle"/><geom name="sole" fromto="-0.1 0 0 0.2 0 0"/></body>
      </body></body></worldbody>
  <actuator><motor name="knee" joint="knee"/><motor joint="ankle"/></actuator></mujoco>)";

// A box on the floor, pulled by a tendon; a position servo that is fine.
constexpr const char* kUnsupported = R"(<mujoco><worldbody><geom name="floor" type="plane" size="9 9 1"/>
  <body name="crate" pos="0 0 1"><joint name="lift" type="slide" axis="0 0 1"/>
    <geom name="shell" type="box" size="0.1 0.1 0.1"/></body>
  <body name="arm" pos="1 0 1"><joint name="elbow" type="hinge" axis="0 1 0"/>
    <geom name="bone" type="capsule" fromto="0 0 0 0.3 0 0" size="0.02"/></body></worldbody>
  <tendon><fixed name="rope" stiffness="5"><joint joint="lift" coef="1"/><joint joint="elbow" coef="0.3"/></fixed></tendon>
  <actuator><position name="servo" joint="elbow" kp="3"/><motor name="winch" tendon="rope"/></actuator></mujoco>)";

class ModelCommand : public ProgramTest {
 protected:
  Json json_of(const std::string& xml, const std::vector<std::string>& more = {}) {
    write_file_atomically(at("robot.xml"), xml);
    std::vector<std::string> arguments = {"model", "robot.xml", "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProgramOutcome outcome = run(arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 1) << outcome.out;
    return Json::parse(outcome.out);
  }

  void expect_refused(const std::vector<std::string>& arguments, const std::vector<std::string>& words) {
    const auto before = snapshot();
    const ProgramOutcome outcome = run(arguments);
    const std::string line = ::testing::PrintToString(arguments);
    EXPECT_EQ(outcome.code, 2) << line << outcome.out << outcome.err;
    EXPECT_EQ(outcome.out, "") << line;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << line << outcome.err;
    for (const std::string& word : words) EXPECT_THAT(outcome.err, HasSubstr(word)) << line;
    EXPECT_EQ(snapshot(), before) << line;  // MuJoCo would leave a log
  }
  void expect_refused_text(const std::string& xml, std::vector<std::string> words) {
    write_file_atomically(at("bad.xml"), xml);
    words.push_back("bad.xml");
    expect_refused({"model", "bad.xml"}, words);
    expect_refused({"model", "bad.xml", "--json"}, words);
  }
};

TEST_F(ModelCommand, AGoodRobotIsMujocos) {
  const Json model = json_of(kHopper);
  EXPECT_EQ(model.at("nq"), 5);
  EXPECT_EQ(model.at("nv"), 5);
  EXPECT_EQ(model.at("nu"), 2);
  EXPECT_EQ(model.at("bodies"), 3);
  EXPECT_EQ(model.at("contacts"), 6);  // both ends of three capsules
  EXPECT_EQ(model.at("states"), 1000);
  EXPECT_EQ(model.at("gravity"), Json({0.0, 0.0, -9.81}));
  EXPECT_EQ(model.at("density"), 1.2);
  EXPECT_GT(model.at("mass"), 1.0);
  EXPECT_EQ(model.at("unsupported"), Json::array());
  for (const char* field : {"mass_matrix", "bias", "passive", "acceleration"}) {
    EXPECT_LE(model.at("max_error").at(field), 1e-10) << field;
  }
  // torso and foot are not parent and child, so MuJoCo would let them collide
  ASSERT_EQ(model.at("warnings").size(), 1U);
  EXPECT_THAT(model.at("warnings").at(0).get<std::string>(), AllOf(HasSubstr("sole"), HasSubstr("torso")));
  EXPECT_EQ(json_of(kHopper, {"--states", "7"}).at("states"), 7);
  EXPECT_NE(json_of(kHopper, {"--states", "7", "--seed", "3"}).at("max_error"),
            json_of(kHopper, {"--states", "7"}).at("max_error"));
}

TEST_F(ModelCommand, TellsWhatWasRead) {
  write_file_atomically(at("robot.xml"), kHopper);
  const ProgramOutcome outcome = run({"model", "robot.xml", "--states", "50"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("5 positions, 5 velocities, 2 controls, 3 bodies, 6 contact points"),
                                 HasSubstr("gravity 0 0 -9.81"), HasSubstr("fluid of density 1.2"),
                                 HasSubstr("knee (hinge -1.745 to 0)"), HasSubstr("-1 to 1"), HasSubstr("sole"),
                                 HasSubstr("equals MuJoCo's on 50 random states")));
}

TEST_F(ModelCommand, NamesWhatIsNotSupportedAndComparesTheRest) {
  const Json model = json_of(kUnsupported);
  const auto unsupported = model.at("unsupported").get<std::vector<std::string>>();
  EXPECT_THAT(unsupported, Contains(HasSubstr("tendon 'rope'")));
  EXPECT_THAT(unsupported, Contains(AllOf(HasSubstr("geom 'shell'"), HasSubstr("box"))));
  EXPECT_THAT(unsupported, Contains(AllOf(HasSubstr("actuator 'winch'"), HasSubstr("tendon"))));
  EXPECT_THAT(unsupported, ::testing::Not(Contains(HasSubstr("servo"))));
  EXPECT_EQ(model.at("contacts"), 2);  // of the bone
  // Mass and bias do not know of the tendon; forces do, and it is not ours.
  EXPECT_LE(model.at("max_error").at("mass_matrix"), 1e-10);
  EXPECT_LE(model.at("max_error").at("bias"), 1e-10);
  EXPECT_GT(model.at("max_error").at("acceleration"), 1e-3);
  for (const char* field : {"mass_matrix", "bias", "passive", "acceleration"}) {
    EXPECT_LE(model.at("max_error_supported").at(field), 1e-10) << field;
  }
  const ProgramOutcome outcome = run({"model", "robot.xml"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("not supported"), HasSubstr("rope"), HasSubstr("shell"),
                                 HasSubstr("is not MuJoCo's, which has the elements above"),
                                 HasSubstr("without those elements it equals MuJoCo's")));
}

TEST_F(ModelCommand, RefusesWhatIsNoRobot) {
  std::filesystem::create_directory(at("folder"));
  expect_refused({"model"}, {"FILE.xml"});
  expect_refused({"model", "missing.xml"}, {"missing.xml"});
  expect_refused({"model", "folder"}, {"folder"});
  expect_refused({"model", "missing.xml", "--states", "0"}, {"--states must be a whole number from 1"});
  expect_refused_text("", {});
  expect_refused_text("not XML at all", {});
  expect_refused_text("<mujoco><worldbody><body></worldbody></mujoco>", {});
  expect_refused_text("<mujoco><worldbdy/></mujoco>", {"worldbdy"});
  expect_refused_text("<mujoco><worldbody><geom size='1'/></worldbody></mujoco>", {"no <joint>"});
  expect_refused_text("<mujoco><include file='parts/none.xml'/></mujoco>", {"parts/none.xml"});
  ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
  const ProgramOutcome pipe = run({"model", "pipe"});  // must not wait for what nobody writes
  EXPECT_EQ(pipe.code, 2);
  EXPECT_THAT(pipe.err, HasSubstr("'pipe' is not a file"));
}

// Its motors may come from elsewhere; only training needs them.
TEST_F(ModelCommand, ReadsARobotWithoutActuators) {
  const Json model = json_of("<mujoco><worldbody><body><joint name='j'/><geom size='1'/></body></worldbody></mujoco>");
  EXPECT_EQ(model.at("nu"), 0);
  EXPECT_LT(model.at("max_error").at("acceleration").get<double>(), 1e-10);
}

// A robot of one body with these things in it.
std::string one_body(const std::string& geom, const std::string& joint = "", const std::string& before = "") {
  return "<mujoco>" + before + "<worldbody><body name='b'><joint name='j' " + joint + "/>" + geom +
         "</body></worldbody><actuator><motor joint='j'/></actuator></mujoco>";
}

TEST_F(ModelCommand, RefusesBodiesThatCannotMove) {
  expect_refused_text(one_body("<geom size='1' mass='0'/>"), {"mass", "name 'b'"});
  expect_refused_text(one_body("<geom size='1' mass='-1'/>"), {"mass"});
  expect_refused_text(one_body(""), {"mass", "name 'b'"});
  expect_refused_text(one_body("<inertial pos='0 0 0' mass='1' diaginertia='0 0 0'/>"), {"inertia", "name 'b'"});
  expect_refused_text(one_body("<inertial pos='0 0 0' mass='1' diaginertia='1 1 5'/>"), {"inertia", "name 'b'"});
  expect_refused_text(one_body("<geom size='1'/>", "armature='-1e9'"), {"joint 'j'", "armature"});
  expect_refused_text(one_body("<geom size='1'/>", "", "<option timestep='0'/>"), {"timestep"});
}

TEST_F(ModelCommand, RefusesNumbersThatAreNone) {
  expect_refused_text(one_body("<geom size='abc'/>"), {"size", "geom"});
  expect_refused_text(one_body("<geom size='1e999'/>"), {"size", "geom"});
  expect_refused_text(one_body("<geom name='g' size='inf'/>"), {"geom 'g'", "size is inf"});
  expect_refused_text(one_body("<geom name='g' size='1' pos='0 nan 0'/>"), {"geom 'g'", "pos is nan"});
  // MuJoCo takes these for attributes that were not given
  expect_refused_text(one_body("\n<geom size='1' mass='nan'/>"), {"geom in line 2", "mass is nan"});
  expect_refused_text(one_body("<geom size='1' euler='0 NaN 0'/>"), {"geom in line 1", "euler is nan"});
  expect_refused_text(one_body("<geom size='1'/>", "damping='nan'"), {"joint 'j'", "damping is nan"});
  expect_refused_text(one_body("<geom size='1'/>", "ref='nan'"), {"joint 'j'", "ref is nan"});
  expect_refused_text(one_body("<geom size='1'/>", "", "<option gravity='0 0 nan'/>"), {"option", "gravity is nan"});
}

TEST_F(ModelCommand, RefusesMeshesThatAreNone) {
  const auto with_mesh = [](const std::string& file) {
    return one_body("<geom type='mesh' mesh='hull'/>", "", "<asset><mesh name='hull' file='" + file + "'/></asset>");
  };
  write_file_atomically(at("garbage.stl"), "this is no mesh");
  write_file_atomically(at("empty.obj"), "");
  expect_refused_text(one_body("<geom type='mesh' mesh='hull'/>"), {"hull"});
  expect_refused_text(with_mesh("missing.stl"), {"missing.stl"});
  expect_refused_text(with_mesh("garbage.stl"), {"garbage.stl"});
  expect_refused_text(with_mesh("empty.obj"), {"hull"});
  expect_refused_text(with_mesh("bad.xml"), {"hull"});
}

TEST_F(ModelCommand, RefusesGarbageOfAnySize) {
  std::string noise(8 << 20, '\0');
  RandomStream random(1, Purpose::kTest);
  for (char& c : noise) c = static_cast<char>(random.bits());
  expect_refused_text(noise, {"XML"});
  expect_refused_text(std::string(8 << 20, '<'), {"XML"});
  expect_refused_text(std::string(8 << 20, '\0'), {"XML"});
  std::string deep = "<mujoco>";
  for (int i = 0; i < 100000; ++i) deep += "<worldbody>";
  expect_refused_text(deep, {"deep"});
}

TEST_F(ModelCommand, NamesNeedNotBeUnicode) {
  const Json model = json_of(one_body("<geom type='box' size='1 1 1' name='\xff'/>") + "\n");
  EXPECT_EQ(model.at("bodies"), 1);
}

}  // namespace
}  // namespace cgpo
