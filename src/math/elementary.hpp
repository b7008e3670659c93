// sin, cos, tan, atan2, exp, log and tanh as straight-line code over primitives.hpp.
//
// sin<Real>(x) works for any scalar S that has the primitives: plain float and double, and scalars that record a graph.
// Real, float or double, is the precision that constants and degrees are chosen for. Arguments may be any value of the
// type; results are those of C for zeros, infinities and NaN.
//
// Largest errors in units in the last place, as asserted by tests/math, for |x| <= 64, |x| <= kModerateBound, beyond:
// * sin, cos: 2.25, 2.5, 3.5. One polynomial for half a turn, the least work.
// * sincos: 1.5, 2.5, 3.5. Two polynomials for a quarter turn. Over 1.5 only next to multiples of pi/2.
// * tan: 3, 3.5, 5.
// And everywhere: exp 1.5, log 1.2, tanh 3, atan2 2.5.
//
// Two habits below keep the sign of zero: n is rounded by adding and subtracting kShifter, which never gives -0, and
// z * p is written fma(z, p, 0), which is +0 at z = 0. Neither may be simplified.
#pragma once

#include <limits>
#include <type_traits>

#include "cgpo/math/payne_hanek.hpp"
#include "cgpo/math/primitives.hpp"

#define CGPO_ELEMENTARY [[gnu::always_inline]] inline

