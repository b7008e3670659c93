// Lengths of tendons, and how they answer to the joints.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "cgpo/physics/dynamics/bias.hpp"

namespace cgpo {

// The link that two others hang on; −1: the world.
inline int common_ancestor(const Model& model, int a, int b) {
  while (a != b) {
    int& lower = a > b ? a : b;  // links come after their parents
    lower = model.links[lower].parent;
  }
  return a;
}

// row += what a torque about a link's origin and a force there are worth to each dof, as the link `base`, from which it
// hangs, sees it: dofs of the base and above are left out. All vectors in the axes of the tree.
template <class S>
void add_wrench_along(const Model& model, const Kinematics<S>& kinematics, int link, int base, Vec3<S> torque,
                      const Vec3<S>& force, std::vector<S>& row) {
  using sparse::add;
  for (; link != base; link = model.links[link].parent) {
    const bool is_last = link + 1 == static_cast<int>(model.links.size());
    const int end = is_last ? model.nv : model.joints[model.links[link + 1].joints.front()].v;
    for (int dof = model.joints[model.links[link].joints.front()].v; dof < end; ++dof) {
      const Motion<S>& motion = kinematics.motions[dof];
      row[dof] = add(row[dof], add(dot(motion.angular, torque), dot(motion.linear, force)));
    }
    torque = torque + cross(kinematics.links[link].offset, force);
  }
}

// row += ∂(direction · velocity of a point of a link)/∂rates, seen from the base. `arm`: from the link's origin.
template <class S>
void add_velocity_along(const Model& model, const Kinematics<S>& kinematics, int link, int base, const Vec3<S>& arm,
                        const Vec3<S>& direction, std::vector<S>& row) {
  add_wrench_along(model, kinematics, link, base, cross(arm, direction), direction, row);
}

template <class S>
struct TendonState {
  S length{0.0};
  S velocity{0.0};        // moment · rates
  std::vector<S> moment;  // ∂length/∂rates, by dof, in the axes of the kinematics; mostly structural zeros
};

// Two sites nearer than this pull at one another with less and less moment, so that there is a derivative at 0.
inline constexpr double kLeastPiece = 1e-8;  // m

// A straight piece between two links. Within one tree vectors are in its axes, otherwise in the world's.
template <class S>
struct StretchedPiece {
  int links[2];
  Vec3<S> arms[2];  // from the links' origins to the sites, in the axes of their trees
  bool in_world;
  Vec3<S> way;  // from the first site to the second
  S square;     // of its length
  S inverse;    // 1/length

  StretchedPiece(const Model& model, const Kinematics<S>& kinematics, const Tendon::Piece& piece) {
    const Site* const sites[2] = {&model.sites[piece.from], &model.sites[piece.to]};
    const auto root = [&](int link) { return link < 0 ? -1 : kinematics.links[link].root; };
    in_world = root(sites[0]->link) != root(sites[1]->link);
    Vec3<S> places[2];
    for (int i = 0; i < 2; ++i) {
      links[i] = sites[i]->link;
      if (links[i] < 0) {
        places[i] = lift<S>(sites[i]->link_position);
        continue;
      }
      const LinkState<S>& link = kinematics.links[links[i]];
      arms[i] = link.rotation * lift<S>(sites[i]->link_position);
      places[i] = link.position + arms[i];
      if (in_world) places[i] = kinematics.links[link.root].offset + kinematics.to_world(links[i]) * places[i];
    }
    way = places[1] - places[0];
    square = dot(way, way);
    inverse = rsqrt(sparse::add(square, S(kLeastPiece * kLeastPiece)));
  }

