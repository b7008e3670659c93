// `cgpo model`: robots that are fine, robots with elements that our dynamics leaves out, and files that are no robots.
#include <gmock/gmock.h>
#include <map>
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

// Stays unsupported: a tendon that wraps, what pulls on it, a cylinder on fixed geometry. A position servo that is
// fine.
constexpr const char* kUnsupported = R"(<mujoco><worldbody><geom name="floor" type="plane" size="9 9 1"/>
  <geom name="step" type="box" size="0.2 0.2 0.2" contype="2" conaffinity="2"/><site name="hook" pos="0.5 0 1.5"/>
  <body name="crate" pos="0 0 1"><joint name="lift" type="slide" axis="0 0 1"/>
    <geom name="shell" type="cylinder" size="0.1 0.1" contype="2" conaffinity="2"/><site name="ring" pos="0.1 0 0"/></body>
  <body name="arm" pos="1 0 1"><joint name="elbow" type="hinge" axis="0 1 0"/>
    <geom name="pulley" type="sphere" size="0.05" contype="0" conaffinity="0"/>
    <geom name="bone" type="capsule" fromto="0 0 0 0.3 0 0" size="0.02"/><site name="tip" pos="0.3 0 0"/></body></worldbody>
  <tendon><spatial name="rope" stiffness="5"><site site="ring"/><geom geom="pulley"/><site site="hook"/></spatial></tendon>
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
  EXPECT_EQ(model.at("pairs"), 0);  // torso and foot are not parent and child, but out of each other's reach
  EXPECT_THAT(model.at("notes").at(0).get<std::string>(), AllOf(HasSubstr("sole"), HasSubstr("torso")));
  EXPECT_EQ(model.at("warnings"), Json::array());
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

// What moves it and what ties it together.
TEST_F(ModelCommand, ShowsActuatorsTiesAndPairs) {
  const std::string robot = R"(<mujoco><worldbody><geom name="floor" type="plane" size="9 9 1"/>
    <body name="a" pos="0 0 1"><freejoint name="root"/><geom name="trunk" size="0.1"/>
      <body name="b" pos="0.5 0 0"><joint name="hip" axis="0 1 0"/><geom size="0.1" contype="0" conaffinity="0"/></body>
      <body name="c" pos="-0.5 0 0"><joint name="knee" axis="0 1 0"/><geom size="0.1" contype="0" conaffinity="0"/></body></body>
    <body name="d" pos="2 0 1"><freejoint/><geom name="stone" size="0.1"/></body></worldbody>
    <tendon><fixed name="strap" range="-1 2" stiffness="30"><joint joint="hip" coef="2"/><joint joint="knee" coef="-1"/></fixed></tendon>
    <equality><connect name="pin" body1="b" body2="c" anchor="0 0 0" active="true"/><joint name="mimic" joint1="hip" joint2="knee"/></equality>
    <actuator><position name="servo" joint="hip" kp="40" kv="2" forcerange="-30 30"/>
      <general name="slow" joint="knee" dyntype="filter" dynprm="0.05" gainprm="3" biasprm="0.5 0 0" biastype="affine"/>
      <motor name="pull" tendon="strap" gear="4" ctrlrange="-1 1"/></actuator></mujoco>)";
  const Json model = json_of(robot);
  EXPECT_EQ(model.at("na"), 1);
  const Json& actuators = model.at("actuators");
  ASSERT_EQ(actuators.size(), 3U);
  EXPECT_EQ(actuators[0].at("kind"), "position");
  EXPECT_EQ(actuators[0].at("force_range"), Json({-30.0, 30.0}));
  EXPECT_EQ(actuators[0].at("control_range"), Json());
  EXPECT_EQ(actuators[1].at("has_activation"), true);
  EXPECT_EQ(actuators[1].at("kind"), "general");
  EXPECT_EQ(actuators[2].at("at"), "tendon strap");
  EXPECT_EQ(actuators[2].at("control_range"), Json({-1.0, 1.0}));
  EXPECT_EQ(model.at("tendons").at(0).at("along"), "2 hip, -1 knee");
  EXPECT_EQ(model.at("equalities").at(0).at("between"), Json({"b", "c"}));
  EXPECT_EQ(model.at("equalities").at(1).at("type"), "joint");
  EXPECT_EQ(model.at("pair_names").at(0), Json({"geom 'trunk'", "geom 'stone'"}));
  const ProgramOutcome outcome = run({"model", "robot.xml", "--states", "20"});
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("3 controls, 1 activations, 4 bodies"), HasSubstr("-30 to 30  position, kp 40, kv 2"),
                    HasSubstr("general, gain 3 0 0, bias 0.5 0 0, filter of 0.05 s"), HasSubstr("tendon strap"),
                    HasSubstr("-1 to 2"), HasSubstr("2 hip, -1 knee"), HasSubstr("connect  b and c")));
  EXPECT_THAT(outcome.out, HasSubstr("may touch one another:\n  geom 'trunk' with geom 'stone'\n"));
}

