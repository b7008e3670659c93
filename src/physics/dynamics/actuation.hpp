// Forces of the actuators.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "cgpo/physics/dynamics/passive.hpp"

namespace cgpo {

// τ += moment·force, force = gain(l, l̇)·clip(control) + bias(l, l̇), clipped to the actuator's range. A clip has zero
// slope outside.
template <class S>
void add_actuator_forces(const Model& model, const Kinematics<S>& kinematics, std::span<const S> q,
                         std::span<const S> control, DofAxes axes, std::vector<S>& tau) {
  using sparse::add, sparse::mul;
  const auto clip = [](const S& x, double lower, double upper) { return min(max(x, S(lower)), S(upper)); };
  for (int i = 0; i < model.nu; ++i) {
    const Actuator& actuator = model.actuators[i];
    const Joint& joint = model.joints[actuator.joint];
    // The moment arm, in the axes of the dofs; length l and velocity l̇ = moment·rates.
    const bool rotated = axes == DofAxes::kTree && joint.type <= JointType::kBall;
    std::vector<S> moment;
    for (int k = 0; k < dof_count(joint); ++k) moment.push_back(S(actuator.gear[k]));
    const int angular = joint.type == JointType::kFree ? 3 : 0;
    const Vec3<double> torque = vec3(actuator.gear[angular], actuator.gear[angular + 1], actuator.gear[angular + 2]);
    if (rotated) {
      const Vec3<S> turned = kinematics.links[joint.link].rotation * lift<S>(torque);
      for (int k = 0; k < 3; ++k) moment[angular + k] = turned[k];
      if (joint.type == JointType::kFree) {
        const Vec3<S> push =
            in_tree_axes(kinematics, joint.link, vec3(actuator.gear[0], actuator.gear[1], actuator.gear[2]));
        for (int k = 0; k < 3; ++k) moment[k] = push[k];
      }
    }
    S length(0.0);
    if (joint.type >= JointType::kSlide) length = mul(moment[0], q[joint.q]);
    if (joint.type == JointType::kBall && (actuator.gain[1] != 0.0 || actuator.bias[1] != 0.0)) {
      length = dot(lift<S>(torque), rotation_vector(read_quaternion(q, joint.q)));
    }
    S velocity(0.0);
    for (int k = 0; k < dof_count(joint); ++k) {
      velocity = add(velocity, mul(moment[k], kinematics.rates[joint.v + k]));
    }
    const auto affine = [&](const std::array<double, 3>& c) {
      return add(add(S(c[0]), mul(S(c[1]), length)), mul(S(c[2]), velocity));
    };
    S input = actuator.control_limited ? clip(control[i], actuator.control_lower, actuator.control_upper) : control[i];
    if (actuator.turn != 0.0) {
      const S turns = floor((input - length) * (1.0 / actuator.turn) + 0.5);
      input = input - actuator.turn * turns;
    }
    S force = add(mul(affine(actuator.gain), input), affine(actuator.bias));
    if (actuator.force_limited) force = clip(force, actuator.force_lower, actuator.force_upper);
    for (int k = 0; k < dof_count(joint); ++k) {
      tau[joint.v + k] = add(tau[joint.v + k], mul(moment[k], force));
    }
  }
}

}  // namespace cgpo
