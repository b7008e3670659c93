// Where every link is and how it moves, from q and v.
//
// Positions are kept relative to the root link of each tree: far from the world's origin nothing is lost in float, and
// what does not depend on the root's place does not mention it. For the same reason all vectors of a tree whose root
// floats freely may be taken in the root's axes: legs then start from constants, not from a dense rotation.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cgpo/physics/model/model.hpp"

namespace cgpo {

// In which axes vectors are, and the velocities of free and ball joints with them.
//   kMujoco: vectors in the world's axes; v as in MuJoCo (angular velocities in the body's axes).
//   kTree:   vectors in the axes of their tree: the root's if it floats freely, otherwise the world's. Velocities of
//   free
//            and ball joints are in these axes too, so that their directions are constants and the equations shorter.
enum class DofAxes : std::uint8_t { kMujoco, kTree };

// How link velocity answers to one velocity: angular, and linear at the link's origin.
template <class S>
struct Motion {
  Vec3<S> angular;
  Vec3<S> linear;
};

template <class S>
struct LinkState {
  int root = 0;              // first link of its tree
  Mat3<S> rotation;          // link → axes of the tree
  Vec3<S> offset;            // origin − parent's origin; of a root: its place in the world, in the world's axes
  Vec3<S> position;          // origin − root's origin
  Vec3<S> angular_velocity;  // ω
  Vec3<S> velocity;          // of the origin
  // The way from the parent's origin to this one, cut at the anchors of hinges and balls: piece i turns with the frame
  // behind the i-th of them. They sum up to offset.
  std::vector<Vec3<S>> pieces;
};

template <class S>
struct Kinematics {
  std::vector<LinkState<S>> links;
  std::vector<Mat3<S>> tree_rotations;  // by root link: axes of the tree → world
  std::vector<Motion<S>> motions;       // by dof
  std::vector<S> rates;                 // by dof: v in the chosen axes

  const Mat3<S>& to_world(int link) const { return tree_rotations[links[link].root]; }
};

template <class S>
struct PhysicsState {
  std::vector<S> q, v;
  std::vector<S> activation = {};  // of the actuators that have one
};

template <class S>
Quat<S> read_quaternion(std::span<const S> q, int first) {
  return {q[first], q[first + 1], q[first + 2], q[first + 3]};
}

// One link: placement and joints in the parent's axes first (mostly constants), then one rotation into the tree's.
template <class S>
class LinkWalk {
 public:
  LinkWalk(const Model& model, const Link& link, std::span<const S> q, std::span<const S> v, DofAxes axes)
      : model_(model), link_(link), q_(q), v_(v), axes_(axes) {}

  void run(const LinkState<S>& parent, LinkState<S>& state, Kinematics<S>& result) {
    rotation_ = lift<S>(link_.placement.rotation);
    pieces_.assign(1, lift<S>(link_.placement.position));
    std::vector<std::size_t> behind;  // by joint: its anchor stands at the start of this piece
    std::vector<Vec3<S>> directions;
    for (const int j : link_.joints) {
      directions.push_back(pass(model_.joints[j]));
      behind.push_back(pieces_.size() - 1);
    }
    state.rotation = parent.rotation * rotation_;
    for (const Vec3<S>& piece : pieces_) state.pieces.push_back(parent.rotation * piece);
    state.offset = sum_from(state, 0);
    state.angular_velocity = parent.angular_velocity;
    state.velocity = parent.velocity + cross(parent.angular_velocity, state.offset);
    for (std::size_t i = 0; i < link_.joints.size(); ++i) {
      const Joint& joint = model_.joints[link_.joints[i]];
      set_motions(joint, parent.rotation * directions[i], sum_from(state, behind[i]), state, result);
    }
  }

 private:
  static Vec3<S> sum_from(const LinkState<S>& state, std::size_t first) {
    Vec3<S> sum;
    for (std::size_t i = first; i < state.pieces.size(); ++i) sum = sum + state.pieces[i];
    return sum;
  }

