#include "cgpo/studies/laboratory.hpp"

#include <cmath>
#include <limits>
#include <numeric>

#include "cgpo/base/error.hpp"
#include "cgpo/base/numbers.hpp"
#include "cgpo/studies/stages.hpp"
#include "cgpo/subproblem/trust_region.hpp"

namespace cgpo {
namespace {

constexpr std::uint32_t kFirstBatch = 1000;  // those before belong to evaluations and diagnoses
constexpr double kCutoff = 0.01;  // as radius.cutoff: nearly parallel gradients leave no step along a constraint

}  // namespace

Laboratory::Laboratory(const AlgorithmContext& context)
    : parts(without_discount(context)),
      trial_(*parts.simulator, context.settings.environments, parts.horizon, context.settings.kernel.block,
             Keep::kOutcome),
      moved_(parts.parameters.size()) {
  if (!context.settings.finite_horizon) {
    throw UserError(
        "studies of single updates need finite_horizon = true: they compare with plain sums up to the horizon");
  }
}

void Laboratory::load(const Tensors& checkpoint) { parts.load(widened(checkpoint)); }

EpisodeKey Laboratory::key(int batch) const {
  return {.seed = parts.context.seed,
          .reset = Purpose::kEvalReset,
          .noise = Purpose::kEvalNoise,
          .iteration = kFirstBatch + static_cast<std::uint32_t>(batch)};
}

BatchStatistics Laboratory::collect(int batch) {
  batch_ = batch;
  cgpo::collect(*parts.simulator, parts.actor(), key(batch), /*deterministic=*/false, pool(), parts.batch);
  return summarise(parts.batch);
}

std::vector<double> Laboratory::realised_change(std::span<const double> step) {
  for (std::size_t i = 0; i < moved_.size(); ++i) moved_[i] = parts.parameters[i] + step[i];
  cgpo::collect(*parts.simulator, Actor<double>{parts.policy, moved_, parts.normaliser}, key(batch_),
                /*deterministic=*/false, pool(), trial_);
  std::vector<double> change(static_cast<std::size_t>(parts.signals()), 0.0);
  int count = 0;
  for (std::size_t b = 0; b < trial_.blocks.size(); ++b) {
    const auto& before = parts.batch.blocks[b];
    const auto& after = trial_.blocks[b];
    for (std::size_t lane = 0; lane < after.diverged.size(); ++lane) {
      if (before.diverged[lane] != 0 || after.diverged[lane] != 0) continue;
      ++count;
      for (std::size_t k = 0; k < change.size(); ++k) {
        const std::size_t at = k * after.diverged.size() + lane;
        change[k] += after.sums[at] - before.sums[at];
      }
    }
  }
  for (double& value : change) value = count > 0 ? value / count : kNan;
  return change;
}

void Laboratory::move(std::span<const double> step) {
  for (std::size_t i = 0; i < step.size(); ++i) parts.parameters[i] += step[i];
}

void Laboratory::fit_window_critics(int batch, int fits) {
  FirstOrderGradient<double> source(*parts.simulator, parts.policy, parts.batch, parts.context.settings.window);
  for (int fit = 0; fit < fits; ++fit) {
    collect(batch + fit);
    SlopeSource<double> slopes;
    if (parts.context.settings.critic.sobolev > 0.0) {
      slopes = {parts.simulator.get(), &parts.batch,
                &source.state_slopes(parts.batch, parts.actor(), parts.critics, pool())};
    }
    parts.fit_critics(batch + fit, slopes);
  }
}

std::vector<double> step_of_length(const GradientEstimate& gradient, const BatchStatistics& now,
                                   std::span<const double> limits, double length) {
  std::vector<std::size_t> signals = {0};
  TrustRegionProblem problem;
  for (std::size_t i = 0; i < limits.size(); ++i) {
    if (!std::isfinite(limits[i])) continue;
    signals.push_back(i + 1);
    problem.slack.push_back(now.mean[i + 1] - limits[i]);
  }
  for (const std::size_t i : signals) {
    for (const std::size_t j : signals) problem.gram.push_back(dot(gradient.gradients[i], gradient.gradients[j]));
  }
  problem.radius = length * length;
  const TrustRegionStep step = drop_tangential(problem, solve(problem), kCutoff);
  std::vector<double> result(gradient.gradients.front().size(), 0.0);
  if (step.which == StepCase::kRefused) return result;
  for (std::size_t i = 0; i < step.coefficients.size(); ++i) {
    for (std::size_t p = 0; p < result.size(); ++p)
      result[p] += step.coefficients[i] * gradient.gradients[signals[i]][p];
  }
  const double norm = std::sqrt(dot(result, result));
  if (norm > 0.0) {
    for (double& value : result) value *= length / norm;
  }
  return result;
}

double predicted_change(const GradientEstimate& gradient, std::size_t signal, std::span<const double> step) {
  return dot(gradient.gradients[signal], step);
}

double relative_error(double realised, double predicted) {
  if (realised == 0.0) return std::numeric_limits<double>::quiet_NaN();
  return std::abs(realised - predicted) / std::abs(realised);
}

}  // namespace cgpo
