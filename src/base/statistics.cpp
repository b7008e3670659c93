#include "cgpo/base/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

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

double normal_quantile(double probability) {
  // Φ is known as erfc; Newton's method on it converges from the middle for all probabilities that can be told from 0
  // and 1, since Φ is convex below 0 and concave above.
  double z = 0.0;
  for (int i = 0; i < 100; ++i) {
    const double below = 0.5 * std::erfc(-z / std::numbers::sqrt2);
    const double density = std::exp(-0.5 * z * z) / std::sqrt(2.0 * std::numbers::pi);
    const double step = (probability - below) / density;
    z += std::clamp(step, -1.0, 1.0);
    if (std::abs(step) < 1e-14) break;
  }
  return z;
}

}  // namespace cgpo
