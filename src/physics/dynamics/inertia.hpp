// The joint-space inertia matrix by composite bodies, from the leaves to the roots.
//
// Contacts act implicitly: to the matrix a contact is a massless spring and dashpot that answers an acceleration of its
// point with a force, as a mass would. Such an impedance moves up the tree like an inertia does, so that ten contacts
// on one leg cost little more than one.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "cgpo/graph/solve.hpp"
#include "cgpo/physics/dynamics/kinematics.hpp"

namespace cgpo {

// Acceleration (α, a) at an origin is answered by torque A α + C a and force Cᵀ α + B a. While it comes from one point
// only, that point and its B are kept instead: moving it costs an addition, and a limb of few joints asks for few
// columns.
template <class S>
class Impedance {
 public:
  Impedance() = default;
  // B at `arm` from the origin: C = [arm]× B, A = [arm]× B [arm]×ᵀ.
  static Impedance at(const Vec3<S>& arm, const Sym3<S>& b) {
    Impedance result;
    result.kind_ = Kind::kPoint;
    result.arm_ = arm;
    result.linear_ = b;
    return result;
  }

  // A torque that answers an angular acceleration alone: A.
  static Impedance turning(const Sym3<S>& a) {
    Impedance result;
    result.kind_ = Kind::kFull;
    result.angular_ = a;
    return result;
  }

  // Seen from an origin that lies −r away: C' = C + [r]× B, A' = A + C [r]×ᵀ + [r]× C'ᵀ.
  Impedance shifted(const Vec3<S>& r) const {
    Impedance result = *this;
    if (kind_ == Kind::kPoint) result.arm_ = arm_ + r;
    if (kind_ != Kind::kFull) return result;
    const Mat3<S> b = linear_.full();
    const Mat3<S> rb = Mat3<S>::from_columns(cross(r, b.column(0)), cross(r, b.column(1)), cross(r, b.column(2)));
    result.coupling_ = coupling_ + rb;
    std::array<Vec3<S>, 3> before, after;
    for (int i = 0; i < 3; ++i) {
      before[i] = cross(r, coupling_.row(i));
      after[i] = cross(r, result.coupling_.row(i));
    }
    const auto change = [&](int i, int j) { return sparse::add(before[i][j], after[j][i]); };
    result.angular_ =
        angular_ + Sym3<S>{change(0, 0), change(1, 1), change(2, 2), change(0, 1), change(0, 2), change(1, 2)};
    return result;
  }

  Impedance operator+(const Impedance& other) const {
    if (kind_ == Kind::kNone) return other;
    if (other.kind_ == Kind::kNone) return *this;
    Impedance result = full();
    const Impedance right = other.full();
    result.angular_ = result.angular_ + right.angular_;
    result.coupling_ = result.coupling_ + right.coupling_;
    result.linear_ = result.linear_ + right.linear_;
    return result;
  }

  Impedance full() const {
    if (kind_ != Kind::kPoint) return *this;
    Impedance result;
    result.kind_ = Kind::kFull;
    result.linear_ = linear_;
    return result.shifted(arm_);
  }

  bool is_point() const { return kind_ == Kind::kPoint; }
  const Vec3<S>& arm() const { return arm_; }  // of a point
  // Torque and force that answer an acceleration; of a point.
  Motion<S> answer_of_point(const Motion<S>& motion) const {
    const Vec3<S> force = linear_.full() * (motion.linear + cross(motion.angular, arm_));
    return {cross(arm_, force), force};
  }
  const Sym3<S>& angular() const { return angular_; }
  const Mat3<S>& coupling() const { return coupling_; }
  const Sym3<S>& linear() const { return linear_; }

 private:
  enum class Kind : std::uint8_t { kNone, kPoint, kFull };
  Kind kind_ = Kind::kNone;
  Vec3<S> arm_;       // of a point
  Sym3<S> angular_;   // A
  Mat3<S> coupling_;  // C
  Sym3<S> linear_;    // B
};

// Mass (a constant), first moment h = m c and inertia about the origin of a link and all that hangs on it.
template <class S>
struct CompositeInertia {
  double mass = 0.0;
  Vec3<S> moment;
  Sym3<S> inertia;

  // Seen from an origin that lies −r away. With g = h + m r/2: h' = h + m r, I' = I + 2 (r·g) 1 − (g rᵀ + r gᵀ).
  CompositeInertia shifted(const Vec3<S>& r) const {
    using sparse::add, sparse::mul, sparse::sub;
    const Vec3<S> g = moment + scale(S(0.5 * mass), r);
    const Vec3<S> twice = scale(S(2.0), g);
    const S x = mul(twice[0], r[0]), y = mul(twice[1], r[1]), z = mul(twice[2], r[2]);
    const auto mixed = [&](const S& before, int i, int j) {
      return sub(sub(before, mul(g[i], r[j])), mul(r[i], g[j]));
    };
    return {mass, moment + scale(S(mass), r),
            Sym3<S>{add(inertia.xx, add(y, z)), add(inertia.yy, add(x, z)), add(inertia.zz, add(x, y)),
                    mixed(inertia.xy, 0, 1), mixed(inertia.xz, 0, 2), mixed(inertia.yz, 1, 2)}};
  }

