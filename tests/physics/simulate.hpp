// Running a robot in the tests.
#pragma once

#include <algorithm>
#include <vector>

#include "cgpo/base/random.hpp"
#include "cgpo/physics/dynamics/contact_queries.hpp"
#include "cgpo/physics/dynamics/step.hpp"

namespace cgpo::testing {

inline PhysicsState<double> start_of(const Model& model) {
  return {model.q0, std::vector<double>(model.nv, 0.0), std::vector<double>(model.na, 0.0)};
}

inline PhysicsState<double> run(const Model& model, const PhysicsParameters& parameters, PhysicsState<double> state,
                                const std::vector<double>& control, int steps) {
  for (int i = 0; i < steps; ++i) {
    state = physics_step(model, parameters, state, std::span<const double>(control));
  }
  return state;
}

// Depths of all contact points, in the order of the model.
inline std::vector<double> depths(const Model& model, const PhysicsState<double>& state) {
  const auto kinematics = forward_kinematics<double>(model, state.q, state.v, DofAxes::kTree);
  return contact_depths(model, kinematics);
}
inline double deepest(const Model& model, const PhysicsState<double>& state) {
  const std::vector<double> all = depths(model, state);
  return *std::max_element(all.begin(), all.end());
}

// A state that the robot reaches under random controls, each held for five steps.
inline PhysicsState<double> wander(const Model& model, const PhysicsParameters& parameters, PhysicsState<double> state,
                                   std::uint64_t seed, int steps) {
  RandomStream random(seed, Purpose::kTest);
  std::vector<double> control(model.nu);
  for (int i = 0; i < steps; i += 5) {
    for (double& x : control) x = random.uniform(-1.0, 1.0);
    state = run(model, parameters, state, control, 5);
  }
  return state;
}

inline double kinetic_energy(const Model& model, const PhysicsState<double>& state) {
  const auto kinematics = forward_kinematics<double>(model, state.q, state.v, DofAxes::kMujoco);
  const auto matrix = joint_inertia(model, kinematics);
  double energy = 0.0;
  for (int i = 0; i < model.nv; ++i) {
    for (int j = 0; j < model.nv; ++j) energy += 0.5 * matrix(i, j) * state.v[i] * state.v[j];
  }
  return energy;
}

// Linear momentum, and angular momentum about the world's origin, from the bodies one by one.
struct Momentum {
  Vec3<double> linear, angular;
};

inline Momentum momentum(const Model& model, const PhysicsState<double>& state) {
  const auto kinematics = forward_kinematics<double>(model, state.q, state.v, DofAxes::kMujoco);
  Momentum total;
  for (std::size_t b = 1; b < model.bodies.size(); ++b) {
    const Body& body = model.bodies[b];
    const int id = static_cast<int>(b);
    const Vec3<double> p = scale(body.mass, point_velocity(model, kinematics, id, body.inertial_position));
    const Mat3<double> axes = body_rotation(model, kinematics, id) * rotation_of(body.inertial_orientation);
    Vec3<double> spin = transpose_times(axes, body_angular_velocity(model, kinematics, id));
    for (int k = 0; k < 3; ++k) spin[k] *= body.inertia[k];
    total.linear = total.linear + p;
    total.angular =
        total.angular + axes * spin + cross(point_position(model, kinematics, id, body.inertial_position), p);
  }
  return total;
}

}  // namespace cgpo::testing