namespace cgpo::elementary {

// Where the argument's type brings its own primitives, these and those are found together.
using namespace primitive;  // NOLINT(google-build-using-namespace)

// |x| up to which the *_moderate functions hold.
template <class Real>
inline constexpr double kModerateBound = sizeof(Real) == 4 ? 0x1p15 : 0x1p30;

template <class S>
struct SinCos {
  S sin;
  S cos;
};

namespace detail {

template <class Real>
inline constexpr bool kIsFloat = std::is_same_v<Real, float>;

// Numbers that are split are rounded down but for the last part, so that all parts are positive.
template <class Real>
struct Constants;
template <>
struct Constants<float> {
  static constexpr double kPi[] = {0x1.921fb4p1, 0x1.4442d0p-23, 0x1.84698ap-47};
  static constexpr double kTurn[] = {0x1.921fb6p2, -0x1.777a5cp-23};
  static constexpr double kInversePi = 0x1.45f306p-2;
  static constexpr double kLn4[] = {0x1.62e42ep0, 0x1.efa39ep-24};
  static constexpr double kInverseLn4 = 0x1.715476p-1;
  static constexpr double kLn2[] = {0x1.62e430p-1, -0x1.05c610p-29};
  static constexpr double kSqrt2 = 0x1.6a09e6p0;
  static constexpr double kHalfPi[] = {0x1.921fb6p0, -0x1.777a5cp-25};
  // Beyond these exp is 0 or infinite.
  static constexpr double kExpLow = -104.0;
  static constexpr double kExpHigh = 89.0;
};
template <>
struct Constants<double> {
  static constexpr double kPi[] = {0x1.921fb54442d18p1, 0x1.1a62633145c06p-53, 0x1.c1cd129024e09p-106};
  static constexpr double kTurn[] = {0x1.921fb54442d18p2, 0x1.1a62633145c07p-52};
  static constexpr double kInversePi = 0x1.45f306dc9c883p-2;
  static constexpr double kLn4[] = {0x1.62e42fefa39efp0, 0x1.abc9e3b39803fp-55};
  static constexpr double kInverseLn4 = 0x1.71547652b82fep-1;
  static constexpr double kLn2[] = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
  static constexpr double kSqrt2 = 0x1.6a09e667f3bcdp0;
  static constexpr double kHalfPi[] = {0x1.921fb54442d18p0, 0x1.1a62633145c07p-54};
  static constexpr double kExpLow = -746.0;
  static constexpr double kExpHigh = 710.0;
};

// c0 + c1 x + c2 x^2 + …
template <class S, class... Rest>
CGPO_ELEMENTARY S horner(S x, double c0, Rest... rest) {
  if constexpr (sizeof...(rest) == 0) {
    return S(c0);
  } else {
    return fma(horner(x, rest...), x, S(c0));
  }
}

// Which multiples of pi an angle is reduced by. nearest() takes an angle and how many half turns its unit is.
struct WholeHalfTurns {  // remainder within pi/2 of 0
  template <class Real, class S>
  CGPO_ELEMENTARY static S nearest(S x, double unit) {
    return fma(x, S(unit), S(Format<Real>::kShifter)) - S(Format<Real>::kShifter);
  }
};
struct OddQuarterTurns {  // the same for integers plus 1/2
  template <class Real, class S>
  CGPO_ELEMENTARY static S nearest(S x, double unit) {
    return round_even(fma(x, S(unit), S(0.5))) - S(0.5);
  }
};
struct QuarterTurns {  // multiples of 1/2; remainder within pi/4 of 0
  template <class Real, class S>
  CGPO_ELEMENTARY static S nearest(S x, double unit) {
    return (fma(x, S(2.0 * unit), S(Format<Real>::kShifter)) - S(Format<Real>::kShifter)) * S(0.5);
  }
};

// angle = half_turns * pi + rest
template <class S>
struct Reduced {
  S half_turns;
  S rest;
};

// After Cody and Waite. The first step is exact, each later one is exact or rounds only what is left.
template <class Grid, class Real, class S>
CGPO_ELEMENTARY Reduced<S> reduce_moderate(S x) {
  using C = Constants<Real>;
  const S h = Grid::template nearest<Real>(x, C::kInversePi);
  S rest = fma(h, S(-C::kPi[0]), x);
  rest = fma(h, S(-C::kPi[1]), rest);
  rest = fma(h, S(-C::kPi[2]), rest);
  return {h, rest};
}

// After Payne and Hanek, in turns: whole turns drop out of the first product exactly, and so does the multiple of the
// grid; the remaining products are added in falling order, where again each step is exact or rounds only what is left.
template <class Grid, class Real, class S>
CGPO_ELEMENTARY Reduced<S> reduce_huge(S x, S size) {
  using C = Constants<Real>;
  const S index = exponent(size) - S(payne_hanek::kFirstExponent<Real>);
  const S m = copysign(mantissa(size), x);
  const S t0 = lookup(payne_hanek::kTurns<Real, 0>, index);
  const S t1 = lookup(payne_hanek::kTurns<Real, 1>, index);
  const S t2 = lookup(payne_hanek::kTurns<Real, 2>, index);
  const S t3 = lookup(payne_hanek::kTurns<Real, 3>, index);
  const S fraction = fma(m, t0, -round_even(m * t0));
  const S h = Grid::template nearest<Real>(fma(m, t1, fraction), 2.0);
  S turns = fma(m, t1, fma(h, S(-0.5), fraction));
  turns = fma(m, t2, turns);
  turns = fma(m, t3, turns);
  return {h, fma(turns, S(C::kTurn[0]), turns * S(C::kTurn[1]))};
}

template <class Grid, class Real, class S>
CGPO_ELEMENTARY Reduced<S> reduce(S x) {
  const S size = abs(x);
  const Reduced<S> moderate = reduce_moderate<Grid, Real>(x);
  const Reduced<S> huge = reduce_huge<Grid, Real>(x, size);
  const auto is_moderate = less_equal(size, S(kModerateBound<Real>));
  return {select(is_moderate, moderate.half_turns, huge.half_turns), select(is_moderate, moderate.rest, huge.rest)};
}

// -1 for odd n, 1 for even n
template <class S>
CGPO_ELEMENTARY S alternating(S n) {
  const S half = n * S(0.5);
  const S odd = half - round_even(half);  // 0 or +-1/2
  return fma(odd * S(-8.0), odd, S(1.0));
}

// |r| <= pi/2
template <class Real, class S>
CGPO_ELEMENTARY S sin_half_turn(S r) {
  const S z = r * r;
  S p;
  if constexpr (kIsFloat<Real>) {
    p = horner(z, -0x1.555556p-3, 0x1.11113p-7, -0x1.a02126p-13, 0x1.726fb6p-19, -0x1.adcaf4p-26);
  } else {
    p = horner(z, -0x1.5555555555555p-3, 0x1.11111111110c8p-7, -0x1.a01a01a014d4ep-13, 0x1.71de3a529ed0ep-19,
               -0x1.ae6454d32a6d5p-26, 0x1.6123cc9b392b1p-33, -0x1.ae43626f39ec5p-41, 0x1.882e83ba6819cp-49);
  }
  return fma(r, fma(z, p, S(0.0)), r);
}

// |r| <= pi/4
template <class Real, class S>
CGPO_ELEMENTARY SinCos<S> sincos_quarter_turn(S r) {
  const S z = r * r;
  S p;
  S q;
  if constexpr (kIsFloat<Real>) {
    p = horner(z, -0x1.555544p-3, 0x1.1106d8p-7, -0x1.99258p-13);
    q = horner(z, -0.5, 0x1.55554ap-5, -0x1.6c0c2p-10, 0x1.99e42cp-16);
  } else {
    p = horner(z, -0x1.5555555555548p-3, 0x1.111111110f6fdp-7, -0x1.a01a019bdefd8p-13, 0x1.71de354a24736p-19,
               -0x1.ae5e41939f548p-26, 0x1.5d88277eb82b4p-33);
    q = horner(z, -0.5, 0x1.555555555554ap-5, -0x1.6c16c16c14e05p-10, 0x1.a01a019c5d0dcp-16, -0x1.27e4f7cdfa9fp-22,
               0x1.1ee9c3d779b72p-29, -0x1.8f9a2a08c79bp-37);
  }
  return {fma(r, fma(z, p, S(0.0)), r), fma(z, q, S(1.0))};
}

// sin(n pi + r) = (-1)^n sin(r)
template <class Real, class S>
CGPO_ELEMENTARY S sin_of(const Reduced<S>& angle) {
  return sin_half_turn<Real>(angle.rest) * alternating(angle.half_turns);
}

// cos((n - 1/2) pi + r) = (-1)^n sin(r)
template <class Real, class S>
CGPO_ELEMENTARY S cos_of(const Reduced<S>& angle) {
  return sin_half_turn<Real>(angle.rest) * alternating(angle.half_turns + S(0.5));
}

template <class Real, class S>
CGPO_ELEMENTARY SinCos<S> sincos_of(const Reduced<S>& angle) {
  const SinCos<S> rest = sincos_quarter_turn<Real>(angle.rest);
  const S whole = floor(angle.half_turns);
  const auto straight = equal(whole, angle.half_turns);
  const S sign = alternating(whole);
  return {select(straight, rest.sin, rest.cos) * sign, select(straight, rest.cos, -rest.sin) * sign};
}

template <class Real, class S>
CGPO_ELEMENTARY S tan_of(const Reduced<S>& angle) {
  const SinCos<S> rest = sincos_quarter_turn<Real>(angle.rest);
  const auto straight = equal(round_even(angle.half_turns), angle.half_turns);
  return select(straight, rest.sin, rest.cos) / select(straight, rest.cos, -rest.sin);
}

// exp(x) = scale^2 (1 + rest) with scale a power of two: two factors reach from the smallest number to infinity.
template <class S>
struct ScaledExp {
  S scale;
  S rest;
};

template <class Real, class S>
CGPO_ELEMENTARY ScaledExp<S> scaled_exp(S x) {
  using C = Constants<Real>;
  const S h = fma(x, S(C::kInverseLn4), S(Format<Real>::kShifter)) - S(Format<Real>::kShifter);
  const S r = fma(h, S(-C::kLn4[1]), fma(h, S(-C::kLn4[0]), x));  // |r| <= ln 2
  S p;
  if constexpr (kIsFloat<Real>) {
    p = horner(r, 0.5, 0x1.55556p-3, 0x1.55554ap-5, 0x1.1109f4p-7, 0x1.6c1c04p-10, 0x1.a5daaap-13, 0x1.a10c9ep-16);
  } else {
    p = horner(r, 0x1.ffffffffffff3p-2, 0x1.55555555555b9p-3, 0x1.5555555556965p-5, 0x1.1111111107f47p-7,
               0x1.6c16c169bcd34p-10, 0x1.a01a01b28d708p-13, 0x1.a01a0586b411ep-16, 0x1.71de29bdaea52p-19,
               0x1.27e1c725f2bdbp-22, 0x1.ae71618a39419p-26, 0x1.217bd51747759p-29, 0x1.5e62059e145a4p-33);
  }
  return {pow2i(h), fma(r * r, p, r)};
}

// exp(t) - 1 where exp(t) is neither tiny nor near overflow: 2^n (1 + rest) - 1
template <class Real, class S>
CGPO_ELEMENTARY S expm1(S t) {
  using C = Constants<Real>;
  const S n = fma(t, S(2.0 * C::kInverseLn4), S(Format<Real>::kShifter)) - S(Format<Real>::kShifter);
  const S r = fma(n, S(-0.5 * C::kLn4[1]), fma(n, S(-0.5 * C::kLn4[0]), t));  // |r| <= ln(2) / 2
  S p;
  if constexpr (kIsFloat<Real>) {
    p = horner(r, 0x1.fffffep-2, 0x1.5554aep-3, 0x1.555712p-5, 0x1.122934p-7, 0x1.6b79c8p-10);
  } else {
    p = horner(r, 0.5, 0x1.5555555555559p-3, 0x1.555555555554dp-5, 0x1.111111110f62ep-7, 0x1.6c16c16c1ab13p-10,
               0x1.a01a01b01e718p-13, 0x1.a01a018e12a8dp-16, 0x1.71ddf7b3af4dp-19, 0x1.27e51303078d2p-22,
               0x1.af5fefed848d6p-26, 0x1.1f1aecf3c31a8p-29);
  }
  const S power = pow2i(n);
  return fma(fma(r * r, p, r), power, power - S(1.0));
}

// log(1 + f) - f + shift, sqrt(1/2) <= 1 + f < sqrt(2)
template <class Real, class S>
CGPO_ELEMENTARY S log1p_tail(S f, S shift) {
  if constexpr (kIsFloat<Real>) {
    const S p = horner(f, -0.5, 0x1.55557p-2, -0x1.000234p-2, 0x1.99944ep-3, -0x1.5466fep-3, 0x1.239ce2p-3,
                       -0x1.0e96ccp-3, 0x1.015976p-3, -0x1.2a6f8p-4);
    return fma(f * f, p, shift);
  } else {
    // With s = f / (2 + f): log(1 + f) = 2 atanh(s) = 2 s + s^3 A(s^2), and 2 s = f - f^2/2 + s f^2/2.
    const S s = f / (f + S(2.0));
    const S z = s * s;
    const S a = horner(z, 0x1.5555555555592p-1, 0x1.999999997ff2bp-2, 0x1.24924941e082ap-2, 0x1.c71c521481031p-3,
                       0x1.74663d045ec52p-3, 0x1.39a1e2da05accp-3, 0x1.2f041b9935b2bp-3);
    const S half_square = f * f * S(0.5);
    return fma(s, fma(z, a, half_square), shift) - half_square;
  }
}

// atan(q), 0 <= q <= 1 for float, |q| <= tan(pi/8) for double
template <class Real, class S>
CGPO_ELEMENTARY S atan_small(S q) {
  const S z = q * q;
  S p;
  if constexpr (kIsFloat<Real>) {
    p = horner(z, -0x1.55553ep-2, 0x1.9991ecp-3, -0x1.24211ap-3, 0x1.c0946cp-4, -0x1.5825f2p-4, 0x1.da9c2ep-5,
               -0x1.fe7d24p-6, 0x1.6551e2p-7, -0x1.d5a1aap-10);
  } else {
    p = horner(z, -0x1.555555555553dp-2, 0x1.999999999586ep-3, -0x1.24924922ad796p-3, 0x1.c71c70e618a0cp-4,
               -0x1.745cf8dd641cep-4, 0x1.3b11192ddaf4fp-4, -0x1.10ebb91e290e8p-4, 0x1.df0f58c7e3572p-5,
               -0x1.9cd30105c10ccp-5, 0x1.37d6642d2d0f6p-5, -0x1.256c25d46ade7p-6);
  }
  return fma(q, z * p, q);
}

}  // namespace detail

template <class Real, class S>
CGPO_ELEMENTARY S sin(S x) {
  return detail::sin_of<Real>(detail::reduce<detail::WholeHalfTurns, Real>(x));
}

template <class Real, class S>
CGPO_ELEMENTARY S cos(S x) {
  return detail::cos_of<Real>(detail::reduce<detail::OddQuarterTurns, Real>(x));
}

// Cheaper than sin and cos together, more accurate, and not to the last bit the same.
template <class Real, class S>
CGPO_ELEMENTARY SinCos<S> sincos(S x) {
  return detail::sincos_of<Real>(detail::reduce<detail::QuarterTurns, Real>(x));
}

template <class Real, class S>
CGPO_ELEMENTARY S tan(S x) {
  return detail::tan_of<Real>(detail::reduce<detail::QuarterTurns, Real>(x));
}

// The same, to the last bit, for |x| <= kModerateBound<Real>; beyond it the result is unspecified, but not finite for
// infinities and NaN.
template <class Real, class S>
CGPO_ELEMENTARY S sin_moderate(S x) {
  return detail::sin_of<Real>(detail::reduce_moderate<detail::WholeHalfTurns, Real>(x));
}

template <class Real, class S>
CGPO_ELEMENTARY S cos_moderate(S x) {
  return detail::cos_of<Real>(detail::reduce_moderate<detail::OddQuarterTurns, Real>(x));
}

template <class Real, class S>
CGPO_ELEMENTARY SinCos<S> sincos_moderate(S x) {
  return detail::sincos_of<Real>(detail::reduce_moderate<detail::QuarterTurns, Real>(x));
}

template <class Real, class S>
CGPO_ELEMENTARY S tan_moderate(S x) {
  return detail::tan_of<Real>(detail::reduce_moderate<detail::QuarterTurns, Real>(x));
}

template <class Real, class S>
CGPO_ELEMENTARY S exp(S x) {
  using C = detail::Constants<Real>;
  // The bound comes first, so that NaN stays.
  const S clamped = max(S(C::kExpLow), min(S(C::kExpHigh), x));
  const detail::ScaledExp<S> e = detail::scaled_exp<Real>(clamped);
  return fma(e.rest, e.scale, e.scale) * e.scale;
}

template <class Real, class S>
CGPO_ELEMENTARY S log(S x) {
  using C = detail::Constants<Real>;
  using Limits = std::numeric_limits<Real>;
  constexpr double kUp = detail::kIsFloat<Real> ? 0x1p24 : 0x1p54;  // makes denormal numbers normal
  constexpr double kUpExponent = detail::kIsFloat<Real> ? 24.0 : 54.0;
  const auto tiny = less(x, S(Limits::min()));
  const S normal = select(tiny, x * S(kUp), x);
  // x = 2^n (1 + f)
  const S e = exponent(normal) - select(tiny, S(kUpExponent), S(0.0));
  const S m = mantissa(normal);
  const auto large = less(S(C::kSqrt2), m);
  const S n = select(large, e + S(1.0), e);
  const S f = select(large, m * S(0.5), m) - S(1.0);
  const S result = fma(n, S(C::kLn2[0]), f + detail::log1p_tail<Real>(f, n * S(C::kLn2[1])));
  const S nothing = select(equal(x, S(0.0)), S(-Limits::infinity()), S(Limits::quiet_NaN()));
  return select(less(S(0.0), x), select(less(x, S(Limits::infinity())), result, x), nothing);
}

// tanh(x) = E / (E + 2), E = exp(2 |x|) - 1
template <class Real, class S>
CGPO_ELEMENTARY S tanh(S x) {
  constexpr double kOne = detail::kIsFloat<Real> ? 10.0 : 20.0;  // from here on the result is 1
  const S size = min(S(kOne), abs(x));
  const S expm1 = detail::expm1<Real>(size + size);
  return copysign(expm1 / (expm1 + S(2.0)), x);
}

template <class Real, class S>
CGPO_ELEMENTARY S atan2(S y, S x) {
  using C = detail::Constants<Real>;
  const S ax = abs(x);
  const S ay = abs(y);
  // In this order a NaN on either side reaches one of the two.
  const S small = min(ax, ay);
  const S large = max(S(std::numeric_limits<Real>::denorm_min()), max(ay, ax));  // 0 / 0 becomes 0
  const auto same = equal(small, large);                                         // inf / inf becomes 1
  S angle;
  if constexpr (detail::kIsFloat<Real>) {
    angle = detail::atan_small<Real>(select(same, S(1.0), small / large));
  } else {
    // Above pi/8: atan(q) = pi/4 + atan((q - 1) / (q + 1)); the factor keeps the sum finite.
    constexpr double kCotEighth = 0x1.3504f333f9de6p1;
    const S factor = select(less(S(0x1p1000), large), S(0.25), S(1.0));
    const S n = small * factor;
    const S d = large * factor;
    const auto upper = less_equal(d, n * S(kCotEighth));
    const S numerator = select(same, S(0.0), select(upper, n - d, n));
    const S q = numerator / select(upper, n + d, d);
    angle = select(upper, S(0.5 * C::kHalfPi[0]), S(0.0)) + detail::atan_small<Real>(q);
  }
  const S steep = select(less(ax, ay), (S(C::kHalfPi[0]) - angle) + S(C::kHalfPi[1]), angle);
  const auto left = less(copysign(S(1.0), x), S(0.0));
  const S whole = select(left, (S(2.0 * C::kHalfPi[0]) - steep) + S(2.0 * C::kHalfPi[1]), steep);
  return copysign(whole, y);
}

}  // namespace cgpo::elementary

#undef CGPO_ELEMENTARY
