#include "cgpo/studies/diagnosis.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cgpo/base/numbers.hpp"
#include "cgpo/gradient/first_order.hpp"
#include "cgpo/gradient/products.hpp"
#include "cgpo/gradient/targets.hpp"
#include "cgpo/gradient/zeroth_order.hpp"
#include "cgpo/tasks/robots/robot.hpp"
#include "cgpo/updates/action_metric.hpp"
#include "cgpo/updates/actor_critic.hpp"

namespace cgpo {
namespace {

constexpr double kSaturated = 0.98;       // |a| of a motor that is at its end: tanh there has 4 % of its slope
constexpr int kShortestSeries = 16;       // steps of an episode that has a spectrum
constexpr std::uint32_t kFreshBatch = 1;  // the evaluation's own episodes are 0
constexpr int kTwinBatches = 8;           // of those after it: scores are noisy

// 1, 2, 5, 10, 20, 50 … below T, the run's own window, and T.
std::vector<int> window_ladder(int window, int horizon) {
  std::vector<int> ladder = {std::min(window, horizon), horizon};
  for (int decade = 1; decade < horizon; decade *= 10) {
    for (const int step : {1, 2, 5}) {
      if (step * decade < horizon) ladder.push_back(step * decade);
    }
  }
  std::sort(ladder.begin(), ladder.end());
  ladder.erase(std::unique(ladder.begin(), ladder.end()), ladder.end());
  return ladder;
}

std::vector<GradientLength> lengths_of(const GradientEstimate& estimate) {
  std::vector<GradientLength> result;
  for (std::size_t k = 0; k < estimate.gradients.size(); ++k)
    result.push_back({estimate.norm(k), gradient_error(estimate, k)});
  return result;
}

class Examination {
 public:
  Examination(const AlgorithmContext& context, const Tensors& checkpoint)
      : settings_(context.settings), horizon_(horizon_rule(settings_)), parts_(context), checkpoint_(checkpoint) {
    parts_.load_policy(checkpoint);
    parts_.load_twin(checkpoint);
    if (uses_critics()) parts_.load_critics(checkpoint);
  }

  Diagnosis run() {
    collect(*parts_.simulator, parts_.actor(), key(), /*deterministic=*/false, pool(), parts_.batch);
    result_.signals = {"return"};
    for (const std::string& name : parts_.constraints.names) result_.signals.push_back(name);
    result_.environments = settings_.environments;
    result_.horizon = parts_.horizon;
    result_.window = settings_.gradient.source == GradientSource::kShac ? std::min(settings_.window, parts_.horizon)
                                                                        : parts_.horizon;
    result_.radius =
        checkpoint_.contains("radius.value") ? checkpoint_.number("radius.value") : settings_.radius.initial;
    if (parts_.batch.intact_environments() > 0) examine_learning();
    result_.contact = sample_contact(*parts_.context.task, parts_.batch, settings_.environments * parts_.horizon);
    examine_inputs();
    examine_actions();
    compare_twin();
    return std::move(result_);
  }

 private:
  bool uses_critics() const {
    return settings_.gradient.source == GradientSource::kShac && parts_.simulator->differentiable();
  }
  ThreadPool& pool() { return *parts_.context.pool; }
  EpisodeKey key() const {
    return {.seed = parts_.context.seed,
            .reset = Purpose::kEvalReset,
            .noise = Purpose::kEvalNoise,
            .iteration = kFreshBatch};
  }

  void fit_twin() {
    if (parts_.twin == nullptr || settings_.gradient.source == GradientSource::kZobg) return;
    IterationReport report;
    parts_.fit_twin(report);
    result_.twin = {report.twin_error.value_or(kNan),
                    report.twin_window_error.value_or(kNan),
                    report.twin_parameters,
                    kTwinBatches * settings_.environments,
                    {}};
  }

  // Last, since it takes other episodes.
  void compare_twin() {
    if (!result_.twin) return;
    EpisodeKey first = key();
    ++first.iteration;
    result_.twin->cosines = compare_with_scores(parts_, first, kTwinBatches);
  }

