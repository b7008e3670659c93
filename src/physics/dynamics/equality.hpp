// What has to be equal: joints, tendons, points and frames of bodies.
//
// The law is MuJoCo's, which for equalities is smooth: a residual r(q) with velocity ṙ = J v is driven to zero with the
// acceleration r̈ = −B ṙ − K d r, of which a share d is had against whatever else acts. With m what a unit force meets
// in the pose of the file, a spring of that strength with an inertia does it:
//   f = g (−B ṙ − K d r − r̈),  g = m d/(1 − d),  r̈ = J a + J̇ v.
// It is implicit in a, so no stiffness makes it diverge; d rises with |r|. docs/physics/ties.md has the constants.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "cgpo/physics/dynamics/bias.hpp"
#include "cgpo/physics/dynamics/contact.hpp"
#include "cgpo/physics/dynamics/coupling.hpp"
#include "cgpo/physics/dynamics/tendon.hpp"

namespace cgpo {

// K and B, for steps of this length.
struct ReferenceGains {
  double stiffness = 0.0;  // 1/s²
  double damping = 0.0;    // 1/s
};

inline ReferenceGains reference_gains(const Softness& soft, double timestep) {
  constexpr double kLeast = 1e-15;
  const double most = soft.most;
  if (soft.time <= 0.0) return {-soft.time / (most * most), -soft.ratio / most};
  const double time = soft.is_safe ? std::max(soft.time, 2.0 * timestep) : soft.time;
  const double rate = most * time;
  return {1.0 / std::max(rate * rate * soft.ratio * soft.ratio, kLeast), 2.0 / std::max(rate, kLeast)};
}

// xᵖ for x in [0, 1]
template <class S>
S unit_power(const S& x, double power) {
  if (power != std::floor(power)) return exp(S(power) * log(max(x, S(1e-12))));
  S result = x;
  for (double p = 1.0; p < power; p += 1.0) result = result * x;
  return result;
}

// d at the square of a residual's length: from `least` to `most`, by two powers that meet at the midpoint.
template <class S>
S impedance(const Softness& soft, const S& square) {
  if (soft.least == soft.most || soft.width <= 1e-15) return S(0.5 * (soft.least + soft.most));
  constexpr double kTiny = 1e-20;
  const S x = min(S(sqrt(S(square + S(kTiny))) * S(1.0 / soft.width)), S(1.0));
  S share = x;
  if (soft.power > 1.0) {
    const double middle = soft.midpoint;
    const S below = S(middle) * unit_power(S(min(S(x * S(1.0 / middle)), S(1.0))), soft.power);
    const S above = S(1.0 - middle) * unit_power(S(min(S((S(1.0) - x) * S(1.0 / (1.0 - middle))), S(1.0))), soft.power);
    share = select(x <= S(middle), below, S(S(1.0) - above));
  }
  return S(soft.least) + S(soft.most - soft.least) * share;
}

// How a residual answers: f = −damping·ṙ − stiffness·r − inertia·r̈.
template <class S>
struct Grip {
  S stiffness;
  S damping;
  S inertia;

