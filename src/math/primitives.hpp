// The operations that elementary functions are made of, for plain float and double.
//
// Each is one or two vector instructions, has no branch and no undefined behaviour for any argument, so a loop over
// them vectorises. Another scalar type (one that records a graph) brings functions with these names and meanings in its
// own namespace; its masks are scalars of its own that are 1 or 0.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>

namespace cgpo::elementary {

// Constants that are looked up at run time. The values live as long as the program.
template <class Real>
struct Table {
  const Real* values;
  int size;
};

namespace primitive {

// Layout of the binary formats. kShifter is 1.5 * 2^(fraction bits): its neighbours are the integers, so that adding it
// rounds to the nearest integer and leaves that integer in the low bits.
template <class Real>
struct Format;
template <>
struct Format<float> {
  using Bits = std::uint32_t;
  static constexpr int kFraction = 23;
  static constexpr int kBias = 127;
  static constexpr float kShifter = 0x1.8p23f;
};
template <>
struct Format<double> {
  using Bits = std::uint64_t;
  static constexpr int kFraction = 52;
  static constexpr int kBias = 1023;
  static constexpr double kShifter = 0x1.8p52;
};

template <class Real>
[[gnu::always_inline]] inline typename Format<Real>::Bits bits_of(Real a) {
  return std::bit_cast<typename Format<Real>::Bits>(a);
}

[[gnu::always_inline]] inline bool less(float a, float b) { return a < b; }
[[gnu::always_inline]] inline bool less(double a, double b) { return a < b; }
[[gnu::always_inline]] inline bool less_equal(float a, float b) { return a <= b; }
[[gnu::always_inline]] inline bool less_equal(double a, double b) { return a <= b; }
[[gnu::always_inline]] inline bool equal(float a, float b) { return a == b; }
[[gnu::always_inline]] inline bool equal(double a, double b) { return a == b; }
[[gnu::always_inline]] inline float select(bool mask, float a, float b) { return mask ? a : b; }
[[gnu::always_inline]] inline double select(bool mask, double a, double b) { return mask ? a : b; }

#if defined(__FMA__) || defined(__FP_FAST_FMAF) || defined(__aarch64__)
[[gnu::always_inline]] inline float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
#else
// Without the instruction, the same bits in double: the product is exact there, and its sum with c is rounded to odd
// (where bits are lost and the last one is 0, the neighbour towards what was lost), so that rounding it once more, to
// float, is as good as rounding once (Boldo and Melquiond). All of it vectorises, which a call to the library does not.
[[gnu::always_inline]] inline float fma(float a, float b, float c) {
  const double product = static_cast<double>(a) * static_cast<double>(b);
  const double addend = static_cast<double>(c);
  const double sum = product + addend;
  const double part = sum - product;
  const double lost = (product - (sum - part)) + (addend - part);  // exactly; not a number if the sum is not finite
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(sum);
  const std::uint64_t away = static_cast<std::uint64_t>(lost > 0.0) | static_cast<std::uint64_t>(lost < 0.0);
  const std::uint64_t shrinks = (std::bit_cast<std::uint64_t>(lost) ^ bits) >> 63;
  const std::uint64_t move = away & ~bits;  // in the lowest bit: whether there is a neighbour to go to
  return static_cast<float>(std::bit_cast<double>(bits + (move & 1) - ((move & shrinks & 1) << 1)));
}
#endif
[[gnu::always_inline]] inline double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
[[gnu::always_inline]] inline float sqrt(float a) { return __builtin_sqrtf(a); }
[[gnu::always_inline]] inline double sqrt(double a) { return __builtin_sqrt(a); }
[[gnu::always_inline]] inline float abs(float a) { return __builtin_fabsf(a); }
[[gnu::always_inline]] inline double abs(double a) { return __builtin_fabs(a); }
[[gnu::always_inline]] inline float floor(float a) { return __builtin_floorf(a); }
[[gnu::always_inline]] inline double floor(double a) { return __builtin_floor(a); }
// In the default rounding mode, which nothing here changes.
[[gnu::always_inline]] inline float round_even(float a) { return __builtin_rintf(a); }
[[gnu::always_inline]] inline double round_even(double a) { return __builtin_rint(a); }

// If the arguments do not compare (NaN), the second is the result, as in the x86 instructions.
[[gnu::always_inline]] inline float min(float a, float b) { return a < b ? a : b; }
[[gnu::always_inline]] inline double min(double a, double b) { return a < b ? a : b; }
[[gnu::always_inline]] inline float max(float a, float b) { return a > b ? a : b; }
[[gnu::always_inline]] inline double max(double a, double b) { return a > b ? a : b; }

namespace from_bits {

template <class Real>
[[gnu::always_inline]] inline Real pow2i(Real n) {
  using F = Format<Real>;
  // The sum holds n + bias in its low bits; the shift moves that into the exponent field and drops the rest.
  const Real sum = n + (F::kShifter + static_cast<Real>(F::kBias));
  return std::bit_cast<Real>(static_cast<typename F::Bits>(bits_of(sum) << F::kFraction));
}

template <class Real>
[[gnu::always_inline]] inline Real exponent(Real x) {
  using F = Format<Real>;
  // The reverse: 2^fraction with the biased exponent in its low bits, less what was added.
  constexpr Real kOne = static_cast<Real>(typename F::Bits{1} << F::kFraction);
  const typename F::Bits field = bits_of(x) >> F::kFraction;
  return std::bit_cast<Real>(static_cast<typename F::Bits>(field | bits_of(kOne))) -
         (kOne + static_cast<Real>(F::kBias));
}

template <class Real>
[[gnu::always_inline]] inline Real mantissa(Real x) {
  using F = Format<Real>;
  constexpr typename F::Bits kMask = (typename F::Bits{1} << F::kFraction) - 1;
  return std::bit_cast<Real>(static_cast<typename F::Bits>((bits_of(x) & kMask) | bits_of(Real{1})));
}

template <class Real>
[[gnu::always_inline]] inline Real lookup(const Table<Real>& table, Real index) {
  // As in pow2i, the low bits of the sum hold the index; infinities and numbers too large for that still compare right.
  // Clamping integers, not the index, is what gcc turns into vector instructions.
  using F = Format<Real>;
  using Integer = std::make_signed_t<typename F::Bits>;
  const auto offset = static_cast<Integer>(bits_of(index + F::kShifter) - bits_of(F::kShifter));
  return table.values[std::min(std::max(offset, Integer{0}), static_cast<Integer>(table.size - 1))];
}

}  // namespace from_bits

// 2^n for an integral n with a normal result; unspecified otherwise.
[[gnu::always_inline]] inline float pow2i(float n) { return from_bits::pow2i(n); }
[[gnu::always_inline]] inline double pow2i(double n) { return from_bits::pow2i(n); }

// x = mantissa * 2^exponent with 1 <= mantissa < 2, for a positive normal x; unspecified otherwise.
[[gnu::always_inline]] inline float exponent(float x) { return from_bits::exponent(x); }
[[gnu::always_inline]] inline double exponent(double x) { return from_bits::exponent(x); }
[[gnu::always_inline]] inline float mantissa(float x) { return from_bits::mantissa(x); }
[[gnu::always_inline]] inline double mantissa(double x) { return from_bits::mantissa(x); }

// |a| with the sign bit of b, also for zeros and NaN.
[[gnu::always_inline]] inline float copysign(float a, float b) { return __builtin_copysignf(a, b); }
[[gnu::always_inline]] inline double copysign(double a, double b) { return __builtin_copysign(a, b); }

// Element `index`, which is integral; outside the table, the nearest element.
[[gnu::always_inline]] inline float lookup(const Table<float>& table, float index) {
  return from_bits::lookup(table, index);
}
[[gnu::always_inline]] inline double lookup(const Table<double>& table, double index) {
  return from_bits::lookup(table, index);
}

}  // namespace primitive
}  // namespace cgpo::elementary
