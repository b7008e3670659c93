// The robots of models/ against the tables of the task sheet.
#include "cgpo/tasks/robots/models.hpp"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

#include "cgpo/base/error.hpp"
#include "cgpo/physics/model/model.hpp"
#include "cgpo/physics/mujoco/engine.hpp"
#include "cgpo/tasks/robots/robot.hpp"

namespace cgpo {
namespace {

Model load(const std::string& name) { return load_model_from_text(std::string(model_text(name)), name); }

// To five digits.
void expect_close(double value, double expected) { EXPECT_NEAR(value, expected, 6e-6 * std::abs(expected) + 1e-12); }

struct Expected {
  const char* body;
  double mass;
  Vec3<double> centre;
  double largest;        // principal moment
  double smallest = -1;  // same; −1: not in the table
};

void expect_bodies(const Model& model, const std::vector<Expected>& bodies, double centre_tolerance = 1e-6) {
  for (const Expected& expected : bodies) {
    SCOPED_TRACE(expected.body);
    const Body& body = model.bodies[static_cast<std::size_t>(model.body_id(expected.body))];
    expect_close(body.mass, expected.mass);
    for (int i = 0; i < 3; ++i) EXPECT_NEAR(body.inertial_position[i], expected.centre[i], centre_tolerance);
    const auto [low, high] = std::minmax_element(body.inertia.at.begin(), body.inertia.at.end());
    expect_close(*high, expected.largest);
    if (expected.smallest >= 0) expect_close(*low, expected.smallest);
  }
}

TEST(Models, CartPole) {
  const Model model = load("cartpole");
  expect_close(model.total_mass(), 15.490567);
  EXPECT_NEAR(model.bodies[1].mass, 10.471976, 1e-6);
  const Body& pole = model.bodies[static_cast<std::size_t>(model.body_id("pole"))];
  expect_close(pole.mass, 5.018592);
  EXPECT_NEAR(pole.inertial_position[0], 0.0005, 1e-12);
  EXPECT_NEAR(pole.inertial_position[2], 0.3, 1e-12);
  EXPECT_NEAR(pole.inertia[0], 0.18875, 5e-6);
  EXPECT_TRUE(model.contacts.empty());
}

TEST(Models, Reacher) {
  const Model model = load("reacher");
  expect_close(model.total_mass() + 0.0030536, 0.078452);  // the target is not a body
  expect_bodies(model, {{"body0", 0.0356047, vec3(0.05, 0.0, 0.0), 3.91757e-5},
                        {"body1", 0.0356047, vec3(0.05, 0.0, 0.0), 3.91757e-5}});
  const Body& tip = model.bodies[static_cast<std::size_t>(model.body_id("fingertip"))];
  EXPECT_NEAR(tip.mass, 0.0041888, 5e-8);
  EXPECT_EQ(tip.link, model.bodies[static_cast<std::size_t>(model.body_id("body1"))].link);
  expect_close(model.links[1].mass, 0.0397935);
}

TEST(Models, HalfCheetah) {
  const Model model = load("halfcheetah");
  expect_close(model.total_mass(), 14.0);
  expect_bodies(model,
                {{"torso", 6.250209, vec3(0.15239, 0.0, 0.02540), 0.897118},
                 {"bthigh", 1.543515, vec3(0.1, 0.0, -0.13), 0.0168443},
                 {"bshin", 1.587448, vec3(-0.14, 0.0, -0.07), 0.0182674},
                 {"bfoot", 1.095397, vec3(0.03, 0.0, -0.097), 0.0063524},
                 {"fthigh", 1.438075, vec3(-0.07, 0.0, -0.12), 0.0137396},
                 {"fshin", 1.200837, vec3(0.065, 0.0, -0.09), 0.0082221},
                 {"ffoot", 0.884519, vec3(0.045, 0.0, -0.07), 0.0035291}},
                5e-6);
  EXPECT_EQ(model.contacts.size(), 10U);
  for (const ContactPoint& point : model.contacts) EXPECT_EQ(point.friction, 0.4);
}

TEST(Models, Ant) {
  const Model model = load("ant");
  expect_close(model.total_mass(), 0.910880);
  EXPECT_EQ(model.contacts.size(), 4U);
  std::vector<Expected> bodies = {{"torso", 0.483880, vec3(0.0, 0.0, 0.0), 0.013586, 0.011120}};
  const double sx[] = {1, -1, -1, 1};
  const double sy[] = {1, 1, -1, -1};
  const char* upper[] = {"upper_1", "upper_2", "upper_3", "upper_4"};
  const char* lower[] = {"lower_1", "lower_2", "lower_3", "lower_4"};
  for (int k = 0; k < 4; ++k) {
    bodies.push_back({upper[k], 0.0391578, vec3(0.1 * sx[k], 0.1 * sy[k], 0.0), 5.67966e-4, 1.18442e-4});
    bodies.push_back({lower[k], 0.0675922, vec3(0.2 * sx[k], 0.2 * sy[k], 0.0), 2.67479e-3, 2.09432e-4});
  }
  for (Expected& body : bodies) {  // the torso's moments are given to five digits only
    SCOPED_TRACE(body.body);
    const Body& ours = model.bodies[static_cast<std::size_t>(model.body_id(body.body))];
    EXPECT_NEAR(ours.mass, body.mass, 6e-7);
    for (int i = 0; i < 3; ++i) EXPECT_NEAR(ours.inertial_position[i], body.centre[i], 1e-9);
    const auto [low, high] = std::minmax_element(ours.inertia.at.begin(), ours.inertia.at.end());
    EXPECT_NEAR(*high, body.largest, 3e-5 * body.largest);
    EXPECT_NEAR(*low, body.smallest, 5e-5 * body.smallest);
  }
  const char* order[] = {"hip_4", "ankle_4", "hip_1", "ankle_1", "hip_2", "ankle_2", "hip_3", "ankle_3"};
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(model.actuators[i].name, order[i]);
}

TEST(Models, Swimmer) {
  const Model model = load("swimmer");
  expect_close(model.total_mass(), 106.814150);
  expect_bodies(model, {{"torso", 35.60472, vec3(1.0, 0.0, 0.0), 3.91757, 0.173835},
                        {"mid", 35.60472, vec3(-0.5, 0.0, 0.0), 3.91757, 0.173835},
                        {"back", 35.60472, vec3(-0.5, 0.0, 0.0), 3.91757, 0.173835}});
  EXPECT_EQ(model.fluid_bodies.size(), 3U);
}

TEST(Models, DynamicsIsMujocos) {
  for (const char* name :
       {"cartpole", "reacher", "halfcheetah", "ant", "swimmer", "hopper", "walker2d", "humanoid", "quadruped"}) {
    SCOPED_TRACE(name);
    const Model model = load(name);
    EXPECT_TRUE(model.unsupported.empty());
    MujocoEngine engine = MujocoEngine::from_text(std::string(model_text(name)), name);
    const ModelComparison error = compare_with_mujoco(model, engine, 1000, 1);
    EXPECT_LT(error.mass_matrix, 1e-10);
    EXPECT_LT(error.bias, 1e-10);
    EXPECT_LT(error.passive, 1e-10);
    EXPECT_LT(error.acceleration, 1e-10);
  }
}

// What the own engine does not know is listed in the task's spec; MuJoCo's step leaves nothing out.
TEST(Models, UnsupportedElementsReachTheSpec) {
  const RobotDefaults defaults{
      .name = "puppet",
      .xml = R"(<mujoco><worldbody><body><joint name="a" type="hinge"/><geom size=".1"/></body></worldbody>
                <actuator><motor joint="a" ctrllimited="true" ctrlrange="-1 1"/>
                <muscle name="biceps" joint="a" lengthrange="-1 1"/></actuator></mujoco>)",
      .period = 0.02};
  TaskOptions options(robot_options(defaults, false));
  const TaskSpec own = robot_spec(make_robot(defaults, options), 2);
  ASSERT_FALSE(own.unsupported.empty());
  EXPECT_NE(own.unsupported[0].find("biceps"), std::string::npos);
  options.set("engine", std::string("mujoco"));
  EXPECT_TRUE(robot_spec(make_robot(defaults, options), 2).unsupported.empty());
}

TEST(Models, UnknownNameIsAnError) { EXPECT_THROW(model_text("horse"), UserError); }

}  // namespace
}  // namespace cgpo
