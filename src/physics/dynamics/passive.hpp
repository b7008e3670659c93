// Springs and dampers of joints, and the forces of a fluid: MuJoCo's qfrc_passive.
#pragma once

#include <numbers>
#include <span>
#include <vector>

#include "cgpo/physics/dynamics/forces.hpp"

namespace cgpo {

inline int dof_count(const Joint& joint) {
  return joint.type == JointType::kFree ? 6 : joint.type == JointType::kBall ? 3 : 1;
}

// τ −= damping·rate + stiffness·(q − rest). The spring of an orientation is the rotation vector from rest.
template <class S>
void add_joint_springs(const Model& model, const Kinematics<S>& kinematics, std::span<const S> q, DofAxes axes,
                       std::vector<S>& tau) {
  using sparse::mul, sparse::sub;
  for (const Joint& joint : model.joints) {
    for (int k = 0; joint.damping != 0.0 && k < dof_count(joint); ++k) {
      tau[joint.v + k] = sub(tau[joint.v + k], mul(S(joint.damping), kinematics.rates[joint.v + k]));
    }
    if (joint.stiffness == 0.0) continue;
    const S stiffness(joint.stiffness);
    const int straight = joint.type == JointType::kBall ? 0 : joint.type == JointType::kFree ? 3 : 1;
    Vec3<S> stretch;
    for (int k = 0; k < straight; ++k) stretch[k] = sub(q[joint.q + k], S(model.q_spring[joint.q + k]));
    if (joint.type == JointType::kFree) stretch = transpose_times(kinematics.to_world(joint.link), stretch);
    for (int k = 0; k < straight; ++k) tau[joint.v + k] = sub(tau[joint.v + k], mul(stiffness, stretch[k]));
    if (joint.type == JointType::kSlide || joint.type == JointType::kHinge) continue;
    const double* const rest = &model.q_spring[joint.q + straight];
    const Quat<S> back{S(rest[0]), S(-rest[1] + 0.0), S(-rest[2] + 0.0), S(-rest[3] + 0.0)};
    Vec3<S> turn = rotation_vector(quaternion_product(back, read_quaternion(q, joint.q + straight)));
    if (axes == DofAxes::kTree) turn = kinematics.links[joint.link].rotation * turn;
    for (int k = 0; k < 3; ++k) {
      S& entry = tau[joint.v + straight + k];
      entry = sub(entry, mul(stiffness, turn[k]));
    }
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