TEST_F(ModelCommand, NamesWhatIsNotSupportedAndComparesTheRest) {
  const Json model = json_of(kUnsupported);
  const auto unsupported = model.at("unsupported").get<std::vector<std::string>>();
  EXPECT_THAT(unsupported, Contains(HasSubstr("tendon 'rope'")));
  EXPECT_THAT(unsupported, Contains(AllOf(HasSubstr("geom 'shell'"), HasSubstr("cylinder"))));
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
  write_file_atomically(at("walker.toml"), "horizon = 10\n");
  expect_refused({"model", "walker.toml"}, {"'walker.toml' is a task file", "model FILE.xml", "check walker.toml"});
  expect_refused({"model", "folder"}, {"folder", "no file *.xml"});
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

// One that falls apart, in a simulator of fixed steps, whoever makes them: every turn is driven further.
const std::string kRunaway =
    "<mujoco><worldbody><body><joint name='top' axis='0 1 0'/><geom size='0.1'/></body></worldbody>"
    "<actuator><general joint='top' biastype='affine' biasprm='1 1e9 0'/></actuator></mujoco>";

TEST_F(ModelCommand, StepsUnderRandomControls) {
  const Json hopper = json_of(kHopper);
  EXPECT_EQ(hopper.at("accepted"), true);
  EXPECT_EQ(hopper.at("trial").at("steps"), 1000);
  EXPECT_GE(hopper.at("trial").at("episodes"), 1);
  EXPECT_EQ(hopper.at("trial").at("diverged"), 0);
  EXPECT_GT(hopper.at("operations"), 100);
  EXPECT_GT(hopper.at("substeps_per_second"), 1e5);
  EXPECT_EQ(json_of(kHopper, {"--steps", "7"}).at("trial").at("steps"), 7);
  EXPECT_FALSE(json_of(kHopper, {"--steps", "0"}).contains("trial"));
  const Json runaway = json_of(kRunaway);
  EXPECT_EQ(runaway.at("accepted"), true);
  EXPECT_EQ(runaway.at("trial").at("diverged"), runaway.at("trial").at("episodes"));
  EXPECT_EQ(runaway.at("trial").at("mujoco_diverged"), runaway.at("trial").at("episodes"));
  EXPECT_EQ(runaway.at("trial").at("at"), "joint 'top'");
  const ProgramOutcome outcome = run({"model", "robot.xml"});
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("DIVERGED"), HasSubstr("joint 'top'"), HasSubstr("substeps/s")));
}

class ModelSurvey : public ModelCommand {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(at("robots/more"));
    write_file_atomically(at("robots/hopper.xml"), kHopper);
    write_file_atomically(at("robots/broken.xml"), "<mujoco><worldbdy/></mujoco>");
    write_file_atomically(at("robots/more/crate.xml"), kUnsupported);
    write_file_atomically(at("robots/more/part.xml"),
                          "<!-- <mujoco> --><?xml?>\n<mujocoinclude><body/></mujocoinclude>");
    write_file_atomically(at("robots/more/stone.xml"), "<mujoco><worldbody><geom size='1'/></worldbody></mujoco>");
    write_file_atomically(at("robots/notes.txt"), "not looked at");
  }
  // By the file's name.
  std::map<std::string, Json> files_of(const ProgramOutcome& outcome) {
    std::map<std::string, Json> files;
    const Json all = Json::parse(outcome.out);
    for (const Json& file : all.at("files")) {
      files[std::filesystem::path(file.at("path").get<std::string>()).filename().string()] = file;
    }
    return files;
  }
};

