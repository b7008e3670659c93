// Forces on links, and what they are worth to the joints.
#pragma once

#include <span>
#include <vector>

#include "cgpo/physics/dynamics/kinematics.hpp"

namespace cgpo {

// Torque about the link's origin, and force; in the axes of the tree.
template <class S>
struct Wrench {
  Vec3<S> torque;
  Vec3<S> force;

  // A force that acts at `arm` from the origin.
  void add_force(const Vec3<S>& arm, const Vec3<S>& f) {
    torque = torque + cross(arm, f);
    force = force + f;
  }
};

// Generalised forces τ = Σ Jᵀ wrench: from the leaves to the roots, each link hands its sum on to its parent.
template <class S>
std::vector<S> project_to_joints(const Model& model, const Kinematics<S>& kinematics, std::vector<Wrench<S>> wrenches) {
  std::vector<S> tau(model.nv, S(0.0));
  for (std::size_t i = model.links.size(); i-- > 0;) {
    const Link& link = model.links[i];
    const Wrench<S>& wrench = wrenches[i];
    const int first = model.joints[link.joints.front()].v;
    const int end = i + 1 < model.links.size() ? model.joints[model.links[i + 1].joints.front()].v : model.nv;
    for (int dof = first; dof < end; ++dof) {
      const Motion<S>& motion = kinematics.motions[dof];
      tau[dof] = sparse::add(dot(motion.angular, wrench.torque), dot(motion.linear, wrench.force));
    }
    if (link.parent < 0) continue;
    wrenches[link.parent].torque = wrenches[link.parent].torque + wrench.torque;
    wrenches[link.parent].add_force(kinematics.links[i].offset, wrench.force);
  }
  return tau;
}

}  // namespace cgpo
