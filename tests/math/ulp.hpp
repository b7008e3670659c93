// Errors in units in the last place.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace cgpo::elementary::test {

// The type that the C library computes the witness in.
template <class Real>
using Wide = std::conditional_t<std::is_same_v<Real, float>, double, long double>;

// |value - exact| in units of the last place of a Real near exact; 0 if both are the same special value.
template <class Real>
double ulp_error(Real value, Wide<Real> exact) {
  using Limits = std::numeric_limits<Real>;
  const Real rounded = static_cast<Real>(exact);
  if (std::isnan(rounded)) return std::isnan(value) ? 0.0 : 1e300;
  if (value == rounded && (std::isinf(rounded) || rounded == 0)) return 0.0;
  if (std::isnan(value)) return 1e300;
  // One side overflowed: what the largest number lacks to the exact value, or how far that is above the largest number.
  const Wide<Real> beyond = std::ldexp(Wide<Real>{1}, Limits::max_exponent);
  const Wide<Real> v = std::isinf(value) ? std::copysign(beyond, static_cast<Wide<Real>>(value)) : value;
  int exponent = 0;
  std::frexp(exact, &exponent);
  exponent = std::min(std::max(exponent, Limits::min_exponent), Limits::max_exponent);
  return static_cast<double>(std::abs(v - exact) * std::ldexp(Wide<Real>{1}, Limits::digits - exponent));
}

template <class Real>
bool same_bits(Real a, Real b) {
  using Bits = std::conditional_t<std::is_same_v<Real, float>, std::uint32_t, std::uint64_t>;
  return std::bit_cast<Bits>(a) == std::bit_cast<Bits>(b);
}

}  // namespace cgpo::elementary::test
