#include "cgpo/updates/surrogate.hpp"

#include <algorithm>
#include <cmath>

namespace cgpo {
namespace {

float combine(const std::vector<float>& coefficients, const SurrogateSamples& samples, int j) {
  float sum = 0.0F;
  for (std::size_t k = 0; k < coefficients.size(); ++k)
    sum += coefficients[k] * samples.advantages.row(static_cast<std::ptrdiff_t>(k))[j];
  return sum;
}

}  // namespace

Clipped clipped_gain(float ratio, float advantage, float clip) {
  const float whole = ratio * advantage;
  const float cut = std::clamp(ratio, 1.0F - clip, 1.0F + clip) * advantage;
  return whole <= cut ? Clipped{whole, whole} : Clipped{cut, 0.0F};
}

Objective clipped_sum(const std::vector<double>& coefficients, double clip) {
  return [weights = std::vector<float>(coefficients.begin(), coefficients.end()), clip = static_cast<float>(clip)](
             const SurrogateSamples& samples, float* slopes) {
    double sum = 0.0;
    for (int j = 0; j < samples.count; ++j) {
      const Clipped gain = clipped_gain(samples.ratio[j], combine(weights, samples, j), clip);
      sum += static_cast<double>(gain.value);
      slopes[j] = gain.slope;
    }
    return sum;
  };
}

Objective sum_of_clipped(const std::vector<double>& coefficients, double clip) {
  return [weights = std::vector<float>(coefficients.begin(), coefficients.end()), clip = static_cast<float>(clip)](
             const SurrogateSamples& samples, float* slopes) {
    double sum = 0.0;
    for (int j = 0; j < samples.count; ++j) {
      slopes[j] = 0.0F;
      for (std::size_t k = 0; k < weights.size(); ++k) {
        const float advantage = samples.advantages.row(static_cast<std::ptrdiff_t>(k))[j];
        const Clipped gain = clipped_gain(samples.ratio[j], weights[k] * advantage, clip);
        sum += static_cast<double>(gain.value);
        slopes[j] += gain.slope;
      }
    }
    return sum;
  };
}

Objective weighted_sum(const std::vector<double>& coefficients) {
  return [weights = std::vector<float>(coefficients.begin(), coefficients.end())](const SurrogateSamples& samples,
                                                                                  float* slopes) {
    double sum = 0.0;
    for (int j = 0; j < samples.count; ++j) {
      slopes[j] = samples.ratio[j] * combine(weights, samples, j);
      sum += static_cast<double>(slopes[j]);
    }
    return sum;
  };
}

}  // namespace cgpo
