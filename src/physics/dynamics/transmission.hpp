// Where actuators pull: their lengths, and what a force along one is worth to the joints.
#pragma once

#include <span>
#include <vector>

#include "cgpo/physics/dynamics/passive.hpp"
#include "cgpo/physics/dynamics/tendon.hpp"

namespace cgpo {

template <class S>
struct Transmission {
  S length{0.0};
  S velocity{0.0};     // row · rates
  std::vector<S> row;  // by dof, in the axes of the kinematics: τ += row·force
};

// A slide or hinge has one moment arm, its gear; a ball or free joint one for each direction.
template <class S>
void read_joint(const Model& model, const Kinematics<S>& kinematics, std::span<const S> q, const Actuator& actuator,
                DofAxes axes, Transmission<S>& result) {
  const Joint& joint = model.joints[actuator.joint];
  for (int k = 0; k < dof_count(joint); ++k) result.row[joint.v + k] = S(actuator.gear[k]);
  if (joint.type >= JointType::kSlide) {
    result.length = sparse::mul(result.row[joint.v], q[joint.q]);
    return;
  }
  const int angular = joint.type == JointType::kFree ? 3 : 0;
  const Quat<S> turn = read_quaternion(q, joint.q + angular);
  Vec3<S> torque = lift<S>(vec3(actuator.gear[angular], actuator.gear[angular + 1], actuator.gear[angular + 2]));
  if (joint.type == JointType::kBall) result.length = dot(torque, rotation_vector(turn));
  if (actuator.transmission == TransmissionType::kJointInParent) torque = transpose_times(rotation_of(turn), torque);
  if (axes == DofAxes::kTree) torque = kinematics.links[joint.link].rotation * torque;
  for (int k = 0; k < 3; ++k) result.row[joint.v + angular + k] = torque[k];
  if (axes == DofAxes::kTree && joint.type == JointType::kFree) {
    const Vec3<S> push =
        in_tree_axes(kinematics, joint.link, vec3(actuator.gear[0], actuator.gear[1], actuator.gear[2]));
    for (int k = 0; k < 3; ++k) result.row[joint.v + k] = push[k];
  }
}

inline int common_ancestor_body(const Model& model, int a, int b) {
  while (a != b) {
    int& lower = a > b ? a : b;  // bodies come after their parents
    lower = model.bodies[lower].parent;
  }
  return a;
}

// A wrench in the site's axes, or in those of its reference; then its length is the wrench's product with place and
// rotation vector of the site there.
template <class S>
void read_site(const Model& model, const Kinematics<S>& kinematics, std::span<const S> q, const Actuator& actuator,
               Transmission<S>& result) {
  const Vec3<S> push = lift<S>(vec3(actuator.gear[0], actuator.gear[1], actuator.gear[2]));
  const Vec3<S> twist = lift<S>(vec3(actuator.gear[3], actuator.gear[4], actuator.gear[5]));
  const Site& site = model.sites[actuator.site];
  if (actuator.reference_site < 0) {
    if (site.link < 0) return;
    const Mat3<S>& rotation = kinematics.links[site.link].rotation;
    const Mat3<S> axes = rotation * lift<S>(site.link_axes);
    const Vec3<S> force = axes * push;
    const Vec3<S> torque = axes * twist + cross(rotation * lift<S>(site.link_position), force);
    add_wrench_along(model, kinematics, site.link, -1, torque, force, result.row);
    return;
  }
  const Site& reference = model.sites[actuator.reference_site];
  const StretchedPiece<S> pair(model, kinematics, {actuator.reference_site, actuator.site, 1.0});
  Mat3<S> axes = lift<S>(reference.link_axes);  // in those that both have in common
  if (reference.link >= 0) axes = kinematics.links[reference.link].rotation * axes;
  if (reference.link >= 0 && pair.in_world) axes = kinematics.to_world(reference.link) * axes;
  if (!push.is_zero()) result.length = dot(push, transpose_times(axes, pair.way));
  if (!twist.is_zero()) {
    const int ancestor = common_ancestor_body(model, site.body, reference.body);
    const auto orientation = [&](const Site& s) {
      return quaternion_product(body_quaternion(model, q, s.body, ancestor), lift<S>(s.orientation));
    };
    const Quat<S> from = orientation(reference);
    const Quat<S> back{from[0], sparse::neg(from[1]), sparse::neg(from[2]), sparse::neg(from[3])};
    const Vec3<S> turned = rotation_vector(quaternion_product(back, orientation(site)));
    result.length = sparse::add(result.length, dot(twist, turned));
  }
  const Vec3<S> torque = axes * twist;
  const Vec3<S> force = axes * push;
  const int base = common_ancestor(model, site.link, reference.link);  // what moves both changes nothing
  for (const int end : {1, 0}) {
    const Vec3<S> f = pair.in_tree(kinematics, end, end == 1 ? force : -force);
    const Vec3<S> t = pair.in_tree(kinematics, end, end == 1 ? torque : -torque) + cross(pair.arms[end], f);
    add_wrench_along(model, kinematics, pair.links[end], base, t, f, result.row);
  }
}

template <class S>
Transmission<S> transmission_of(const Model& model, const Kinematics<S>& kinematics, std::span<const S> q,
                                const Actuator& actuator, DofAxes axes) {
  using sparse::add, sparse::mul;
  Transmission<S> result;
  result.row.assign(model.nv, S(0.0));
  switch (actuator.transmission) {
    case TransmissionType::kJoint:
    case TransmissionType::kJointInParent: read_joint(model, kinematics, q, actuator, axes, result); break;
    case TransmissionType::kSite: read_site(model, kinematics, q, actuator, result); break;
    case TransmissionType::kTendon: {
      const TendonState<S> tendon = tendon_state(model, kinematics, q, model.tendons[actuator.tendon]);
      const S gear(actuator.gear[0]);
      result.length = mul(gear, tendon.length);
      for (int i = 0; i < model.nv; ++i) result.row[i] = mul(gear, tendon.moment[i]);
      break;
    }
  }
  for (int i = 0; i < model.nv; ++i) result.velocity = add(result.velocity, mul(result.row[i], kinematics.rates[i]));
  return result;
}

}  // namespace cgpo
