#include "cgpo/studies/spectrum.hpp"

#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

namespace cgpo {

double Spectrum::share(int quarter) const {
  constexpr double kRounding = 1e-20;  // what is left of a constant near 1
  const double all = total();
  return all > kRounding ? quarters.at(static_cast<std::size_t>(quarter)) / all : 0.0;
}

Spectrum spectrum_of(std::span<const double> series) {
  Spectrum result;
  const std::size_t length = series.size();
  if (length < 2) return result;
  const auto count = static_cast<double>(length);
  const double mean = std::accumulate(series.begin(), series.end(), 0.0) / count;
  std::vector<double> cosine(length);
  std::vector<double> sine(length);
  for (std::size_t t = 0; t < length; ++t) {
    const double angle = 2.0 * std::numbers::pi * static_cast<double>(t) / count;
    cosine[t] = std::cos(angle);
    sine[t] = std::sin(angle);
  }
  for (std::size_t frequency = 1; 2 * frequency <= length; ++frequency) {
    double real = 0.0;
    double imaginary = 0.0;
    std::size_t phase = 0;  // frequency · t, modulo the length
    for (const double value : series) {
      real += (value - mean) * cosine[phase];
      imaginary += (value - mean) * sine[phase];
      phase += frequency;
      if (phase >= length) phase -= length;
    }
    const double sides = 2 * frequency == length ? 1.0 : 2.0;
    // Quarter n holds the frequencies above n/4 and up to (n+1)/4 of the highest.
    const std::size_t quarter = (8 * frequency - 1) / length;
    result.quarters.at(std::min<std::size_t>(quarter, 3)) +=
        sides * (real * real + imaginary * imaginary) / (count * count);
  }
  return result;
}

}  // namespace cgpo
