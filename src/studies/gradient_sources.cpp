#include "cgpo/studies/gradient_sources.hpp"

namespace cgpo {
namespace {}  // namespace

UpdateErrors update_errors(const AlgorithmContext& context, UpdateSource source, double length, int updates,
                           const Tick& tick) {
  Laboratory laboratory(context);
  ActorCritic<double>& parts = laboratory.parts;
  parts.warm_up_normaliser();
  FirstOrderGradient<double> first(*parts.simulator, parts.policy, parts.batch, /*window=*/0);
  ZerothOrderGradient<double> zeroth(*parts.simulator, parts.policy, parts.batch, /*step_baseline=*/false);
  UpdateErrors result;
  for (int i = 0; i < updates; ++i) {
    const BatchStatistics now = laboratory.collect(i);
    const GradientEstimate& score = zeroth.estimate(parts.batch, parts.actor(), laboratory.pool());
    const bool is_first = source == UpdateSource::kFirstOrder;
    const GradientEstimate& own = is_first ? first.estimate(parts.batch, parts.actor(), {}, laboratory.pool()) : score;
    const std::vector<double> step = step_of_length(own, now, parts.constraints.limits, length);
    const double realised = laboratory.realised_change(step)[kCost];
    result.own.push_back(relative_error(realised, predicted_change(own, kCost, step)));
    if (is_first) result.zeroth.push_back(relative_error(realised, predicted_change(score, kCost, step)));
    laboratory.move(step);
    parts.update_normaliser();
    tick((i + 1.0) / updates);
  }
  return result;
}

}  // namespace cgpo
