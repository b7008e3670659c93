// Forces between parts of a robot that its tree does not connect: Jacobians, and springs along them, in joint space.
//
// A spring and dashpot along y(q) with J = ∂y/∂q adds Jᵀf to the joints' forces and, being implicit, Jᵀ B J to their
// matrix, B = dt·(D + dt·K). What acts on one link and the world goes up the tree instead (forces.hpp, inertia.hpp),
// which is cheaper; what ties two links, or a length to joints, comes here.
#pragma once

#include <vector>

#include "cgpo/graph/solve.hpp"
#include "cgpo/physics/dynamics/forces.hpp"
#include "cgpo/physics/dynamics/inertia.hpp"

namespace cgpo {

// ∂(velocity of a point of a link)/∂rates, a column a dof, in the axes of the link's tree; `arm`: from the link's
// origin, in these axes. Columns of dofs that do not move the link are structural zeros; link −1, the world, has no
// others. As the link `base`, from which it hangs, sees it, dofs of the base and above are left out, too.
template <class S>
std::vector<Vec3<S>> point_jacobian(const Model& model, const Kinematics<S>& kinematics, int link, Vec3<S> arm,
                                    int base = -1) {
  std::vector<Vec3<S>> columns(model.nv);
  for (; link != base; link = model.links[link].parent) {
    const int first = model.joints[model.links[link].joints.front()].v;
    const bool is_last = link + 1 == static_cast<int>(model.links.size());
    const int end = is_last ? model.nv : model.joints[model.links[link + 1].joints.front()].v;
    for (int dof = first; dof < end; ++dof) {
      const Motion<S>& motion = kinematics.motions[dof];
      columns[dof] = motion.linear + cross(motion.angular, arm);
    }
    arm = arm + kinematics.links[link].offset;
  }
  return columns;
}

// ∂(angular velocity of a link)/∂rates, likewise.
template <class S>
std::vector<Vec3<S>> angular_jacobian(const Model& model, const Kinematics<S>& kinematics, int link, int base = -1) {
  std::vector<Vec3<S>> columns(model.nv);
  for (; link != base; link = model.links[link].parent) {
    const int first = model.joints[model.links[link].joints.front()].v;
    const bool is_last = link + 1 == static_cast<int>(model.links.size());
    const int end = is_last ? model.nv : model.joints[model.links[link + 1].joints.front()].v;
    for (int dof = first; dof < end; ++dof) columns[dof] = kinematics.motions[dof].angular;
  }
  return columns;
}

// The same columns in the world's axes.
template <class S>
std::vector<Vec3<S>> in_world_axes(const Kinematics<S>& kinematics, int link, std::vector<Vec3<S>> columns) {
  if (link < 0) return columns;
  for (Vec3<S>& column : columns) column = kinematics.to_world(link) * column;
  return columns;
}

// One row: τ += row·force, matrix += b·rowᵀrow. Entries that are structural zeros cost nothing.
template <class S>
void add_along(const std::vector<S>& row, const S& force, const S& b, std::vector<S>& tau, SymmetricMatrix<S>& matrix) {
  using sparse::add, sparse::mul;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (is_structural_zero(row[i])) continue;
    tau[i] = add(tau[i], mul(row[i], force));
    const S pull = mul(b, row[i]);
    for (std::size_t j = 0; j <= i; ++j) {
      if (is_structural_zero(row[j])) continue;
      S& entry = matrix(static_cast<int>(i), static_cast<int>(j));
      entry = add(entry, mul(pull, row[j]));
    }
  }
}

// Three rows at once: τ += Jᵀforce, matrix += JᵀBJ.
template <class S>
void add_along(const std::vector<Vec3<S>>& columns, const Vec3<S>& force, const Sym3<S>& b, std::vector<S>& tau,
               SymmetricMatrix<S>& matrix) {
  using sparse::add;
  const auto is_zero = [](const Vec3<S>& v) {
    return is_structural_zero(v[0]) && is_structural_zero(v[1]) && is_structural_zero(v[2]);
  };
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (is_zero(columns[i])) continue;
    tau[i] = add(tau[i], dot(columns[i], force));
    const Vec3<S> pull = b.full() * columns[i];
    for (std::size_t j = 0; j <= i; ++j) {
      if (is_zero(columns[j])) continue;
      S& entry = matrix(static_cast<int>(i), static_cast<int>(j));
      entry = add(entry, dot(pull, columns[j]));
    }
  }
}

// Six rows, of the motion of one link relative to another at a point: the wrench and the impedance are about that
// point.
template <class S>
void add_along(const std::vector<Motion<S>>& columns, const Wrench<S>& wrench, const Impedance<S>& impedance,
               std::vector<S>& tau, SymmetricMatrix<S>& matrix) {
  using sparse::add;
  const Impedance<S> full = impedance.full();
  const Mat3<S> angular = full.angular().full();
  const Mat3<S> linear = full.linear().full();
  const auto is_zero = [](const Motion<S>& motion) { return motion.angular.is_zero() && motion.linear.is_zero(); };
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const Motion<S>& motion = columns[i];
    if (is_zero(motion)) continue;
    tau[i] = add(tau[i], add(dot(motion.angular, wrench.torque), dot(motion.linear, wrench.force)));
    const Vec3<S> torque = angular * motion.angular + full.coupling() * motion.linear;
    const Vec3<S> force = transpose_times(full.coupling(), motion.angular) + linear * motion.linear;
    for (std::size_t j = 0; j <= i; ++j) {
      if (is_zero(columns[j])) continue;
      S& entry = matrix(static_cast<int>(i), static_cast<int>(j));
      entry = add(entry, add(dot(columns[j].angular, torque), dot(columns[j].linear, force)));
    }
  }
}

}  // namespace cgpo
