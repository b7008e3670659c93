// Whole robots as files, built the way others build them: includes from a folder beside the file, classes of defaults,
// several joints in a body, servos. Where something is left out, the rest must still be MuJoCo's.
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cgpo/physics/mujoco/engine.hpp"

namespace cgpo {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

std::string path_of(const char* name) { return std::string(CGPO_TEST_MODELS) + "/" + name; }

void expect_mujocos(const ModelComparison& error, const std::string& what) {
  EXPECT_LT(error.mass_matrix, 1e-10) << what;
  EXPECT_LT(error.bias, 1e-10) << what;
  EXPECT_LT(error.passive, 1e-10) << what;
  EXPECT_LT(error.acceleration, 1e-10) << what;
}

TEST(RobotFiles, DynamicsIsMujocos) {
  for (const char* name : {"hopper.xml", "walker.xml"}) {
    const Model model = load_model(path_of(name));
    EXPECT_THAT(model.unsupported, IsEmpty()) << name;
    MujocoEngine engine = MujocoEngine::from_file(path_of(name));
    expect_mujocos(compare_with_mujoco(model, engine, 1000, 1), name);
  }
}

TEST(RobotFiles, IncludesAndClassesAreRead) {
  const Model hopper = load_model(path_of("hopper.xml"));
  EXPECT_EQ(hopper.nq, 6);
  EXPECT_EQ(hopper.contacts.size(), 8u);  // both ends of four capsules
  const Joint& ankle = hopper.joints[hopper.joint_id("ankle")];
  EXPECT_EQ(ankle.stiffness, 8.0);
  EXPECT_NEAR(ankle.upper, 30.0 / 180.0 * 3.14159265358979, 1e-12);
  EXPECT_EQ(hopper.contacts.back().friction, 1.7);
  EXPECT_EQ(hopper.joints[hopper.joint_id("z")].reference, 1.3);
  const Model walker = load_model(path_of("walker.xml"));
  EXPECT_EQ(walker.contacts.size(), 15u);  // seven capsules and the head
  EXPECT_EQ(walker.contacts.front().friction, 1.2);
}

TEST(RobotFiles, WhatIsLeftOutIsNamedAndTheRestIsMujocos) {
  const Model model = load_model(path_of("humanoid.xml"));
  EXPECT_THAT(model.unsupported, UnorderedElementsAre(HasSubstr("tendon 'sling'"), HasSubstr("equality 'band'"),
                                                      HasSubstr("actuator 'biceps': activation dynamics 'muscle'")));
  MujocoEngine engine = MujocoEngine::from_file(path_of("humanoid.xml"));
  const ModelComparison whole = compare_with_mujoco(model, engine, 100, 1);
  EXPECT_LT(whole.mass_matrix, 1e-10);
  EXPECT_LT(whole.bias, 1e-10);
  EXPECT_GT(whole.passive, 1e-3);  // the sling
  EXPECT_GT(whole.acceleration, 1e-3);
  engine.leave_out_unsupported();
  expect_mujocos(compare_with_mujoco(model, engine, 1000, 1), "humanoid.xml");
}

TEST(RobotFiles, IncludesAreLookedForBesideTheFile) {
  const std::filesystem::path before = std::filesystem::current_path();
  const std::string relative = std::filesystem::relative(path_of("hopper.xml"), std::filesystem::temp_directory_path());
  std::filesystem::current_path(std::filesystem::temp_directory_path());
  EXPECT_EQ(load_model(relative).nq, 6);
  std::filesystem::current_path(before);
}

}  // namespace
}  // namespace cgpo
