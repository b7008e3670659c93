// Springs and dampers of joints, and the forces of a fluid: MuJoCo's qfrc_passive.
#pragma once

#include <numbers>
#include <span>
#include <utility>
#include <vector>

#include "cgpo/physics/dynamics/forces.hpp"

namespace cgpo {

// Under the root of a length, so that it has a derivative at 0.
inline constexpr double kLeastStretch = 1e-8;  // m or rad

inline int dof_count(const Joint& joint) {
  return joint.type == JointType::kFree ? 6 : joint.type == JointType::kBall ? 3 : 1;
}

// constant + c₁x + c₂x²
template <class S>
S along_curve(double constant, const Curve& curve, const S& x) {
  using sparse::add, sparse::mul;
  if (curve == Curve{}) return S(constant);
  return add(S(constant), mul(x, add(S(curve[0]), mul(S(curve[1]), x))));
}
// The same at |x|.
template <class S>
S along_speed(double constant, const Curve& curve, const S& x) {
  return curve == Curve{} ? S(constant) : along_curve(constant, curve, S(abs(x)));
}

// τ −= damping(|rate|)·rate + stiffness(x)·x with x = q − rest. That of an orientation is the rotation vector from
// rest, and of a vector the stiffness depends on its length.
template <class S>
void add_joint_springs(const Model& model, const Kinematics<S>& kinematics, std::span<const S> q, DofAxes axes,
                       std::vector<S>& tau) {
  using sparse::mul, sparse::sub;
  for (const Joint& joint : model.joints) {
    const bool damped = joint.damping != 0.0 || joint.damping_curve != Curve{};
    for (int k = 0; damped && k < dof_count(joint); ++k) {
      const S& rate = kinematics.rates[joint.v + k];
      const S damping = along_speed(joint.damping, joint.damping_curve, rate);
      tau[joint.v + k] = sub(tau[joint.v + k], mul(damping, rate));
    }
    if (joint.stiffness == 0.0 && joint.stiffness_curve == Curve{}) continue;
    const auto stiffness_at = [&](const Vec3<S>& x) {
      if (joint.stiffness_curve == Curve{}) return S(joint.stiffness);
      const S square = sparse::add(dot(x, x), S(kLeastStretch * kLeastStretch));
      return along_curve(joint.stiffness, joint.stiffness_curve, S(sqrt(square)));
    };
    const int straight = joint.type == JointType::kBall ? 0 : joint.type == JointType::kFree ? 3 : 1;
    Vec3<S> stretch;
    for (int k = 0; k < straight; ++k) stretch[k] = sub(q[joint.q + k], S(model.q_spring[joint.q + k]));
    if (joint.type == JointType::kFree) stretch = transpose_times(kinematics.to_world(joint.link), stretch);
    const bool is_scalar = joint.type == JointType::kSlide || joint.type == JointType::kHinge;
    const S stiffness =
        is_scalar ? along_curve(joint.stiffness, joint.stiffness_curve, stretch[0]) : stiffness_at(stretch);
    for (int k = 0; k < straight; ++k) tau[joint.v + k] = sub(tau[joint.v + k], mul(stiffness, stretch[k]));
    if (is_scalar) continue;
    const double* const rest = &model.q_spring[joint.q + straight];
    const Quat<S> back{S(rest[0]), S(-rest[1] + 0.0), S(-rest[2] + 0.0), S(-rest[3] + 0.0)};
    Vec3<S> turn = rotation_vector(quaternion_product(back, read_quaternion(q, joint.q + straight)));
    if (axes == DofAxes::kTree) turn = kinematics.links[joint.link].rotation * turn;
    const S turn_stiffness = stiffness_at(turn);
    for (int k = 0; k < 3; ++k) {
      S& entry = tau[joint.v + straight + k];
      entry = sub(entry, mul(turn_stiffness, turn[k]));
    }
  }
}

// What answers an acceleration at the end of a step, from all joints' damping: the slope of rate·damping(|rate|).
template <class S>
void add_damping_slopes(const Model& model, const Kinematics<S>& kinematics, double dt, std::vector<S>& diagonal) {
  for (const Joint& joint : model.joints) {
    const Curve slope{2.0 * dt * joint.damping_curve[0], 3.0 * dt * joint.damping_curve[1]};
    for (int k = 0; k < dof_count(joint); ++k) {
      S& entry = diagonal[joint.v + k];
      entry = sparse::add(entry, along_speed(dt * joint.damping, slope, kinematics.rates[joint.v + k]));
    }
  }
}

// Weight that is taken away, at the centres of mass: forces −m g. MuJoCo counts them as passive, or as forces of the
// joint's actuators, where their range holds for them, too.
template <class S>
void add_gravity_compensation(const Model& model, const Kinematics<S>& kinematics, std::vector<S>& passive,
                              std::vector<S>& actuation) {
  if (model.gravity_compensations.empty()) return;
  std::vector<Wrench<S>> wrenches(model.links.size());
  for (const GravityCompensation& part : model.gravity_compensations) {
    const Vec3<S> force = in_tree_axes(kinematics, part.link, scale(-part.mass, model.gravity));
    wrenches[part.link].add_force(kinematics.links[part.link].rotation * lift<S>(part.link_position), force);
  }
  const std::vector<S> forces = project_to_joints(model, kinematics, std::move(wrenches));
  for (const Joint& joint : model.joints) {
    if (joint.compensation == Compensation::kNone) continue;
    std::vector<S>& tau = joint.compensation == Compensation::kActuators ? actuation : passive;
    for (int i = joint.v; i < joint.v + dof_count(joint); ++i) tau[i] = sparse::add(tau[i], forces[i]);
  }
}

// MuJoCo's fluid forces on the box of equal inertia with edges b, at the centre of mass, in the principal axes. With
// mean edge D: force −3πDμ v − ½ρ b_j b_k |v_i| v_i, torque −πD³μ ω − ρ b_i (b_j⁴ + b_k⁴)/64 |ω_i| ω_i.
template <class S>
void add_fluid_forces(const Model& model, const Kinematics<S>& kinematics, std::vector<Wrench<S>>& wrenches) {
  using sparse::mul;
  for (const FluidBody& body : model.fluid_bodies) {
    const LinkState<S>& link = kinematics.links[body.link];
    const Vec3<S> arm = link.rotation * lift<S>(body.in_link.position);
    const Mat3<S> frame = link.rotation * lift<S>(body.in_link.rotation);
    const Vec3<S> velocity =
        link_point_velocity(kinematics, body.link, arm) - in_tree_axes(kinematics, body.link, model.wind);
    const Vec3<S> v = transpose_times(frame, velocity);
    const Vec3<S> w = transpose_times(frame, link.angular_velocity);
    const Vec3<double>& b = body.box;
    const double mean = (b[0] + b[1] + b[2]) / 3.0;
    const double drag = 3.0 * std::numbers::pi * mean * model.viscosity;
    const double spin_drag = std::numbers::pi * mean * mean * mean * model.viscosity;
    Vec3<S> force, torque;
    for (int i = 0; i < 3; ++i) {
      const double bj = b[(i + 1) % 3], bk = b[(i + 2) % 3];
      const double push = 0.5 * model.density * bj * bk;
      const double spin = model.density * b[i] * (bj * bj * bj * bj + bk * bk * bk * bk) / 64.0;
      // −(linear + quadratic·|x|)·x
      const auto resist = [](double linear, double quadratic, const S& x) {
        if (is_structural_zero(x)) return S(0.0);
        return sparse::neg(mul(sparse::add(S(linear), mul(S(quadratic), abs(x))), x));
      };
      force[i] = resist(drag, push, v[i]);
      torque[i] = resist(spin_drag, spin, w[i]);
    }
    wrenches[body.link].add_force(arm, frame * force);
    wrenches[body.link].torque = wrenches[body.link].torque + frame * torque;
  }
}

}  // namespace cgpo