  Vec3<S> in_tree(const Kinematics<S>& kinematics, int end, const Vec3<S>& vector) const {
    return in_world && links[end] >= 0 ? transpose_times(kinematics.to_world(links[end]), vector) : vector;
  }
  Vec3<S> from_tree(const Kinematics<S>& kinematics, int end, const Vec3<S>& vector) const {
    return in_world && links[end] >= 0 ? kinematics.to_world(links[end]) * vector : vector;
  }
};

inline bool is_rigid(const Model& model, const Tendon::Piece& piece) {
  return model.sites[piece.from].link == model.sites[piece.to].link;
}

template <class S>
void add_piece(const Model& model, const Kinematics<S>& kinematics, const Tendon::Piece& piece, TendonState<S>& state) {
  using sparse::add, sparse::mul;
  if (is_rigid(model, piece)) {
    const Vec3<double> way = model.sites[piece.to].link_position - model.sites[piece.from].link_position;
    state.length = add(state.length, S(piece.share * std::sqrt(dot(way, way))));
    return;
  }
  const StretchedPiece<S> stretched(model, kinematics, piece);
  const S slope = mul(S(piece.share), stretched.inverse);
  state.length = add(state.length, mul(stretched.square, slope));
  const Vec3<S> direction = scale(slope, stretched.way);
  const int base = common_ancestor(model, stretched.links[0], stretched.links[1]);
  for (const int end : {1, 0}) {
    const Vec3<S> pull = stretched.in_tree(kinematics, end, end == 1 ? direction : -direction);
    add_velocity_along(model, kinematics, stretched.links[end], base, stretched.arms[end], pull, state.moment);
  }
}

// One that is not supported has length zero and no moment.
template <class S>
TendonState<S> tendon_state(const Model& model, const Kinematics<S>& kinematics, std::span<const S> q,
                            const Tendon& tendon) {
  using sparse::add, sparse::mul;
  TendonState<S> state;
  state.moment.assign(model.nv, S(0.0));
  for (const Tendon::Term& term : tendon.terms) {
    const Joint& joint = model.joints[term.joint];
    state.length = add(state.length, mul(S(term.coefficient), q[joint.q]));
    state.moment[joint.v] = add(state.moment[joint.v], S(term.coefficient));
  }
  for (const Tendon::Piece& piece : tendon.pieces) add_piece(model, kinematics, piece, state);
  for (int i = 0; i < model.nv; ++i) state.velocity = add(state.velocity, mul(state.moment[i], kinematics.rates[i]));
  return state;
}

// l̈ where all joint accelerations are zero: along a piece of length d with the sites' velocity w and acceleration a to
// one another, u·a + (w² − (u·w)²)/d.
template <class S>
S tendon_drift(const Model& model, const Kinematics<S>& kinematics,
               const std::vector<LinkAcceleration<S>>& accelerations, const Tendon& tendon) {
  using sparse::add, sparse::mul, sparse::sub;
  S drift(0.0);
  for (const Tendon::Piece& piece : tendon.pieces) {
    if (is_rigid(model, piece)) continue;
    const StretchedPiece<S> stretched(model, kinematics, piece);
    Vec3<S> velocity, acceleration;
    for (const int end : {0, 1}) {
      const int link = stretched.links[end];
      const Vec3<S>& arm = stretched.arms[end];
      Vec3<S> v, a = -lift<S>(model.gravity);  // as all links seem to accelerate
      if (link >= 0) {
        v = stretched.from_tree(kinematics, end, link_point_velocity(kinematics, link, arm));
        a = stretched.from_tree(kinematics, end, accelerations[link].linear + accelerations[link].spread * arm);
      }
      velocity = end == 0 ? -v : velocity + v;
      acceleration = end == 0 ? -a : acceleration + a;
    }
    const Vec3<S> direction = scale(stretched.inverse, stretched.way);
    const S along = dot(direction, velocity);
    const S round = mul(stretched.inverse, sub(dot(velocity, velocity), mul(along, along)));
    drift = add(drift, mul(S(piece.share), add(dot(direction, acceleration), round)));
  }
  return drift;
}

// Of all tendons of the model.
template <class S>
std::vector<TendonState<S>> tendon_states(const Model& model, const Kinematics<S>& kinematics, std::span<const S> q) {
  std::vector<TendonState<S>> states;
  for (const Tendon& tendon : model.tendons) states.push_back(tendon_state(model, kinematics, q, tendon));
  return states;
}

}  // namespace cgpo
