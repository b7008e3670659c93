// Geoms of different bodies that MuJoCo would let collide: which of them can, as far as the joints go, and which we do.
#include <algorithm>
#include <cmath>
#include <fmt/ranges.h>
#include <map>
#include <optional>

#include "cgpo/base/error.hpp"
#include "cgpo/base/random.hpp"
#include "cgpo/physics/dynamics/closest_points.hpp"
#include "cgpo/physics/model/loader.hpp"

namespace cgpo {
namespace {

constexpr int kStates = 10000;
constexpr std::uint64_t kStatesSeed = 1;
constexpr double kFreeSlide = 1.0;   // m: what a slide without a range is taken to go, either way
constexpr int kMostTests = 3000000;  // of exact distance, a few seconds; a pair that is not tested counts as near
constexpr std::int64_t kMostLooks = 200'000'000;  // at bounds of geoms, likewise
constexpr std::size_t kMostCandidates = 100'000;  // a dog's are 6277
// A point costs 250 to 800 operations, and four times that with derivatives: beyond this a kernel has a million.
constexpr int kMostPoints = 500;

struct Candidate {
  CollidingPair pair;
  std::optional<GeomPair> shapes;  // if both are of kinds that we do
  bool can_touch = false;
};

bool has_free_root(const mjModel& source, int body) {
  for (; body > 0; body = source.body_parentid[body]) {
    for (int k = 0; k < source.body_jntnum[body]; ++k) {
      if (source.jnt_type[source.body_jntadr[body] + k] == mjJNT_FREE) return true;
    }
  }
  return false;
}

// Two trees, or a free one and the world, can be brought together however their joints stand.
bool can_always_meet(const mjModel& source, const CollidingPair& pair) {
  for (const int geom : {pair.first, pair.second}) {
    if (source.geom_type[geom] == mjGEOM_PLANE) return true;
  }
  const int tree_a = source.body_treeid[source.geom_bodyid[pair.first]];
  const int tree_b = source.body_treeid[source.geom_bodyid[pair.second]];
  if (tree_a >= 0 && tree_b >= 0) return tree_a != tree_b;
  return has_free_root(source, source.geom_bodyid[tree_a >= 0 ? pair.first : pair.second]);
}

bool is_done(const mjModel& source, int geom) {
  const int type = source.geom_type[geom];
  return type == mjGEOM_SPHERE || type == mjGEOM_CAPSULE || type == mjGEOM_BOX;
}

PairGeom read_pair_geom(const mjModel& source, const Model& model, int geom) {
  PairGeom result;
  result.name = element_name(source, mjOBJ_GEOM, geom);
  result.geom = geom;
  result.body = source.geom_bodyid[geom];
  result.type = model.geoms[static_cast<std::size_t>(geom)].type;
  result.size = read_vec3(source.geom_size + std::ptrdiff_t{3} * geom);
  result.in_body = {model.geoms[static_cast<std::size_t>(geom)].position,
                    rotation_of(model.geoms[static_cast<std::size_t>(geom)].orientation)};
  return result;
}

std::optional<GeomPair> make_pair(const mjModel& source, const Model& model, const CollidingPair& pair) {
  if (!is_done(source, pair.first) || !is_done(source, pair.second)) return std::nullopt;
  const bool in_order = source.geom_type[pair.first] <= source.geom_type[pair.second];
  return GeomPair{
      pair.surface, read_pair_geom(source, model, in_order ? pair.first : pair.second),
      read_pair_geom(source, model, in_order ? pair.second : pair.first),
      source.body_treeid[source.geom_bodyid[pair.first]] == source.body_treeid[source.geom_bodyid[pair.second]]};
}

Mat3<double> read_mat3(const mjtNum* m) { return {{read_vec3(m), read_vec3(m + 3), read_vec3(m + 6)}}; }

// Looks at MuJoCo's geoms in one state after another.
class Sampler {
 public:
  explicit Sampler(const mjModel& source) : source_(source), data_(mj_makeData(&source)) {
    check(data_ != nullptr, "MuJoCo has memory for one state of the model");
  }

