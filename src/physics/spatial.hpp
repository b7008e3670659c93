// Vectors, matrices and quaternions of three-dimensional mechanics over a scalar S.
//
// A planar or axis-aligned robot has many entries that are zero whatever its state. The graph may not drop x·0 and
// x + 0 by itself (x could be NaN), so every operation here looks for the constant zero and leaves such terms out.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <iterator>

#include "cgpo/graph/traced.hpp"

namespace cgpo {

// Arithmetic that leaves out structural zeros. None of these makes the constant −0.
namespace sparse {

template <class S>
S neg(const S& a) {
  return is_structural_zero(a) ? S(0.0) : S(-a);
}
template <class S>
S add(const S& a, const S& b) {
  if (is_structural_zero(a)) return b;
  return is_structural_zero(b) ? a : S(a + b);
}
template <class S>
S sub(const S& a, const S& b) {
  if (is_structural_zero(b)) return a;
  return is_structural_zero(a) ? S(-b) : S(a - b);
}
template <class S>
S mul(const S& a, const S& b) {
  return is_structural_zero(a) || is_structural_zero(b) ? S(0.0) : S(a * b);
}

}  // namespace sparse

template <class S>
struct Vec3 {
  std::array<S, 3> at{S(0.0), S(0.0), S(0.0)};

  S& operator[](int i) { return at[static_cast<std::size_t>(i)]; }
  const S& operator[](int i) const { return at[static_cast<std::size_t>(i)]; }
  bool is_zero() const { return is_structural_zero(at[0]) && is_structural_zero(at[1]) && is_structural_zero(at[2]); }
};

template <class S>
Vec3<S> vec3(const S& x, const S& y, const S& z) {
  return {{x, y, z}};
}
template <class S>
Vec3<S> unit3(int axis) {
  Vec3<S> e;
  e[axis] = S(1.0);
  return e;
}
// A constant vector in the arithmetic of S.
template <class S>
Vec3<S> lift(const Vec3<double>& a) {
  return {{S(a[0]), S(a[1]), S(a[2])}};
}

template <class S>
Vec3<S> operator+(const Vec3<S>& a, const Vec3<S>& b) {
  return {{sparse::add(a[0], b[0]), sparse::add(a[1], b[1]), sparse::add(a[2], b[2])}};
}
template <class S>
Vec3<S> operator-(const Vec3<S>& a, const Vec3<S>& b) {
  return {{sparse::sub(a[0], b[0]), sparse::sub(a[1], b[1]), sparse::sub(a[2], b[2])}};
}
template <class S>
Vec3<S> operator-(const Vec3<S>& a) {
  return {{sparse::neg(a[0]), sparse::neg(a[1]), sparse::neg(a[2])}};
}
template <class S>
Vec3<S> scale(const S& s, const Vec3<S>& a) {
  return {{sparse::mul(s, a[0]), sparse::mul(s, a[1]), sparse::mul(s, a[2])}};
}
template <class S>
S dot(const Vec3<S>& a, const Vec3<S>& b) {
  using sparse::add, sparse::mul;
  return add(add(mul(a[0], b[0]), mul(a[1], b[1])), mul(a[2], b[2]));
}
template <class S>
Vec3<S> cross(const Vec3<S>& a, const Vec3<S>& b) {
  using sparse::mul, sparse::sub;
  return {{sub(mul(a[1], b[2]), mul(a[2], b[1])), sub(mul(a[2], b[0]), mul(a[0], b[2])),
           sub(mul(a[0], b[1]), mul(a[1], b[0]))}};
}

// Row by row; columns of a rotation are the axes of the rotated frame.
template <class S>
struct Mat3 {
  std::array<Vec3<S>, 3> rows;

