// Forces of the actuators, and their activations.
//
// A step takes an actuator's force at its end, to first order, as far as it falls with the velocity: with d = −∂f/∂l̇ it
// is f − dt·d·l̈. Servos that are stiff against the step are taken implicitly in their length too: with k = −∂f/∂l it is
// f − dt·k·l̇ − dt·(d + dt·k)·l̈. So neither gain makes a step diverge.
#pragma once

#include <array>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "cgpo/graph/solve.hpp"
#include "cgpo/physics/dynamics/transmission.hpp"

namespace cgpo {

template <class S>
S clip(const S& x, double lower, double upper) {
  return min(max(x, S(lower)), S(upper));
}

template <class S>
S clipped_control(const Actuator& actuator, const S& control) {
  return actuator.control_limited ? clip(control, actuator.control_lower, actuator.control_upper) : control;
}

// Of angles, the one that means the same and is nearest to another; other numbers stay as they are.
template <class S>
S nearest_turn(const Actuator& actuator, const S& angle, const S& other) {
  if (actuator.turn == 0.0) return angle;
  const S turns = floor((angle - other) * (1.0 / actuator.turn) + 0.5);
  return angle - actuator.turn * turns;
}

// ---- activations ---------------------------------------------------------------------------------------------------

// ȧ for a control u.
template <class S>
S activation_rate(const Actuator& actuator, const S& activation, const S& control) {
  const Activation& law = actuator.activation;
  if (law.type == ActivationType::kNone) return S(0.0);
  S input = clipped_control(actuator, control);
  if (law.type == ActivationType::kIntegrator) return input;
  return sparse::mul(S(1.0 / law.time_constant), sparse::sub(nearest_turn(actuator, input, activation), activation));
}

// A step of dt later; kFilterExact as if the control were held, the others by Euler.
template <class S>
S next_activation(const Actuator& actuator, const S& activation, const S& control, double dt) {
  const Activation& law = actuator.activation;
  if (law.type == ActivationType::kNone) return activation;
  const bool exact = law.type == ActivationType::kFilterExact;
  const double time = exact ? -law.time_constant * std::expm1(-dt / law.time_constant) : dt;
  const S next = sparse::add(activation, sparse::mul(S(time), activation_rate(actuator, activation, control)));
  return law.limited ? clip(next, law.lower, law.upper) : next;
}

// ---- forces --------------------------------------------------------------------------------------------------------

// What the gain is multiplied with: the clipped control, or the activation.
template <class S>
S actuator_input(const Actuator& actuator, const S& length, std::span<const S> activation, const S& control,
                 double dt) {
  const Activation& law = actuator.activation;
  if (law.type == ActivationType::kNone) return nearest_turn(actuator, clipped_control(actuator, control), length);
  const S& now = activation[law.index];
  return nearest_turn(actuator, law.early ? next_activation(actuator, now, control, dt) : now, length);
}

template <class S>
S unclipped_force(const Actuator& actuator, const Transmission<S>& at, const S& input) {
  using sparse::add, sparse::mul;
  const auto affine = [&](const std::array<double, 3>& c) {
    return add(add(S(c[0]), mul(S(c[1]), at.length)), mul(S(c[2]), at.velocity));
  };
  return add(mul(affine(actuator.gain), input), affine(actuator.bias));
}

// At this moment. A clip has zero slope outside.
template <class S>
S actuator_force(const Actuator& actuator, const Transmission<S>& at, std::span<const S> activation, const S& control,
                 double dt) {
  const S force = unclipped_force(actuator, at, actuator_input(actuator, at.length, activation, control, dt));
  return actuator.force_limited ? clip(force, actuator.force_lower, actuator.force_upper) : force;
}

// τ += row·force of all actuators: MuJoCo's qfrc_actuator. dt is the step's, which activations that act early look at.
template <class S>
void add_actuator_forces(const Model& model, const Kinematics<S>& kinematics, const PhysicsState<S>& state,
                         std::span<const S> control, double dt, DofAxes axes, std::vector<S>& tau) {
  using sparse::add, sparse::mul;
  for (int i = 0; i < model.nu; ++i) {
    const Actuator& actuator = model.actuators[i];
    const Transmission<S> at = transmission_of(model, kinematics, std::span<const S>(state.q), actuator, axes);
    const S force = actuator_force(actuator, at, std::span<const S>(state.activation), control[i], dt);
    for (int k = 0; k < model.nv; ++k) tau[k] = add(tau[k], mul(at.row[k], force));
  }
}

// ---- a step --------------------------------------------------------------------------------------------------------

// One actuator in a step: τ += row·force, matrix += slope·rowᵀrow.
template <class S>
struct Drive {
  std::vector<S> row;
  S force{0.0};
  S slope{0.0};
};

// A servo is stiff against the step where an oscillation of its own takes fewer than 4π of them, (dt·ω)² above this;
// explicit steps diverge at 4. Elsewhere its length is left as MuJoCo's integrators have it, which does not damp it.
inline constexpr double kStiffServo = 0.25;

// k, or 0 where it is not stiff.
inline double implicit_stiffness(const Model& model, const Actuator& actuator, double dt) {
  const bool is_joint = actuator.joint >= 0;
  const bool has_length = is_joint ? model.joints[actuator.joint].type != JointType::kFree
                                   : actuator.transmission == TransmissionType::kTendon || actuator.reference_site >= 0;
  const double stiffness = has_length && actuator.gain[1] == 0.0 ? -actuator.bias[1] : 0.0;
  return dt * dt * stiffness * actuator.response > kStiffServo ? stiffness : 0.0;
}

// d, not below 0. It is a constant unless the gain falls with the velocity.
template <class S>
S implicit_damping(const Actuator& actuator, const S& input) {
  if (actuator.gain[2] == 0.0) return S(actuator.bias[2] < 0.0 ? -actuator.bias[2] : 0.0);
  return max(sparse::sub(S(0.0 - actuator.bias[2]), sparse::mul(S(actuator.gain[2]), input)), S(0.0));
}

// Share of the force's range over which a force that nears its end ceases to be implicit.
inline constexpr double kClipEdge = 0.1;

// A force f with slope b within its range. At the end of the step it would be about f/(1 + b·r) with r the response, so
// that is what is clipped, and where it is, the slope is 0: the step neither exceeds the range nor starts to chatter.
template <class S>
void clip_drive(const Actuator& actuator, Drive<S>& drive) {
  const double middle = 0.5 * (actuator.step_lower + actuator.step_upper);
  const double half = 0.5 * (actuator.step_upper - actuator.step_lower);
  const S give = drive.slope * S(actuator.response);
  const S at_end = drive.force / (S(1.0) + give);
  const S t = clip(S((S(half) - abs(at_end - S(middle))) * S(1.0 / (kClipEdge * half))), 0.0, 1.0);
  const S inside = t * t * (S(3.0) - S(2.0) * t);
  drive.force = clip(at_end, actuator.step_lower, actuator.step_upper) * (S(1.0) + inside * give);
  drive.slope = inside * drive.slope;
}

// What the actuators do in a step from this state, and the activations that it leads to. Motors, and whatever else does
// not depend on its own motion, have a slope of zero, which costs nothing. In the axes of the trees.
template <class S>
std::vector<Drive<S>> actuator_drives(const Model& model, const Kinematics<S>& kinematics, const PhysicsState<S>& state,
                                      std::span<const S> control, double dt, std::vector<S>& next_activations) {
  using sparse::mul, sparse::sub;
  std::vector<Drive<S>> drives;
  const std::span<const S> activation(state.activation);
  next_activations = state.activation;
  for (int i = 0; i < model.nu; ++i) {
    const Actuator& actuator = model.actuators[i];
    Transmission<S> at = transmission_of(model, kinematics, std::span<const S>(state.q), actuator, DofAxes::kTree);
    const S input = actuator_input(actuator, at.length, activation, control[i], dt);
    Drive<S> drive;
    drive.force = unclipped_force(actuator, at, input);
    const double stiffness = implicit_stiffness(model, actuator, dt);
    drive.slope = mul(S(dt), sparse::add(implicit_damping(actuator, input), S(dt * stiffness)));
    drive.force = sub(drive.force, mul(S(dt * stiffness), at.velocity));
    if (actuator.step_limited && !is_structural_zero(drive.slope)) {
      clip_drive(actuator, drive);
    } else if (actuator.step_limited) {
      drive.force = clip(drive.force, actuator.step_lower, actuator.step_upper);
    }
    const Activation& law = actuator.activation;
    if (law.type != ActivationType::kNone) {
      const S next = next_activation(actuator, activation[law.index], control[i], dt);
      next_activations[law.index] = nearest_turn(actuator, next, at.length);
    }
    drive.row = std::move(at.row);
    drives.push_back(std::move(drive));
  }
  return drives;
}

}  // namespace cgpo
