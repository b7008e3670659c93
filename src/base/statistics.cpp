#include "cgpo/base/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace cgpo {

double standard_error(std::span<const double> samples) {
  if (samples.size() < 2) return std::numeric_limits<double>::quiet_NaN();
  const auto count = static_cast<double>(samples.size());
  double sum = 0.0;
  for (const double sample : samples) sum += sample;
  const double mean = sum / count;
  double squares = 0.0;
  for (const double sample : samples) squares += (sample - mean) * (sample - mean);
  return std::sqrt(squares / (count - 1.0) / count);
}

double standard_error_of_lattice(std::span<const double> samples, int group) {
  constexpr std::size_t kSmallest = 32;  // of a group
  std::size_t offset = 1;
  for (std::size_t next = 2; next * next <= static_cast<std::size_t>(std::max(group, 0));) {
    const std::size_t previous = offset;
    offset = next;
    next += previous;
  }
  double squares = 0.0;
  std::size_t triples = 0;
  for (std::size_t begin = 0; group > 0 && begin < samples.size(); begin += static_cast<std::size_t>(group)) {
    const std::size_t end = std::min(begin + static_cast<std::size_t>(group), samples.size());
    if (end - begin < kSmallest) continue;
    for (std::size_t i = begin + offset; i + offset < end; ++i) {
      const double bend = samples[i - offset] - 2.0 * samples[i] + samples[i + offset];
      squares += bend * bend;
      ++triples;
    }
  }
  if (triples == 0) return standard_error(samples);
  return std::sqrt(squares / 6.0 / static_cast<double>(triples) / static_cast<double>(samples.size()));
}

}  // namespace cgpo
