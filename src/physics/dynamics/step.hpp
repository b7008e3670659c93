// One substep of the physics: read from top to bottom.
//
//   (M + dt·D_j + dt·Jᵀ(D + dt·K)J) a = τ − bias + Jᵀ(f₀ − dt·K·J·v),   v' = v + dt·a,   q' = q ⊕ dt·v'
//
// with D_j the joints' damping and J, K, D, f₀ of contacts, limits and actuators. In flight it is MuJoCo's own Euler
// step; with actuators whose force falls with the velocity, its integrator implicitfast.
#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "cgpo/base/error.hpp"
#include "cgpo/physics/dynamics/body_contact.hpp"
#include "cgpo/physics/dynamics/coupling.hpp"
#include "cgpo/physics/dynamics/equality.hpp"
#include "cgpo/physics/dynamics/smooth_dynamics.hpp"

namespace cgpo {

// v' and q' from accelerations in the axes of the trees.
template <class S>
PhysicsState<S> integrate(const Model& model, const Kinematics<S>& kinematics, const PhysicsState<S>& state,
                          std::span<const S> acceleration, double dt) {
  using sparse::add, sparse::mul;
  PhysicsState<S> next = state;
  const std::span<const S> q(state.q);
  const auto advance = [&](int q_index, int v_index, const S& a) {
    next.v[v_index] = add(state.v[v_index], mul(S(dt), a));
    next.q[q_index] = add(state.q[q_index], mul(S(dt), next.v[v_index]));
  };
  const auto read = [&](int first) {
    return vec3(acceleration[first], acceleration[first + 1], acceleration[first + 2]);
  };
  const auto turn = [&](const Joint& joint, int q_index, int v_index) {
    const Vec3<S> change = scale(S(dt), transpose_times(kinematics.links[joint.link].rotation, read(v_index)));
    Vec3<S> velocity;
    for (int k = 0; k < 3; ++k) velocity[k] = next.v[v_index + k] = add(state.v[v_index + k], change[k]);
    const Quat<S> turned = integrate_quaternion(read_quaternion(q, q_index), velocity, dt);
    for (int k = 0; k < 4; ++k) next.q[q_index + k] = turned[static_cast<std::size_t>(k)];
  };
  for (const Joint& joint : model.joints) {
    switch (joint.type) {
      case JointType::kFree: {
        const Vec3<S> world = kinematics.to_world(joint.link) * read(joint.v);
        for (int k = 0; k < 3; ++k) advance(joint.q + k, joint.v + k, world[k]);
        turn(joint, joint.q + 3, joint.v + 3);
        break;
      }
      case JointType::kBall: turn(joint, joint.q, joint.v); break;
      case JointType::kSlide:
      case JointType::kHinge: advance(joint.q, joint.v, acceleration[joint.v]); break;
    }
  }
  return next;
}

// τ += forces of the actuators and against gravity, within the ranges of the joints.
template <class S>
void add_actuation(const Model& model, const Kinematics<S>& kinematics, const std::vector<Drive<S>>& drives,
                   std::vector<S>& tau) {
  const auto push = [&](std::vector<S>& forces) {
    for (const Drive<S>& drive : drives) {
      for (int i = 0; i < model.nv; ++i) forces[i] = sparse::add(forces[i], sparse::mul(drive.row[i], drive.force));
    }
  };
  const auto is_limited = [](const Joint& joint) { return joint.force_limited && !joint.range_in_actuator; };
  if (std::none_of(model.joints.begin(), model.joints.end(), is_limited)) {
    push(tau);
    add_gravity_compensation(model, kinematics, tau, tau);
    return;
  }
  std::vector<S> actuation(model.nv, S(0.0));
  push(actuation);
  add_gravity_compensation(model, kinematics, tau, actuation);
  clip_joint_forces(model, actuation, /*in_step=*/true);
  for (int i = 0; i < model.nv; ++i) tau[i] = sparse::add(tau[i], actuation[i]);
}

template <class S, class P>
PhysicsState<S> physics_step(const Model& model, const BasicPhysicsParameters<P>& parameters,
                             const PhysicsState<S>& state, std::span<const S> control) {
  const double dt = parameters.timestep;
  const std::span<const S> q(state.q);
  check(static_cast<int>(state.activation.size()) == model.na, "a state has all activations");
  const Kinematics<S> kinematics = forward_kinematics(model, q, std::span<const S>(state.v), DofAxes::kTree);

  // Forces on links: inertia and gravity, fluid, contact.
  std::vector<Wrench<S>> wrenches = inertial_wrenches(model, kinematics);
  for (Wrench<S>& wrench : wrenches) wrench = {-wrench.torque, -wrench.force};
  add_fluid_forces(model, kinematics, wrenches);
  std::vector<Impedance<S>> impedances(model.links.size());
  add_contacts(model, parameters, kinematics, wrenches, impedances);
  const LinkLoads<S> between = add_pairs(model, parameters, kinematics, wrenches, impedances);

  // Forces on joints.
  std::vector<S> tau = project_to_joints(model, kinematics, std::move(wrenches));
  std::vector<S> diagonal(model.nv, S(0.0));
  add_joint_springs(model, kinematics, q, DofAxes::kTree, tau);
  std::vector<S> activations;
  const std::vector<Drive<S>> drives = actuator_drives(model, kinematics, state, control, dt, activations);
  add_actuation(model, kinematics, drives, tau);
  add_limits(model, parameters, kinematics, q, tau, diagonal);
  add_joint_friction(model, parameters, kinematics, tau, diagonal);
  add_damping_slopes(model, kinematics, dt, diagonal);

  SymmetricMatrix<S> matrix = joint_inertia(model, kinematics, std::move(impedances), S(parameters.armature_scale));
  for (int i = 0; i < model.nv; ++i) matrix(i, i) = sparse::add(matrix(i, i), diagonal[i]);

  // What ties joints to one another.
  add_to_joints(model, kinematics, between, tau, matrix);
  add_ball_limits(model, parameters, kinematics, q, tau, matrix);
  add_tendon_inertia(model, kinematics, q, tau, matrix);
  add_tendon_forces(model, parameters, kinematics, q, tau, matrix);
  add_equalities(model, parameters, kinematics, q, tau, matrix);
  for (const Drive<S>& drive : drives) {
    if (!is_structural_zero(drive.slope)) add_along(drive.row, S(0.0), drive.slope, tau, matrix);
  }
  const std::vector<S> acceleration = solve_symmetric(matrix, std::span<const S>(tau));
  PhysicsState<S> next = integrate(model, kinematics, state, std::span<const S>(acceleration), dt);
  next.activation = std::move(activations);
  return next;
}

}  // namespace cgpo
