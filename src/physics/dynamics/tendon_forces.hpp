// What tendons do: springs, dampers, inertia, limits and dry friction along their lengths.
#pragma once

#include <span>
#include <vector>

#include "cgpo/physics/dynamics/resistance.hpp"
#include "cgpo/physics/dynamics/tendon.hpp"

namespace cgpo {

// −stiffness(x)·x − damping(|l̇|)·l̇, x how far the length l is beyond where the spring is slack.
template <class S>
S tendon_spring_force(const Tendon& tendon, const TendonState<S>& state) {
  using sparse::add, sparse::mul, sparse::neg, sparse::sub;
  S force(0.0);
  if (tendon.damping != 0.0 || tendon.damping_curve != Curve{}) {
    force = mul(along_speed(tendon.damping, tendon.damping_curve, state.velocity), state.velocity);
  }
  if (tendon.stiffness != 0.0 || tendon.stiffness_curve != Curve{}) {
    S stretch = state.length - S(tendon.rest_upper);
    if (tendon.rest_lower < tendon.rest_upper) {
      stretch = max(stretch, S(0.0)) + min(S(state.length - S(tendon.rest_lower)), S(0.0));
    }
    force = add(force, mul(along_curve(tendon.stiffness, tendon.stiffness_curve, stretch), stretch));
  }
  return neg(force);
}

inline bool has_springs(const Tendon& tendon) {
  return tendon.damping != 0.0 || tendon.stiffness != 0.0 || tendon.damping_curve != Curve{} ||
         tendon.stiffness_curve != Curve{};
}

// Springs and dampers of tendons: their part of MuJoCo's qfrc_passive.
template <class S>
void add_tendon_springs(const Model& model, const Kinematics<S>& kinematics, std::span<const S> q,
                        std::vector<S>& tau) {
  using sparse::add, sparse::mul;
  for (const Tendon& tendon : model.tendons) {
    if (!has_springs(tendon)) continue;
    const TendonState<S> state = tendon_state(model, kinematics, q, tendon);
    const S force = tendon_spring_force(tendon, state);
    for (int i = 0; i < model.nv; ++i) tau[i] = add(tau[i], mul(state.moment[i], force));
  }
}

// Inertia a along tendons with moment m: a m mᵀ to the matrix, −a m l̈, without what joint accelerations do to l̈, to the
// forces. As in MuJoCo dofs of different branches stay apart.
template <class S>
void add_tendon_inertia(const Model& model, const Kinematics<S>& kinematics, std::span<const S> q, std::vector<S>& tau,
                        SymmetricMatrix<S>& matrix) {
  using sparse::add, sparse::mul, sparse::sub;
  std::vector<LinkAcceleration<S>> accelerations;
  for (const Tendon& tendon : model.tendons) {
    if (tendon.armature == 0.0) continue;
    if (accelerations.empty()) accelerations = bias_accelerations(model, kinematics);
    const std::vector<S> moment = tendon_state(model, kinematics, q, tendon).moment;
    const S force = mul(S(tendon.armature), tendon_drift(model, kinematics, accelerations, tendon));
    for (int i = 0; i < model.nv; ++i) {
      tau[i] = sub(tau[i], mul(moment[i], force));
      const S pull = mul(S(tendon.armature), moment[i]);
      for (int j = i; j >= 0; j = model.dof_parent[j]) matrix(i, j) = add(matrix(i, j), mul(pull, moment[j]));
    }
  }
}

// Everything that a step has of them: forces to `tau`, and to `matrix` what answers the acceleration.
template <class S, class P>
void add_tendon_forces(const Model& model, const BasicPhysicsParameters<P>& parameters, const Kinematics<S>& kinematics,
                       std::span<const S> q, std::vector<S>& tau, SymmetricMatrix<S>& matrix) {
  using sparse::add, sparse::mul, sparse::sub;
  const double dt = parameters.timestep;
  for (const Tendon& tendon : model.tendons) {
    if (!has_springs(tendon) && !tendon.limited && tendon.frictionloss == 0.0) continue;
    const TendonState<S> state = tendon_state(model, kinematics, q, tendon);
    RowForce<S> along{tendon_spring_force(tendon, state), S(0.0)};
    const Curve slope{2.0 * dt * tendon.damping_curve[0], 3.0 * dt * tendon.damping_curve[1]};
    along.answer = along_speed(dt * tendon.damping, slope, state.velocity);
    if (tendon.frictionloss > 0.0) {
      const S drag =
          friction_slope(parameters.friction, tendon.frictionloss, tendon.inertia, mul(state.velocity, state.velocity));
      along.force = sub(along.force, mul(drag, state.velocity));
      along.answer = add(along.answer, mul(S(dt), drag));
    }
    if (tendon.limited) {
      const S from_middle = state.length - S(0.5 * (tendon.lower + tendon.upper));
      const S side = select(from_middle < S(0.0), S(-1.0), S(1.0));
      const S depth = abs(from_middle) - S(0.5 * (tendon.upper - tendon.lower));
      const RowForce<S> push =
          limit_force(parameters, tendon.limit, tendon.inertia, depth, S(-(side * state.velocity)));
      along.force = sub(along.force, S(side * push.force));
      along.answer = add(along.answer, push.answer);
    }
    add_along(state.moment, along.force, along.answer, tau, matrix);
  }
}

}  // namespace cgpo
