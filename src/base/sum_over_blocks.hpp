// Sums of what the blocks of a batch have computed, each for itself: added in the order of the blocks, so that the bits
// do not depend on who computed them. This is where the blocks of other hosts would come in.
#pragma once

#include <cstddef>
#include <span>

namespace cgpo {

// Σ_b partial(b), a number.
template <class Partial>
double sum_over_blocks(std::size_t blocks, Partial partial) {
  double sum = 0.0;
  for (std::size_t b = 0; b < blocks; ++b) sum += partial(b);
  return sum;
}

// result = Σ_b partial(b), a range as long as the result.
template <class Partial>
void sum_over_blocks(std::size_t blocks, Partial partial, std::span<double> result) {
  for (double& value : result) value = 0.0;
  for (std::size_t b = 0; b < blocks; ++b) {
    const std::span<const double> part = partial(b);
    for (std::size_t i = 0; i < result.size(); ++i) result[i] += part[i];
  }
}

}  // namespace cgpo
