#include "cgpo/updates/advantage_estimate.hpp"

#include <numeric>

namespace cgpo {

std::vector<double> advantage_based_estimate(const BatchStatistics& now, PolicySamples& samples,
                                             std::span<const float> next_parameters, double kappa, ThreadPool& pool) {
  const PolicySamples::Surrogates before = samples.evaluate(samples.behaviour(), pool);
  const PolicySamples::Surrogates after = samples.evaluate(next_parameters, pool);
  std::vector<double> result = now.mean;
  for (std::size_t k = 0; k < result.size(); ++k)
    result[k] += kappa * samples.scale(static_cast<int>(k)) * (after.means[k] - before.means[k]);
  return result;
}

std::vector<double> gradient_based_estimate(const BatchStatistics& now, const GradientEstimate& gradient,
                                            std::span<const double> step) {
  std::vector<double> result = now.mean;
  for (std::size_t k = 0; k < result.size(); ++k)
    result[k] += std::inner_product(step.begin(), step.end(), gradient.gradients[k].begin(), 0.0);
  return result;
}

}  // namespace cgpo
