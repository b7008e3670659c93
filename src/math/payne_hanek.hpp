// Tables for the reduction of huge angles after Payne and Hanek.
//
// x = m 2^e, 1 <= m < 2, is m 2^e / (2 pi) turns. Only the fraction of a turn matters, and m is a multiple of
// 2^-fraction, so 2^e / (2 pi) may be replaced by its remainder modulo 2^fraction. The table holds that remainder for
// each e as a sum of kParts numbers of 24 (53) bits on fixed grids, each the nearest to what is left: the first is a
// multiple of 1/2, the second at most 1/4. The last entry, for infinity and NaN, is NaN.
#pragma once

#include <array>

#include "cgpo/math/primitives.hpp"

namespace cgpo::elementary::payne_hanek {

inline constexpr int kParts = 4;
// Arguments with smaller exponents are reduced another way.
template <class Real>
inline constexpr int kFirstExponent = sizeof(Real) == 4 ? 15 : 30;
template <class Real>
inline constexpr int kSize = (sizeof(Real) == 4 ? 128 : 1024) - kFirstExponent<Real> + 1;

template <class Real>
using TurnTable = std::array<std::array<Real, kSize<Real>>, kParts>;

extern const TurnTable<float> kFloatTurns;
extern const TurnTable<double> kDoubleTurns;

template <class Real, int part>
inline constexpr Table<Real> kTurns{};
template <int part>
inline constexpr Table<float> kTurns<float, part>{&kFloatTurns[part][0], kSize<float>};
template <int part>
inline constexpr Table<double> kTurns<double, part>{&kDoubleTurns[part][0], kSize<double>};

}  // namespace cgpo::elementary::payne_hanek
