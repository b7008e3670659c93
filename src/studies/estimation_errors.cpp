#include "cgpo/studies/estimation_errors.hpp"

#include <cmath>
#include <utility>

namespace cgpo {
namespace {

constexpr int kFitBatches = 10'000;  // batches of fits, apart from those of repetitions

}  // namespace

AdvantageEstimator::AdvantageEstimator(Laboratory& laboratory, double discount, double lambda)
    : laboratory_(laboratory), options_{discount, lambda, /*ends_at_horizon=*/false} {
  const ActorCritic<double>& parts = laboratory.parts;
  const AlgorithmContext& context = parts.context;
  for (int k = 0; k < parts.signals(); ++k) {
    critics_.emplace_back(context.task->spec().observations, context.settings.critic.hidden, parts.horizon);
    critics_.back().initialise(context.seed, static_cast<std::uint32_t>(k));
    auto& values = values_.emplace_back();
    auto& advantages = advantages_.emplace_back();
    for (const auto& block : parts.batch.blocks) {
      values.emplace_back(at(block.column(parts.horizon + 1)));
      advantages.emplace_back(at(block.column(parts.horizon)));
    }
  }
}

void AdvantageEstimator::find_advantages() {
  const ActorCritic<double>& parts = laboratory_.parts;
  laboratory_.pool().run(static_cast<int>(parts.batch.blocks.size()), [&](int b) {
    const auto& block = parts.batch.blocks[at(b)];
    CriticWorkspace<double> workspace(critics_.front().mlp(), block.lanes());
    for (int k = 0; k < parts.signals(); ++k) {
      double* const values = values_[at(k)][at(b)].data();
      for (int t = 0; t <= block.simulated; ++t) {  // the time that these critics see is always 0
        critics_[at(k)].value(block.inputs.view().from_column(block.column(t)), 0, values + block.column(t),
                              block.lanes(), workspace);
      }
      generalised_advantages<double>(block, k, parts.simulator->stops_at_end(k), options_, values_[at(k)][at(b)],
                                     advantages_[at(k)][at(b)]);
    }
  });
}

void AdvantageEstimator::fit(int batch, int fits) {
  ActorCritic<double>& parts = laboratory_.parts;
  for (int fit = 0; fit < fits; ++fit) {
    laboratory_.collect(batch + fit);
    find_advantages();
    for (std::size_t k = 0; k < values_.size(); ++k) {  // A + V, in the values' place
      for (std::size_t b = 0; b < values_[k].size(); ++b) {
        for (std::size_t i = 0; i < advantages_[k][b].size(); ++i) values_[k][b][i] += advantages_[k][b][i];
      }
    }
    std::swap(parts.critics, critics_);
    parts.fit_critics_to(
        [this](int k) -> const auto& { return values_[at(k)]; }, /*timed=*/false, batch + fit);
    std::swap(parts.critics, critics_);
  }
}

// κ (Σ (ρ − 1) A) / steps and κ (Σ ρ A) / steps, over the steps that count for any signal.
AdvantagePrediction AdvantageEstimator::predict(std::size_t signal, std::span<const double> step) {
  find_advantages();
  const ActorCritic<double>& parts = laboratory_.parts;
  const Policy<double>& policy = parts.policy;
  AlignedVector<double> moved(parts.parameters.size());
  for (std::size_t i = 0; i < moved.size(); ++i) moved[i] = parts.parameters[i] + step[i];
  std::vector<double> sums(parts.batch.blocks.size(), 0.0);
  std::vector<double> advantage_sums(parts.batch.blocks.size(), 0.0);
  std::vector<double> counts_of(parts.batch.blocks.size(), 0.0);
  laboratory_.pool().run(static_cast<int>(parts.batch.blocks.size()), [&](int b) {
    const auto& block = parts.batch.blocks[at(b)];
    const int lanes = block.lanes();
    RowStore<double> units(policy.unit_count(), lanes);
    RowStore<double> chosen(policy.actions(), lanes);
    RowStore<double> noise(policy.actions(), lanes);
    RowStore<double> actions(policy.actions(), lanes);
    std::vector<double> before(at(lanes));
    std::vector<double> after(at(lanes));
    for (int t = 0; t < block.simulated; ++t) {
      const std::ptrdiff_t column = block.column(t);
      const Rows<const double> drawn = block.noise.view().from_column(column);
      const Rows<const double> inputs = block.inputs.view().from_column(column);
      const Rows<const double> old_units = block.units.view().from_column(column);
      policy.log_probability(parts.parameters, old_units, drawn, before.data(), lanes);
      for (int a = 0; a < policy.actions(); ++a) {
        const double std = std::exp(parts.parameters[at(policy.log_std_offset() + a)]);
        for (int lane = 0; lane < lanes; ++lane)
          chosen.view().row(a)[lane] = policy.mean(old_units).row(a)[lane] + std * drawn.row(a)[lane];
      }
      policy.forward(moved, inputs, drawn, units.view(), actions.view(), lanes);
      policy.noise_of(moved, std::as_const(units).view(), std::as_const(chosen).view(), noise.view(), lanes);
      policy.log_probability(moved, std::as_const(units).view(), std::as_const(noise).view(), after.data(), lanes);
      for (int lane = 0; lane < lanes; ++lane) {
        bool any = false;
        for (int k = 0; k < parts.signals(); ++k) any = any || counts(block, parts.simulator->stops_at_end(k), t, lane);
        if (!any) continue;
        counts_of[at(b)] += 1.0;
        const double ratio = std::exp(after[at(lane)] - before[at(lane)]);
        sums[at(b)] += (ratio - 1.0) * advantages_[signal][at(b)][at(column + lane)];
        advantage_sums[at(b)] += advantages_[signal][at(b)][at(column + lane)];
      }
    }
  });
  double sum = 0.0;
  double advantage_sum = 0.0;
  double count = 0.0;
  for (std::size_t b = 0; b < sums.size(); ++b) {
    sum += sums[b];
    advantage_sum += advantage_sums[b];
    count += counts_of[b];
  }
  const auto scaled = [&](double value) { return value / std::max(count, 1.0) / (1.0 - options_.discount); };
  return {scaled(sum), scaled(sum + advantage_sum)};
}

EstimationErrors estimation_errors(const AlgorithmContext& context, const Tensors& checkpoint,
                                   const EstimationOptions& options, const Tick& tick) {
  Laboratory laboratory(context);
  ActorCritic<double>& parts = laboratory.parts;
  laboratory.load(checkpoint);
  laboratory.fit_window_critics(kFitBatches, options.window_fits);
  AdvantageEstimator advantages(laboratory, options.discount, options.lambda);
  advantages.fit(kFitBatches, options.discounted_fits);

  FirstOrderGradient<double> windows(*parts.simulator, parts.policy, parts.batch, context.settings.window);
  FirstOrderGradient<double> episodes(*parts.simulator, parts.policy, parts.batch, /*window=*/0);
  EstimationErrors result;
  for (int i = 0; i < options.repetitions; ++i) {
    const BatchStatistics now = laboratory.collect(i);
    result.diverged += now.diverged;
    const GradientEstimate& gradient = windows.estimate(parts.batch, parts.actor(), parts.critics, laboratory.pool());
    const std::vector<double> step = step_of_length(gradient, now, parts.constraints.limits, options.length);
    const GradientEstimate& exact = episodes.estimate(parts.batch, parts.actor(), {}, laboratory.pool());
    const double realised = laboratory.realised_change(step)[kCost];
    result.change.push_back(realised);
    result.shac_predicted.push_back(predicted_change(gradient, kCost, step));
    result.shac.push_back(relative_error(realised, result.shac_predicted.back()));
    result.bptt.push_back(relative_error(realised, predicted_change(exact, kCost, step)));
    const AdvantagePrediction predicted = advantages.predict(kCost, step);
    result.abe_predicted.push_back(predicted.change);
    result.abe.push_back(relative_error(realised, predicted.change));
    result.abe_printed.push_back(relative_error(realised, predicted.printed));
    tick((i + 1.0) / options.repetitions);
  }
  return result;
}

}  // namespace cgpo
