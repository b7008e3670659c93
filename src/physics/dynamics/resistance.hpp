// What resists along single joints beside springs and dampers: dry friction, the range of a ball joint, and the range
// of what actuators do together.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "cgpo/physics/dynamics/contact.hpp"
#include "cgpo/physics/dynamics/coupling.hpp"
#include "cgpo/physics/dynamics/passive.hpp"

namespace cgpo {

// Dry friction F resists an inertia m with −F·u/√(u² + u_s²), as contact does. The slip speed u_s = t F/m is what it
// takes away within the stop time t: below it the joint comes to rest as if damped with time constant t, which a step
// resolves and a gradient survives.
inline double slip_speed(const FrictionParameters& law, double loss, double inertia) {
  const double deceleration = loss / inertia;
  const double most = std::max(law.largest_slip_speed, law.least_stop_time * deceleration);
  return std::clamp(law.stop_time * deceleration, law.least_slip_speed, most);
}

// F/√(u² + u_s²), from u².
template <class S>
S friction_slope(const FrictionParameters& law, double loss, double inertia, const S& square) {
  const double least = slip_speed(law, loss, inertia);
  return sparse::mul(S(loss), rsqrt(sparse::add(square, S(least * least))));
}

// Of all joints; a free or ball joint resists along its velocity, whatever that one's direction. Forces to `tau`, what
// answers the acceleration to `diagonal`.
template <class S, class P>
void add_joint_friction(const Model& model, const BasicPhysicsParameters<P>& parameters,
                        const Kinematics<S>& kinematics, std::vector<S>& tau, std::vector<S>& diagonal) {
  using sparse::add, sparse::mul, sparse::sub;
  const auto resist = [&](const Joint& joint, int first, int count, double inertia) {
    S square(0.0);
    for (int k = 0; k < count; ++k) {
      const S& rate = kinematics.rates[first + k];
      square = add(square, mul(rate, rate));
    }
    const S slope = friction_slope(parameters.friction, joint.frictionloss, inertia, square);
    for (int dof = first; dof < first + count; ++dof) {
      tau[dof] = sub(tau[dof], mul(slope, kinematics.rates[dof]));
      diagonal[dof] = add(diagonal[dof], mul(S(parameters.timestep), slope));
    }
  };
  for (const Joint& joint : model.joints) {
    if (joint.frictionloss == 0.0) continue;
    if (joint.type == JointType::kFree) {
      resist(joint, joint.v, 3, joint.inertia);
      resist(joint, joint.v + 3, 3, joint.turn_inertia);
    } else {
      resist(joint, joint.v, dof_count(joint), joint.inertia);
    }
  }
}

// A force along a row of joint space, and what answers an acceleration along it.
template <class S>
struct RowForce {
  S force{0.0};
  S answer{0.0};
};

// What a limit does at this depth, opening with this velocity: contact's law, scaled by an inertia.
template <class S, class P>
RowForce<S> limit_force(const BasicPhysicsParameters<P>& parameters, const LimitScale& scale, double inertia,
                        const S& depth, const S& opening) {
  const double dt = parameters.timestep;
  const P stiffness = parameters.limit.stiffness * scale.stiffness * inertia;
  const P damping = parameters.limit.damping * scale.damping * inertia;
  const Push<S> push = unilateral_force(depth, opening, stiffness, damping, parameters.limit.width);
  return {push.force - S(dt * stiffness) * push.slope * opening, S(dt * (damping + dt * stiffness)) * push.slope};
}

inline constexpr double kLeastMobility = 1e-12;

// How far a ball joint has turned, θ, may not be more than its range. ∂θ/∂ω is the axis u, and the inertia about it,
// with the joint's mobility A, 1/(uᵀA u).
template <class S, class P>
void add_ball_limits(const Model& model, const BasicPhysicsParameters<P>& parameters, const Kinematics<S>& kinematics,
                     std::span<const S> q, std::vector<S>& tau, SymmetricMatrix<S>& matrix) {
  for (const Joint& joint : model.joints) {
    if (joint.largest_angle == 0.0) continue;
    const Vec3<S> turn = rotation_vector(read_quaternion(q, joint.q));
    const S inverse = rsqrt(S(dot(turn, turn) + S(kLeastStretch * kLeastStretch)));
    const S angle = dot(turn, turn) * inverse;
    const Vec3<S> about = scale(inverse, turn);
    const Vec3<S> axis = kinematics.links[joint.link].rotation * about;
    const S inertia = reciprocal(S(dot(about, lift<S>(joint.ball_mobility) * about) + S(kLeastMobility)));
    S rate(0.0);
    std::vector<S> row(model.nv, S(0.0));
    for (int k = 0; k < 3; ++k) {
      row[joint.v + k] = -axis[k];
      rate = rate + axis[k] * kinematics.rates[joint.v + k];
    }
    const RowForce<S> push = limit_force(parameters, joint.limit, 1.0, S(angle - S(joint.largest_angle)), S(-rate));
    add_along(row, S(inertia * push.force), S(inertia * push.answer), tau, matrix);
  }
}

// What all actuators do to a joint together stays within its range; in a step a single actuator has seen to that
// itself.
template <class S>
void clip_joint_forces(const Model& model, std::vector<S>& actuation, bool in_step = false) {
  for (const Joint& joint : model.joints) {
    if (!joint.force_limited || (in_step && joint.range_in_actuator)) continue;
    actuation[joint.v] = min(max(actuation[joint.v], S(joint.force_lower)), S(joint.force_upper));
  }
}

}  // namespace cgpo