  // Moves the frame past a joint; returns the joint's axis in the parent's axes.
  Vec3<S> pass(const Joint& joint) {
    const Vec3<S> anchor = lift<S>(joint.link_anchor);
    switch (joint.type) {
      case JointType::kFree:
        pieces_ = {vec3(q_[joint.q], q_[joint.q + 1], q_[joint.q + 2])};
        rotation_ = axes_ == DofAxes::kTree ? Mat3<S>::identity() : rotation_of(read_quaternion(q_, joint.q + 3));
        return {};
      case JointType::kSlide: {
        Vec3<S> axis = rotation_ * lift<S>(joint.link_axis);
        pieces_.back() = pieces_.back() + scale(sparse::sub(q_[joint.q], S(joint.reference)), axis);
        return axis;
      }
      case JointType::kBall:
      case JointType::kHinge: {
        pieces_.back() = pieces_.back() + rotation_ * anchor;
        rotation_ = rotation_ * (joint.type == JointType::kBall
                                     ? rotation_of(read_quaternion(q_, joint.q))
                                     : rotation_about(joint.link_axis, sparse::sub(q_[joint.q], S(joint.reference))));
        pieces_.push_back(-(rotation_ * anchor));
        return joint.type == JointType::kBall ? Vec3<S>() : rotation_ * lift<S>(joint.link_axis);
      }
    }
    return {};
  }

  // `arm`: from the joint's anchor to the link's origin.
  void set_motions(const Joint& joint, const Vec3<S>& axis, const Vec3<S>& arm, LinkState<S>& state,
                   Kinematics<S>& result) const {
    const auto set = [&](int dof, const Motion<S>& motion, const S& rate) {
      result.motions[dof] = motion;
      result.rates[dof] = rate;
      state.angular_velocity = state.angular_velocity + scale(rate, motion.angular);
      state.velocity = state.velocity + scale(rate, motion.linear);
    };
    const auto set_rotation = [&](int first, const Mat3<S>& rotation, const Vec3<S>& lever) {
      const Vec3<S> body_rate = vec3(v_[first], v_[first + 1], v_[first + 2]);
      const Vec3<S> rate = axes_ == DofAxes::kMujoco ? body_rate : rotation * body_rate;
      for (int k = 0; k < 3; ++k) {
        const Vec3<S> w = axes_ == DofAxes::kMujoco ? rotation.column(k) : unit3<S>(k);
        set(first + k, {w, cross(w, lever)}, rate[k]);
      }
    };
    switch (joint.type) {
      case JointType::kFree: {
        const Vec3<S> rate =
            transpose_times(result.tree_rotations[joint.link], vec3(v_[joint.v], v_[joint.v + 1], v_[joint.v + 2]));
        for (int k = 0; k < 3; ++k) set(joint.v + k, {{}, unit3<S>(k)}, rate[k]);
        set_rotation(joint.v + 3, state.rotation, {});
        break;
      }
      case JointType::kBall: set_rotation(joint.v, state.rotation, arm); break;
      case JointType::kSlide: set(joint.v, {{}, axis}, v_[joint.v]); break;
      case JointType::kHinge: set(joint.v, {axis, cross(axis, arm)}, v_[joint.v]); break;
    }
  }

