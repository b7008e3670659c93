// Mass matrix, bias, passive forces, accelerations and whole flights against MuJoCo.
#include "cgpo/physics/dynamics/smooth_dynamics.hpp"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

#include "cgpo/base/random.hpp"
#include "cgpo/physics/dynamics/step.hpp"
#include "cgpo/physics/mujoco/engine.hpp"

#include "robots.hpp"

namespace cgpo {
namespace {

using testing::Robot;
using testing::robots;

TEST(SmoothDynamics, EqualsMujoco) {
  for (const Robot& robot : robots()) {
    const Model model = load_model_from_text(robot.xml, robot.name);
    MujocoEngine engine = MujocoEngine::from_text(robot.xml);
    const ModelComparison error = compare_with_mujoco(model, engine, 300, 1);
    EXPECT_LT(error.mass_matrix, 1e-12) << robot.name;
    EXPECT_LT(error.bias, 1e-12) << robot.name;
    EXPECT_LT(error.passive, 1e-12) << robot.name;
    EXPECT_LT(error.acceleration, 1e-10) << robot.name;
    std::printf("%-10s M %.1e  bias %.1e  passive %.1e  acceleration %.1e\n", robot.name, error.mass_matrix, error.bias,
                error.passive, error.acceleration);
  }
}

TEST(SmoothDynamics, BodiesAreWhereMujocoPutsThem) {
  for (const Robot& robot : robots()) {
    const Model model = load_model_from_text(robot.xml, robot.name);
    MujocoEngine engine = MujocoEngine::from_text(robot.xml);
    for (std::uint32_t index = 0; index < 20; ++index) {
      const RandomState state = random_state(model, 2, index);
      engine.set_state(state.q, state.v);
      engine.forward(state.control);
      const auto kinematics = forward_kinematics<double>(model, state.q, state.v, DofAxes::kTree);
      for (std::size_t b = 0; b < model.bodies.size(); ++b) {
        const Vec3<double> ours = point_position(model, kinematics, static_cast<int>(b));
        const Vec3<double> theirs = engine.body_position(static_cast<int>(b));
        for (int k = 0; k < 3; ++k) EXPECT_NEAR(ours[k], theirs[k], 1e-13) << robot.name << " " << b;
      }
    }
  }
}

// The velocity of a point is the derivative of its position along the motion.
TEST(SmoothDynamics, PointVelocityIsTheDerivativeOfPosition) {
  for (const Robot& robot : robots()) {
    const Model model = load_model_from_text(robot.xml, robot.name);
    const RandomState state = random_state(model, 3, 0);
    const PhysicsState<double> now{state.q, state.v};
    const auto kinematics = forward_kinematics<double>(model, now.q, now.v, DofAxes::kMujoco);
    const std::vector<double> still(model.nv, 0.0);
    const auto at = [&](double t) {
      return integrate<double>(model, forward_kinematics<double>(model, now.q, now.v, DofAxes::kTree), now, still, t);
    };
    const double h = 1e-4;
    const PhysicsState<double> after = at(h), before = at(-h);
    const auto kinematics_after = forward_kinematics<double>(model, after.q, after.v, DofAxes::kTree);
    const auto kinematics_before = forward_kinematics<double>(model, before.q, before.v, DofAxes::kTree);
    const Vec3<double> local = vec3(0.1, -0.2, 0.3);
    for (std::size_t b = 1; b < model.bodies.size(); ++b) {
      const int body = static_cast<int>(b);
      const Vec3<double> velocity = point_velocity(model, kinematics, body, local);
      const Vec3<double> moved =
          point_position(model, kinematics_after, body, local) - point_position(model, kinematics_before, body, local);
      for (int k = 0; k < 3; ++k) EXPECT_NEAR(velocity[k], moved[k] / (2.0 * h), 1e-5) << robot.name << " " << b;
    }
  }
}

// In the world's axes the accelerations are the same vectors.
TEST(SmoothDynamics, AxesDoNotMatter) {
  for (const Robot& robot : robots()) {
    const Model model = load_model_from_text(robot.xml, robot.name);
    for (std::uint32_t index = 0; index < 10; ++index) {
      const RandomState s = random_state(model, 4, index);
      const PhysicsState<double> state{s.q, s.v};
      const std::span<const double> control(s.control);
      const auto body = smooth_dynamics(model, state, control, DofAxes::kMujoco).acceleration;
      const auto world = smooth_dynamics(model, state, control, DofAxes::kTree).acceleration;
      const auto kinematics = forward_kinematics<double>(model, state.q, state.v, DofAxes::kTree);
      const PhysicsState<double> next = integrate<double>(model, kinematics, state, world, 1.0);
      double scale = 1.0;
      for (const double x : body) scale = std::max(scale, std::abs(x));
      for (int i = 0; i < model.nv; ++i) EXPECT_NEAR(next.v[i] - state.v[i], body[i], 1e-11 * scale) << robot.name;
    }
  }
}

// Without contact and away from limits a step is MuJoCo's step.
TEST(SmoothDynamics, FlightEqualsMujocosStep) {
  for (const char* name : {"pendulum", "swimmer", "tangle", "floater", "cartpole"}) {
    std::string xml = testing::robot_xml(name);
    // Its servos damp implicitly; MuJoCo's integrator that does so, too, takes the fluid along, and ours does not.
    const std::string fluid = R"(<option density="800" viscosity="0.5")";
    if (xml.find(fluid) != std::string::npos) {
      xml.replace(xml.find(fluid), fluid.size(), R"(<option integrator="implicitfast")");
    }
    Model model = load_model_from_text(xml, name);
    MujocoEngine engine = MujocoEngine::from_text(xml);
    PhysicsParameters parameters = suggest_parameters(model);
    parameters.timestep = 0.1 * model.timestep;  // the tangle's fluid and springs are stiff
    engine.set_timestep(parameters.timestep);
    RandomState start = random_state(model, 5, 0);
    for (const Joint& joint : model.joints) {
      if (joint.limited) start.q[joint.q] = 0.1;
    }
    for (double& x : start.v) x *= 0.2;
    // MuJoCo takes a clipped control's damping from what it was before.
    for (double& x : start.control) x = std::clamp(x, -1.0, 1.0);
    PhysicsState<double> state{start.q, start.v};
    engine.set_state(state.q, state.v);
    for (int step = 0; step < 50; ++step) {
      state = physics_step(model, parameters, state, std::span<const double>(start.control));
      ASSERT_TRUE(engine.step(start.control)) << name;
    }
    for (int i = 0; i < model.nq; ++i) EXPECT_NEAR(state.q[i], engine.q()[i], 1e-9) << name << " q " << i;
    for (int i = 0; i < model.nv; ++i) EXPECT_NEAR(state.v[i], engine.v()[i], 1e-8) << name << " v " << i;
  }
}

}  // namespace
}  // namespace cgpo
