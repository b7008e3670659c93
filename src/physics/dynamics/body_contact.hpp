// Contact of moving bodies with one another, and with what stands still and is no plane: the law of contact.hpp between
// two surfaces that both may move.
//
// At a point that both links share they move apart with v_home − v_other, and are pushed apart by f and −f. With what
// stands still that is a load on one link, and goes up its tree as a plane's does. Two links are tied beside the tree:
// all that is between them is summed up as one wrench and one impedance about the origin of one, and enters joint space
// by the Jacobian of their relative motion (coupling.hpp), whose cost does not depend on the number of points.
#pragma once

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "cgpo/physics/dynamics/closest_points.hpp"
#include "cgpo/physics/dynamics/contact.hpp"
#include "cgpo/physics/dynamics/coupling.hpp"

namespace cgpo {

// A link, or the world, as seen from another link's tree: in its axes, from its root.
template <class S>
struct LinkView {
  Mat3<S> turn;  // from the link's own tree's axes
  Mat3<S> rotation;
  Vec3<S> position;
  Vec3<S> velocity;  // of the origin
  Vec3<S> angular_velocity;
};

template <class S>
LinkView<S> view_link(const Kinematics<S>& kinematics, int home, int link) {
  const int home_root = kinematics.links[home].root;
  const Mat3<S> from_world = transpose(kinematics.tree_rotations[home_root]);
  if (link < 0) return {from_world, from_world, from_world * -kinematics.links[home_root].offset, {}, {}};
  const LinkState<S>& state = kinematics.links[link];
  if (state.root == home_root) {
    return {Mat3<S>::identity(), state.rotation, state.position, state.velocity, state.angular_velocity};
  }
  const Mat3<S> turn = from_world * kinematics.to_world(link);
  const Vec3<S> way = from_world * (kinematics.links[state.root].offset - kinematics.links[home_root].offset);
  return {turn, turn * state.rotation, way + turn * state.position, turn * state.velocity,
          turn * state.angular_velocity};
}

// Two links with a pair of geoms: the home, which moves, and another that stands before it, or −1.
struct TiedLinks {
  int home = 0;
  int other = -1;
  auto operator<=>(const TiedLinks&) const =
      default;  // NOLINT(modernize-use-nullptr): of what the compiler makes of it
};
inline TiedLinks tied_links(const GeomPair& pair) {
  return {std::max(pair.first.link, pair.second.link), std::min(pair.first.link, pair.second.link)};
}

// What presses between two geoms at one point, on the home link.
template <class S>
struct PairTouch {
  Touch<S> touch;
  S depth;
  S share;
  Vec3<S> spin;  // angular velocity, of the home relative to the other
};

template <class S, class P>
std::vector<PairTouch<S>> press_pair(const BasicContactParameters<P>& law, const Kinematics<S>& kinematics,
                                     const GeomPair& pair) {
  const auto [home_link, other_link] = tied_links(pair);
  const bool home_is_first = pair.first.link == home_link;
  const LinkView<S> home = view_link(kinematics, home_link, home_link);
  const LinkView<S> other = view_link(kinematics, home_link, other_link);
  const auto axes = [&](const PairGeom& geom, const LinkView<S>& view) {
    return view.rotation * lift<S>(geom.in_link.rotation);
  };
  const auto centre = [&](const PairGeom& geom, const LinkView<S>& view) {
    return view.position + view.rotation * lift<S>(geom.in_link.position);
  };
  const LinkView<S>& first = home_is_first ? home : other;
  const LinkView<S>& second = home_is_first ? other : home;
  const Vec3<S> second_centre = centre(pair.second, second);
  const auto points = closest_points(pair, axes(pair.first, first), axes(pair.second, second),
                                     centre(pair.first, first) - second_centre);
  std::vector<PairTouch<S>> touches;
  const Vec3<S> spin = home.angular_velocity - other.angular_velocity;
  for (const PairPoint<S>& point : points) {
    const Vec3<S> place = second_centre + point.place;
    const Vec3<S> normal = home_is_first ? point.normal : -point.normal;
    const Vec3<S> arm = place - home.position;
    const Vec3<S> velocity = home.velocity + cross(home.angular_velocity, arm) -
                             (other.velocity + cross(other.angular_velocity, place - other.position));
    const S opening = dot(normal, velocity);
    const PlaneSplit<S> split({}, normal, velocity, opening, /*constant=*/false);
    Touch<S> touch = press(law, pair, normal, arm, point.depth, opening, split);
    // The law is proportional to stiffness and damping.
    touch.push = {sparse::mul(point.share, touch.push.force), sparse::mul(point.share, touch.push.slope)};
    touches.push_back({touch, point.depth, point.share, spin});
  }
  return touches;
}

// What pushes a link, about its origin, in the axes of its tree.
template <class S>
struct LinkLoad {
  Wrench<S> wrench;
  Impedance<S> impedance;