  const Model& model_;
  const Link& link_;
  std::span<const S> q_, v_;
  DofAxes axes_;
  Mat3<S> rotation_;  // link → parent, so far
  std::vector<Vec3<S>> pieces_;
};

// q's quaternions must have length one; physics_step leaves them so.
template <class S>
Kinematics<S> forward_kinematics(const Model& model, std::span<const S> q, std::span<const S> v, DofAxes axes) {
  Kinematics<S> result;
  result.links.resize(model.links.size());
  result.motions.resize(model.nv);
  result.rates.assign(model.nv, S(0.0));
  result.tree_rotations.assign(model.links.size(), Mat3<S>::identity());
  LinkState<S> world;
  world.rotation = Mat3<S>::identity();
  for (std::size_t i = 0; i < model.links.size(); ++i) {
    const Link& link = model.links[i];
    LinkState<S>& state = result.links[i];
    const bool is_root = link.parent < 0;
    const LinkState<S>& parent = is_root ? world : result.links[link.parent];
    const Joint& first = model.joints[link.joints.front()];
    if (axes == DofAxes::kTree && first.type == JointType::kFree) {
      result.tree_rotations[i] = rotation_of(read_quaternion(q, first.q + 3));
    }
    LinkWalk<S>(model, link, q, v, axes).run(parent, state, result);
    state.root = is_root ? static_cast<int>(i) : parent.root;
    if (!is_root) state.position = parent.position + state.offset;
  }
  return result;
}

// ---- queries -------------------------------------------------------------------------------------------------------

// A constant vector of the world in the axes of a link's tree.
template <class S>
Vec3<S> in_tree_axes(const Kinematics<S>& kinematics, int link, const Vec3<double>& world) {
  return transpose_times(kinematics.to_world(link), lift<S>(world));
}

// Velocity, in the axes of the tree, of a point of a link; `arm`: from the link's origin, in these axes.
template <class S>
Vec3<S> link_point_velocity(const Kinematics<S>& kinematics, int link, const Vec3<S>& arm) {
  const LinkState<S>& state = kinematics.links[link];
  return state.velocity + cross(state.angular_velocity, arm);
}

// Place and velocity, in the world's axes, of a point given in a body's frame.
template <class S>
Vec3<S> point_position(const Model& model, const Kinematics<S>& kinematics, int body, const Vec3<double>& local = {}) {
  const Body& b = model.bodies[body];
  const Vec3<double> in_link = b.in_link * local;
  if (b.link < 0) return lift<S>(in_link);
  const LinkState<S>& state = kinematics.links[b.link];
  return kinematics.links[state.root].offset +
         kinematics.to_world(b.link) * (state.position + state.rotation * lift<S>(in_link));
}
template <class S>
Vec3<S> point_velocity(const Model& model, const Kinematics<S>& kinematics, int body, const Vec3<double>& local = {}) {
  const Body& b = model.bodies[body];
  if (b.link < 0) return {};
  const Vec3<S> arm = kinematics.links[b.link].rotation * lift<S>(b.in_link * local);
  return kinematics.to_world(b.link) * link_point_velocity(kinematics, b.link, arm);
}
template <class S>
Mat3<S> body_rotation(const Model& model, const Kinematics<S>& kinematics, int body) {
  const Body& b = model.bodies[body];
  const Mat3<S> in_link = lift<S>(b.in_link.rotation);
  return b.link < 0 ? in_link : kinematics.to_world(b.link) * (kinematics.links[b.link].rotation * in_link);
}
template <class S>
Vec3<S> body_angular_velocity(const Model& model, const Kinematics<S>& kinematics, int body) {
  const Body& b = model.bodies[body];
  return b.link < 0 ? Vec3<S>() : kinematics.to_world(b.link) * kinematics.links[b.link].angular_velocity;
}

// The orientation of a body in one that it hangs on, or is; 0: the world. Along the chain of bodies, as MuJoCo does it:
// a product is smooth where a quaternion out of a matrix is not.
template <class S>
Quat<S> body_quaternion(const Model& model, std::span<const S> q, int body, int ancestor = 0) {
  if (body == ancestor) return lift<S>(Quat<double>{1.0, 0.0, 0.0, 0.0});
  const Body& b = model.bodies[body];
  Quat<S> result = quaternion_product(body_quaternion(model, q, b.parent, ancestor), lift<S>(b.orientation));
  if (b.link < 0 || model.links[b.link].body != body) return result;  // welded
  for (const int j : model.links[b.link].joints) {
    const Joint& joint = model.joints[j];
    switch (joint.type) {
      case JointType::kFree: result = read_quaternion(q, joint.q + 3); break;
      case JointType::kBall: result = quaternion_product(result, read_quaternion(q, joint.q)); break;
      case JointType::kSlide: break;
      case JointType::kHinge: {
        const S half = 0.5 * sparse::sub(q[joint.q], S(joint.reference));
        const Vec3<S> turned = scale(S(sin(half)), lift<S>(joint.axis));
        result = quaternion_product(result, Quat<S>{cos(half), turned[0], turned[1], turned[2]});
        break;
      }
    }
  }
  return result;
}

}  // namespace cgpo
