#include "cgpo/updates/actor_critic.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "cgpo/base/error.hpp"
#include "cgpo/base/index.hpp"
#include "cgpo/base/numbers.hpp"
#include "cgpo/gradient/targets.hpp"
#include "cgpo/rollout/divergence.hpp"
#include "cgpo/updates/contact_shares.hpp"
#include "cgpo/updates/spread.hpp"

namespace cgpo {

void check_batch_size(int environments, int horizon) {
  // Samples, a step of an episode each, have numbers of 32 bits. That is a limit of its own, far beyond what memory
  // holds; sizes in memory are of 64 bits.
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  const std::int64_t samples = std::int64_t{environments} * (std::int64_t{horizon} + 1);
  if (samples > kMost) {
    throw UserError("environments ({}) times horizon + 1 ({}) must not be above {}", environments,
                    std::int64_t{horizon} + 1, kMost);
  }
}

int resolve_horizon(const Task& task, const Settings& settings) {
  const int horizon = settings.horizon > 0 ? settings.horizon : task.spec().horizon;
  check_batch_size(settings.environments, horizon);
  return horizon;
}

HorizonRule horizon_rule(const Settings& settings) {
  return {settings.finite_horizon ? settings.gradient.discount : settings.discount, settings.finite_horizon};
}

IterationReport report_of(const ActorCritic<float>& parts, const BatchStatistics& statistics, int iteration,
                          std::int64_t steps) {
  constexpr int kContactSamples = 256;  // states: a millisecond, and a standard error of 3 % at most
  IterationReport report;
  report.iteration = iteration;
  report.steps = steps;
  report.seconds_outside = parts.simulator->take_seconds_outside();
  report.return_mean = statistics.mean[0];
  report.return_se = statistics.standard_error[0];
  report.return_paper = statistics.return_paper;
  report.costs.assign(statistics.mean.begin() + 1, statistics.mean.end());
  report.costs_se.assign(statistics.standard_error.begin() + 1, statistics.standard_error.end());
  report.limits = parts.constraints.limits;
  report.noise = parts.noise();
  report.episode_length = statistics.episode_length;
  report.diverged = statistics.diverged;
  report.episodes = parts.batch.environments;
  for (std::size_t i = 0; i < report.limits.size(); ++i) {
    const Spread spread = spread_over_episodes(episode_sums(parts.batch, static_cast<int>(i) + 1), report.limits[i]);
    report.costs_low.push_back(spread.low);
    report.costs_high.push_back(spread.high);
    report.violation_rates.push_back(spread.over);
  }
  if (const auto contact = sample_contact(*parts.context.task, parts.batch, kContactSamples)) {
    report.contact_share = contact->any;
  }
  return report;
}

template <class Real>
ActorCritic<Real>::ActorCritic(const AlgorithmContext& context_in, Keep keep)
    : context(context_in),
      constraints(resolve_constraints(*context.task, context.settings)),
      horizon(resolve_horizon(*context.task, context.settings)),
      simulator(make_simulator<Real>(context.task, constraints.costs, context.settings.kernel.backend)),
      policy(context.task->spec().observations, context.settings.policy.hidden, context.task->spec().actions,
             context.settings.policy.learn_std),
      parameters(static_cast<std::size_t>(policy.parameter_count())),
      normaliser(context.task->spec().observations),
      batch(*simulator, context.settings.environments, horizon, context.settings.kernel.block, keep) {
  if (keep == Keep::kInner && context.task->twin() != nullptr)
    twin = std::make_unique<TwinFit>(context.task->twin(), context.settings.twin, context.settings.kernel.backend);
  policy.initialise(parameters, context.seed, context.settings.policy.initial_std,
                    context.settings.policy.last_layer_scale);
  const int observations = context.task->spec().observations;
  for (int k = 0; k < signals(); ++k) {
    critics.emplace_back(observations, context.settings.critic.hidden, horizon);
    critics.back().initialise(context.seed, static_cast<std::uint32_t>(k));
  }
  memory_.resize(static_cast<std::size_t>(signals()));
  for (CriticMemory& memory : memory_) {
    for (const auto& block : batch.blocks) {
      memory.values.emplace_back(static_cast<std::size_t>(block.column(horizon + 1)));
      memory.targets.emplace_back(static_cast<std::size_t>(block.column(horizon)));
    }
    memory.workspace = std::make_unique<CriticWorkspace<Real>>(critics.front().mlp(), context.settings.critic.batch);
  }
}

template <class Real>
double ActorCritic<Real>::noise() const {
  double sum = 0.0;
  for (int a = 0; a < policy.actions(); ++a)
    sum += std::exp(static_cast<double>(parameters[at(policy.log_std_offset() + a)]));
  return sum / policy.actions();
}

template <class Real>
void ActorCritic<Real>::scale_noise(double factor) {
  if (factor == 1.0) return;
  for (int a = 0; a < policy.actions(); ++a)
    parameters[at(policy.log_std_offset() + a)] += static_cast<Real>(std::log(factor));
}

template <class Real>
void ActorCritic<Real>::warm_up_normaliser(int episodes) {
  batch.use(episodes > 0 ? episodes : batch.capacity());
  const EpisodeKey key{.seed = context.seed, .reset = Purpose::kWarmupReset, .noise = Purpose::kWarmupNoise};
  collect(*simulator, actor(), key, /*deterministic=*/false, *context.pool, batch);
  normaliser.update(batch.moments());
}

template <class Real>
void ActorCritic<Real>::collect_episodes(int iteration, int episodes) {
  batch.use(episodes > 0 ? episodes : batch.capacity());
  const EpisodeKey key{.seed = context.seed, .iteration = static_cast<std::uint32_t>(iteration)};
  collect(*simulator, actor(), key, /*deterministic=*/false, *context.pool, batch);
}

template <class Real>
void ActorCritic<Real>::repeat_episodes(int iteration, bool deterministic, Batch<Real>& repeated) const {
  const EpisodeKey key{.seed = context.seed,
                       .iteration = static_cast<std::uint32_t>(iteration),
                       .of = batch.environments,
                       .every = repeats_every(repeated)};
  collect(*simulator, actor(), key, deterministic, *context.pool, repeated);
}

// What diverges passes through any number on its way: such observations would scale all others down to nothing.
template <class Real>
void ActorCritic<Real>::update_normaliser() {
  if (refuses_update(batch.environments - batch.intact_environments(), batch.environments)) return;
  const InputScale before = normaliser.scale();
  normaliser.update(batch.moments());
  policy.fold_input_change(parameters, before, normaliser.scale());
  for (Critic<Real>& critic : critics) critic.fold_input_change(before, normaliser.scale());
}

namespace {

// What was not finite first, unless it was always the state: ": the reward was not finite".
template <class Real>
std::string stray_words(const Batch<Real>& batch, const std::vector<std::string>& costs) {
  std::vector<int> counts(costs.size() + 3);
  int all = 0;
  for (const TrajectoryBlock<Real>& block : batch.blocks) {
    for (std::size_t lane = 0; lane < block.diverged.size(); ++lane) {
      if (block.diverged[lane] == 0) continue;
      ++counts[at(block.strayed[lane])];
      ++all;
    }
  }
  if (counts[0] == all) return "";
  std::string words;
  for (std::size_t what = 0; what < counts.size(); ++what) {
    if (counts[what] == 0) continue;
    words += fmt::format("{} {} was {}finite{}", words.empty() ? ":" : ",",
                         what == 0   ? "the state"
                         : what == 1 ? "an observation"
                         : what == 2 ? "the reward"
                                     : "cost " + costs[what - 3],
                         what == 0 ? "out of bounds or not " : "not ",
                         counts[what] == all ? "" : fmt::format(" first in {}", counts[what]));
  }
  return words;
}

}  // namespace

template <class Real>
bool ActorCritic<Real>::refuses_batch(IterationReport& report) const {
  if (!refuses_update(report.diverged, batch.environments)) return false;
  report.update_case = "refused";
  report.warning = fmt::format("update refused: {} of {} environments diverged{}", report.diverged, batch.environments,
                               stray_words(batch, constraints.names));
  return true;
}

template <class Real>
bool ActorCritic<Real>::policy_is_finite() const {
  return std::all_of(parameters.begin(), parameters.end(), [](Real value) { return std::isfinite(value); });
}

template <class Real>
void ActorCritic<Real>::restore_if_not_finite(std::span<const Real> before, IterationReport& report) {
  if (policy_is_finite()) return;
  std::copy(before.begin(), before.end(), parameters.begin());
  report.update_case = "refused";
  report.warning = "update refused: the policy that would come of it is not finite";
}

template <class Real>
std::vector<FitReport> ActorCritic<Real>::fit_critics(int iteration, const SlopeSource<Real>& slopes) {
  return fit_critics_to(
      [this](int k) -> const auto& { return lambda_targets(k); }, context.settings.finite_horizon, iteration, slopes);
}

template <class Real>
std::vector<FitReport> ActorCritic<Real>::fit_critics_to(const TargetsOfSignal& targets, bool timed, int iteration,
                                                         const SlopeSource<Real>& slopes) {
  fill_table(timed);
  std::vector<FitReport> reports(static_cast<std::size_t>(signals()));
  context.pool->run(
      signals(), [&](int k) { reports[static_cast<std::size_t>(k)] = fit_critic(k, targets(k), iteration, slopes); });
  if (remembers()) remember_samples();
  return reports;
}

// Slopes are known of this batch's states only.
template <class Real>
bool ActorCritic<Real>::remembers() const {
  return context.settings.critic.memory > 0 && context.settings.critic.sobolev == 0.0;
}

template <class Real>
void ActorCritic<Real>::fill_table(bool timed) {
  const int observations = context.task->spec().observations;
  const std::ptrdiff_t fresh = batch.sample(horizon, 0);
  table_.resize(observations + 1, fresh + old_.count);
  context.pool->run(static_cast<int>(batch.blocks.size()), [&](int b) {
    const auto& block = batch.blocks[static_cast<std::size_t>(b)];
    for (int t = 0; t < block.simulated; ++t) {
      table_.write(batch.sample(t, block.environments.begin), block.inputs.view().from_column(block.column(t)),
                   block.lanes(), timed ? critics.front().time_feature(t) : Real(0));
    }
  });
  for (std::int64_t i = 0; i < old_.count; ++i) {
    const Real* const from = old_.rows.data() + i * old_width();
    Real* const to = table_.sample(fresh + i);
    normaliser.normalise(Rows<const Real>(from, 1), Rows<Real>(to, 1), 1);
    to[observations] = from[observations];
  }
}

template <class Real>
void ActorCritic<Real>::remember_samples() {
  const int observations = context.task->spec().observations;
  // With as many new ones as now, the next fit has `critic.memory` episodes.
  const std::int64_t most = std::int64_t{context.settings.critic.memory - batch.environments} * horizon;
  if (most <= 0) {
    old_ = {};
    return;
  }
  for (std::size_t b = 0; b < batch.blocks.size(); ++b) {
    const auto& block = batch.blocks[b];
    for (int lane = 0; lane < block.lanes(); ++lane) {
      for (int t = 0; t < block.simulated; ++t) {
        bool any = false;
        for (int k = 0; k < signals(); ++k) any = any || counts(block, simulator->stops_at_end(k), t, lane);
        if (!any) continue;
        const std::ptrdiff_t column = block.column(t) + lane;
        const std::ptrdiff_t sample = batch.sample(t, block.environments.begin + lane);
        for (int i = 0; i < observations; ++i) old_.rows.push_back(block.observations.view().row(i)[column]);
        old_.rows.push_back(table_.data()[sample * table_.width() + observations]);
        for (int k = 0; k < signals(); ++k) {
          const bool counted = counts(block, simulator->stops_at_end(k), t, lane);
          old_.rows.push_back(counted ? memory_[at(k)].all_targets[at(sample)] : Real(0));
          old_.rows.push_back(counted ? Real(1) : Real(0));
        }
        ++old_.count;
      }
    }
  }
  const std::int64_t forgotten = std::max<std::int64_t>(old_.count - most, 0);
  old_.rows.erase(old_.rows.begin(), old_.rows.begin() + forgotten * old_width());
  old_.count -= forgotten;
}

template <class Real>
const std::vector<AlignedVector<Real>>& ActorCritic<Real>::lambda_targets(int k) {
  const CriticSettings& settings = context.settings.critic;
  const Critic<Real>& critic = critics[static_cast<std::size_t>(k)];
  CriticMemory& memory = memory_[static_cast<std::size_t>(k)];
  const ReturnOptions options{settings.targets == CriticTargets::kWindow ? context.settings.window : 0, settings.lambda,
                              horizon_rule(context.settings)};
  for (std::size_t b = 0; b < batch.blocks.size(); ++b) {
    const auto& block = batch.blocks[b];
    // V(s_0) is in no target, and V(s_T) is not if T is the end.
    const int last = std::min(block.simulated, options.horizon.ends_at_horizon ? block.horizon - 1 : block.horizon);
    find_values<Real>(critic, block, 1, last, options.horizon, memory.values[b], *memory.workspace);
    lambda_returns<Real>(block, k, simulator->stops_at_end(k), options, memory.values[b], memory.targets[b]);
  }
  return memory.targets;
}

template <class Real>
FitReport ActorCritic<Real>::fit_critic(int k, const std::vector<AlignedVector<Real>>& targets, int iteration,
                                        const SlopeSource<Real>& slopes) {
  const CriticSettings& settings = context.settings.critic;
  Critic<Real>& critic = critics[static_cast<std::size_t>(k)];
  CriticMemory& memory = memory_[static_cast<std::size_t>(k)];
  const bool stops = simulator->stops_at_end(k);
  memory.all_targets.resize(static_cast<std::size_t>(table_.samples()));
  memory.chosen.clear();
  memory.chosen.reserve(memory.all_targets.size());
  for (std::size_t b = 0; b < batch.blocks.size(); ++b) {
    const auto& block = batch.blocks[b];
    for (int t = 0; t < block.simulated; ++t) {
      for (int lane = 0; lane < block.lanes(); ++lane) {
        if (!counts(block, stops, t, lane)) continue;
        const std::ptrdiff_t sample = batch.sample(t, block.environments.begin + lane);
        memory.all_targets[static_cast<std::size_t>(sample)] =
            targets[b][static_cast<std::size_t>(block.column(t) + lane)];
        memory.chosen.push_back(static_cast<std::uint32_t>(sample));
      }
    }
  }
  if (memory.chosen.empty()) return {kNan, kNan};  // every environment diverged
  const double fresh = static_cast<double>(memory.chosen.size());
  const std::ptrdiff_t first_old = batch.sample(horizon, 0);
  for (std::int64_t i = 0; i < old_.count; ++i) {
    const Real* const of_signal = old_.rows.data() + i * old_width() + context.task->spec().observations + 1 + 2 * k;
    if (of_signal[1] == Real(0)) continue;
    memory.all_targets[at(first_old + i)] = of_signal[0];
    memory.chosen.push_back(static_cast<std::uint32_t>(first_old + i));
  }
  const FitSamples<Real> samples{table_, memory.all_targets, memory.chosen};
  critic.rescale_to(samples);
  SlopeLoss<Real>* slope_loss = nullptr;
  if (slopes.slopes != nullptr) {
    if (memory.slopes == nullptr)
      memory.slopes = std::make_unique<SlopeTargets<Real>>(*slopes.simulator, settings.batch);
    memory.slopes->set(*slopes.batch, *slopes.slopes, k, memory.chosen, normaliser, settings.sobolev);
    slope_loss = memory.slopes.get();
  }
  // Work in proportion to what is new.
  const auto steps = static_cast<int>(std::ceil(std::min(settings.passes * fresh / settings.batch, 1e6)));
  return critic.fit(samples, {std::min(settings.steps, steps), settings.batch, settings.learning_rate},
                    {context.seed, static_cast<std::uint32_t>(iteration), static_cast<std::uint32_t>(k)},
                    *memory.workspace, slope_loss);
}

void add_fits(const std::vector<FitReport>& fits, IterationReport& report) {
  for (const FitReport& fit : fits) {
    report.critic_losses.push_back(fit.loss);
    report.critic_explained.push_back(fit.explained_variance);
  }
}

void fit_critics(ActorCritic<float>& parts, FirstOrderGradient<float>& gradient, int iteration,
                 IterationReport& report) {
  SlopeSource<float> slopes;
  if (parts.context.settings.critic.sobolev > 0.0) {
    slopes = {parts.simulator.get(), &parts.batch,
              &gradient.state_slopes(parts.batch, parts.actor(), parts.critics, *parts.context.pool)};
  }
  add_fits(parts.fit_critics(iteration, slopes), report);
}

template <class Real>
void ActorCritic<Real>::fit_twin(IterationReport& report) const {
  if (twin == nullptr) return;
  twin->learn(batch, std::min(context.settings.window, horizon), *context.pool, report);
  if (twin->has_parameters()) simulator->set_parameters(twin->parameters());
}

template <class Real>
void ActorCritic<Real>::load_twin(const Tensors& tensors) {
  if (twin == nullptr) return;
  twin->load(tensors);
  if (twin->has_parameters()) simulator->set_parameters(twin->parameters());
}

template <class Real>
void ActorCritic<Real>::save(Tensors& tensors) const {
  policy.save(tensors, "policy", parameters);
  normaliser.save(tensors, "normaliser");
  for (std::size_t k = 0; k < critics.size(); ++k) critics[k].save(tensors, fmt::format("critic{}", k));
  if (old_.count > 0) tensors.put("critics.samples", std::span<const Real>(old_.rows));
  if (twin != nullptr) twin->save(tensors);
}

template <class Real>
void ActorCritic<Real>::load_policy(const Tensors& tensors) {
  policy.load(tensors, "policy", parameters);
  normaliser.load(tensors, "normaliser");
}

template <class Real>
void ActorCritic<Real>::load_critics(const Tensors& tensors) {
  for (std::size_t k = 0; k < critics.size(); ++k) critics[k].load(tensors, fmt::format("critic{}", k));
}

template <class Real>
void ActorCritic<Real>::load(const Tensors& tensors) {
  load_policy(tensors);
  load_critics(tensors);
  load_twin(tensors);
  old_ = {};
  const auto samples = tensors.entries.find("critics.samples");
  if (samples == tensors.entries.end() || !remembers()) return;
  old_.rows.resize(samples->second.bytes.size() / sizeof(Real));
  tensors.get("critics.samples", std::span<Real>(old_.rows));
  old_.count = static_cast<std::int64_t>(old_.rows.size()) / old_width();
}

template struct ActorCritic<float>;
template struct ActorCritic<double>;

}  // namespace cgpo