  template <class P>
  void add(const BasicPhysicsParameters<P>& parameters, const ContactSurface& surface, const PairTouch<S>& at) {
    const ContactLoad<S> load = load_of(parameters, surface, at.touch);
    wrench.add_force(at.touch.arm, load.force);
    impedance = impedance + Impedance<S>::at(at.touch.arm, load.answer);
    if (!surface.turn.any()) return;
    const TurnDrag<S> drag =
        turn_drag(surface.turn, parameters.contact.slip_speed, at.touch.normal, at.spin, at.touch.push.force);
    wrench.torque = wrench.torque + drag.torque;
    impedance = impedance + Impedance<S>::turning(scale(S(parameters.timestep), drag.slope));
  }
};

template <class S>
using LinkLoads = std::map<TiedLinks, LinkLoad<S>>;

// Loads of all pairs; those with what stands still are added to `wrenches` and `impedances`, the others returned.
template <class S, class P>
LinkLoads<S> add_pairs(const Model& model, const BasicPhysicsParameters<P>& parameters, const Kinematics<S>& kinematics,
                       std::vector<Wrench<S>>& wrenches, std::vector<Impedance<S>>& impedances) {
  LinkLoads<S> loads;
  for (const GeomPair& pair : model.pairs) {
    for (const PairTouch<S>& touch : press_pair(parameters.contact, kinematics, pair)) {
      loads[tied_links(pair)].add(parameters, pair, touch);
    }
  }
  for (auto load = loads.begin(); load != loads.end();) {
    const auto [home, other] = load->first;
    if (other >= 0) {
      ++load;
      continue;
    }
    wrenches[home].torque = wrenches[home].torque + load->second.wrench.torque;
    wrenches[home].force = wrenches[home].force + load->second.wrench.force;
    impedances[home] = impedances[home] + load->second.impedance;
    load = loads.erase(load);
  }
  return loads;
}

// ∂(motion of the home relative to the other, `arm` from the home's origin)/∂rates, a column a dof. What moves both
// alike has none.
template <class S>
std::vector<Motion<S>> relative_jacobian(const Model& model, const Kinematics<S>& kinematics, const TiedLinks& links,
                                         const Vec3<S>& arm) {
  const auto [home, other] = links;
  const LinkView<S> view = view_link(kinematics, home, other);
  const Vec3<S> other_arm = transpose_times(view.turn, kinematics.links[home].position + arm - view.position);
  const auto home_linear = point_jacobian(model, kinematics, home, arm);
  const auto home_angular = angular_jacobian(model, kinematics, home);
  const auto other_linear = point_jacobian(model, kinematics, other, other_arm);
  const auto other_angular = angular_jacobian(model, kinematics, other);
  const auto moves = [](const std::vector<Vec3<S>>& linear, const std::vector<Vec3<S>>& angular, std::size_t dof) {
    return !linear[dof].is_zero() || !angular[dof].is_zero();
  };
  std::vector<Motion<S>> columns(static_cast<std::size_t>(model.nv));
  for (std::size_t dof = 0; dof < columns.size(); ++dof) {
    const bool of_home = moves(home_linear, home_angular, dof);
    const bool of_other = moves(other_linear, other_angular, dof);
    if (of_home == of_other) continue;
    columns[dof] = of_home ? Motion<S>{home_angular[dof], home_linear[dof]}
                           : Motion<S>{-(view.turn * other_angular[dof]), -(view.turn * other_linear[dof])};
  }
  return columns;
}

// What is between two moving links, to the joints.
template <class S>
void add_to_joints(const Model& model, const Kinematics<S>& kinematics, const LinkLoads<S>& loads, std::vector<S>& tau,
                   SymmetricMatrix<S>& matrix) {
  for (const auto& [links, load] : loads) {
    if (!load.impedance.is_point()) {
      const auto columns = relative_jacobian(model, kinematics, links, Vec3<S>());
      add_along(columns, load.wrench, load.impedance, tau, matrix);
      continue;
    }
    std::vector<Vec3<S>> columns;
    for (const Motion<S>& motion : relative_jacobian(model, kinematics, links, load.impedance.arm())) {
      columns.push_back(motion.linear);
    }
    add_along(columns, load.wrench.force, load.impedance.linear(), tau, matrix);
  }
}

}  // namespace cgpo
