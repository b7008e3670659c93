#include "cgpo/math/payne_hanek.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>

namespace cgpo::elementary::payne_hanek {
namespace {

// The first 1280 binary digits of 1 / (2 pi), most significant first:
// floor(2^1280 / (2 pi)), from mpmath with a precision of 1500 bits.
constexpr std::uint64_t kInverseTurn[20] = {
    0x28be60db9391054a, 0x7f09d5f47d4d3770, 0x36d8a5664f10e410, 0x7f9458eaf7aef158, 0x6dc91b8e909374b8,
    0x01924bba82746487, 0x3f877ac72c4a69cf, 0xba208d7d4baed121, 0x3a671c09ad17df90, 0x4e64758e60d4ce7d,
    0x272117e2ef7e4a0e, 0xc7fe25fff7816603, 0xfbcbc462d6829b47, 0xdb4d9fb3c9f2c26d, 0xd3d18fd9a797fa8b,
    0x5d49eeb1faf97c5e, 0xcf41ce7de294a4ba, 0x9afed7ec47e35742, 0x1580cc11bf1edaea, 0xfc33ef0826bd0d87,
};

// `count` digits (at most 53) of 1 / (2 pi) as an integer, the first of them with weight 2^-first; digits before the
// binary point are 0.
constexpr std::uint64_t digits(int first, int count) {
  if (first < 1) {
    const int missing = 1 - first;
    return missing >= count ? 0 : digits(1, count - missing);
  }
  const int word = (first - 1) / 64;
  const int offset = (first - 1) % 64;
  std::uint64_t window = kInverseTurn[word] << offset;
  if (offset > 0) window |= kInverseTurn[word + 1] >> (64 - offset);
  return window >> (64 - count);
}

constexpr double power_of_two(int n) {
  double result = 1.0;
  for (; n > 0; --n) result *= 2.0;
  for (; n < 0; ++n) result *= 0.5;
  return result;
}

template <class Real>
constexpr auto make_turns() {
  // The mantissa is a multiple of 2^-fraction, so multiples of 2^fraction turns become whole turns.
  constexpr int kFraction = std::numeric_limits<Real>::digits - 1;
  constexpr int kWidth = kFraction + 1;
  constexpr std::uint64_t kOnes = (std::uint64_t{1} << kWidth) - 1;
  double unit[kParts] = {};  // the grid of each part
  for (int part = 0; part < kParts; ++part) unit[part] = power_of_two(-1 - part * (kWidth + 1));

  TurnTable<Real> turns{};
  for (int i = 0; i + 1 < kSize<Real>; ++i) {
    int next = kFirstExponent<Real> + i - kFraction + 1;
    // Each part takes kWidth digits and is rounded by the digit after them. Rounded up, it leaves a negative rest,
    // whose digits are the complement (but for one unit of a place far beyond the last part).
    bool negative = false;
    for (int part = 0; part < kParts; ++part) {
      const std::uint64_t flip = negative ? kOnes : 0;
      const bool up = ((digits(next + kWidth, 1) ^ flip) & 1) != 0;
      auto size = static_cast<std::int64_t>((digits(next, kWidth) ^ flip) + (up ? 1 : 0));
      // The first part is a remainder; the one that is nearest to 0.
      if (part == 0 && size >= std::int64_t{1} << kFraction) size -= std::int64_t{1} << kWidth;
      const double value = static_cast<double>(size) * unit[part];
      turns[static_cast<std::size_t>(part)][static_cast<std::size_t>(i)] = static_cast<Real>(negative ? -value : value);
      negative = negative != up;
      next += kWidth + 1;
    }
  }
  // Infinity and NaN have an exponent of their own; there is no angle to find.
  for (auto& part : turns) part.back() = std::numeric_limits<Real>::quiet_NaN();
  return turns;
}

}  // namespace

constinit const TurnTable<float> kFloatTurns = make_turns<float>();
constinit const TurnTable<double> kDoubleTurns = make_turns<double>();

}  // namespace cgpo::elementary::payne_hanek
