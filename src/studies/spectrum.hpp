// How the power of a series lies over the frequencies.
#pragma once

#include <array>
#include <span>

namespace cgpo {

// Mean squares of a series about its mean, by quarters of the frequencies from 0 to half the sampling rate. White noise
// has the same in each; what alternates from sample to sample has all of it in the last.
struct Spectrum {
  std::array<double, 4> quarters{};
  double total() const { return quarters[0] + quarters[1] + quarters[2] + quarters[3]; }
  double share(int quarter) const;  // 0 if nothing moves (series of size 1)
};

// By a direct discrete Fourier transform: with X_f = Σ_t x_t e^(−2πi ft/L), frequency f = 1 … L/2 has 2|X_f|²/L², the
// highest of an even L half of that.
Spectrum spectrum_of(std::span<const double> series);

}  // namespace cgpo
