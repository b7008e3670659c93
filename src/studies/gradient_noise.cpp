#include "cgpo/studies/gradient_noise.hpp"

#include "cgpo/gradient/products.hpp"
#include "cgpo/studies/diagnosis.hpp"
#include "cgpo/studies/stages.hpp"

namespace cgpo {
namespace {

GradientNoise noise_of(const GradientEstimate& estimate, std::size_t signal, int episodes) {
  const double error = gradient_error(estimate, signal);
  return {estimate.norm(signal), error * error * episodes,
          GradientLength{estimate.norm(signal), error}.signal_to_noise()};
}

}  // namespace

GradientNoise gradient_noise(const AlgorithmContext& context, const Tensors& checkpoint, NoiseSource source, int window,
                             int episodes, std::size_t signal) {
  AlgorithmContext own = context;
  own.settings.environments = episodes;
  if (source != NoiseSource::kShac) own.settings.horizon = window;
  Laboratory laboratory(own);
  ActorCritic<double>& parts = laboratory.parts;
  laboratory.load(checkpoint);
  const BatchStatistics now = laboratory.collect(0);
  GradientNoise result;
  if (source == NoiseSource::kShac || source == NoiseSource::kBptt) {
    FirstOrderGradient<double> gradient(*parts.simulator, parts.policy, parts.batch, window);
    std::span<const Critic<double>> critics;
    if (source == NoiseSource::kShac) critics = parts.critics;
    result = noise_of(gradient.estimate(parts.batch, parts.actor(), critics, laboratory.pool()), signal, episodes);
  } else {
    ZerothOrderGradient<double> gradient(*parts.simulator, parts.policy, parts.batch,
                                         source == NoiseSource::kZobgBaseline);
    result = noise_of(gradient.estimate(parts.batch, parts.actor(), laboratory.pool()), signal, episodes);
  }
  result.diverged = now.diverged;
  return result;
}

}  // namespace cgpo
