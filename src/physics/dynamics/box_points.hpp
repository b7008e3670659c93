// Where two boxes touch: a normal, and the corners of the polygon that one's face has in common with the other's.
//
// The normal is that of the least overlap, over the faces of both and what is square to an edge of each; near a tie it
// goes over from one to the other. The faces that look at each other most are then laid over one another: each of their
// eight edges is cut off where it leaves the other face, and both its ends are points of half a share. A corner, being
// the end of two edges, and a crossing, which lies on one edge of each face, so count as one.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "cgpo/physics/model/model.hpp"

namespace cgpo {

// One point at which two geoms may touch.
template <class S>
struct PairPoint {
  Vec3<S> normal;  // from the second geom to the first
  Vec3<S> place;   // from the second's centre; half way between the surfaces
  S depth;
  S share;  // of the surfaces' stiffness and damping
};

// Which of three numbers is the largest; the first of those that are the same.
template <class Condition>
struct Largest {
  Condition first, second;
  template <class S>
  S of(const S& x, const S& y, const S& z) const {
    return select(first, x, select(second, y, z));
  }
};
template <class S>
auto find_largest(const Vec3<S>& a) {
  return Largest<decltype(a[0] < a[1])>{both(a[0] >= a[1], a[0] >= a[2]), a[1] >= a[2]};
}

// 0 up to 0, 1 from 1 on, and smooth between.
template <class S>
S smooth_step(const S& x) {
  const S t = min(max(x, S(0.0)), S(1.0));
  return t * t * (S(3.0) - S(2.0) * t);
}

// A box, turned so that the face that matters looks along z: columns of `axes`. Its x and y may be left-handed.
template <class S>
struct BoxFace {
  Vec3<S> centre;  // of the box
  Mat3<S> axes;
  Vec3<S> half;
};

template <class S>
BoxFace<S> face_towards(const Vec3<S>& direction, const Vec3<S>& centre, const Mat3<S>& axes,
                        const Vec3<double>& size) {
  const Vec3<S> along = transpose_times(axes, direction);
  const auto most = find_largest(vec3<S>(abs(along[0]), abs(along[1]), abs(along[2])));
  const auto turn = [&](int k) {  // the k-th axis after the chosen one
    Vec3<S> column;
    for (int i = 0; i < 3; ++i) column[i] = most.of(axes(i, k), axes(i, (k + 1) % 3), axes(i, (k + 2) % 3));
    return column;
  };
  const auto turned_size = [&](int k) { return most.of(S(size[k]), S(size[(k + 1) % 3]), S(size[(k + 2) % 3])); };
  const S sign = select(most.of(along[0], along[1], along[2]) < S(0.0), S(-1.0), S(1.0));
  return {centre, Mat3<S>::from_columns(turn(1), turn(2), scale(sign, turn(0))),
          vec3(turned_size(1), turned_size(2), turned_size(0))};
}

// In the second box's axes, from its centre.
template <class S>
class BoxOverlap {
 public:
  BoxOverlap(const Vec3<double>& first, const Vec3<double>& second, const Mat3<S>& turn, const Vec3<S>& way)
      : first_(first), second_(second), turn_(turn), way_(way), size_(least_size(first, second)) {}

  static double least_size(const Vec3<double>& a, const Vec3<double>& b) {
    return std::min({a[0], a[1], a[2], b[0], b[1], b[2]});
  }

  // From the second to the first. An axis is known to be square to what it is made of: the product that would say so
  // is left out, whose sign would be that of rounding.
  Vec3<S> normal() {
    for (int i = 0; i < 3; ++i) consider(unit3<S>(i), S(1.0), S(second_[i] + first_span(turn_.row(i), -1)), S(0.0));
    for (int j = 0; j < 3; ++j) {
      consider(turn_.column(j), S(1.0), S(first_[j] + second_span(turn_.column(j), -1)), S(0.0));
    }
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        const Vec3<S> axis = cross(unit3<S>(i), turn_.column(j));
        const S square = dot(axis, axis);  // sin²; parallel edges have no such axis
        const S doubt = S(kEdgeDoubt * size_) + S(size_) * (S(1.0) - smooth_step(S(square * S(1.0 / kSkew))));
        const S inverse = rsqrt(square + S(1e-12));
        consider(axis, inverse, S((second_span(axis, i) + first_span(transpose_times(turn_, axis), j)) * inverse),
                 doubt);
      }
    }
    return scale(rsqrt(dot(best_, best_) + S(1e-12)), best_);
  }

 private:
  static constexpr double kTie = 0.05;        // of the smallest size: overlaps this near to each other are mixed
  static constexpr double kEdgeDoubt = 0.02;  // of it: a face is taken before an edge that is better by less
  static constexpr double kSkew = 0.02;       // sin²

  // How far a box reaches along a direction that is given in its axes and is square to its `without`th.
  static S span(const Vec3<double>& half, const Vec3<S>& direction, int without) {
    S sum(0.0);
    for (int k = 0; k < 3; ++k) {
      if (k != without) sum = sparse::add(sum, sparse::mul(S(half[k]), S(abs(direction[k]))));
    }
    return sum;
  }
  S first_span(const Vec3<S>& direction, int without) const { return span(first_, direction, without); }
  S second_span(const Vec3<S>& direction, int without) const { return span(second_, direction, without); }

  // `inverse`: 1/|axis|; `reach`: how far both boxes go along it from their centres, together.
  void consider(const Vec3<S>& axis, const S& inverse, const S& reach, const S& doubt) {
    const S along = dot(axis, way_);
    const S gap = abs(along) * inverse - reach - doubt;
    const Vec3<S> outwards = scale(S(select(along < S(0.0), S(-1.0), S(1.0)) * inverse), axis);
    if (!any_) {
      any_ = true;
      gap_ = gap;
      best_ = outwards;
      return;
    }
    const S better = smooth_step(S(S(0.5) + (gap - gap_) * S(0.5 / (kTie * size_))));
    best_ = best_ + scale(better, outwards - best_);
    gap_ = max(gap_, gap);
  }

  Vec3<double> first_, second_;
  Mat3<S> turn_;
  Vec3<S> way_;
  double size_;
  bool any_ = false;
  S gap_{0.0};
  Vec3<S> best_;
};

