#include "cgpo/studies/twin_gradient.hpp"

#include <cmath>
#include <memory>
#include <numeric>
#include <optional>

#include "cgpo/base/index.hpp"
#include "cgpo/base/numbers.hpp"
#include "cgpo/gradient/advantages.hpp"
#include "cgpo/gradient/targets.hpp"
#include "cgpo/gradient/zeroth_order.hpp"

namespace cgpo {
namespace {

using Gradients = std::vector<std::vector<double>>;  // [batch][parameters]

double product(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

// Σ aᵢ·bⱼ over the pairs of different batches, which share no noise. One of them can be left out.
double product_of_pairs(const Gradients& a, const Gradients& b, std::size_t without) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < b.size(); ++j) {
      if (i != j && i != without && j != without) sum += product(a[i], b[j]);
    }
  }
  return sum;
}

// Of the pairs' products; NaN if a length is not known from them.
double cosine_without(const Gradients& a, const Gradients& b, std::size_t without) {
  const double lengths = product_of_pairs(a, a, without);
  const double others = product_of_pairs(b, b, without);
  if (!(lengths > 0.0) || !(others > 0.0)) return kNan;
  return product_of_pairs(a, b, without) / std::sqrt(lengths * others);
}

// A gradient of scores weighted by G − V.
class ScoresOverCritics {
 public:
  explicit ScoresOverCritics(const ActorCritic<float>& parts)
      : horizon_(horizon_rule(parts.context.settings)),
        scores_(*parts.simulator, parts.policy, parts.batch, /*step_baseline=*/true) {}

  const GradientEstimate& estimate(const ActorCritic<float>& parts) {
    for (std::size_t b = 0; b < parts.batch.blocks.size(); ++b) {
      for (int k = 0; k < parts.signals(); ++k) weigh(parts, b, k);
    }
    return scores_.estimate_from_weights(parts.batch, parts.actor(), *parts.context.pool);
  }

 private:
  void weigh(const ActorCritic<float>& parts, std::size_t b, int signal) {
    const auto& block = parts.batch.blocks[b];
    const Critic<float>& critic = parts.critics[at(signal)];
    CriticWorkspace<float> workspace(critic.mlp(), block.lanes());
    AlignedVector<float> values(static_cast<std::size_t>(block.column(block.horizon + 1)));
    AlignedVector<float> advantages(static_cast<std::size_t>(block.column(block.horizon)));
    const bool stops = parts.simulator->stops_at_end(signal);
    find_values<float>(critic, block, 0, block.simulated, horizon_, values, workspace);
    generalised_advantages<float>(block, signal, stops, {horizon_.discount, /*lambda=*/1.0, horizon_.ends_at_horizon},
                                  values, advantages);
    float* const weights = scores_.weights()[b].view().row(signal);
    for (int t = 0; t < block.simulated; ++t) {
      for (int lane = 0; lane < block.lanes(); ++lane) {
        const auto column = static_cast<std::size_t>(block.column(t) + lane);
        weights[column] = counts(block, stops, t, lane) ? advantages[column] : 0.0F;
      }
    }
  }

  HorizonRule horizon_;
  ZerothOrderGradient<float> scores_;
};

}  // namespace

GradientCosine cosine_of(const Gradients& a, const Gradients& b) {
  const GradientCosine all{cosine_without(a, b, a.size()), kNan};
  double mean = 0.0;
  std::vector<double> parts;
  for (std::size_t i = 0; i < a.size(); ++i) {
    parts.push_back(cosine_without(a, b, i));
    mean += parts.back() / static_cast<double>(a.size());
  }
  double squares = 0.0;
  for (const double part : parts) squares += (part - mean) * (part - mean);
  if (!std::isfinite(squares)) return {kNan, kNan};  // all hangs on one of the batches
  const auto count = static_cast<double>(a.size());
  return {all.cosine, std::sqrt(squares * (count - 1.0) / count)};
}

std::vector<std::vector<GradientCosine>> compare_with_scores(ActorCritic<float>& parts, const EpisodeKey& first_batch,
                                                             int batches, std::span<const GradientOfBatch> sources) {
  ScoresOverCritics scores(parts);
  std::vector<Gradients> scored(at(parts.signals()));
  std::vector<std::vector<Gradients>> taken(sources.size(), scored);
  for (int b = 0; b < batches; ++b) {
    EpisodeKey key = first_batch;
    key.iteration += static_cast<std::uint32_t>(b);
    collect(*parts.simulator, parts.actor(), key, /*deterministic=*/false, *parts.context.pool, parts.batch);
    for (std::size_t source = 0; source < sources.size(); ++source) {
      const GradientEstimate& estimate = sources[source](parts);
      for (std::size_t k = 0; k < scored.size(); ++k) taken[source][k].push_back(estimate.gradients[k]);
    }
    const GradientEstimate& of_scores = scores.estimate(parts);
    for (std::size_t k = 0; k < scored.size(); ++k) scored[k].push_back(of_scores.gradients[k]);
  }
  std::vector<std::vector<GradientCosine>> result(sources.size());
  for (std::size_t source = 0; source < sources.size(); ++source) {
    for (std::size_t k = 0; k < scored.size(); ++k) result[source].push_back(cosine_of(taken[source][k], scored[k]));
  }
  return result;
}

GradientOfBatch sweep_of(const ActorCritic<float>& parts) {
  const Settings& settings = parts.context.settings;
  const bool windows = settings.gradient.source == GradientSource::kShac;
  auto sweep = std::make_shared<FirstOrderGradient<float>>(*parts.simulator, parts.policy, parts.batch,
                                                           windows ? settings.window : 0, horizon_rule(settings));
  return [sweep, windows](const ActorCritic<float>& now) -> const GradientEstimate& {
    const std::span<const Critic<float>> critics =
        windows ? std::span<const Critic<float>>(now.critics) : std::span<const Critic<float>>();
    return sweep->estimate(now.batch, now.actor(), critics, *now.context.pool);
  };
}

std::vector<GradientCosine> compare_with_scores(ActorCritic<float>& parts, const EpisodeKey& first_batch, int batches) {
  const GradientOfBatch sweep = sweep_of(parts);
  return compare_with_scores(parts, first_batch, batches, std::span(&sweep, 1)).front();
}

}  // namespace cgpo