TEST_F(ModelSurvey, OfAFolderTakesEveryFile) {
  const auto before = snapshot();
  const ProgramOutcome outcome = run({"model", "robots", "--json", "--jobs", "2"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(snapshot(), before);  // MuJoCo would leave a log
  auto files = files_of(outcome);
  ASSERT_EQ(files.size(), 5U);
  EXPECT_EQ(files["hopper.xml"].at("path"), "robots/hopper.xml");
  EXPECT_EQ(files["hopper.xml"].at("status"), "accepted");
  EXPECT_EQ(files["hopper.xml"].at("accepted"), true);
  EXPECT_EQ(files["hopper.xml"].at("error"), nullptr);
  EXPECT_EQ(files["hopper.xml"].at("unsupported"), Json::array());
  EXPECT_EQ(files["hopper.xml"].at("trial").at("diverged"), 0);
  for (const char* field : {"mass_matrix", "bias", "passive", "acceleration"}) {
    EXPECT_LE(files["hopper.xml"].at("max_error").at(field), 1e-10) << field;
  }
  EXPECT_EQ(files["crate.xml"].at("status"), "left out");
  EXPECT_EQ(files["crate.xml"].at("accepted"), false);
  EXPECT_EQ(files["crate.xml"].at("left_out").at("tendon: a path around a geom"), 1);
  EXPECT_GT(files["crate.xml"].at("unsupported").size(), 0U);
  EXPECT_GT(files["crate.xml"].at("max_error").at("acceleration"), 1e-3);
  EXPECT_EQ(files["broken.xml"].at("status"), "refused");
  EXPECT_EQ(files["broken.xml"].at("accepted"), false);
  EXPECT_THAT(files["broken.xml"].at("error").get<std::string>(), HasSubstr("worldbdy"));
  EXPECT_EQ(files["part.xml"].at("status"), "no MJCF");
  EXPECT_EQ(files["stone.xml"].at("status"), "no joints");

  const ProgramOutcome table = run({"model", "robots", "--steps", "10", "--states", "10"});
  EXPECT_EQ(table.code, 0) << table.err;
  EXPECT_THAT(table.out,
              AllOf(HasSubstr("robots/hopper.xml"), HasSubstr("hold"), HasSubstr("tendon: a path around a geom: 1"),
                    HasSubstr("worldbdy"), HasSubstr("<mujocoinclude>"),
                    HasSubstr("5 files: 1 accepted, 1 read with elements left out, 1 refused")));
}

TEST_F(ModelSurvey, OfFilesKeepsTheirOrder) {
  const ProgramOutcome outcome = run({"model", "robots/more/crate.xml", "robots/hopper.xml", "--json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const Json files = Json::parse(outcome.out).at("files");
  ASSERT_EQ(files.size(), 2U);
  EXPECT_EQ(files.at(0).at("path"), "robots/more/crate.xml");
  EXPECT_EQ(files.at(1).at("path"), "robots/hopper.xml");
  expect_refused({"model", "robots", "missing.xml"}, {"missing.xml"});
  EXPECT_EQ(run({"model", "robots/broken.xml", "robots/more/part.xml", "--json"}).code, 2);  // nothing was read
}

TEST_F(ModelSurvey, AFileThatTakesTooLongIsGivenUp) {
  const std::vector<std::string> arguments = {"model",  "robots", "--time-limit", "1",
                                              "--jobs", "4",      "--states",     "1000000"};
  const ProgramOutcome outcome = run(arguments);
  EXPECT_EQ(outcome.code, 2) << outcome.out;
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("hopper.xml: it took longer than 1 s"), HasSubstr("worldbdy"), HasSubstr("2 failed")));
}

TEST_F(ModelCommand, NamesNeedNotBeUnicode) {
  const Json model = json_of(one_body("<geom type='box' size='1 1 1' name='\xff'/>") + "\n");
  EXPECT_EQ(model.at("bodies"), 1);
}

}  // namespace
}  // namespace cgpo
