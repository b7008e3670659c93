// Where spheres, capsules and boxes touch one another: a fixed number of points for each pair of kinds.
//
//   sphere-sphere, sphere-capsule, sphere-box: 1
//   capsule-capsule: 1 within a tree; 2 of half the stiffness between trees, apart only if they are nearly parallel
//   capsule-box: the point of the axis that is nearest to the box, and both ends
//   box-box: 16, see box_points.hpp
//
// All of it is continuous, and has derivatives but where a closest point comes to an end or an edge. Only a centre that
// is inside a box, as near to one face as to another, and axes that cross have none.
#pragma once

#include <algorithm>
#include <vector>

#include "cgpo/physics/dynamics/box_points.hpp"

namespace cgpo {

// Two balls with centres `way` apart, from the second to the first; `centre` is the second's.
template <class S>
PairPoint<S> between_balls(double margin, const Vec3<S>& way, const Vec3<S>& centre, double first, double second,
                           double share) {
  const double least = 1e-4 * (first + second) + 1e-9;
  const S square = sparse::add(dot(way, way), S(least * least));
  const S inverse = rsqrt(square);
  const S distance = square * inverse;
  const Vec3<S> normal = scale(inverse, way);
  return {normal, centre + scale(S(0.5 * (distance + (second - first))), normal), S(margin + first + second) - distance,
          S(share)};
}

// A ball at `centre` from a box's own, in the box's axes. With q = |x| − size, the distance outside is |max(q, 0)| and
// inside max(q); both are the largest q times the length of ρ = max(q, 0)/max(q), whose largest entry is 1.
template <class S>
PairPoint<S> ball_on_box(double margin, const Vec3<S>& centre, double radius, const Mat3<S>& axes,
                         const Vec3<double>& size, const S& share) {
  Vec3<S> beyond, sign;
  for (int k = 0; k < 3; ++k) {
    beyond[k] = abs(centre[k]) - S(size[k]);
    sign[k] = select(centre[k] < S(0.0), S(-1.0), S(1.0));
  }
  const auto largest = find_largest(beyond);
  const S most = largest.of(beyond[0], beyond[1], beyond[2]);
  const S inverse = reciprocal(max(most, S(1e-6 * std::min({size[0], size[1], size[2]}) + 1e-9)));
  Vec3<S> ratio;
  for (int k = 0; k < 3; ++k) ratio[k] = max(beyond[k], S(0.0)) * inverse;
  ratio = vec3<S>(largest.of(S(1.0), ratio[0], ratio[0]), largest.of(ratio[1], S(1.0), ratio[1]),
                  largest.of(ratio[2], ratio[2], S(1.0)));
  const S square = dot(ratio, ratio);
  const S length = sqrt(square);
  Vec3<S> normal;
  for (int k = 0; k < 3; ++k) normal[k] = sign[k] * ratio[k] * reciprocal(length);
  const S surface = most * length;
  return {axes * normal, axes * (centre - scale(S(0.5 * (surface + radius)), normal)), S(margin + radius) - surface,
          share};
}

template <class S>
S clamp(const S& x, double half) {
  return min(max(x, S(-half)), S(half));
}

// Two axes of half lengths h and centres r apart: at s and t along them, s = (c b·r − a·r)/(1 − c²), t = b·r + c s with
// c = a·b, each kept within its length. Where they are parallel, s has no one value: a weak spring draws it to
// `anchor`.
inline constexpr double kParallel = 1e-3;  // sin² of the angle at which the spring is as strong

template <class S>
PairPoint<S> between_capsules(const GeomPair& pair, const Vec3<S>& a, const Vec3<S>& b, const Vec3<S>& r,
                              const S& anchor, double share) {
  const double h1 = pair.first.size[1], h2 = pair.second.size[1];
  const S c = dot(a, b), ar = dot(a, r), br = dot(b, r);
  const S sine = max(S(1.0) - c * c, S(0.0));
  S s = clamp(S((c * br - ar + S(kParallel) * anchor) * reciprocal(sine + S(kParallel))), h1);
  const S t = clamp(S(br + c * s), h2);
  s = clamp(S(c * t - ar), h1);
  const Vec3<S> on_second = scale(t, b);
  return between_balls(pair.margin, r + scale(s, a) - on_second, on_second, pair.first.size[0], pair.second.size[0],
                       share);
}

template <class S>
std::vector<PairPoint<S>> capsule_points(const GeomPair& pair, const Vec3<S>& a, const Vec3<S>& b, const Vec3<S>& r) {
  // The part of the first that lies beside the second.
  const S middle = -dot(a, r);
  const S reach = S(pair.second.size[1]) * dot(a, b);
  const S one = clamp(S(middle - reach), pair.first.size[1]);
  const S other = clamp(S(middle + reach), pair.first.size[1]);
  if (pair.within_tree) return {between_capsules(pair, a, b, r, S(S(0.5) * (one + other)), 1.0)};
  return {between_capsules(pair, a, b, r, one, 0.5), between_capsules(pair, a, b, r, other, 0.5)};
}

// Along the axis c + t d the square of the distance from the box has a slope g(t) = d·(x − clamp(x)), which rises from
// straight piece to straight piece. Its zero is the nearest point; so that there is one where the capsule lies flat, a
// weak spring draws it to the middle.
inline constexpr double kFlat = 5e-3;

template <class S>
S nearest_to_box(const Vec3<S>& centre, const Vec3<S>& direction, double half, const Vec3<double>& size) {
  const auto slope = [&](const S& t) {
    S sum = S(kFlat) * t;
    for (int k = 0; k < 3; ++k) {
      const S x = centre[k] + t * direction[k];
      sum = sum + direction[k] * (x - clamp(x, size[k]));
    }
    return sum;
  };
  S low(-half), high(half);
  S below = min(slope(low), S(0.0)), above = max(slope(high), S(0.0));
  const auto take = [&](const S& t) {
    const S g = slope(t);
    const auto is_low = both(g <= S(0.0), t >= low);
    const auto is_high = both(g >= S(0.0), t <= high);
    low = select(is_low, t, low);
    below = select(is_low, g, below);
    high = select(is_high, t, high);
    above = select(is_high, g, above);
  };
  take(S(-half));
  take(S(half));
  for (int k = 0; k < 3; ++k) {
    const S sign = select(direction[k] < S(0.0), S(-1.0), S(1.0));
    const S inverse = sign * reciprocal(max(abs(direction[k]), S(1e-6)));
    for (const double side : {-size[k], size[k]}) take(clamp(S((S(side) - centre[k]) * inverse), half));
  }
  const S least(1e-9 * (half + size[0] + size[1] + size[2]) + 1e-12);
  const S rise = above - below + least + least;
  return (low * (above + least) + high * (least - below)) * reciprocal(rise);
}

template <class S>
std::vector<PairPoint<S>> capsule_on_box(const GeomPair& pair, const Vec3<S>& axis, const Vec3<S>& r,
                                         const Mat3<S>& box) {
  const double radius = pair.first.size[0], half = pair.first.size[1];
  const Vec3<S> centre = transpose_times(box, r);
  const Vec3<S> direction = transpose_times(box, axis);
  const S t = nearest_to_box(centre, direction, half, pair.second.size);
  std::vector<PairPoint<S>> points;
  const auto add = [&](const S& place, const S& share) {
    points.push_back(ball_on_box(pair.margin, centre + scale(place, direction), radius, box, pair.second.size, share));
  };
  add(t, S(1.0));
  // An end counts as far as it is not that point.
  add(S(-half), smooth_step(S((S(half) + t) * S(1.0 / radius))));
  add(S(half), smooth_step(S((S(half) - t) * S(1.0 / radius))));
  return points;
}

// `way`: from the second geom's centre to the first's; all in the axes in which those of the geoms are given.
template <class S>
std::vector<PairPoint<S>> closest_points(const GeomPair& pair, const Mat3<S>& first, const Mat3<S>& second,
                                         const Vec3<S>& way) {
  const bool first_is_sphere = pair.first.type == GeomType::kSphere;
  const double radius = pair.first.size[0];
  switch (pair.second.type) {
    case GeomType::kSphere: return {between_balls(pair.margin, way, Vec3<S>(), radius, pair.second.size[0], 1.0)};
    case GeomType::kCapsule: {
      const Vec3<S> axis = second.column(2);
      if (!first_is_sphere) return capsule_points(pair, first.column(2), axis, way);
      const Vec3<S> nearest = scale(clamp(dot(way, axis), pair.second.size[1]), axis);
      return {between_balls(pair.margin, way - nearest, nearest, radius, pair.second.size[0], 1.0)};
    }
    default:
      if (pair.first.type == GeomType::kBox) return box_points(pair, first, second, way);
      if (!first_is_sphere) return capsule_on_box(pair, first.column(2), way, second);
      return {ball_on_box(pair.margin, transpose_times(second, way), radius, second, pair.second.size, S(1.0))};
  }
}

inline int point_count(const GeomPair& pair) {
  if (pair.first.type == GeomType::kBox) return 16;
  if (pair.first.type == GeomType::kSphere) return 1;
  if (pair.second.type == GeomType::kBox) return 3;
  return pair.within_tree ? 1 : 2;
}

}  // namespace cgpo
