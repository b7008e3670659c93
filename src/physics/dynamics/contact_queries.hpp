// Where contact presses, how deep and with what: for pictures, tasks and tests.
#pragma once

#include <vector>

#include "cgpo/physics/dynamics/body_contact.hpp"

namespace cgpo {

// The point that touches first, in the world.
template <class S>
Vec3<S> lowest_point(const Model& model, const Kinematics<S>& kinematics, const ContactPoint& point) {
  const Vec3<S> centre = point_position(model, kinematics, point.body, point.body_position);
  const Vec3<S> normal = lift<S>(point.normal);
  if (!point.is_ellipsoid) return centre - scale(S(point.radius), normal);
  const Mat3<S> axes = body_rotation(model, kinematics, point.body) * lift<S>(point.body_axes);
  return centre + axes * nearest_of_ellipsoid(point, transpose_times(axes, normal));
}

// How deep two geoms are pressed into each other where they are most.
template <class S>
S pair_depth(const Kinematics<S>& kinematics, const GeomPair& pair) {
  S deepest(0.0);
  bool any = false;
  for (const PairTouch<S>& touch : press_pair(ContactParameters(), kinematics, pair)) {
    const S depth = select(touch.share < S(0.1), min(touch.depth, S(0.0)), touch.depth);  // beside the face: none
    deepest = any ? max(deepest, depth) : depth;
    any = true;
  }
  return deepest;
}

// How deep each contact point is pressed into its plane, and then each pair of geoms into each other; what is positive
// touches.
template <class S>
std::vector<S> contact_depths(const Model& model, const Kinematics<S>& kinematics) {
  std::vector<S> depths;
  for (const ContactPoint& point : model.contacts) {
    if (point.is_ellipsoid) {
      const Vec3<S> lowest = lowest_point(model, kinematics, point);
      depths.push_back(S(point.margin + point.plane_offset) - dot(lift<S>(point.normal), lowest));
      continue;
    }
    const Vec3<S> centre = point_position(model, kinematics, point.body, point.body_position);
    depths.push_back(S(point.radius + point.margin + point.plane_offset) - dot(lift<S>(point.normal), centre));
  }
  for (const GeomPair& pair : model.pairs) depths.push_back(pair_depth(kinematics, pair));
  return depths;
}

// n N − D_t·v_t
template <class S>
Vec3<S> force_of(const ContactSurface& surface, const Touch<S>& touch) {
  const S drag = S(surface.friction) * touch.push.force * touch.slowness;
  return scale(touch.push.force, touch.normal) - scale(drag, touch.split.slip);
}

// On one contact point at the current state, in the world's axes; zero where nothing touches.
template <class S>
Vec3<S> contact_force(const Model& model, const ContactParameters& law, const Kinematics<S>& kinematics,
                      const ContactPoint& point) {
  return kinematics.to_world(point.link) * force_of(point, press_contact(model, law, kinematics, point));
}

// What pushes the first geom of a pair off the second, likewise, over all their points.
template <class S>
Vec3<S> pair_force(const ContactParameters& law, const Kinematics<S>& kinematics, const GeomPair& pair) {
  Vec3<S> sum;
  for (const PairTouch<S>& touch : press_pair(law, kinematics, pair)) sum = sum + force_of(pair, touch.touch);
  const int home = tied_links(pair).home;
  const Vec3<S> on_home = kinematics.to_world(home) * sum;
  return home == pair.first.link ? on_home : -on_home;
}

// A body or a geom that something may touch.
struct ContactTarget {
  bool is_geom = false;
  int id = 0;
  bool operator<(const ContactTarget& other) const { return is_geom == other.is_geom ? id < other.id : other.is_geom; }
};

// What all that touches a body or a geom pushes it with, in the world's axes. What pushes both ends is nothing
// together.
template <class S>
Vec3<S> contact_force_on(const Model& model, const ContactParameters& law, const Kinematics<S>& kinematics,
                         const ContactTarget& target) {
  const auto is = [&](int body, int geom) { return target.id == (target.is_geom ? geom : body); };
  Vec3<S> sum;
  const auto add = [&](bool on_first, bool on_second, const auto& force) {
    if (on_first != on_second) sum = on_first ? sum + force() : sum - force();
  };
  for (const ContactPoint& point : model.contacts) {
    add(is(point.body, point.geom), is(model.geoms[point.plane].body, point.plane),
        [&] { return contact_force(model, law, kinematics, point); });
  }
  for (const GeomPair& pair : model.pairs) {
    add(is(pair.first.body, pair.first.geom), is(pair.second.body, pair.second.geom),
        [&] { return pair_force(law, kinematics, pair); });
  }
  return sum;
}

// Where something touches, and what pushes a robot there, in the world's axes.
struct ContactForce {
  Vec3<double> position;
  Vec3<double> force;
};

// Of all contact points of the model, and of all points of its pairs: of two links that move, on the one that comes
// later. For pictures.
inline std::vector<ContactForce> contact_forces(const Model& model, const ContactParameters& law,
                                                const Kinematics<double>& kinematics) {
  std::vector<ContactForce> forces;
  for (const ContactPoint& point : model.contacts) {
    forces.push_back({lowest_point(model, kinematics, point), contact_force(model, law, kinematics, point)});
  }
  for (const GeomPair& pair : model.pairs) {
    const int home = tied_links(pair).home;
    const LinkState<double>& link = kinematics.links[home];
    for (const PairTouch<double>& touch : press_pair(law, kinematics, pair)) {
      forces.push_back(
          {kinematics.links[link.root].offset + kinematics.to_world(home) * (link.position + touch.touch.arm),
           kinematics.to_world(home) * force_of(pair, touch.touch)});
    }
  }
  return forces;
}

}  // namespace cgpo