  static Mat3 identity() { return {{unit3<S>(0), unit3<S>(1), unit3<S>(2)}}; }
  static Mat3 from_columns(const Vec3<S>& x, const Vec3<S>& y, const Vec3<S>& z) {
    return {{vec3(x[0], y[0], z[0]), vec3(x[1], y[1], z[1]), vec3(x[2], y[2], z[2])}};
  }
  S& operator()(int i, int j) { return rows[static_cast<std::size_t>(i)][j]; }
  const S& operator()(int i, int j) const { return rows[static_cast<std::size_t>(i)][j]; }
  const Vec3<S>& row(int i) const { return rows[static_cast<std::size_t>(i)]; }
  Vec3<S> column(int j) const { return {{rows[0][j], rows[1][j], rows[2][j]}}; }
};

template <class S>
Mat3<S> lift(const Mat3<double>& a) {
  return {{lift<S>(a.row(0)), lift<S>(a.row(1)), lift<S>(a.row(2))}};
}
template <class S>
Mat3<S> transpose(const Mat3<S>& a) {
  return {{a.column(0), a.column(1), a.column(2)}};
}
template <class S>
Mat3<S> operator+(const Mat3<S>& a, const Mat3<S>& b) {
  return {{a.row(0) + b.row(0), a.row(1) + b.row(1), a.row(2) + b.row(2)}};
}
template <class S>
Vec3<S> operator*(const Mat3<S>& a, const Vec3<S>& x) {
  return {{dot(a.row(0), x), dot(a.row(1), x), dot(a.row(2), x)}};
}
template <class S>
Vec3<S> transpose_times(const Mat3<S>& a, const Vec3<S>& x) {
  return transpose(a) * x;
}
template <class S>
Mat3<S> operator*(const Mat3<S>& a, const Mat3<S>& b) {
  return Mat3<S>::from_columns(a * b.column(0), a * b.column(1), a * b.column(2));
}

// Symmetric 3×3.
template <class S>
struct Sym3 {
  S xx{0.0}, yy{0.0}, zz{0.0}, xy{0.0}, xz{0.0}, yz{0.0};

  Mat3<S> full() const { return {{vec3(xx, xy, xz), vec3(xy, yy, yz), vec3(xz, yz, zz)}}; }
};

template <class S>
Sym3<S> operator+(const Sym3<S>& a, const Sym3<S>& b) {
  using sparse::add;
  return {add(a.xx, b.xx), add(a.yy, b.yy), add(a.zz, b.zz), add(a.xy, b.xy), add(a.xz, b.xz), add(a.yz, b.yz)};
}
template <class S>
Sym3<S> scale(const S& s, const Sym3<S>& a) {
  using sparse::mul;
  return {mul(s, a.xx), mul(s, a.yy), mul(s, a.zz), mul(s, a.xy), mul(s, a.xz), mul(s, a.yz)};
}
template <class S>
Sym3<S> isotropic(const S& s) {
  return {s, s, s, S(0.0), S(0.0), S(0.0)};
}
// u uᵀ
template <class S>
Sym3<S> outer(const Vec3<S>& u) {
  using sparse::mul;
  return {mul(u[0], u[0]), mul(u[1], u[1]), mul(u[2], u[2]), mul(u[0], u[1]), mul(u[0], u[2]), mul(u[1], u[2])};
}

// ---- rotations -----------------------------------------------------------------------------------------------------

// Quaternion (w, x, y, z) of length one.
template <class S>
using Quat = std::array<S, 4>;

template <class S>
Quat<S> lift(const Quat<double>& q) {
  return {S(q[0]), S(q[1]), S(q[2]), S(q[3])};
}

template <class S>
Mat3<S> rotation_of(const Quat<S>& q) {
  using sparse::add, sparse::mul, sparse::sub;
  const S two(2.0);
  const S xx = mul(q[1], q[1]), yy = mul(q[2], q[2]), zz = mul(q[3], q[3]);
  const S xy = mul(q[1], q[2]), xz = mul(q[1], q[3]), yz = mul(q[2], q[3]);
  const S wx = mul(q[0], q[1]), wy = mul(q[0], q[2]), wz = mul(q[0], q[3]);
  const auto diagonal = [&](const S& a, const S& b) { return sub(S(1.0), mul(two, add(a, b))); };
  return {{vec3(diagonal(yy, zz), mul(two, sub(xy, wz)), mul(two, add(xz, wy))),
           vec3(mul(two, add(xy, wz)), diagonal(xx, zz), mul(two, sub(yz, wx))),
           vec3(mul(two, sub(xz, wy)), mul(two, add(yz, wx)), diagonal(xx, yy))}};
}

template <class S>
Quat<S> quaternion_product(const Quat<S>& a, const Quat<S>& b) {
  using sparse::add, sparse::mul, sparse::sub;
  return {sub(sub(sub(mul(a[0], b[0]), mul(a[1], b[1])), mul(a[2], b[2])), mul(a[3], b[3])),
          sub(add(add(mul(a[0], b[1]), mul(a[1], b[0])), mul(a[2], b[3])), mul(a[3], b[2])),
          add(add(sub(mul(a[0], b[2]), mul(a[1], b[3])), mul(a[2], b[0])), mul(a[3], b[1])),
          add(sub(add(mul(a[0], b[3]), mul(a[1], b[2])), mul(a[2], b[1])), mul(a[3], b[0]))};
}

// The quaternion of a rotation, w ≥ 0 as far as that can be chosen: Shepperd's method, from the largest of its entries.
inline Quat<double> quaternion_of(const Mat3<double>& r) {
  const double trace = r(0, 0) + r(1, 1) + r(2, 2);
  int largest = 3;  // 3: w
  double most = trace;
  for (int i = 0; i < 3; ++i) {
    if (r(i, i) > most) {
      most = r(i, i);
      largest = i;
    }
  }
  Quat<double> q{};
  if (largest == 3) {
    q = {1.0 + trace, r(2, 1) - r(1, 2), r(0, 2) - r(2, 0), r(1, 0) - r(0, 1)};
  } else {
    const int i = largest, j = (i + 1) % 3, k = (i + 2) % 3;
    q[0] = r(k, j) - r(j, k);
    q[static_cast<std::size_t>(i) + 1] = 1.0 + r(i, i) - r(j, j) - r(k, k);
    q[static_cast<std::size_t>(j) + 1] = r(j, i) + r(i, j);
    q[static_cast<std::size_t>(k) + 1] = r(k, i) + r(i, k);
  }
  const double scale_back =
      (q[0] < 0.0 ? -1.0 : 1.0) / std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  for (double& x : q) x *= scale_back;
  return q;
}

// Rotation by `angle` about a constant unit axis: cos·1 + sin·[a]× + (1 − cos) a aᵀ.
template <class S>
Mat3<S> rotation_about(const Vec3<double>& axis, const S& angle) {
  using sparse::add, sparse::mul, sparse::neg, sparse::sub;
  const S c = cos(angle);
  const S s = sin(angle);
  const S versine = S(1.0) - c;
  Mat3<S> r;
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    const double square = axis[i] * axis[i];
    r(i, i) = square == 1.0 ? S(1.0) : add(c, mul(S(square), versine));
    const S symmetric = mul(S(axis[i] * axis[j]), versine);
    const S skew = mul(S(axis[k]), s);
    r(i, j) = sub(symmetric, skew);
    r(j, i) = add(symmetric, skew);
  }
  return r;
}