  void examine_learning() {
    fit_twin();
    if (settings_.gradient.source == GradientSource::kZobg) {
      ZerothOrderGradient<float> source(*parts_.simulator, parts_.policy, parts_.batch,
                                        settings_.gradient.baseline == ZobgBaseline::kStep);
      examine_gradient(source.estimate(parts_.batch, parts_.actor(), pool()));
    } else if (parts_.simulator->differentiable()) {
      FirstOrderGradient<float> source(*parts_.simulator, parts_.policy, parts_.batch, result_.window, horizon_);
      std::span<const Critic<float>> critics;
      if (uses_critics()) {
        critics = parts_.critics;
        if (settings_.critic.fit_first) {
          const bool slopes = settings_.critic.sobolev > 0.0;
          parts_.fit_critics(
              0, slopes ? SlopeSource<float>{parts_.simulator.get(), &parts_.batch,
                                             &source.state_slopes(parts_.batch, parts_.actor(), critics, pool())}
                        : SlopeSource<float>());
        }
        for (int k = 0; k < parts_.signals(); ++k) result_.critic_explained.push_back(explained_variance(k));
      }
      examine_gradient(source.estimate(parts_.batch, parts_.actor(), critics, pool()));
    }
    if (!parts_.simulator->differentiable()) return;
    for (const int window : window_ladder(result_.window, parts_.horizon)) {
      FirstOrderGradient<float> source(*parts_.simulator, parts_.policy, parts_.batch, window, horizon_);
      result_.windows.push_back({window, lengths_of(source.estimate(parts_.batch, parts_.actor(), {}, pool()))});
    }
  }

  void examine_gradient(const GradientEstimate& estimate) {
    result_.gradient = lengths_of(estimate);
    result_.critic_cosines = estimate.critic_cosines;
    std::optional<ActionMetric> metric;
    std::vector<std::size_t> all;
    for (std::size_t k = 0; k < estimate.gradients.size(); ++k) all.push_back(k);
    if (settings_.radius.metric == RadiusMetric::kAction) {
      metric.emplace(parts_.policy, settings_.radius.rows, settings_.radius.damping);
      metric->rebuild(parts_.batch, parts_.actor(), stops_of(*parts_.simulator, all), parts_.context.seed, 0);
    }
    std::vector<ActionMetric::Memory> memory;
    if (metric) memory.assign(std::max(all.size(), std::size_t{kGradientGroups}), ActionMetric::Memory(*metric));
    GradientProducts products;
    multiply_gradients(
        estimate, all,
        [&](const std::vector<double>& v, std::vector<double>& result, std::size_t worker) {
          if (metric) {
            metric->solve(v, result, memory[worker]);
          } else {
            result = v;
          }
        },
        /*unbiased=*/true, pool(), products);
    for (const std::size_t k : all) {
      const std::size_t at = k * (all.size() + 1);
      const bool known = !std::isnan(result_.gradient[k].error);  // one block cannot tell signal from noise
      result_.gradient_signals.push_back(known ? products.unbiased_gram[at] / products.gram[at] : kNan);
      result_.reach.push_back(std::sqrt(result_.radius * products.gram[at]));
    }
  }

  // 1 − Σ (G − V)² / Σ (G − mean G)² over all steps that count, G the signal's sum from there to the end, by the run's
  // horizon rule: V(s_T) is part of it where T only truncates.
  double explained_variance(int k) {
    const bool stops = parts_.simulator->stops_at_end(k);
    const Critic<float>& critic = parts_.critics[static_cast<std::size_t>(k)];
    double error = 0.0;
    Moments came(1);
    for (const auto& block : parts_.batch.blocks) {
      CriticWorkspace<float> workspace(critic.mlp(), block.lanes());
      AlignedVector<float> values(static_cast<std::size_t>(block.column(block.horizon + 1)), 0.0F);
      AlignedVector<float> sums(static_cast<std::size_t>(block.column(block.horizon)), 0.0F);
      if (!horizon_.ends_at_horizon && block.simulated == block.horizon) {
        const std::ptrdiff_t end = block.column(block.horizon);
        critic.value(block.inputs.view().from_column(end), horizon_.critic_time(block.horizon), values.data() + end,
                     block.lanes(), workspace);
      }
      lambda_returns<float>(block, k, stops, {.window = 0, .lambda = 1.0, .horizon = horizon_}, values, sums);
      std::vector<std::uint8_t> keep(static_cast<std::size_t>(block.lanes()));
      for (int t = 0; t < block.simulated; ++t) {
        const float* const sum = sums.data() + block.column(t);
        critic.value(block.inputs.view().from_column(block.column(t)), horizon_.critic_time(t), values.data(),
                     block.lanes(), workspace);
        for (int lane = 0; lane < block.lanes(); ++lane) {
          const auto l = static_cast<std::size_t>(lane);
          keep[l] = counts(block, stops, t, lane) ? 1 : 0;
          if (keep[l] != 0) error += std::pow(static_cast<double>(sum[lane]) - static_cast<double>(values[l]), 2);
        }
        came.add(Rows<const float>(sum, block.lanes()), block.lanes(), keep.data());
      }
    }
    return came.deviation[0] > 0.0 ? 1.0 - error / came.deviation[0] : kNan;
  }

