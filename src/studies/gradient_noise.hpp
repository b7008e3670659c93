// How much of a gradient is signal, by the number of steps that it looks through.
#pragma once

#include <string>
#include <vector>

#include "cgpo/studies/laboratory.hpp"

namespace cgpo {

struct GradientNoise {
  double norm = 0.0;
  double variance = 0.0;  // trace of the covariance of one episode's gradient
  double signal = 0.0;  // √(‖g‖² − noise²) / noise, noise the length of the mean's standard error; NaN if unknown
  int diverged = 0;
};

enum class NoiseSource { kShac, kBptt, kZobg, kZobgBaseline };

// Of the gradient of signal `signal` (0 the reward, 1 … the costs), from `episodes` episodes. shac: whole episodes cut
// into windows of `window` steps, closed by the checkpoint's critics. The others: episodes of `window` steps.
GradientNoise gradient_noise(const AlgorithmContext& context, const Tensors& checkpoint, NoiseSource source, int window,
                             int episodes, std::size_t signal);

}  // namespace cgpo
