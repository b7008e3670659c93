// Actuators that a task file adds, and how far its actions reach.
#include <fmt/format.h>

#include "files.hpp"

namespace cgpo {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::refusal_of;
using ::testing::StartsWith;
using testing::task_of_text;

// reward, reward_paper: what the first two actuators get. The robot begins in line 7.
std::string leg_file(const std::string& keys, const std::string& mjcf, const std::string& actuators) {
  return fmt::format(
      "horizon = 10\nperiod = 0.05\nobservation = 'qpos'\nreward = 'controls[0]'\nreward_paper = 'controls[-1]'\n"
      "[robot]\n{}mjcf = '''{}'''\n{}",
      keys, mjcf, actuators);
}

const std::string kLeg =
    "<mujoco><compiler angle='radian'/><worldbody><body><freejoint name='root'/><geom size='.1'/>"
    "<body><joint name='ball' type='ball'/><geom size='.1'/>"
    "<body><joint name='hip'/><geom size='.1'/>"
    "<body><joint name='knee' range='-2.5 -0.5'/><geom size='.1'/></body></body></body></body></worldbody></mujoco>";

// Two of one name are told apart before MuJoCo sees them.
TEST(AddedActuators, HaveNamesOfTheirOwn) {
  const std::string hip = "[[robot.actuators]]\njoint = 'h*'\n";
  EXPECT_THAT(refusal_of(leg_file("", kLeg, hip + "[[robot.actuators]]\nkind = 'position'\nkp = 1\njoint = '*'\n")),
              AllOf(StartsWith("t.toml:13:9: [[robot.actuators]] for 'h*' in line 9 adds an actuator of the same name: "
                               "'hip'; choose other joints"),
                    HasSubstr("name = \"*_2\"")));
  const auto both = task_of_text(leg_file("", kLeg, hip + "[[robot.actuators]]\njoint = '*'\nname = '<*>'\n"));
  const std::vector<Actuator>& actuators = both->find_robot()->model->actuators;
  ASSERT_EQ(actuators.size(), 3U);
  EXPECT_EQ(actuators[0].name, "hip");
  EXPECT_EQ(actuators[1].name, "<hip>");
  EXPECT_EQ(actuators[1].joint, actuators[0].joint);
  std::string driven = kLeg;
  driven.insert(driven.rfind("</mujoco"), "<actuator><motor name='knee' joint='hip'/></actuator>");
  EXPECT_THAT(refusal_of(leg_file("", driven, "[[robot.actuators]]\njoint = '*'\n")),
              AllOf(StartsWith("t.toml:9:9:"), HasSubstr("the robot's file has an actuator of the same name: 'knee'")));
  EXPECT_THAT(refusal_of(leg_file("", kLeg, hip + "name = ''\n")), HasSubstr("t.toml:10:8: name is what"));
}

TEST(AddedActuators, PullAtWhatTurnsOrSlides) {
  const auto refused = [](const std::string& keys) {
    return refusal_of(leg_file("", kLeg, "[[robot.actuators]]\n" + keys));
  };
  EXPECT_EQ(refused("joint = 'knee'\n"), "");
  EXPECT_EQ(refused("joint = '*'\n"), "");
  EXPECT_THAT(refused("joint = 'root'\ngear = 500\n"), StartsWith("t.toml:9:9: joint 'root' is a free joint"));
  EXPECT_THAT(refused("joint = 'ball'\nkind = 'position'\nkp = 3\n"), HasSubstr("joint 'ball' is a ball joint"));
  EXPECT_THAT(refused("joint = 'knee'\ngear = 0\n"), StartsWith("t.toml:10:8: gear is 0"));
}

TEST(AddedActuators, SayThatNoJointHasAName) {
  const std::string bare = "<mujoco><worldbody><body><joint/><geom size='.1'/></body></worldbody>{}</mujoco>";
  EXPECT_THAT(refusal_of(leg_file("", fmt::format(fmt::runtime(bare), ""), "[[robot.actuators]]\njoint = '*_hip'\n")),
              StartsWith("t.toml:9:9: the robot has no joint with a name"));
  const std::string with_tendon = fmt::format(fmt::runtime(bare), "<actuator><general site='s'/></actuator>");
  std::string driven = with_tendon;
  driven.insert(driven.find("<geom"), "<site name='s'/>");
  EXPECT_THAT(refusal_of(leg_file("", driven, "[reset.position]\nknee = 1\n")),
              AllOf(HasSubstr("the robot has no joint with a name"), Not(HasSubstr("it has: "))));
}

// Actions reach what actuators can do, or a warning says that they do not.
TEST(AddedActuators, ActionsReachTheirRange) {
  const std::string servos =
      "[[robot.actuators]]\njoint = 'hip'\nrange = [-24, 24]\n"
      "[[robot.actuators]]\nkind = 'position'\njoint = 'knee'\nkp = 50\n";
  const auto made = [&](const std::string& keys) { return task_of_text(leg_file(keys, kLeg, servos)); };
  const auto controls = [](const Task& task, double action) {
    std::vector<double> input(static_cast<std::size_t>(2 * task.spec().states + task.spec().actions));
    for (int i = 0; i < 2; ++i) input[static_cast<std::size_t>(task.spec().states + i)] = action;
    const std::vector<double> result = evaluate(task.trace_outcome(), input);
    return std::vector<double>{result[static_cast<std::size_t>(task.layout().reward())],
                               result[static_cast<std::size_t>(task.layout().reward_paper())]};
  };
  const auto plain = made("");
  EXPECT_EQ(controls(*plain, 1.0), (std::vector<double>{1.0, -0.5}));
  EXPECT_THAT(plain->spec().warnings, Contains(HasSubstr("'hip' (4.2 %), 'knee' (25 %)")));
  EXPECT_THAT(made("action_offset = [0, 2]\n")->spec().warnings,
              Contains(AllOf(HasSubstr("NO ACTION MOVES 'knee'"), HasSubstr("action_scale = \"range\""))));
  const auto whole = made("action_scale = 'range'\n");
  EXPECT_THAT(whole->spec().warnings, IsEmpty());
  EXPECT_EQ(controls(*whole, 0.0), (std::vector<double>{0.0, -1.5}));
  EXPECT_EQ(controls(*whole, 1.0), (std::vector<double>{24.0, -0.5}));
  EXPECT_EQ(controls(*whole, -0.5), (std::vector<double>{-12.0, -2.0}));
  const auto listed = made("action_scale = [12, 0.5]\naction_offset = [1, -1]\n");
  EXPECT_EQ(controls(*listed, 0.5), (std::vector<double>{7.0, -0.75}));
  const auto refused = [&](const std::string& keys) { return refusal_of(leg_file(keys, kLeg, servos)); };
  EXPECT_THAT(refused("action_scale = [1, 2, 3]\n"), HasSubstr("action_scale has 3 numbers, but the robot has 2"));
  EXPECT_THAT(refused("action_scale = 'all'\n"), HasSubstr("t.toml:7:16: action_scale is a number, a list"));
  EXPECT_THAT(refused("action_scale = [1, -2]\n"), HasSubstr("action_scale is a number, or a list"));
  EXPECT_THAT(refusal_of(leg_file("action_scale = 'range'\n", kLeg, "[[robot.actuators]]\njoint = 'hip'\n")),
              HasSubstr("and 'hip' has none"));
}

}  // namespace
}  // namespace cgpo