  Grip(const ReferenceGains& gains, double inverse_inertia, const S& d) {
    constexpr double kLeast = 1e-12;
    inertia = d * reciprocal(S((S(1.0) - d) * S(std::max(kLeast, inverse_inertia))));
    damping = S(gains.damping) * inertia;
    stiffness = S(gains.stiffness) * d * inertia;
  }
};

// ---- joints and tendons --------------------------------------------------------------------------------------------

// x − Σ polynomial[k]·yᵏ and ∂/∂rates.
template <class S>
struct ScalarResidual {
  S value{0.0};
  std::vector<S> row;
};

template <class S>
ScalarResidual<S> scalar_residual(const Model& model, const Kinematics<S>& kinematics, std::span<const S> q,
                                  const Equality& equality) {
  using sparse::add, sparse::mul, sparse::sub;
  const auto at = [&](const Equality::End& end) {
    ScalarResidual<S> result;
    if (equality.type == EqualityType::kTendon) {
      TendonState<S> tendon = tendon_state(model, kinematics, q, model.tendons[end.id]);
      result = {tendon.length, std::move(tendon.moment)};
    } else {
      const Joint& joint = model.joints[end.id];
      result.value = q[joint.q];
      result.row.assign(model.nv, S(0.0));
      result.row[joint.v] = S(1.0);
    }
    result.value = sub(result.value, S(end.reference));
    return result;
  };
  ScalarResidual<S> x = at(equality.ends[0]);
  const std::array<double, 5>& c = equality.polynomial;
  if (equality.ends[1].id < 0) {
    x.value = sub(x.value, S(c[0]));
    return x;
  }
  const ScalarResidual<S> y = at(equality.ends[1]);
  S sum(c[4]), slope(4.0 * c[4]);
  for (int k = 3; k >= 0; --k) {
    const auto i = static_cast<std::size_t>(k);
    sum = add(S(c[i]), mul(y.value, sum));
    if (k > 0) slope = add(S(k * c[i]), mul(y.value, slope));
  }
  x.value = sub(x.value, sum);
  for (int i = 0; i < model.nv; ++i) x.row[i] = sub(x.row[i], mul(slope, y.row[i]));
  return x;
}

template <class S, class P>
void add_scalar_equality(const Model& model, const BasicPhysicsParameters<P>& parameters,
                         const Kinematics<S>& kinematics, std::span<const S> q, const Equality& equality,
                         std::vector<S>& tau, SymmetricMatrix<S>& matrix) {
  using sparse::add, sparse::mul;
  const ScalarResidual<S> residual = scalar_residual(model, kinematics, q, equality);
  const S d = impedance(equality.softness, mul(residual.value, residual.value));
  const Grip<S> grip(reference_gains(equality.softness, parameters.timestep), equality.inverse_inertia, d);
  S rate(0.0);
  for (int i = 0; i < model.nv; ++i) rate = add(rate, mul(residual.row[i], kinematics.rates[i]));
  const S force = sparse::neg(add(mul(grip.damping, rate), mul(grip.stiffness, residual.value)));
  add_along(residual.row, force, grip.inertia, tau, matrix);
}

// ---- bodies --------------------------------------------------------------------------------------------------------

// How the first frame of a connect or weld stands to the second one, seen from the link that both hang on: so what
// moves both is left out. Vectors are in the axes of their tree, or of the world if they are in two trees.
template <class S>
class FrameResidual {
 public:
  FrameResidual(const Model& model, const Kinematics<S>& kinematics, const Equality& equality)
      : model_(model), kinematics_(kinematics), equality_(equality) {
    const auto root = [&](int link) { return link < 0 ? -1 : kinematics.links[link].root; };
    for (const int i : {0, 1}) links_[i] = equality.ends[i].link;
    in_world_ = root(links_[0]) != root(links_[1]);
    base_ = common_ancestor(model, links_[0], links_[1]);
    for (const int i : {0, 1}) {
      const Pose& frame = equality.ends[i].in_link;
      if (links_[i] < 0) {
        places_[i] = lift<S>(frame.position);
        continue;
      }
      const LinkState<S>& link = kinematics.links[links_[i]];
      arms_[i] = link.rotation * lift<S>(frame.position);
      places_[i] = link.position + arms_[i];
      if (in_world_) places_[i] = kinematics.links[link.root].offset + kinematics.to_world(links_[i]) * places_[i];
    }
  }

  Vec3<S> position() const { return places_[0] - places_[1]; }

  // ∂(velocity of one point to the other)/∂rates
  std::vector<Vec3<S>> position_columns() const {
    return difference([&](int i) { return point_jacobian(model_, kinematics_, links_[i], arms_[i], base_); });
  }
  std::vector<Vec3<S>> angular_columns() const {
    return difference([&](int i) { return angular_jacobian(model_, kinematics_, links_[i], base_); });
  }

  // r̈ where all joint accelerations are zero, as the base sees it.
  Vec3<S> position_drift(const std::vector<LinkAcceleration<S>>& accelerations, const Vec3<S>& velocity) const {
    const auto of = [&](int i) {
      if (links_[i] < 0) return -lift<S>(model_.gravity);  // as all links seem to accelerate
      const LinkAcceleration<S>& a = accelerations[links_[i]];
      return from_tree(i, a.linear + a.spread * arms_[i]);
    };
    Vec3<S> drift = of(0) - of(1);
    if (base_ < 0) return drift;
    const Vec3<S> turning = cross(kinematics_.links[base_].angular_velocity, velocity);
    return drift - (accelerations[base_].spread * position() + scale(S(2.0), turning));
  }
  // w and u of the quaternion that turns the second frame into the first one, as long as that is by less than half a
  // turn.
  void rotation(S& w, Vec3<S>& u) const {
    const Mat3<S> turn = axes(0) * transpose(axes(1));
    const S trace = S(1.0) + turn(0, 0) + turn(1, 1) + turn(2, 2);
    const S inverse = rsqrt(max(trace, S(1e-6)));
    w = S(0.5) * sqrt(max(trace, S(1e-6)));
    const S half = S(0.5) * inverse;
    u = scale(half, vec3(S(turn(2, 1) - turn(1, 2)), S(turn(0, 2) - turn(2, 0)), S(turn(1, 0) - turn(0, 1))));
  }

  // u̇ of an angular velocity ω of the first frame to the second one: ½(w ω + ω × u).
  Vec3<S> half_turn(const S& w, const Vec3<S>& u, const Vec3<S>& omega) const {
    return scale(S(0.5), scale(w, omega) + cross(omega, u));
  }
  // ü where all joint accelerations are zero, as the second frame sees it: ½(w ω̇ + ω̇ × u) − ¼ ω² u.
  Vec3<S> rotation_drift(const std::vector<LinkAcceleration<S>>& accelerations, const S& w, const Vec3<S>& u,
                         const Vec3<S>& omega) const {
    return half_turn(w, u, angular_drift(accelerations, omega)) - scale(sparse::mul(S(0.25), dot(omega, omega)), u);
  }

