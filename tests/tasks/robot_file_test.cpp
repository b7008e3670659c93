// A robot that is given as a file: what it includes is looked for beside it, by our engine and by MuJoCo's.
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "cgpo/base/file.hpp"
#include "cgpo/tasks/robots/robot.hpp"

#include "episodes.hpp"

namespace cgpo {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

struct Swing {
  Robot body;
  const Robot& robot() const { return body; }
  TaskSpec spec() const {
    TaskSpec spec = robot_spec(body, 2);
    spec.horizon = 5;
    return spec;
  }
  void reset(RandomStream& random, std::span<double> state) const {
    for (double& x : state) x = random.uniform(-0.1, 0.1);
  }
  template <class S>
  void observe(const RobotState<S>& state, std::span<S> observation) const {
    observation[0] = state.q[0];
    observation[1] = state.v[0];
  }
  template <class S>
  StepResult<S> outcome(const RobotState<S>&, std::span<const S>, const RobotState<S>& after) const {
    StepResult<S> result;
    result.reward = result.reward_paper = after.q[0];
    return result;
  }
};

constexpr const char* kLink = R"(<body name="link"><joint name="hinge" type="hinge" axis="0 1 0" damping="0.1"/>
  <geom type="capsule" fromto="0 0 0 0 0 -1" size="0.05" contype="0"/></body>)";
constexpr const char* kDrive = R"(<actuator><motor joint="hinge" gear="3"/></actuator>)";

class RobotFile : public ::testing::Test {
 protected:
  RobotFile() {
    std::string pattern = (fs::temp_directory_path() / "cgpo-robot-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make a folder for the test");
    folder_ = pattern;
    fs::create_directories(folder_ / "robots" / "parts");
    write_file_atomically(folder_ / "robots" / "swing.xml", fmt::format(R"(<mujoco><worldbody>
        <include file="parts/link.xml"/></worldbody>{}</mujoco>)",
                                                                        kDrive));
    write_file_atomically(folder_ / "robots" / "parts" / "link.xml",
                          fmt::format("<mujocoinclude>{}</mujocoinclude>", kLink));
  }
  ~RobotFile() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  RobotDefaults from_file() const { return {.name = "swing", .file = (folder_ / "robots" / "swing.xml").string()}; }
  static RobotDefaults from_text() {
    return {.name = "swing", .xml = fmt::format("<mujoco><worldbody>{}</worldbody>{}</mujoco>", kLink, kDrive)};
  }
  static std::shared_ptr<const Task> make(RobotDefaults defaults, const char* engine) {
    defaults.period = 0.02;
    defaults.own_substeps = defaults.mujoco_substeps = 2;
    TaskOptions options(robot_options(defaults, /*collides=*/false));
    options.set("engine", std::string(engine));
    return make_robot_task(Swing{make_robot(defaults, options)});
  }
  static std::string refusal(const RobotDefaults& defaults) {
    try {
      make(defaults, "own");
    } catch (const UserError& error) {
      return error.what();
    }
    return "no error";
  }

  fs::path folder_;
};

TEST_F(RobotFile, IncludesResolveOnBothEngines) {
  for (const char* engine : {"own", "mujoco"}) {
    const Episodes file = run_episodes(make(from_file(), engine), 4, uniform_actions());
    const Episodes text = run_episodes(make(from_text(), engine), 4, uniform_actions());
    EXPECT_EQ(file.rewards, text.rewards) << engine;
  }
}

TEST_F(RobotFile, ExactlyOneOfFileAndText) {
  RobotDefaults both = from_file();
  both.xml = from_text().xml;
  EXPECT_THAT(refusal(both), HasSubstr("robot swing"));
  EXPECT_THAT(refusal({.name = "swing"}), HasSubstr("robot swing"));
}

TEST_F(RobotFile, WhatIsMissingIsNamed) {
  EXPECT_THAT(refusal({.name = "swing", .file = (folder_ / "none.xml").string()}), HasSubstr("none.xml"));
  EXPECT_THAT(refusal({.name = "swing", .file = folder_.string()}), HasSubstr("is a folder"));
  fs::remove(folder_ / "robots" / "parts" / "link.xml");
  EXPECT_THAT(refusal(from_file()), ::testing::AllOf(HasSubstr("swing.xml"), HasSubstr("parts/link.xml")));
}

}  // namespace
}  // namespace cgpo