  CompositeInertia operator+(const CompositeInertia& other) const {
    return {mass + other.mass, moment + other.moment, inertia + other.inertia};
  }
};

template <class S>
CompositeInertia<S> link_inertia(const Link& link, const Mat3<S>& rotation) {
  CompositeInertia<S> result{link.mass, rotation * lift<S>(scale(link.mass, link.centre)),
                             isotropic(S(link.inertia.isotropic))};
  for (const AxialInertia::Term& term : link.inertia.terms) {
    result.inertia = result.inertia + scale(S(term.extra), outer(rotation * lift<S>(term.axis)));
  }
  return result;
}

// M + Jᵀ B J with armature; `impedances` by link, or empty. Pairs of dofs on different branches stay structural zeros.
template <class S>
SymmetricMatrix<S> joint_inertia(const Model& model, const Kinematics<S>& kinematics,
                                 std::vector<Impedance<S>> impedances = {}, const S& armature_scale = S(1.0)) {
  using sparse::add;
  const int links = static_cast<int>(model.links.size());
  std::vector<CompositeInertia<S>> composites;
  for (int i = 0; i < links; ++i) composites.push_back(link_inertia(model.links[i], kinematics.links[i].rotation));
  impedances.resize(model.links.size());
  SymmetricMatrix<S> matrix(model.nv);
  for (int i = links - 1; i >= 0; --i) {
    const int parent = model.links[i].parent;
    if (parent < 0) continue;
    const Vec3<S>& r = kinematics.links[i].offset;
    composites[parent] = composites[parent] + composites[i].shifted(r);
    impedances[parent] = impedances[parent] + impedances[i].shifted(r);
  }
  const auto first_dof = [&](int link) { return model.joints[model.links[link].joints.front()].v; };
  for (int i = 0; i < links; ++i) {
    const Vec3<S>& h = composites[i].moment;
    const Mat3<S> cross_h{{vec3(S(0.0), sparse::neg(h[2]), h[1]), vec3(h[2], S(0.0), sparse::neg(h[0])),
                           vec3(sparse::neg(h[1]), h[0], S(0.0))}};
    const int end = i + 1 < links ? first_dof(i + 1) : model.nv;
    // Six columns of a floating body are the matrices themselves.
    const Impedance<S> impedance = end - first_dof(i) == 6 ? impedances[i].full() : impedances[i];
    const Impedance<S> matrices = impedance.is_point() ? Impedance<S>() : impedance;
    const Mat3<S> angular = (composites[i].inertia + matrices.angular()).full();
    const Mat3<S> coupling = cross_h + matrices.coupling();
    const Mat3<S> linear = (isotropic(S(composites[i].mass)) + matrices.linear()).full();
    for (int dof = first_dof(i); dof < end; ++dof) {
      const Motion<S>& motion = kinematics.motions[dof];
      Vec3<S> torque = angular * motion.angular + coupling * motion.linear;
      Vec3<S> force = transpose_times(coupling, motion.angular) + linear * motion.linear;
      if (impedance.is_point()) {
        const Motion<S> answer = impedance.answer_of_point(motion);
        torque = torque + answer.angular;
        force = force + answer.linear;
      }
      int last = dof;  // of this link: those up to this one
      for (int link = i; link >= 0; link = model.links[link].parent) {
        for (int k = first_dof(link); k <= last; ++k) {
          const Motion<S>& other = kinematics.motions[k];
          matrix(dof, k) = add(dot(other.angular, torque), dot(other.linear, force));
        }
        const int parent = model.links[link].parent;
        if (parent < 0) break;
        torque = torque + cross(kinematics.links[link].offset, force);
        // dofs of the parent end where those of the next link begin
        last = first_dof(parent + 1) - 1;
      }
    }
  }
  for (const Joint& joint : model.joints) {
    if (joint.armature == 0.0) continue;
    const int count = joint.type == JointType::kFree ? 6 : joint.type == JointType::kBall ? 3 : 1;
    for (int k = 0; k < count; ++k)
      matrix(joint.v + k, joint.v + k) = matrix(joint.v + k, joint.v + k) + S(joint.armature) * armature_scale;
  }
  return matrix;
}

}  // namespace cgpo
