// Running a robot in the tests.
#pragma once

#include <algorithm>
#include <vector>

#include "cgpo/base/random.hpp"
#include "cgpo/physics/dynamics/step.hpp"

namespace cgpo::testing {

inline PhysicsState<double> start_of(const Model& model) { return {model.q0, std::vector<double>(model.nv, 0.0)}; }

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
  std::vector<double> result;
  for (const ContactPoint& point : model.contacts) {
    const double height = dot(point.normal, point_position(model, kinematics, point.body, point.body_position));
    result.push_back(point.radius + point.margin + point.plane_offset - height);
  }
  return result;
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

}  // namespace cgpo::testing
