// Contact and joint limits: smooth and linearly implicit.
//
// A unilateral spring and dashpot (stiffness k, damping c, width w), pressed in by d and opening with velocity u:
//   N = pull_free(k·ramp(d) − c·step(d)·u),   step = ramp′.
// ramp is 0, then w·t³(1 − t/2) with t = d/w, then the straight line d − w/2: twice continuously differentiable and
// without exp. pull_free is the same ramp over forces, so the dashpot never pulls. Its slopes with respect to −d and u,
// without the term that could be negative, are K = k·s and D = c·s with s = pull_free′·step(d): one substep replaces
// the force by its value at the end of the step, N − dt·K·u − dt·(D + dt·K)·u̇. docs/physics/contact.md explains the
// choices.
#pragma once

#include <span>
#include <vector>

#include "cgpo/physics/dynamics/forces.hpp"
#include "cgpo/physics/dynamics/inertia.hpp"

namespace cgpo {

struct ContactParameters {
  double stiffness = 2000.0;  // N/m
  double damping = 30.0;      // N·s/m
  double width = 0.01;        // m: the force is soft up to this depth
  double slip_speed = 0.1;    // m/s: friction is viscous below it
  double slip_lift = 1.0;     // 1: a slipping point is pushed up as in MuJoCo; 0: Coulomb's friction
};

// Of limits, per unit of the joint's inertia, so that one set serves light and heavy joints.
struct LimitParameters {
  double stiffness = 2500.0;  // 1/s²
  double damping = 100.0;     // 1/s; critical
  double width = 0.02;        // rad or m
};

struct PhysicsParameters {
  double timestep = 0.01;
  ContactParameters contact;
  LimitParameters limit;
};

// Stiffness that lets the robot sink in by millimetres under its own weight; the model's own time step.
inline PhysicsParameters suggest_parameters(const Model& model) {
  PhysicsParameters parameters;
  parameters.timestep = model.timestep;
  parameters.contact.stiffness = 2000.0 * model.total_mass();
  parameters.contact.damping = 0.01 * parameters.contact.stiffness;
  return parameters;
}

template <class S>
struct Ramp {
  S value;
  S slope;
};

// The ramp in units of its width, with t = clip(x): value t³(1 − t/2) + max(x, 0) − t, slope t²(3 − 2t).
template <class S>
Ramp<S> smooth_ramp(const S& x) {
  const S positive = max(x, S(0.0));
  const S t = min(positive, S(1.0));
  const S square = t * t;
  return {square * t * (S(1.0) - S(0.5) * t) + (positive - t), square * (S(3.0) - S(2.0) * t)};
}

template <class S>
struct Push {
  S force;  // N ≥ 0
  S slope;  // s in [0, 1]: K = k·s, D = c·s
};

// Width of pull_free in units of k·w.
inline constexpr double kPullWidth = 0.1;

template <class S>
Push<S> unilateral_force(const S& depth, const S& opening, double stiffness, double damping, double width) {
  const double unit = kPullWidth * stiffness * width;  // of force
  const Ramp<S> press = smooth_ramp(S(depth * S(1.0 / width)));
  const Ramp<S> force = smooth_ramp(S(press.value * S(1.0 / kPullWidth) - press.slope * opening * S(damping / unit)));
  return {S(unit) * force.value, force.slope * press.slope};
}

// The part of a velocity along a plane, and b_n n nᵀ + b_t (1 − n nᵀ). Where n is constant, so is the pattern of zeros;
// where it is not, n nᵀ is the same for all contacts of a tree.
template <class S>
struct PlaneSplit {
  Vec3<S> slip;
  Sym3<S> normal;      // n nᵀ
  Sym3<S> tangential;  // 1 − n nᵀ; not used if n is not constant
  bool is_constant;

  PlaneSplit(const Vec3<double>& n, const Vec3<S>& n_tree, const Vec3<S>& velocity, const S& opening, bool constant)
      : normal(outer(n_tree)), is_constant(constant) {
    if (is_constant) {
      const Sym3<double> nn = outer(n);
      tangential = {S(1.0 - nn.xx), S(1.0 - nn.yy), S(1.0 - nn.zz), S(0.0 - nn.xy), S(0.0 - nn.xz), S(0.0 - nn.yz)};
      slip = tangential.full() * velocity;
    } else {
      slip = velocity - scale(opening, n_tree);
    }
  }

