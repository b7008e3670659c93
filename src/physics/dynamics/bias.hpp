// Coriolis, centrifugal and gravity forces: the recursive Newton–Euler equations at zero joint acceleration.
//
// Accelerations are those of points (not spatial accelerations), so that a robot's bias does not mention how fast its
// root travels. Gravity is an acceleration −g of the world.
#pragma once

#include <vector>

#include "cgpo/physics/dynamics/forces.hpp"

namespace cgpo {

template <class S>
struct LinkAcceleration {
  Vec3<S> angular;  // α
  Vec3<S> linear;   // of the origin
  Mat3<S> spread;   // a point at `arm` accelerates by linear + spread·arm, spread = [α]× + [ω]×[ω]×
};

template <class S>
Mat3<S> acceleration_spread(const Vec3<S>& omega, const Vec3<S>& alpha) {
  using sparse::add, sparse::mul, sparse::neg, sparse::sub;
  const S xx = mul(omega[0], omega[0]), yy = mul(omega[1], omega[1]), zz = mul(omega[2], omega[2]);
  const S xy = mul(omega[0], omega[1]), xz = mul(omega[0], omega[2]), yz = mul(omega[1], omega[2]);
  return {{vec3(neg(add(yy, zz)), sub(xy, alpha[2]), add(xz, alpha[1])),
           vec3(add(xy, alpha[2]), neg(add(xx, zz)), sub(yz, alpha[0])),
           vec3(sub(xz, alpha[1]), add(yz, alpha[0]), neg(add(xx, yy)))}};
}

// Accelerations of the links when all joint accelerations are zero.
template <class S>
std::vector<LinkAcceleration<S>> bias_accelerations(const Model& model, const Kinematics<S>& kinematics) {
  std::vector<LinkAcceleration<S>> result(model.links.size());
  for (std::size_t i = 0; i < model.links.size(); ++i) {
    const Link& link = model.links[i];
    const LinkState<S>& state = kinematics.links[i];
    LinkAcceleration<S> a;
    Vec3<S> omega;
    if (link.parent >= 0) {
      a = result[link.parent];
      omega = kinematics.links[link.parent].angular_velocity;
    } else {
      a.linear = in_tree_axes(kinematics, static_cast<int>(i), -model.gravity);
    }
    const auto rate = [&](int dof) { return scale(kinematics.rates[dof], kinematics.motions[dof].angular); };
    std::size_t piece = 0;
    for (const int j : link.joints) {
      const Joint& joint = model.joints[j];
      if (joint.type == JointType::kSlide) {  // Coriolis: 2 ω × axis·rate
        const Vec3<S> velocity = scale(kinematics.rates[joint.v], kinematics.motions[joint.v].linear);
        a.linear = a.linear + scale(S(2.0), cross(omega, velocity));
        continue;
      }
      const int first = joint.type == JointType::kFree ? joint.v + 3 : joint.v;
      Vec3<S> turn = rate(first);
      if (joint.type != JointType::kHinge) turn = turn + (rate(first + 1) + rate(first + 2));
      if (joint.type != JointType::kFree) a.linear = a.linear + a.spread * state.pieces[piece++];
      a.angular = a.angular + cross(omega, turn);
      omega = omega + turn;
      a.spread = acceleration_spread(omega, a.angular);
    }
    // A free joint's one piece is its place in the world; nothing turns it.
    const bool is_free = model.joints[link.joints.front()].type == JointType::kFree;
    if (!is_free) a.linear = a.linear + a.spread * state.pieces[piece];
    result[i] = a;
  }
  return result;
}

// Forces that the links' masses need: force m (a + A c), torque m c × a + ∫ r × A r dm with A the spread. For inertia
// i·1 + Σ e u uᵀ the integral is i α + Σ e (u (u·α) + (u·ω) ω × u), and also (i + Σ e) α − Σ e u × A u. The second form
// is shorter where u points to the centre of mass, as in a limb: A u is then known from the force.
template <class S>
std::vector<Wrench<S>> inertial_wrenches(const Model& model, const Kinematics<S>& kinematics) {
  std::vector<Wrench<S>> wrenches;
  const std::vector<LinkAcceleration<S>> accelerations = bias_accelerations(model, kinematics);
  for (std::size_t i = 0; i < model.links.size(); ++i) {
    const Link& link = model.links[i];
    const LinkState<S>& state = kinematics.links[i];
    const LinkAcceleration<S>& a = accelerations[i];
    const Vec3<double> constant_moment = scale(link.mass, link.centre);
    const Vec3<S> moment = state.rotation * lift<S>(constant_moment);
    const Vec3<S> spread_moment = a.spread * moment;
    double isotropic = link.inertia.isotropic;
    Vec3<S> lever = a.linear;  // the torque is moment × lever + …
    Vec3<S> torque;
    for (const AxialInertia::Term& term : link.inertia.terms) {
      const Vec3<S> u = state.rotation * lift<S>(term.axis);
      const S along = dot(u, a.angular);
      const S spin = dot(u, state.angular_velocity);
      if (is_structural_zero(along) && is_structural_zero(spin)) continue;  // a limb in its plane
      const Vec3<double> off_axis = cross(term.axis, constant_moment);
      const double square = dot(constant_moment, constant_moment);
      if (square > 0.0 && dot(off_axis, off_axis) < 1e-24 * square) {
        isotropic += term.extra;
        lever = lever - scale(S(term.extra / square), spread_moment);
        continue;
      }
      const Vec3<S> part = scale(along, u) + scale(spin, cross(state.angular_velocity, u));
      torque = torque + scale(S(term.extra), part);
    }
    torque = torque + scale(S(isotropic), a.angular) + cross(moment, lever);
    wrenches.push_back({torque, scale(S(link.mass), a.linear) + spread_moment});
  }
  return wrenches;
}

// What must be applied to the joints for zero joint acceleration: MuJoCo's qfrc_bias.
template <class S>
std::vector<S> bias_forces(const Model& model, const Kinematics<S>& kinematics) {
  return project_to_joints(model, kinematics, inertial_wrenches(model, kinematics));
}

}  // namespace cgpo
