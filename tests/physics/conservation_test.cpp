// Laws that an error in a sign would break: energy, momentum, symmetry.
#include <cmath>
#include <gtest/gtest.h>

#include "cgpo/physics/mujoco/engine.hpp"

#include "robots.hpp"
#include "simulate.hpp"

namespace cgpo {
namespace {

using testing::kinetic_energy;
using testing::momentum;
using testing::Momentum;

double potential_energy(const Model& model, const PhysicsState<double>& state) {
  const auto kinematics = forward_kinematics<double>(model, state.q, state.v, DofAxes::kMujoco);
  double energy = 0.0;
  for (std::size_t b = 1; b < model.bodies.size(); ++b) {
    const Body& body = model.bodies[b];
    energy -=
        body.mass * dot(model.gravity, point_position(model, kinematics, static_cast<int>(b), body.inertial_position));
  }
  return energy;
}

PhysicsState<double> tumbling(const Model& model) {
  const RandomState random = random_state(model, 11, 0);
  return {random.q, random.v};
}

TEST(Conservation, MomentumInFreeFlight) {
  const Model model = load_model_from_text(testing::robot_xml("floater"), "floater");
  PhysicsParameters parameters = suggest_parameters(model);
  parameters.timestep = 1e-4;
  const PhysicsState<double> start = tumbling(model);
  const Momentum before = momentum(model, start);
  // Forces inside the robot change nothing.
  const Momentum after = momentum(model, testing::run(model, parameters, start, {0.5}, 2000));
  for (int k = 0; k < 3; ++k) {
    EXPECT_NEAR(after.linear[k], before.linear[k], 2e-3);
    EXPECT_NEAR(after.angular[k], before.angular[k], 2e-3);
  }
}

// The error of one step is of second order in dt: halving it quarters what is lost.
TEST(Conservation, MomentumErrorPerStepIsOfSecondOrder) {
  const Model model = load_model_from_text(testing::robot_xml("floater"), "floater");
  const PhysicsState<double> start = tumbling(model);
  const Momentum before = momentum(model, start);
  const auto loss = [&](double dt) {
    PhysicsParameters parameters = suggest_parameters(model);
    parameters.timestep = dt;
    const Momentum after = momentum(model, testing::run(model, parameters, start, {0.0}, 1));
    const Vec3<double> difference = after.linear - before.linear;
    const Vec3<double> turned = after.angular - before.angular;
    return std::sqrt(dot(difference, difference) + dot(turned, turned));
  };
  EXPECT_NEAR(loss(1e-3) / loss(5e-4), 4.0, 0.2);
}

TEST(Conservation, EnergyDriftShrinksWithTheStep) {
  Model model = load_model_from_text(testing::robot_xml("floater"), "floater");
  model.gravity = vec3(0.0, 0.0, -9.81);
  const PhysicsState<double> start = tumbling(model);
  const double energy = kinetic_energy(model, start) + potential_energy(model, start);
  const auto drift = [&](double dt) {
    PhysicsParameters parameters = suggest_parameters(model);
    parameters.timestep = dt;
    const auto end = testing::run(model, parameters, start, {0.0}, static_cast<int>(std::lround(0.2 / dt)));
    return std::abs(kinetic_energy(model, end) + potential_energy(model, end) - energy);
  };
  EXPECT_LT(drift(1e-4), 0.01 * energy);
  EXPECT_NEAR(drift(2e-4) / drift(1e-4), 2.0, 0.2);  // semi-implicit Euler is of first order
}

// The swing of an undamped pendulum stays as high for a thousand periods' worth of steps: the step is symplectic.
TEST(Conservation, PendulumKeepsItsEnergy) {
  Model model = load_model_from_text(testing::robot_xml("pendulum"), "pendulum");
  model.joints[0].damping = 0.0;
  PhysicsParameters parameters = suggest_parameters(model);
  PhysicsState<double> state = testing::start_of(model);
  state.q[0] = 1.0;
  // The step conserves energy up to an oscillation of first order; over whole swings nothing is gained or lost.
  const auto energy = [&] { return kinetic_energy(model, state) + potential_energy(model, state); };
  double lowest = 1e300, highest = -1e300;
  for (int i = 0; i < 2000; ++i) {
    state = testing::run(model, parameters, state, {0.0}, 1);
    lowest = std::min(lowest, energy());
    highest = std::max(highest, energy());
  }
  double later_lowest = 1e300, later_highest = -1e300;
  state = testing::run(model, parameters, state, {0.0}, 20000);
  for (int i = 0; i < 2000; ++i) {
    state = testing::run(model, parameters, state, {0.0}, 1);
    later_lowest = std::min(later_lowest, energy());
    later_highest = std::max(later_highest, energy());
  }
  EXPECT_NEAR(lowest, later_lowest, 1e-3 * (highest - lowest) + 1e-4);
  EXPECT_NEAR(highest, later_highest, 1e-3 * (highest - lowest) + 1e-4);
}

// Turning the whole ant by 90° about the vertical turns its motion, contact included.
TEST(Conservation, TurningTheWorldTurnsTheMotion) {
  const Model model = load_model_from_text(testing::robot_xml("ant"), "ant");
  const PhysicsParameters parameters = suggest_parameters(model);
  PhysicsState<double> state = testing::start_of(model);
  for (int k = 0; k < 4; ++k) state.q[8 + 2 * k] = k == 0 || k == 3 ? 1.0 : -1.0;
  state.v[0] = 0.5;
  state.v[1] = -0.3;
  state.v[4] = 0.4;
  PhysicsState<double> turned = state;
  const double half = std::sqrt(0.5);
  const Quat<double> quarter{half, 0.0, 0.0, half};
  const Quat<double> orientation = quaternion_product(quarter, read_quaternion<double>(state.q, 3));
  for (int k = 0; k < 4; ++k) turned.q[3 + k] = orientation[static_cast<std::size_t>(k)];
  turned.v[0] = -state.v[1];
  turned.v[1] = state.v[0];
  const std::vector<double> control = {0.3, -0.2, 0.5, 0.1, -0.4, 0.2, 0.0, 0.6};
  for (int i = 0; i < 60; ++i) {
    state = testing::run(model, parameters, state, control, 1);
    turned = testing::run(model, parameters, turned, control, 1);
  }
  EXPECT_GT(testing::deepest(model, state), 0.0);
  EXPECT_NEAR(turned.q[0], -state.q[1], 1e-9);
  EXPECT_NEAR(turned.q[1], state.q[0], 1e-9);
  for (int i : {2, 7, 8, 9, 10, 11, 12, 13, 14}) EXPECT_NEAR(turned.q[i], state.q[i], 1e-9) << i;
}

}  // namespace
}  // namespace cgpo