  Sym3<S> matrix(const S& b_normal, const S& b_tangent) const {
    if (is_constant) return scale(b_normal, normal) + scale(b_tangent, tangential);
    return isotropic(b_tangent) + scale(sparse::sub(b_normal, b_tangent), normal);
  }
};

// What presses at one contact point, in the axes of its link's tree.
template <class S>
struct Touch {
  Vec3<S> normal;
  Vec3<S> arm;  // from the link's origin to the lowest point of the sphere
  S opening;    // u
  PlaneSplit<S> split;
  S slowness;  // 1/√(|v_t|² + v_s²)
  Push<S> push;
};

template <class S>
Touch<S> press_contact(const Model& model, const ContactParameters& law, const Kinematics<S>& kinematics,
                       const ContactPoint& point) {
  using sparse::add, sparse::mul;
  const LinkState<S>& link = kinematics.links[point.link];
  const Vec3<S> normal = in_tree_axes(kinematics, point.link, point.normal);
  const Vec3<S> centre = link.rotation * lift<S>(point.link_position);
  const Vec3<S> arm = centre - scale(S(point.radius), normal);  // the lowest point of the sphere touches
  const S height =
      add(dot(lift<S>(point.normal), kinematics.links[link.root].offset), dot(normal, link.position + centre));
  const S depth = S(point.radius + point.margin + point.plane_offset) - height;
  const Vec3<S> velocity = link_point_velocity(kinematics, point.link, arm);
  const S opening = dot(normal, velocity);
  const bool floating = model.joints[model.links[link.root].joints.front()].type == JointType::kFree;
  const PlaneSplit<S> split(point.normal, normal, velocity, opening, !floating);
  const S slip_squared = dot(split.slip, split.slip);
  const S slowness = rsqrt(add(slip_squared, S(law.slip_speed * law.slip_speed)));
  const S rise = mul(S(law.slip_lift * point.friction), mul(slip_squared, slowness));
  const Push<S> push = unilateral_force(depth, sparse::sub(opening, rise), law.stiffness, law.damping, law.width);
  return {normal, arm, opening, split, slowness, push};
}

// Adds each contact's force at the end of the step, as far as it does not depend on the acceleration, to `wrenches`,
// and what answers the acceleration to `impedances`. Friction: −μ N v_t/√(|v_t|² + v_s²), N of the current state, with
// the slope D_t = μ N/√(|v_t|² + v_s²) along both tangents.
//
// MuJoCo's friction is convex: a slipping point is pushed up until u ≥ μ|v_t|. So the dashpot acts on u − λμ|v_t| with
// λ the slip lift and |v_t| smoothed as |v_t|²/√(|v_t|² + v_s²). With λ ≤ 1 contact still only takes energy: its power
// is N (u − μ|v_t|), and the dashpot presses only where that is negative.
template <class S>
void add_contacts(const Model& model, const PhysicsParameters& parameters, const Kinematics<S>& kinematics,
                  std::vector<Wrench<S>>& wrenches, std::vector<Impedance<S>>& impedances) {
  using sparse::mul;
  const ContactParameters& law = parameters.contact;
  const double dt = parameters.timestep;
  for (const ContactPoint& point : model.contacts) {
    const Touch<S> touch = press_contact(model, law, kinematics, point);
    const Push<S>& push = touch.push;

    // f = n (N − dt·K·u) − D_t·v_t, B = b_n n nᵀ + b_t (1 − n nᵀ)
    const S normal_force = push.force - S(dt * law.stiffness) * push.slope * touch.opening;
    const S b_normal = S(dt * (law.damping + dt * law.stiffness)) * push.slope;
    const S d_tangent = mul(mul(S(point.friction), push.force), touch.slowness);
    const Vec3<S> force = scale(normal_force, touch.normal) - scale(d_tangent, touch.split.slip);
    const Sym3<S> b = touch.split.matrix(b_normal, mul(S(dt), d_tangent));
    wrenches[point.link].add_force(touch.arm, force);
    impedances[point.link] = impedances[point.link] + Impedance<S>::at(touch.arm, b);
  }
}

// How deep each contact point is pressed into its plane; it touches if that is positive.
template <class S>
std::vector<S> contact_depths(const Model& model, const Kinematics<S>& kinematics) {
  std::vector<S> depths;
  for (const ContactPoint& point : model.contacts) {
    const Vec3<S> centre = point_position(model, kinematics, point.body, point.body_position);
    depths.push_back(S(point.radius + point.margin + point.plane_offset) - dot(lift<S>(point.normal), centre));
  }
  return depths;
}

// Where a contact point touches its plane and what pushes the robot there, in the world's axes.
struct ContactForce {
  Vec3<double> position;
  Vec3<double> force;
};

// On one contact point at the current state, n N − D_t·v_t, in the world's axes; zero where nothing touches.
template <class S>
Vec3<S> contact_force(const Model& model, const ContactParameters& law, const Kinematics<S>& kinematics,
                      const ContactPoint& point) {
  const Touch<S> touch = press_contact(model, law, kinematics, point);
  const S drag = S(point.friction) * touch.push.force * touch.slowness;
  return kinematics.to_world(point.link) * (scale(touch.push.force, touch.normal) - scale(drag, touch.split.slip));
}

// Of all contact points of the model. For pictures.
inline std::vector<ContactForce> contact_forces(const Model& model, const ContactParameters& law,
                                                const Kinematics<double>& kinematics) {
  std::vector<ContactForce> forces;
  for (const ContactPoint& point : model.contacts) {
    const Vec3<double> centre = point_position(model, kinematics, point.body, point.body_position);
    forces.push_back({centre - scale(point.radius, point.normal), contact_force(model, law, kinematics, point)});
  }
  return forces;
}

// Joint limits by the same law, and joint damping: forces to `tau`, what answers the acceleration to `diagonal`. Both
// ends of a range are one spring against |q − middle|; the kink at the middle is where nothing presses.
template <class S>
void add_limits(const Model& model, const PhysicsParameters& parameters, const Kinematics<S>& kinematics,
                std::span<const S> q, std::vector<S>& tau, std::vector<S>& diagonal) {
  const double dt = parameters.timestep;
  for (const Joint& joint : model.joints) {
    if (!joint.limited) continue;
    const double stiffness = parameters.limit.stiffness * joint.inertia;
    const double damping = parameters.limit.damping * joint.inertia;
    const S from_middle = q[joint.q] - S(0.5 * (joint.lower + joint.upper));
    const S side = select(from_middle < S(0.0), S(-1.0), S(1.0));
    const S depth = abs(from_middle) - S(0.5 * (joint.upper - joint.lower));
    const S& rate = kinematics.rates[joint.v];
    const Push<S> push = unilateral_force(depth, S(-(side * rate)), stiffness, damping, parameters.limit.width);
    tau[joint.v] = sparse::sub(tau[joint.v], S(side * push.force + S(dt * stiffness) * push.slope * rate));
    diagonal[joint.v] = sparse::add(diagonal[joint.v], S(S(dt * (damping + dt * stiffness)) * push.slope));
  }
}

}  // namespace cgpo