// The edges of one box's face over another's, seen along `normal`, which leaves the other face. Calls take(point,
// overlap, share): a point of an edge, how far it is below the other face, and its share.
template <class S, class Take>
void cut_edges(const BoxFace<S>& mine, const BoxFace<S>& other, const Vec3<S>& normal, double blur, const Take& take) {
  const Vec3<S> rise = transpose_times(other.axes, normal);
  const S steepness = reciprocal(max(rise[2], S(0.5)));
  const Vec3<S> face = mine.centre + scale(mine.half[2], mine.axes.column(2));
  const auto cut = [&](const Vec3<S>& middle, const Vec3<S>& way) {
    const Vec3<S> m = transpose_times(other.axes, middle - other.centre);
    const Vec3<S> d = transpose_times(other.axes, way);
    const S overlap = (other.half[2] - m[2]) * steepness;
    const S slope = -d[2] * steepness;
    std::array<S, 2> start, along;  // where that is on the other face: start + u·along
    S from(-1.0), to(1.0);
    for (const std::size_t k : {0, 1}) {  // |start + u along| ≤ half; an edge that runs beside the other's is not cut
      const int axis = static_cast<int>(k);
      start[k] = m[axis] + overlap * rise[axis];
      along[k] = d[axis] + slope * rise[axis];
      const S inverse = reciprocal(max(abs(along[k]), S(blur)));
      const S sign = min(max(S(along[k] * S(1.0 / blur)), S(-1.0)), S(1.0));
      const S centre = -start[k] * sign * inverse;
      const S reach = other.half[axis] * inverse;
      from = max(from, S(centre - reach));
      to = min(to, S(centre + reach));
    }
    for (const S& u : {S(min(from, S(1.0))), S(max(to, S(-1.0)))}) {
      const auto inside = [&](std::size_t k) {
        const S beside = abs(start[k] + u * along[k]) - other.half[static_cast<int>(k)];
        return smooth_step(S(S(1.0) - beside * S(1.0 / blur)));
      };
      take(middle + scale(u, way), S(overlap + u * slope), S(S(0.5) * inside(0) * inside(1)));
    }
  };
  const Vec3<S> x = scale(mine.half[0], mine.axes.column(0));
  const Vec3<S> y = scale(mine.half[1], mine.axes.column(1));
  cut(face + x, y);
  cut(face - x, y);
  cut(face + y, x);
  cut(face - y, x);
}

template <class S>
std::vector<PairPoint<S>> box_points(const GeomPair& pair, const Mat3<S>& first, const Mat3<S>& second,
                                     const Vec3<S>& way) {
  constexpr double kBlur = 0.05;  // of the smallest size: how far beside an edge something still rests on it
  const Vec3<double>& size_1 = pair.first.size;
  const Vec3<double>& size_2 = pair.second.size;
  const double blur = kBlur * BoxOverlap<S>::least_size(size_1, size_2) + 1e-9;
  const Mat3<S> turn = transpose(second) * first;
  const Vec3<S> centre = transpose_times(second, way);
  const Vec3<S> normal = BoxOverlap<S>(size_1, size_2, turn, centre).normal();
  const BoxFace<S> upper = face_towards(-normal, centre, turn, size_1);
  const BoxFace<S> lower = face_towards(normal, Vec3<S>(), Mat3<S>::identity(), size_2);
  const Vec3<S> outwards = second * normal;
  std::vector<PairPoint<S>> points;
  const auto take = [&](double side) {  // to the middle between the surfaces
    return [&, side](const Vec3<S>& point, const S& overlap, const S& share) {
      points.push_back(
          {outwards, second * (point + scale(S(S(side) * overlap), normal)), S(pair.margin) + overlap, share});
    };
  };
  cut_edges(upper, lower, normal, blur, take(0.5));
  cut_edges(lower, upper, -normal, blur, take(-0.5));
  return points;
}

}  // namespace cgpo
