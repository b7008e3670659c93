// Which geoms MuJoCo would let collide, and what we make of each pair.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <set>

#include "cgpo/physics/model/loader.hpp"

namespace cgpo {
namespace {

struct Pair {
  int first = 0;  // geom
  int second = 0;
  double friction = 0.0;
  double margin = 0.0;
  int dimensions = 3;
  bool isotropic = true;  // the same friction in both directions
};

// A mocap body is put somewhere by a program, and stands where the file has it until then.
bool is_static(const mjModel& source, int geom) { return source.body_treeid[source.geom_bodyid[geom]] < 0; }

// MuJoCo's rules for pairs that the file does not name: masks, one rigid piece, parent and child, excluded bodies.
bool may_collide(const mjModel& source, int a, int b) {
  const int body_a = source.geom_bodyid[a];
  const int body_b = source.geom_bodyid[b];
  const int weld_a = source.body_weldid[body_a];
  const int weld_b = source.body_weldid[body_b];
  if ((source.geom_contype[a] & source.geom_conaffinity[b]) == 0 &&
      (source.geom_contype[b] & source.geom_conaffinity[a]) == 0) {
    return false;
  }
  if (weld_a == weld_b) return false;
  if ((source.opt.disableflags & mjDSBL_FILTERPARENT) == 0 && weld_a != 0 && weld_b != 0) {
    const int parent_a = source.body_weldid[source.body_parentid[weld_a]];
    const int parent_b = source.body_weldid[source.body_parentid[weld_b]];
    if (weld_a == parent_b || weld_b == parent_a) return false;
  }
  const int signature = (std::min(body_a, body_b) << 16) + std::max(body_a, body_b);
  return std::find(source.exclude_signature, source.exclude_signature + source.nexclude, signature) ==
         source.exclude_signature + source.nexclude;
}

Pair mix(const mjModel& source, int a, int b) {
  Pair pair{.first = a, .second = b};
  const int priority_a = source.geom_priority[a];
  const int priority_b = source.geom_priority[b];
  const double friction_a = source.geom_friction[std::ptrdiff_t{3} * a];
  const double friction_b = source.geom_friction[std::ptrdiff_t{3} * b];
  if (priority_a == priority_b) {
    pair.friction = std::max(friction_a, friction_b);
    pair.dimensions = std::max(source.geom_condim[a], source.geom_condim[b]);
  } else {
    pair.friction = priority_a > priority_b ? friction_a : friction_b;
    pair.dimensions = source.geom_condim[priority_a > priority_b ? a : b];
  }
  pair.margin = source.geom_margin[a] + source.geom_margin[b];  // there are no forces in the gap beyond it
  return pair;
}

std::vector<Pair> colliding_pairs(const mjModel& source) {
  std::vector<Pair> pairs;
  std::set<std::pair<int, int>> named;
  for (int i = 0; i < source.npair; ++i) {
    const int a = source.pair_geom1[i];
    const int b = source.pair_geom2[i];
    named.insert({std::min(a, b), std::max(a, b)});
    const mjtNum* const friction = source.pair_friction + std::ptrdiff_t{5} * i;
    pairs.push_back({a, b, friction[0], source.pair_margin[i], source.pair_dim[i],
                     source.pair_dim[i] == 1 || friction[0] == friction[1]});
  }
  for (int a = 0; a < source.ngeom; ++a) {
    for (int b = a + 1; b < source.ngeom; ++b) {
      if (!named.contains({a, b}) && may_collide(source, a, b)) pairs.push_back(mix(source, a, b));
    }
  }
  return pairs;
}

// The pose of a body that is welded to the world.
Pose world_pose(const Model& model, int body) {
  if (body == 0) return {};
  const Body& b = model.bodies[body];
  return world_pose(model, b.parent) * Pose{b.position, rotation_of(b.orientation)};
}

void add_points(const mjModel& source, const Pair& pair, int plane, int geom, Model& model) {
  const Pose plane_pose = world_pose(model, source.geom_bodyid[plane]) *
                          Pose{model.geoms[plane].position, rotation_of(model.geoms[plane].orientation)};
  ContactPoint point;
  point.name = element_name(source, mjOBJ_GEOM, geom);
  point.geom = geom;
  point.body = source.geom_bodyid[geom];
  point.radius = source.geom_size[std::ptrdiff_t{3} * geom];
  point.plane = plane;
  point.normal = plane_pose.rotation.column(2);
  for (double& x : point.normal.at) x = std::abs(x) < 1e-14 ? 0.0 : x;
  point.plane_offset = dot(point.normal, plane_pose.position);
  point.friction = pair.dimensions == 1 ? 0.0 : pair.friction;
  point.margin = pair.margin;
  const Pose in_body{model.geoms[geom].position, rotation_of(model.geoms[geom].orientation)};
  if (source.geom_type[geom] == mjGEOM_SPHERE) {
    point.body_position = in_body.position;
    model.contacts.push_back(point);
    return;
  }
  for (const double end : {source.geom_size[3 * geom + 1], -source.geom_size[3 * geom + 1]}) {
    point.body_position = in_body * vec3(0.0, 0.0, end);
    model.contacts.push_back(point);
  }
}

}  // namespace

void read_collisions(const mjModel& source, Model& model) {
  if ((source.opt.disableflags & (mjDSBL_CONSTRAINT | mjDSBL_CONTACT)) != 0) return;
  static constexpr const char* kTypes[] = {"plane",    "hfield", "sphere", "capsule", "ellipsoid",
                                           "cylinder", "box",    "mesh",   "sdf"};
  static_assert(std::size(kTypes) == mjNGEOMTYPES);
  std::vector<std::string> between_bodies;
  for (const Pair& pair : colliding_pairs(source)) {
    int a = pair.first;
    int b = pair.second;
    if (is_static(source, a) && is_static(source, b)) continue;
    if (!is_static(source, a) && !is_static(source, b)) {
      between_bodies.push_back(
          fmt::format("{} with {}", element_name(source, mjOBJ_GEOM, a), element_name(source, mjOBJ_GEOM, b)));
      continue;
    }
    if (!is_static(source, a)) std::swap(a, b);  // a stands still, b moves
    const std::string name = element_name(source, mjOBJ_GEOM, b);
    const bool round = source.geom_type[b] == mjGEOM_SPHERE || source.geom_type[b] == mjGEOM_CAPSULE;
    if (source.geom_type[a] != mjGEOM_PLANE || !round) {
      model.unsupported.push_back(
          fmt::format("{}: contact of {} {} with {} ({})", name, source.geom_type[b] == mjGEOM_ELLIPSOID ? "an" : "a",
                      kTypes[source.geom_type[b]], element_name(source, mjOBJ_GEOM, a), kTypes[source.geom_type[a]]));
      continue;
    }
    if (pair.dimensions > 3) {
      model.unsupported.push_back(fmt::format("{}: torsional and rolling friction (condim {})", name, pair.dimensions));
    }
    if (!pair.isotropic) {
      model.unsupported.push_back(fmt::format("{}: friction that depends on the direction", name));
    }
    add_points(source, pair, a, b, model);
  }
  if (!between_bodies.empty()) {
    model.warnings.push_back(fmt::format(
        "contact between moving bodies is left out: {}{}", between_bodies.front(),
        between_bodies.size() == 1 ? std::string() : fmt::format(" and {} more pairs", between_bodies.size() - 1)));
  }
}

}  // namespace cgpo