  Vec3<S> rate(const std::vector<Vec3<S>>& columns) const {
    Vec3<S> sum;
    for (int i = 0; i < model_.nv; ++i) sum = sum + scale(kinematics_.rates[i], columns[i]);
    return sum;
  }

 private:
  // Of the angular velocity ω of the first frame as the second one sees it.
  Vec3<S> angular_drift(const std::vector<LinkAcceleration<S>>& accelerations, const Vec3<S>& omega) const {
    const auto of = [&](int i) { return links_[i] < 0 ? Vec3<S>() : from_tree(i, accelerations[links_[i]].angular); };
    if (links_[1] < 0) return of(0);
    return of(0) - of(1) - cross(from_tree(1, kinematics_.links[links_[1]].angular_velocity), omega);
  }

  Vec3<S> from_tree(int end, const Vec3<S>& vector) const {
    return in_world_ && links_[end] >= 0 ? kinematics_.to_world(links_[end]) * vector : vector;
  }
  Mat3<S> axes(int end) const {
    Mat3<S> frame = lift<S>(equality_.ends[end].in_link.rotation);
    if (links_[end] < 0) return frame;
    const Mat3<S> in_tree = kinematics_.links[links_[end]].rotation * frame;
    return in_world_ ? kinematics_.to_world(links_[end]) * in_tree : in_tree;
  }
  template <class Columns>
  std::vector<Vec3<S>> difference(const Columns& columns_of) const {
    std::vector<Vec3<S>> columns[2];
    for (const int i : {0, 1}) {
      columns[i] = columns_of(i);
      if (in_world_) columns[i] = in_world_axes(kinematics_, links_[i], std::move(columns[i]));
    }
    for (int i = 0; i < model_.nv; ++i) columns[0][i] = columns[0][i] - columns[1][i];
    return std::move(columns[0]);
  }

  const Model& model_;
  const Kinematics<S>& kinematics_;
  const Equality& equality_;
  int links_[2];
  int base_;
  bool in_world_;
  Vec3<S> arms_[2], places_[2];
};

template <class S, class P>
void add_body_equality(const Model& model, const BasicPhysicsParameters<P>& parameters, const Kinematics<S>& kinematics,
                       const std::vector<LinkAcceleration<S>>& accelerations, const Equality& equality,
                       std::vector<S>& tau, SymmetricMatrix<S>& matrix) {
  using sparse::add, sparse::mul;
  const FrameResidual<S> frames(model, kinematics, equality);
  const ReferenceGains gains = reference_gains(equality.softness, parameters.timestep);
  const double torque_square = equality.torque_scale * equality.torque_scale;
  const Vec3<S> position = frames.position();
  S square = dot(position, position);
  S w(1.0);
  Vec3<S> u;
  if (torque_square > 0.0) {
    frames.rotation(w, u);
    square = add(square, mul(S(torque_square), dot(u, u)));
  }
  const S d = impedance(equality.softness, square);
  const auto hold = [&](double inverse_inertia, double weight, const std::vector<Vec3<S>>& columns,
                        const Vec3<S>& value, const Vec3<S>& rate, const Vec3<S>& drift) {
    const Grip<S> grip(gains, inverse_inertia, d);
    const S inertia = mul(S(weight), grip.inertia);
    const Vec3<S> force =
        scale(S(-weight), scale(grip.damping, rate) + scale(grip.stiffness, value)) - scale(inertia, drift);
    add_along(columns, force, isotropic(inertia), tau, matrix);
  };
  const std::vector<Vec3<S>> columns = frames.position_columns();
  const Vec3<S> velocity = frames.rate(columns);
  hold(equality.inverse_inertia, 1.0, columns, position, velocity, frames.position_drift(accelerations, velocity));
  if (torque_square == 0.0) return;
  std::vector<Vec3<S>> turns = frames.angular_columns();
  const Vec3<S> omega = frames.rate(turns);
  for (Vec3<S>& column : turns) {
    if (!column.is_zero()) column = frames.half_turn(w, u, column);
  }
  hold(equality.inverse_turn_inertia, torque_square, turns, u, frames.half_turn(w, u, omega),
       frames.rotation_drift(accelerations, w, u, omega));
}

// Forces to `tau`, and to `matrix` what answers the acceleration.
template <class S, class P>
void add_equalities(const Model& model, const BasicPhysicsParameters<P>& parameters, const Kinematics<S>& kinematics,
                    std::span<const S> q, std::vector<S>& tau, SymmetricMatrix<S>& matrix) {
  std::vector<LinkAcceleration<S>> accelerations;
  for (const Equality& equality : model.equalities) {
    if (equality.type >= EqualityType::kJoint) {
      add_scalar_equality(model, parameters, kinematics, q, equality, tau, matrix);
      continue;
    }
    if (accelerations.empty()) accelerations = bias_accelerations(model, kinematics);
    add_body_equality(model, parameters, kinematics, accelerations, equality, tau, matrix);
  }
}

}  // namespace cgpo
