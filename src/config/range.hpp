// The numbers that a key may be.
#pragma once

#include <limits>
#include <string>

namespace cgpo {

struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool low_open = false;  // whether the end itself is not allowed
  bool high_open = false;
  bool or_zero = false;  // allowed beside the others: it switches something off

  constexpr bool holds(double number) const {
    if (or_zero && number == 0.0) return true;
    return (low_open ? number > low : number >= low) && (high_open ? number < high : number <= high);
  }
  std::string words() const;  // "above 0 and below 1"; empty: any number
};

}  // namespace cgpo