  void draw(std::uint32_t index) {
    RandomStream random(kStatesSeed, Purpose::kCheck, 1, index);
    for (int j = 0; j < source_.njnt; ++j) {
      mjtNum* const q = data_->qpos + source_.jnt_qposadr[j];
      const mjtNum* const range = source_.jnt_range + std::ptrdiff_t{2} * j;
      const double reference = source_.qpos0[source_.jnt_qposadr[j]];
      switch (source_.jnt_type[j]) {
        case mjJNT_FREE: break;  // where a tree stands says nothing of what is within
        case mjJNT_BALL:
          for (int k = 0; k < 4; ++k) q[k] = random.normal();
          mju_normalize4(q);
          break;
        case mjJNT_SLIDE:
          *q = source_.jnt_limited[j] ? random.uniform(range[0], range[1])
                                      : reference + random.uniform(-kFreeSlide, kFreeSlide);
          break;
        default:
          *q = source_.jnt_limited[j] ? random.uniform(range[0], range[1]) : reference + random.uniform(-mjPI, mjPI);
      }
    }
    mj_kinematics(&source_, data_.get());
  }

  // A number that is not finite is near.
  bool is_near(const Candidate& candidate) {
    if (++looks_ > kMostLooks) return true;
    const CollidingPair& pair = candidate.pair;
    const double reach =
        pair.surface.margin + kNearly * std::min(source_.geom_rbound[pair.first], source_.geom_rbound[pair.second]);
    const Vec3<double> way = place(pair.first) - place(pair.second);
    const double far = source_.geom_rbound[pair.first] + source_.geom_rbound[pair.second] + reach;
    if (dot(way, way) > far * far || boxes_are_apart(pair, reach)) return false;
    if (++tests_ > kMostTests || !std::isfinite(dot(way, way))) return true;
    if (candidate.shapes) {
      const GeomPair& shapes = *candidate.shapes;
      if (shapes.first.type == GeomType::kBox) return true;
      const auto points = closest_points(shapes, axes(shapes.first.geom), axes(shapes.second.geom),
                                         place(shapes.first.geom) - place(shapes.second.geom));
      return std::any_of(points.begin(), points.end(),
                         [&](const auto& point) { return !(point.depth < pair.surface.margin - reach); });
    }
    for (const int geom : {pair.first, pair.second}) {
      if (source_.geom_type[geom] == mjGEOM_HFIELD || source_.geom_type[geom] == mjGEOM_SDF) return true;
    }
    return !(mj_geomDistance(&source_, data_.get(), pair.first, pair.second, 2.0 * reach + 1e-3, nullptr) > reach);
  }

 private:
  static constexpr double kNearly = 0.02;  // of the smaller geom: what so many states may have missed

  Vec3<double> place(int geom) const { return read_vec3(data_->geom_xpos + std::ptrdiff_t{3} * geom); }
  Mat3<double> axes(int geom) const { return read_mat3(data_->geom_xmat + std::ptrdiff_t{9} * geom); }

  // By the axes that separate two boxes: those of both, and what is square to one of each.
  bool boxes_are_apart(const CollidingPair& pair, double reach) const {
    const mjtNum* const box_a = source_.geom_aabb + std::ptrdiff_t{6} * pair.first;
    const mjtNum* const box_b = source_.geom_aabb + std::ptrdiff_t{6} * pair.second;
    const Mat3<double> axes_a = axes(pair.first);
    const Mat3<double> axes_b = axes(pair.second);
    const Vec3<double> way =
        transpose_times(axes_b, place(pair.first) + axes_a * read_vec3(box_a) - place(pair.second)) - read_vec3(box_b);
    const Vec3<double> a = read_vec3(box_a + 3);
    const Vec3<double> b = read_vec3(box_b + 3);
    const Mat3<double> turn = transpose(axes_b) * axes_a;
    const auto apart = [&](const Vec3<double>& axis) {
      const Vec3<double> in_a = transpose_times(turn, axis);
      double span = 0.0;
      for (int k = 0; k < 3; ++k) span += std::abs(axis[k]) * b[k] + std::abs(in_a[k]) * a[k];
      return std::abs(dot(axis, way)) > span + reach * std::sqrt(dot(axis, axis)) + 1e-12;
    };
    for (int i = 0; i < 3; ++i) {
      if (apart(unit3<double>(i)) || apart(turn.column(i))) return true;
      for (int j = 0; j < 3; ++j) {
        if (apart(cross(unit3<double>(i), turn.column(j)))) return true;
      }
    }
    return false;
  }

