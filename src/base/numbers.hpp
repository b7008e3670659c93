// Numbers with names, and the inner product.
#pragma once

#include <limits>
#include <numeric>
#include <span>

namespace cgpo {

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Summed from the first to the last.
inline double dot(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

}  // namespace cgpo
