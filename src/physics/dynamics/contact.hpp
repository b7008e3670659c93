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

// P: double, or Traced where these numbers are inputs of a graph.
template <class P>
struct BasicContactParameters {
  P stiffness{2000.0};    // N/m
  P damping{30.0};        // N·s/m
  P width{0.01};          // m: the force is soft up to this depth
  P slip_speed{0.1};      // m/s: friction is viscous below it
  P slip_lift{1.0};       // 1: a slipping point is pushed up as in MuJoCo; 0: Coulomb's friction
  P friction_scale{1.0};  // times the surfaces' own
};
using ContactParameters = BasicContactParameters<double>;

// Of limits, per unit of the joint's inertia, so that one set serves light and heavy joints.
template <class P>
struct BasicLimitParameters {
  P stiffness{2500.0};  // 1/s²
  P damping{100.0};     // 1/s; critical
  P width{0.02};        // rad or m
};
using LimitParameters = BasicLimitParameters<double>;

// Of dry friction in joints and tendons: below the slip speed it is viscous. That is what friction takes away within
// the stop time; where an inertia is so small that this would be fast, at most the largest slip speed, or what it takes
// away within the least stop time, which is about MuJoCo's.
struct FrictionParameters {
  double stop_time = 0.01;          // s
  double least_stop_time = 0.001;   // s
  double largest_slip_speed = 0.1;  // rad/s or m/s
  double least_slip_speed = 1e-5;   // rad/s or m/s
};

template <class P>
struct BasicPhysicsParameters {
  double timestep = 0.01;
  BasicContactParameters<P> contact;
  BasicLimitParameters<P> limit;
  FrictionParameters friction;
  P armature_scale{1.0};  // times the joints' own
};
using PhysicsParameters = BasicPhysicsParameters<double>;

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

