// What can be said of a robot, asked from outside, beside the task that says it.
#include "cgpo/taskfile/robot_words.hpp"

#include "files.hpp"

namespace cgpo {
namespace {

using testing::task_of_text;

const std::string kArm = R"TOML(
horizon = 5
period = 0.02
observation = ["body('rod').com", "joint('hinge').velocity", "time"]
reward = "torques[0]"
[robot]
mjcf = """<mujoco><option timestep="0.01"/><worldbody><body name="rod"><joint name="hinge" axis="0 1 0" range="-90 90"
limited="true"/><geom type="capsule" fromto="0 0 0 0 0 1" size="0.05"/></body></worldbody></mujoco>"""
[[robot.actuators]]
joint = "hinge"
gear = 5
range = [-0.5, 0.5]
)TOML";

TEST(RobotWords, AreThoseOfTheTask) {
  const auto task = task_of_text(kArm);
  const RobotWords words(task);
  const RobotMoment at{.qpos = {0.4}, .qvel = {-1.5}, .action = {0.25}, .time = 0.06};
  const std::vector<double> seen = evaluate(task->trace_observation(), std::vector<double>{0.4, -1.5, 6.0 / 1024.0});
  const auto com = words.value("body('rod').com", at);
  EXPECT_TRUE(com.is_vector);
  EXPECT_EQ(com.numbers, (std::vector<double>{seen[0], seen[1], seen[2]}));
  EXPECT_EQ(words.value("joint('hinge').velocity", at).numbers, (std::vector<double>{seen[3]}));
  EXPECT_NEAR(words.value("time", at).numbers[0], seen[4], 1e-15);
  EXPECT_EQ(words.value("torques", at).numbers, (std::vector<double>{1.25}));
  EXPECT_EQ(words.size("joint('hinge').velocity", false), std::nullopt);
  EXPECT_EQ(words.size("joint('h*').velocity", false), 1);
  EXPECT_EQ(words.size("body('rod').rotation", false), 9);
  EXPECT_EQ(words.size("torques", true), 1);
}

TEST(RobotWords, DescribeTheRobot) {
  const Json found = RobotWords(task_of_text(kArm)).describe();
  EXPECT_EQ(found["nq"], 1);
  EXPECT_EQ(found["nu"], 1);
  EXPECT_EQ(found["timestep"], 0.01);
  EXPECT_EQ(found["things"]["joint"]["names"], Json::array({"hinge"}));
  EXPECT_NEAR(found["joint_ranges"]["hinge"][1].get<double>(), 1.5707963267948966, 1e-12);
  EXPECT_EQ(found["actuator_ranges"]["hinge"], Json::array({-0.5, 0.5}));
  EXPECT_TRUE(found["things"]["body"]["members"].contains("contact_force"));
  EXPECT_TRUE(found["names"].contains("qpos"));
}

TEST(RobotWords, RefuseInASentence) {
  const RobotWords words(task_of_text(kArm));
  const auto refused = [](const auto& ask, const std::string& part) {
    try {
      ask();
      ADD_FAILURE() << "not refused: " << part;
    } catch (const UserError& error) {
      EXPECT_THAT(error.what(), ::testing::HasSubstr(part));
    }
  };
  refused([&] { words.size("body('rode').com", true); }, "did you mean 'rod'?");
  refused([&] { words.size("torques", false); }, "torques is not known in an observation, or before");
  refused([&] { words.value("qpos", {.qpos = {0.0, 1.0}, .qvel = {0.0}}); }, "qpos has 1 numbers, not 2");
}

}  // namespace
}  // namespace cgpo
