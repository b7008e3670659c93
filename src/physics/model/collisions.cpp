// Which geoms MuJoCo would let collide, and what we make of each pair.
#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <set>

#include "cgpo/physics/model/loader.hpp"

namespace cgpo {
namespace {

// The file's condim as forces: 1 none, 3 against sliding, 4 against spinning, too, 6 also against rolling.
void set_friction(ContactSurface& surface, int dimensions, double sliding, const TurnFriction& turn) {
  surface.friction = dimensions == 1 ? 0.0 : sliding;
  surface.turn = {dimensions >= 4 ? turn.spin : 0.0, dimensions >= 6 ? turn.roll : 0.0};
}

// solref is a time constant T and a damping ratio ζ: k ~ 1/(Tζ)², c ~ 1/T; or, negative, −k and −c themselves. Those of
// the default, by which ours are measured, are:
constexpr double kTimeConstant = 0.02;
constexpr double kDirectStiffness = 1.0 / (kTimeConstant * kTimeConstant);
constexpr double kDirectDamping = 2.0 / kTimeConstant;
constexpr double kMostScaled = 100.0;  // up or down; no step of ours resolves more

void set_hardness(const mjModel& source, const mjtNum* solref, ContactSurface& surface) {
  const auto bounded = [](double scale) { return std::clamp(scale, 1.0 / kMostScaled, kMostScaled); };
  if (solref[0] > 0.0) {  // as MuJoCo, not faster than two of the file's time steps
    const bool safe = (source.opt.disableflags & mjDSBL_REFSAFE) == 0;
    const double least = safe ? std::min(kTimeConstant, 2.0 * source.opt.timestep) : 0.0;
    const double inverse = kTimeConstant / std::max(solref[0], least);
    surface.stiffness = bounded(inverse * inverse / std::max(solref[1] * solref[1], 1e-12));
    surface.damping = bounded(inverse);
  } else {
    surface.stiffness = bounded(-solref[0] / kDirectStiffness);
    surface.damping = bounded(-solref[1] / kDirectDamping);
  }
}

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

std::array<mjtNum, mjNREF> mix_solref(const mjModel& source, int a, int b) {
  const mjtNum* const of_a = source.geom_solref + std::ptrdiff_t{mjNREF} * a;
  const mjtNum* const of_b = source.geom_solref + std::ptrdiff_t{mjNREF} * b;
  if (source.geom_priority[a] > source.geom_priority[b] || std::equal(of_a, of_a + mjNREF, of_b)) {
    return {of_a[0], of_a[1]};
  }
  if (source.geom_priority[a] < source.geom_priority[b]) return {of_b[0], of_b[1]};
  if (of_a[0] <= 0.0 || of_b[0] <= 0.0) return {std::min(of_a[0], of_b[0]), std::min(of_a[1], of_b[1])};
  const double weight_a = source.geom_solmix[a];
  const double weight_b = source.geom_solmix[b];
  const double share = weight_a + weight_b < mjMINVAL ? 0.5 : weight_a / (weight_a + weight_b);
  return {share * of_a[0] + (1.0 - share) * of_b[0], share * of_a[1] + (1.0 - share) * of_b[1]};
}

CollidingPair mix(const mjModel& source, int a, int b) {
  CollidingPair pair{a, b, {}};
  const int priority_a = source.geom_priority[a];
  const int priority_b = source.geom_priority[b];
  const mjtNum* const of_a = source.geom_friction + std::ptrdiff_t{3} * a;
  const mjtNum* const of_b = source.geom_friction + std::ptrdiff_t{3} * b;
  if (priority_a == priority_b) {
    set_friction(pair.surface, std::max(source.geom_condim[a], source.geom_condim[b]), std::max(of_a[0], of_b[0]),
                 {std::max(of_a[1], of_b[1]), std::max(of_a[2], of_b[2])});
  } else {
    const mjtNum* const friction = priority_a > priority_b ? of_a : of_b;
    set_friction(pair.surface, source.geom_condim[priority_a > priority_b ? a : b], friction[0],
                 {friction[1], friction[2]});
  }
  pair.surface.margin = source.geom_margin[a] + source.geom_margin[b];  // there are no forces in the gap beyond it
  set_hardness(source, mix_solref(source, a, b).data(), pair.surface);
  return pair;
}

// A pair that the file names. MuJoCo's tangents are its own choice, so friction that differs between them is its mean.
CollidingPair read_named_pair(const mjModel& source, int id, Model& model) {
  CollidingPair pair{source.pair_geom1[id], source.pair_geom2[id], {}};
  const mjtNum* const friction = source.pair_friction + std::ptrdiff_t{5} * id;
  const int dimensions = source.pair_dim[id];
  if (dimensions > 1 && (friction[0] != friction[1] || (dimensions == 6 && friction[3] != friction[4]))) {
    model.notes.push_back(fmt::format("{}: friction that depends on the direction is taken as its mean, {:.3g}",
                                      element_name(source, mjOBJ_GEOM, pair.first), 0.5 * (friction[0] + friction[1])));
  }
  const auto mean = [](double x, double y) { return x == y ? x : 0.5 * (x + y); };
  set_friction(pair.surface, dimensions, mean(friction[0], friction[1]), {friction[2], mean(friction[3], friction[4])});
  pair.surface.margin = source.pair_margin[id];
  set_hardness(source, source.pair_solref + std::ptrdiff_t{mjNREF} * id, pair.surface);
  return pair;
}

std::vector<CollidingPair> colliding_pairs(const mjModel& source, Model& model) {
  std::vector<CollidingPair> pairs;
  std::set<std::pair<int, int>> named;
  for (int i = 0; i < source.npair; ++i) {
    pairs.push_back(read_named_pair(source, i, model));
    const auto [a, b] = std::minmax(pairs.back().first, pairs.back().second);
    named.insert({a, b});
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

// At most this many corners of a mesh: those farthest from one another on its hull.
constexpr std::size_t kMeshPoints = 16;

std::vector<Vec3<double>> mesh_corners(const mjModel& source, int mesh) {
  const float* const vertices = source.mesh_vert + std::ptrdiff_t{3} * source.mesh_vertadr[mesh];
  std::vector<Vec3<double>> all;
  const auto add = [&](int i) {
    const mjtSize at = mjtSize{3} * i;
    all.push_back(vec3<double>(vertices[at], vertices[at + 1], vertices[at + 2]));
  };
  if (source.mesh_graphadr[mesh] >= 0) {  // the hull: numbers of vertices and faces, then where edges start, then ids
    const int* const graph = source.mesh_graph + source.mesh_graphadr[mesh];
    for (int i = 0; i < graph[0]; ++i) add(graph[2 + graph[0] + i]);
  } else {
    for (int i = 0; i < source.mesh_vertnum[mesh]; ++i) add(i);
  }
  std::vector<Vec3<double>> chosen;
  std::vector<double> distance;  // from the nearest chosen one; at first from the origin
  for (const Vec3<double>& vertex : all) distance.push_back(dot(vertex, vertex));
  while (chosen.size() < std::min(kMeshPoints, all.size())) {
    const auto farthest = std::max_element(distance.begin(), distance.end()) - distance.begin();
    if (!chosen.empty() && distance[farthest] == 0.0) break;
    const Vec3<double> next = all[farthest];
    for (std::size_t i = 0; i < all.size(); ++i) {
      const double square = dot(all[i] - next, all[i] - next);
      distance[i] = chosen.empty() ? square : std::min(distance[i], square);
    }
    chosen.push_back(next);
  }
  return chosen;
}

// Points of a geom, in its own frame, that a plane may hold up.
std::vector<Vec3<double>> corners(const mjModel& source, int geom) {
  const mjtNum* const size = source.geom_size + std::ptrdiff_t{3} * geom;
  switch (source.geom_type[geom]) {
    case mjGEOM_CAPSULE: return {vec3(0.0, 0.0, size[1]), vec3(0.0, 0.0, -size[1])};
    case mjGEOM_BOX: {
      std::vector<Vec3<double>> all;
      for (int i = 0; i < 8; ++i) {
        all.push_back(vec3((i & 1) != 0 ? size[0] : -size[0], (i & 2) != 0 ? size[1] : -size[1],
                           (i & 4) != 0 ? size[2] : -size[2]));
      }
      return all;
    }
    case mjGEOM_CYLINDER: {  // what it stands on; what it rolls on is added as discs
      std::vector<Vec3<double>> all;
      for (const double end : {size[1], -size[1]}) {
        for (const auto& [x, y] : {std::pair{1.0, 0.0}, {0.0, 1.0}, {-1.0, 0.0}, {0.0, -1.0}}) {
          all.push_back(vec3(x * size[0], y * size[0], end));
        }
      }
      return all;
    }
    case mjGEOM_MESH: return mesh_corners(source, source.geom_dataid[geom]);
    default: return {vec3(0.0, 0.0, 0.0)};
  }
}

// A disc that is tilted by less than this touches nearer to its middle than to its rim.
constexpr double kFlatTilt = 0.03;  // rad

void add_points(const mjModel& source, const ContactSurface& surface, int plane, int geom, Model& model) {
  const Pose plane_pose = world_pose(model, source.geom_bodyid[plane]) *
                          Pose{model.geoms[plane].position, rotation_of(model.geoms[plane].orientation)};
  const int type = source.geom_type[geom];
  const mjtNum* const size = source.geom_size + std::ptrdiff_t{3} * geom;
  ContactPoint point;
  static_cast<ContactSurface&>(point) = surface;
  point.name = element_name(source, mjOBJ_GEOM, geom);
  point.geom = geom;
  point.body = source.geom_bodyid[geom];
  point.radius = type == mjGEOM_SPHERE || type == mjGEOM_CAPSULE ? size[0] : 0.0;
  point.plane = plane;
  point.normal = plane_pose.rotation.column(2);
  for (double& x : point.normal.at) x = std::abs(x) < 1e-14 ? 0.0 : x;
  point.plane_offset = dot(point.normal, plane_pose.position);
  const Pose in_body{model.geoms[geom].position, rotation_of(model.geoms[geom].orientation)};
  const auto add = [&](const Vec3<double>& local) {
    point.body_position = type == mjGEOM_SPHERE ? in_body.position : in_body * local;
    model.contacts.push_back(point);
  };
  if (type != mjGEOM_ELLIPSOID) {
    for (const Vec3<double>& corner : corners(source, geom)) add(corner);
  }
  if (type != mjGEOM_ELLIPSOID && type != mjGEOM_CYLINDER) return;
  point.is_ellipsoid = true;
  point.body_axes = in_body.rotation;
  if (type == mjGEOM_ELLIPSOID) {
    point.half_axes = read_vec3(size);
    add({});
  } else {
    point.half_axes = vec3(size[0], size[0], 0.0);
    point.softness = kFlatTilt * size[0];
    for (const double end : {size[1], -size[1]}) add(vec3(0.0, 0.0, end));
  }
}

}  // namespace

const char* geom_words(const mjModel& source, int geom) {
  static constexpr const char* kWords[] = {"a plane",    "a height field", "a sphere", "a capsule", "an ellipsoid",
                                           "a cylinder", "a box",          "a mesh",   "an sdf"};
  static_assert(std::size(kWords) == mjNGEOMTYPES);
  return kWords[source.geom_type[geom]];
}

void read_collisions(const mjModel& source, Model& model) {
  if ((source.opt.disableflags & (mjDSBL_CONSTRAINT | mjDSBL_CONTACT)) != 0) return;
  std::vector<CollidingPair> between;
  for (const CollidingPair& pair : colliding_pairs(source, model)) {
    int a = pair.first;
    int b = pair.second;
    if (is_static(source, a) && is_static(source, b)) continue;
    if (!is_static(source, a)) std::swap(a, b);  // b moves
    const int type = source.geom_type[b];
    if (is_static(source, a) && source.geom_type[a] == mjGEOM_PLANE && type >= mjGEOM_SPHERE && type <= mjGEOM_MESH) {
      add_points(source, pair.surface, a, b, model);
    } else {
      between.push_back(pair);
    }
  }
  read_geom_pairs(source, between, model);
}

}  // namespace cgpo