template <class S, class P>
Push<S> unilateral_force(const S& depth, const S& opening, const P& stiffness, const P& damping, const P& width) {
  const P unit = kPullWidth * stiffness * width;  // of force
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

// Of an ellipsoid with half axes a, in its own axes: the point that lies farthest along −n, −a²n/√(Σ a²n²). A disc has
// none where it lies flat, so a small length s stands under the root: the point then moves to the disc's middle.
template <class S>
Vec3<S> nearest_of_ellipsoid(const ContactPoint& point, const Vec3<S>& n) {
  using sparse::add, sparse::mul;
  Vec3<S> scaled;
  for (int k = 0; k < 3; ++k) scaled[k] = mul(S(point.half_axes[k]), n[k]);
  const S inverse = rsqrt(add(dot(scaled, scaled), S(point.softness * point.softness)));
  Vec3<S> result;
  for (int k = 0; k < 3; ++k) result[k] = sparse::neg(mul(mul(S(point.half_axes[k]), scaled[k]), inverse));
  return result;
}

// Torque −ν N ω/√(ω² + ω_s²) about the normal and about the tangents with their own ν: slopes with respect to ω. ω_s is
// the slip speed at this distance.
inline constexpr double kSlipLever = 0.1;  // m

template <class S>
struct TurnDrag {
  Vec3<S> torque;
  Sym3<S> slope;
};

template <class S, class P>
TurnDrag<S> turn_drag(const TurnFriction& friction, const P& slip_speed, const Vec3<S>& normal, const Vec3<S>& omega,
                      const S& force) {
  using sparse::mul, sparse::sub;
  const S least((slip_speed / kSlipLever) * (slip_speed / kSlipLever));
  const S about = dot(normal, omega);
  const Vec3<S> rolling = omega - scale(about, normal);
  const auto drag = [&](double length, const S& square) {
    return mul(mul(S(length), force), rsqrt(sparse::add(square, least)));
  };
  const S spin = drag(friction.spin, mul(about, about));
  const S roll = drag(friction.roll, dot(rolling, rolling));
  return {-scale(mul(spin, about), normal) - scale(roll, rolling),
          isotropic(roll) + scale(sub(spin, roll), outer(normal))};
}

// What presses at one place, in the axes of a link's tree.
template <class S>
struct Touch {
  Vec3<S> normal;
  Vec3<S> arm;  // from the link's origin to where the surfaces touch
  S opening;    // u
  PlaneSplit<S> split;
  S slowness;  // 1/√(|v_t|² + v_s²)
  Push<S> push;
};

// The law, of surfaces pressed into each other by `depth` that leave each other with velocity u and slip as `split` has
// it.
template <class S, class P>
Touch<S> press(const BasicContactParameters<P>& law, const ContactSurface& surface, const Vec3<S>& normal,
               const Vec3<S>& arm, const S& depth, const S& opening, const PlaneSplit<S>& split) {
  using sparse::add, sparse::mul;
  const S slip_squared = dot(split.slip, split.slip);
  const S slowness = rsqrt(add(slip_squared, S(law.slip_speed * law.slip_speed)));
  const S rise = mul(S(law.slip_lift * (law.friction_scale * surface.friction)), mul(slip_squared, slowness));
  const Push<S> push = unilateral_force(depth, S(sparse::sub(opening, rise)), P(law.stiffness * surface.stiffness),
                                        P(law.damping * surface.damping), law.width);
  return {normal, arm, opening, split, slowness, push};
}

template <class S, class P>
Touch<S> press_contact(const Model& model, const BasicContactParameters<P>& law, const Kinematics<S>& kinematics,
                       const ContactPoint& point) {
  using sparse::add;
  const LinkState<S>& link = kinematics.links[point.link];
  const Vec3<S> normal = in_tree_axes(kinematics, point.link, point.normal);
  const Vec3<S> centre = link.rotation * lift<S>(point.link_position);
  Vec3<S> arm = centre - scale(S(point.radius), normal);  // the lowest point of the sphere touches
  if (point.is_ellipsoid) {
    const Mat3<S> axes = link.rotation * lift<S>(point.link_axes);
    arm = centre + axes * nearest_of_ellipsoid(point, transpose_times(axes, normal));
  }
  const S height = add(dot(lift<S>(point.normal), kinematics.links[link.root].offset),
                       dot(normal, link.position + (point.is_ellipsoid ? arm : centre)));
  const S depth = S(point.radius + point.margin + point.plane_offset) - height;
  const Vec3<S> velocity = link_point_velocity(kinematics, point.link, arm);
  const S opening = dot(normal, velocity);
  const bool floating = model.joints[model.links[link.root].joints.front()].type == JointType::kFree;
  const PlaneSplit<S> split(point.normal, normal, velocity, opening, !floating);
  return press(law, point, normal, arm, depth, opening, split);
}

// The force at the end of the step as far as it does not depend on the acceleration, and what answers that.
template <class S>
struct ContactLoad {
  Vec3<S> force;   // n (N − dt·K·u) − D_t·v_t
  Sym3<S> answer;  // B = b_n n nᵀ + b_t (1 − n nᵀ)
};

// Friction: −μ N v_t/√(|v_t|² + v_s²), N of the current state, with the slope D_t = μ N/√(|v_t|² + v_s²) along both
// tangents.
template <class S, class P>
ContactLoad<S> load_of(const BasicPhysicsParameters<P>& parameters, const ContactSurface& surface,
                       const Touch<S>& touch) {
  using sparse::mul;
  const double dt = parameters.timestep;
  const P stiffness = parameters.contact.stiffness * surface.stiffness;
  const P damping = parameters.contact.damping * surface.damping;
  const Push<S>& push = touch.push;
  const S normal_force = push.force - S(dt * stiffness) * push.slope * touch.opening;
  const S b_normal = S(dt * (damping + dt * stiffness)) * push.slope;
  const S d_tangent = mul(mul(S(parameters.contact.friction_scale * surface.friction), push.force), touch.slowness);
  const Vec3<S> force = scale(normal_force, touch.normal) - scale(d_tangent, touch.split.slip);
  return {force, touch.split.matrix(b_normal, mul(S(dt), d_tangent))};
}

// Adds the loads of all contact points to `wrenches` and `impedances`.
//
// MuJoCo's friction is convex: a slipping point is pushed up until u ≥ μ|v_t|. So the dashpot acts on u − λμ|v_t| with
// λ the slip lift and |v_t| smoothed as |v_t|²/√(|v_t|² + v_s²). With λ ≤ 1 contact still only takes energy: its power
// is N (u − μ|v_t|), and the dashpot presses only where that is negative.
template <class S, class P>
void add_contacts(const Model& model, const BasicPhysicsParameters<P>& parameters, const Kinematics<S>& kinematics,
                  std::vector<Wrench<S>>& wrenches, std::vector<Impedance<S>>& impedances) {
  const BasicContactParameters<P>& law = parameters.contact;
  for (const ContactPoint& point : model.contacts) {
    const Touch<S> touch = press_contact(model, law, kinematics, point);
    const ContactLoad<S> load = load_of(parameters, point, touch);
    wrenches[point.link].add_force(touch.arm, load.force);
    impedances[point.link] = impedances[point.link] + Impedance<S>::at(touch.arm, load.answer);
    if (!point.turn.any()) continue;
    const TurnDrag<S> drag = turn_drag(point.turn, law.slip_speed, touch.normal,
                                       kinematics.links[point.link].angular_velocity, touch.push.force);
    wrenches[point.link].torque = wrenches[point.link].torque + drag.torque;
    impedances[point.link] = impedances[point.link] + Impedance<S>::turning(scale(S(parameters.timestep), drag.slope));
  }
}

// Joint limits by the same law, and joint damping: forces to `tau`, what answers the acceleration to `diagonal`. Both
// ends of a range are one spring against |q − middle|; the kink at the middle is where nothing presses.
template <class S, class P>
void add_limits(const Model& model, const BasicPhysicsParameters<P>& parameters, const Kinematics<S>& kinematics,
                std::span<const S> q, std::vector<S>& tau, std::vector<S>& diagonal) {
  const double dt = parameters.timestep;
  for (const Joint& joint : model.joints) {
    if (!joint.limited) continue;
    const P stiffness = parameters.limit.stiffness * joint.inertia * joint.limit.stiffness;
    const P damping = parameters.limit.damping * joint.inertia * joint.limit.damping;
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