  const mjModel& source_;
  MujocoData data_;
  int tests_ = 0;
  std::int64_t looks_ = 0;
};

void find_what_can_touch(const mjModel& source, std::vector<Candidate>& candidates) {
  std::vector<Candidate*> open;
  for (Candidate& candidate : candidates) {
    candidate.can_touch = can_always_meet(source, candidate.pair);
    if (!candidate.can_touch) open.push_back(&candidate);
  }
  if (open.empty()) return;
  Sampler sampler(source);
  for (std::uint32_t index = 0; index < kStates && !open.empty(); ++index) {
    sampler.draw(index);
    std::erase_if(open, [&](Candidate* candidate) { return candidate->can_touch = sampler.is_near(*candidate); });
  }
}

std::string pair_words(const mjModel& source, const CollidingPair& pair) {
  return fmt::format("{} with {}", element_name(source, mjOBJ_GEOM, pair.first),
                     element_name(source, mjOBJ_GEOM, pair.second));
}

std::string and_more(std::size_t count) {
  return count == 0 ? "" : fmt::format(" and {} more such pair{}", count, count == 1 ? "" : "s");
}

// A line for each kind of pair that there is, with an example.
void list_kinds(const mjModel& source, const std::vector<CollidingPair>& refused, Model& model) {
  std::map<std::pair<int, int>, std::vector<CollidingPair>> kinds;
  for (CollidingPair pair : refused) {
    if (source.geom_type[pair.first] > source.geom_type[pair.second]) std::swap(pair.first, pair.second);
    kinds[{source.geom_type[pair.first], source.geom_type[pair.second]}].push_back(pair);
  }
  for (const auto& [kind, pairs] : kinds) {
    const CollidingPair& example = pairs.front();
    model.unsupported.push_back(
        fmt::format("{}: contact of {} with {}, {}{}", element_name(source, mjOBJ_GEOM, example.second),
                    geom_words(source, example.second), geom_words(source, example.first),
                    element_name(source, mjOBJ_GEOM, example.first), and_more(pairs.size() - 1)));
  }
}

void note_never_near(const mjModel& source, const std::vector<CollidingPair>& apart, Model& model) {
  if (apart.empty()) return;
  constexpr std::size_t kNamed = 12;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(kNamed, apart.size()); ++i) names.push_back(pair_words(source, apart[i]));
  model.notes.push_back(fmt::format("in {} states within the joint limits these never come near each other: {}{}",
                                    kStates, fmt::join(names, ", "), and_more(apart.size() - names.size())));
}

}  // namespace

void read_geom_pairs(const mjModel& source, const std::vector<CollidingPair>& candidates, Model& model) {
  if (candidates.size() > kMostCandidates) {
    throw UserError(
        "{}: {} pairs of geoms could touch one another, more than {}; contype and conaffinity leave pairs out",
        model.name, candidates.size(), kMostCandidates);
  }
  std::vector<Candidate> all;
  for (const CollidingPair& pair : candidates) all.push_back({pair, make_pair(source, model, pair)});
  find_what_can_touch(source, all);
  std::vector<CollidingPair> refused, apart, beyond;
  int points = 0;
  for (const Candidate& candidate : all) {
    if (!candidate.can_touch) {
      apart.push_back(candidate.pair);
    } else if (!candidate.shapes) {
      refused.push_back(candidate.pair);
    } else if (points + point_count(*candidate.shapes) > kMostPoints) {
      beyond.push_back(candidate.pair);
    } else {
      points += point_count(*candidate.shapes);
      model.pairs.push_back(*candidate.shapes);
    }
  }
  list_kinds(source, refused, model);
  if (!beyond.empty()) {
    model.unsupported.push_back(fmt::format("contact between bodies at more than {} points: {}{}", kMostPoints,
                                            pair_words(source, beyond.front()), and_more(beyond.size() - 1)));
  }
  note_never_near(source, apart, model);
}

}  // namespace cgpo