  void examine_inputs() {
    const Moments moments = parts_.batch.moments();
    if (moments.count == 0) return;
    const InputScale& scale = parts_.normaliser.scale();
    for (int i = 0; i < parts_.normaliser.dimensions(); ++i) {
      const auto index = static_cast<std::size_t>(i);
      const double away = moments.mean[index] - scale.mean[index];
      result_.inputs.push_back({i, std::sqrt(away * away + moments.variance(i)) / scale.std[index]});
    }
    std::stable_sort(
        result_.inputs.begin(), result_.inputs.end(),
        [](const InputDiagnosis& a, const InputDiagnosis& b) { return a.root_mean_square > b.root_mean_square; });
    if (result_.inputs.size() > 3) result_.inputs.resize(3);
  }

  // Exploration noise is white: it would hide what the policy itself does.
  void examine_actions() {
    const TaskSpec& spec = parts_.context.task->spec();
    Batch<float> batch(*parts_.simulator, settings_.environments, parts_.horizon, parts_.context.settings.kernel.block,
                       Keep::kOutcome);
    collect(*parts_.simulator, parts_.actor(), key(), /*deterministic=*/true, pool(), batch);
    ActionDiagnosis& actions = result_.actions;
    double saturated = 0.0;
    double count = 0.0;
    std::vector<Spectrum> sums(static_cast<std::size_t>(spec.actions));
    double episodes = 0.0;
    for (const auto& block : batch.blocks) {
      for (int lane = 0; lane < block.lanes(); ++lane) {
        const auto l = static_cast<std::size_t>(lane);
        if (block.diverged[l] != 0) continue;
        const int steps = std::min(block.length[l], block.simulated);
        const bool long_enough = steps >= kShortestSeries;
        if (long_enough) episodes += 1.0;
        std::vector<double> series(static_cast<std::size_t>(steps));
        for (int a = 0; a < spec.actions; ++a) {
          const float* const row = block.actions.view().row(a);
          for (int t = 0; t < steps; ++t) series[static_cast<std::size_t>(t)] = row[block.column(t) + lane];
          saturated += static_cast<double>(
              std::count_if(series.begin(), series.end(), [](double value) { return std::abs(value) > kSaturated; }));
          count += steps;
          if (!long_enough) continue;
          const Spectrum spectrum = spectrum_of(series);
          for (std::size_t q = 0; q < 4; ++q) sums[static_cast<std::size_t>(a)].quarters[q] += spectrum.quarters[q];
        }
      }
    }
    actions.saturated = count > 0.0 ? saturated / count : kNan;
    for (const Spectrum& spectrum : sums) {
      actions.upper_shares.push_back(spectrum.share(3));
      for (std::size_t q = 0; q < 4; ++q) {
        actions.spectrum.quarters[q] += spectrum.quarters[q] / std::max(episodes, 1.0) / spec.actions;
      }
    }
    const double period = spec.dt * spec.substeps;
    actions.upper_frequency = period > 0.0 ? 0.75 * 0.5 / period : 0.0;
  }

  Settings settings_;
  HorizonRule horizon_;
  ActorCritic<float> parts_;
  const Tensors& checkpoint_;
  Diagnosis result_;
};

}  // namespace

double GradientLength::signal_to_noise() const { return std::sqrt(std::max(norm * norm - error * error, 0.0)) / error; }

Diagnosis diagnose(const AlgorithmContext& context, const Tensors& checkpoint) {
  return Examination(context, checkpoint).run();
}

}  // namespace cgpo