// The rotation vector (axis times angle in [−π, π]) of a unit quaternion: 2 atan2(|u|, w) u/|u|, finite at |u| = 0.
template <class S>
Vec3<S> rotation_vector(const Quat<S>& q) {
  const S sign = select(q[0] < S(0.0), S(-1.0), S(1.0));
  const S square = q[1] * q[1] + q[2] * q[2] + q[3] * q[3] + S(1e-28);
  const S length = sqrt(square);
  const S factor = S(2.0) * sign * atan2(length, abs(q[0])) / length;
  return vec3(S(factor * q[1]), S(factor * q[2]), S(factor * q[3]));
}

// q ⊗ exp(t ω/2), ω in the rotated frame, then normalised. cos √s and sin √s / √s are entire functions of
// s = |t ω/2|²; their series are exact to double for angles below a radian and need neither a root nor a division.
template <class S>
Quat<S> integrate_quaternion(const Quat<S>& q, const Vec3<S>& velocity, double time) {
  const Vec3<S> half = scale(S(0.5 * time), velocity);
  const S s = dot(half, half);
  const auto series = [&s](std::initializer_list<double> coefficients) {
    S sum(0.0);
    for (auto c = std::rbegin(coefficients); c != std::rend(coefficients); ++c) {
      sum = sparse::add(sparse::mul(sum, s), S(*c));
    }
    return sum;
  };
  const S cosine = series({1.0, -1.0 / 2, 1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800, 1.0 / 479001600});
  const S sinc = series({1.0, -1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800, 1.0 / 6227020800.0});
  const Vec3<S> u = scale(sinc, half);
  const Quat<S> moved = quaternion_product(q, Quat<S>{cosine, u[0], u[1], u[2]});
  const S scale_back = rsqrt(moved[0] * moved[0] + moved[1] * moved[1] + moved[2] * moved[2] + moved[3] * moved[3]);
  return {moved[0] * scale_back, moved[1] * scale_back, moved[2] * scale_back, moved[3] * scale_back};
}

}  // namespace cgpo
