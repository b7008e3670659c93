#include "cgpo/updates/monitor.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "cgpo/base/index.hpp"
#include "cgpo/base/numbers.hpp"
#include "cgpo/base/statistics.hpp"

namespace cgpo {
namespace {

constexpr double kLag = 0.9;              // of the return that progress is measured against
constexpr int kTimeForProgress = 10;      // iterations
constexpr double kSettled = 0.1;          // of the returns' range: less progress than this, and the policy has settled
constexpr double kNoDifference = 0.0025;  // of a limit, or of the returns' range: what noise may change
constexpr double kNear = 0.05;            // of a limit
constexpr double kFewEnds = 0.02;         // of an episode's steps, lost to its end
constexpr double kSmoothing = 0.8;        // of what the next number of episodes is chosen by
constexpr int kStarts = 4096;             // that V is averaged over
constexpr int kSmallestLattice = 32;      // fewer starts of a lattice do not tell how far off their mean is
constexpr double kCoarseSignal = 0.25;    // times batch.signal, while less noise would make better gradients, too
constexpr double kFewPairs = 4.0;         // degrees of freedom that a first guess of a variance counts for
constexpr double kEnoughPairs = 40.0;
constexpr double kSteepest = 20.0;      // of a sum on V, which may be discounted
constexpr int kVector = 8;              // episodes are simulated in vectors, so fewer than this cost as much
constexpr double kUnknownReach = 0.02;  // of a limit: what an update without a prediction may move a cost by

constexpr double kPairMemory = 0.9;  // of what pairs of episodes have in common

// Means, variances and covariance of pairs; NaN of fewer than two.
struct Products {
  Products(const std::vector<double>& x, const std::vector<double>& y) {
    const auto count = static_cast<double>(x.size());
    x_mean = std::accumulate(x.begin(), x.end(), 0.0) / count;
    y_mean = std::accumulate(y.begin(), y.end(), 0.0) / count;
    for (std::size_t i = 0; i < x.size(); ++i) {
      xx += (x[i] - x_mean) * (x[i] - x_mean);
      xy += (x[i] - x_mean) * (y[i] - y_mean);
      yy += (y[i] - y_mean) * (y[i] - y_mean);
    }
    for (double* const sum : {&xx, &xy, &yy}) *sum = x.size() > 1 ? *sum / (count - 1.0) : kNan;
  }
  double x_mean = 0.0, y_mean = 0.0;
  double xx = 0.0, xy = 0.0, yy = 0.0;
};

int smallest_of(const ActorCritic<float>& parts) {
  const Settings& settings = parts.context.settings;
  const bool twin = parts.context.task->twin() != nullptr;
  const int asked = twin ? std::max(settings.batch.smallest, settings.twin.smallest) : settings.batch.smallest;
  return std::min(settings.environments, parts.batch.lattice_starts ? std::max(asked, kSmallestLattice) : asked);
}

}  // namespace

void PolicyMonitor::average(double value, double memory, Average& mean) {
  if (!std::isfinite(value)) return;
  mean.value = mean.known ? memory * mean.value + (1.0 - memory) * value : value;
  mean.known = true;
}

double PolicyMonitor::Average::slope(const Average& covariance) const {
  return value > 0.0 ? std::clamp(covariance.value / value, 0.0, kSteepest) : 0.0;
}

PolicyMonitor::PolicyMonitor(const ActorCritic<float>& parts)
    : settings_(parts.context.settings),
      limits_(parts.constraints.limits),
      horizon_(parts.horizon),
      estimates_(at(parts.signals())),
      estimates_then_(estimates_),
      spreads_(at(parts.signals())),
      smallest_(smallest_of(parts)),
      episodes_(settings_.batch.adaptive ? smallest_ : settings_.environments) {
  if (settings_.radius.confidence > 0.0) quantile_ = normal_quantile(settings_.radius.confidence);
  if (settings_.batch.deployed > 0.0) {
    const int most = std::max(2, static_cast<int>(std::ceil(settings_.batch.deployed * settings_.environments)));
    deployed_.emplace(*parts.simulator, most, horizon_, settings_.kernel.block, Keep::kOutcome);
  }
  // An environment outside begins where it likes.
  if (!filters() || parts.context.task->has_environments_outside()) return;
  const TaskSpec& spec = parts.context.task->spec();
  RowStore<float> states(spec.states, kStarts);
  SimulatorScratch<float> scratch;
  parts.simulator->start({.seed = parts.context.seed, .purpose = Purpose::kStarts, .environments = kStarts},
                         states.view(), kStarts, scratch);
  start_observations_.resize(spec.observations, kStarts);
  start_inputs_.resize(spec.observations, kStarts);
  parts.simulator->observe(states.view(), start_observations_.view(), kStarts, scratch);
  workspace_ = std::make_unique<CriticWorkspace<float>>(parts.critics.front().mlp(), 512);
}

void PolicyMonitor::warm_up(ActorCritic<float>& parts) {
  parts.warm_up_normaliser(episodes_);
  steps_ += std::int64_t{episodes_} * horizon_;
}

IterationReport PolicyMonitor::collect(ActorCritic<float>& parts, int iteration) {
  parts.collect_episodes(iteration, episodes_);
  steps_ += std::int64_t{episodes_} * horizon_;
  statistics_ = summarise(parts.batch);
  average(1.0 - statistics_.episode_length / horizon_, kSmoothing, lost_to_ends_);
  look_at_starts(parts);
  measure_noisy(parts.batch);
  if (deployed_) measure_deployed(parts, iteration);
  if (estimates_[0].known()) follow_return(estimates_[0].deployed());  // with noise, if that is all there is
  IterationReport report = report_of(parts, statistics_, iteration, steps_);
  fill(report);
  return report;
}

void PolicyMonitor::follow_return(double reached) {
  if (seen_++ == 0) lowest_ = highest_ = lagging_ = reached;
  lowest_ = std::min(lowest_, reached);
  highest_ = std::max(highest_, reached);
  lagging_ = kLag * lagging_ + (1.0 - kLag) * reached;
}

// V at the starts of the batch and in the mean over all starts, by critics that have not seen the batch. What an
// episode's sum owes to where it began is known from them, so it need not add to the error of J:
//   J ≈ mean over episodes of (sum − c (V(s_0) − E V(s_0))),   c = cov(sum, V) / var(V)
void PolicyMonitor::look_at_starts(const ActorCritic<float>& parts) {
  starts_.resize(estimates_.size());
  for (std::size_t k = 0; k < starts_.size(); ++k) {
    starts_[k].values.assign(at(parts.batch.environments), 0.0);
    starts_[k].mean = 0.0;
  }
  if (start_observations_.columns() == 0) return;
  const auto count = static_cast<int>(start_observations_.columns());
  parts.normaliser.normalise(std::as_const(start_observations_).view(), start_inputs_.view(), count);
  std::vector<float> values(at(std::max(count, settings_.kernel.block)));
  for (std::size_t k = 0; k < starts_.size(); ++k) {
    const Critic<float>& critic = parts.critics[k];
    critic.value(std::as_const(start_inputs_).view(), 0, values.data(), count, *workspace_);
    starts_[k].mean = std::accumulate(values.begin(), values.begin() + count, 0.0) / count;
    for (const auto& block : parts.batch.blocks) {
      critic.value(block.inputs.view(), 0, values.data(), block.lanes(), *workspace_);
      for (int lane = 0; lane < block.lanes(); ++lane)
        starts_[k].values[at(block.environments.begin + lane)] = values[at(lane)];
    }
  }
}

// A few episodes have standard errors that are themselves mostly chance, so variances are averages over iterations.
void PolicyMonitor::measure_noisy(const Batch<float>& batch) {
  for (std::size_t k = 0; k < estimates_.size(); ++k) {
    if (!filters()) estimates_[k] = {};
    std::vector<double> sums;
    std::vector<double> values;
    for_each_episode(batch, [&](const auto& block, int lane) {
      sums.push_back(block.sums[block.sum_index(static_cast<int>(k), lane)]);
      values.push_back(starts_[k].values[at(block.environments.begin + lane)]);
    });
    if (sums.empty()) continue;
    const auto episodes = static_cast<double>(sums.size());
    Spread& spread = spreads_[k];
    const Products products(values, sums);
    average(products.xx, kPairMemory, spread.starts);
    average(products.xy, kPairMemory, spread.starts_and_sums);
    const double c = spread.starts.slope(spread.starts_and_sums);
    const double off = c * (products.x_mean - starts_[k].mean);
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] -= c * (values[i] - products.x_mean);
    const double se = batch.lattice_starts ? standard_error_of_lattice(sums, batch.environments) : standard_error(sums);
    if (sums.size() > 1) {
      average(se * se * episodes, kSmoothing, spread.episode);
      average(off * off, kPairMemory, spread.off);
    }
    estimates_[k].measure(products.y_mean - off,
                          spread.episode.known ? std::sqrt(spread.episode.value / episodes) : kNan);
  }
}

// From start states of the batch's own episodes. With x_i, y_i the sums of episode i with noise and without, less what
// they owe to where they began,
//   J deployed ≈ ȳ − c (x̄ − J),   c = cov(x, y) / var(x),   with the variance var(y) − c cov(x, y) an episode.
void PolicyMonitor::measure_deployed(ActorCritic<float>& parts, int iteration) {
  const int count = std::max(2, static_cast<int>(std::ceil(settings_.batch.deployed * episodes_)));
  deployed_->use(std::min({count, deployed_->capacity(), episodes_}));
  parts.repeat_episodes(iteration, /*deterministic=*/true, *deployed_);
  steps_ += std::int64_t{deployed_->environments} * horizon_;
  for (std::size_t k = 0; k < estimates_.size(); ++k) {
    PairedSums sums = pair_episodes(parts.batch, *deployed_, parts.repeats_every(*deployed_), static_cast<int>(k));
    if (sums.first.empty()) continue;
    Spread& spread = spreads_[k];
    const double of_start = spread.starts.slope(spread.starts_and_sums);
    for (std::size_t i = 0; i < sums.first.size(); ++i) {
      const double start = of_start * (starts_[k].values[at(sums.environments[i])] - starts_[k].mean);
      sums.first[i] -= start;
      sums.second[i] -= start;
    }
    const Products products(sums.first, sums.second);
    if (sums.first.size() > 1) {
      average(products.xx, kPairMemory, spread.noisy);
      average(products.xy, kPairMemory, spread.both);
      average(products.yy, kPairMemory, spread.deployed);
    }
    const double c = spread.noisy.slope(spread.both);
    // Few pairs know their own variance badly; until there were more, it is taken as that of episodes with noise.
    const double seen = std::max(spread.deployed.value - c * spread.both.value, 0.01 * spread.deployed.value);
    spread.pairs.value = std::min(spread.pairs.value + static_cast<double>(sums.first.size() - 1), kEnoughPairs);
    const double variance =
        (spread.pairs.value * seen + kFewPairs * spread.episode.value) / (spread.pairs.value + kFewPairs);
    estimates_[k].measure_deployed(
        products.y_mean - c * (products.x_mean - estimates_[k].mean()),
        spread.episode.known ? std::sqrt(variance / static_cast<double>(sums.first.size())) : kNan);
  }
}

void PolicyMonitor::fill(IterationReport& report) const {
  for (std::size_t k = 1; k < estimates_.size(); ++k) {
    const MovingEstimate& estimate = estimates_[k];
    if (filters()) {
      report.costs_filtered.push_back(estimate.mean());
      report.costs_filtered_se.push_back(std::sqrt(estimate.variance()));
    }
    if (deployed_) {
      report.costs_deployed.push_back(estimate.knows_deployed() ? estimate.deployed() : kNan);
      report.costs_deployed_se.push_back(std::sqrt(std::max(estimate.deployed_variance(), 0.0)));
    }
  }
  if (estimates_[0].knows_deployed()) report.return_deployed = estimates_[0].deployed();
}

double PolicyMonitor::limit_size(std::size_t i) const { return std::max(std::abs(limits_[i]), 1.0); }

double PolicyMonitor::cost(std::size_t i) const {
  const MovingEstimate& estimate = estimates_[i + 1];
  if (!estimate.known()) return statistics_.mean[i + 1];
  return std::max(estimate.mean(), estimate.deployed());
}

// What cost() has to stay below its limit by, so that both do: with noise the next batch's mean counts, which varies
// more than J.
double PolicyMonitor::margin(std::size_t i, double reach) const {
  if (!filters() || !std::isfinite(limits_[i])) return 0.0;
  const MovingEstimate& estimate = estimates_[i + 1];
  const double batch = spreads_[i + 1].episode.value / std::max(episodes_, 1) + spreads_[i + 1].off.value;
  const double noisy = *quantile_ * std::sqrt(estimate.variance_after(reach) + batch) + estimate.mean() - cost(i);
  const double deployed =
      *quantile_ * std::sqrt(std::max(estimate.deployed_variance_after(reach), 0.0)) + estimate.deployed() - cost(i);
  return std::max({noisy, estimate.knows_deployed() ? deployed : noisy, 0.0});
}

double PolicyMonitor::farthest_reach(std::size_t i) const {
  constexpr double kShareOfWay = 0.5;
  constexpr double kShareOfVariance = 1.0;
  if (!filters() || !(*quantile_ > 0.0)) return kInfinity;
  const double known = std::pow(margin(i, 0.0) / *quantile_, 2);
  const double way = std::max(kShareOfWay * (limits_[i] - cost(i)) / *quantile_, kNoDifference * limit_size(i));
  const double scatter = std::max(way * way - known, kShareOfVariance * known);
  return std::sqrt(scatter / estimates_[i + 1].scatter_of_reach());
}

std::vector<double> PolicyMonitor::costs_to_keep() const {
  std::vector<double> result;
  for (std::size_t i = 0; i < limits_.size(); ++i) result.push_back(cost(i) + margin(i, kUnknownReach * limit_size(i)));
  return result;
}

bool PolicyMonitor::is_near(std::size_t i) const {
  return std::isfinite(limits_[i]) && cost(i) > limits_[i] - kNear * limit_size(i) - margin(i, 0.0);
}

// Whether the policy with noise and the deployed one still differ.
bool PolicyMonitor::noise_matters() const {
  if (!estimates_[0].knows_deployed()) return false;
  if (std::abs(estimates_[0].gap()) > kNoDifference * (highest_ - lowest_)) return true;
  for (std::size_t i = 0; i < limits_.size(); ++i) {
    if (std::isfinite(limits_[i]) && std::abs(estimates_[i + 1].gap()) > kNoDifference * limit_size(i)) return true;
  }
  return false;
}

// Progress, up or down, is small beside the returns' range so far; not before there was time for some, nor while chance
// explains all of that range.
bool PolicyMonitor::has_settled() const {
  const double range = highest_ - lowest_;
  return seen_ > kTimeForProgress && range > 2.0 * std::sqrt(std::max(estimates_[0].deployed_variance(), 0.0)) &&
         std::abs(estimates_[0].deployed() - lagging_) < kSettled * range;
}

double PolicyMonitor::noise_factor(const ActorCritic<float>& parts) const {
  return noise_can_fall(parts) && has_settled() ? settings_.policy.settle : 1.0;
}

// Not while ends take steps off the episodes: only scores see what brings an end about (gradient/missed.hpp), and their
// variance goes as 1/σ².
bool PolicyMonitor::noise_can_fall(const ActorCritic<float>& parts) const {
  const double factor = settings_.policy.settle;
  return factor < 1.0 && lost_to_ends_.value <= kFewEnds && noise_matters() &&
         parts.noise() * factor >= settings_.policy.least_std;
}

void PolicyMonitor::expect(const ExpectedMove& move, double noise_factor) {
  for (std::size_t k = 0; k < estimates_.size(); ++k) {
    if (std::isfinite(move.change[k]) && std::isfinite(move.reach[k]))
      estimates_[k].move(move.change[k], move.reach[k], noise_factor);
  }
}

double PolicyMonitor::return_by_noise(double noise_factor) const {
  return estimates_[0].gap() * (1.0 - noise_factor * noise_factor);
}

void PolicyMonitor::expect_anything(double noise_factor) {
  ExpectedMove move;
  move.change.assign(estimates_.size(), 0.0);
  move.reach.push_back(kUnknownReach * (highest_ - lowest_));
  for (std::size_t i = 0; i < limits_.size(); ++i)
    move.reach.push_back(kUnknownReach * (std::isfinite(limits_[i]) ? limit_size(i) : 1.0));
  expect(move, noise_factor);
}

void PolicyMonitor::remember() { estimates_then_ = estimates_; }

void PolicyMonitor::go_back() {
  for (std::size_t k = 0; k < estimates_.size(); ++k) estimates_[k].go_back_to(estimates_then_[k]);
}

// Noise is taken out first, which costs nothing; then episodes are added, until the margin is small and gradients are
// no longer mostly noise.
void PolicyMonitor::plan(const ActorCritic<float>& parts, const std::vector<double>& signals) {
  if (!settings_.batch.adaptive) return;
  double wanted = smallest_;
  signals_.resize(signals.size(), 1.0);
  for (std::size_t k = 0; k < signals.size(); ++k) {
    const double seen = std::clamp(signals[k], 0.0, 1.0);
    signals_[k] = std::isfinite(seen) ? kSmoothing * signals_[k] + (1.0 - kSmoothing) * seen : signals_[k];
  }
  const bool fine = has_settled() && !noise_can_fall(parts);
  if (!signals_.empty() && has_settled()) {
    const double share = std::clamp(signals_[0], 0.01, 1.0);
    const double goal = (fine ? 1.0 : kCoarseSignal) * settings_.batch.signal;
    wanted = std::max(wanted, episodes_ * goal / (1.0 - goal) * (1.0 - share) / share);
  }
  for (std::size_t i = 0; fine && i < limits_.size(); ++i) {
    if (!filters() || !(*quantile_ > 0.0) || !is_near(i)) continue;
    const double bound = settings_.batch.precision * limit_size(i) / *quantile_;
    wanted = std::max(wanted, spreads_[i + 1].episode.value / (0.5 * bound * bound));
  }
  // A vector more, or a quarter; a vector less, or a tenth.
  const double most = std::max(1.25 * episodes_, episodes_ + 1.0 * kVector);
  const double least = std::min(0.9 * episodes_, episodes_ - 1.0 * kVector);
  const int rounded = static_cast<int>(std::ceil(std::clamp(wanted, least, most) / kVector)) * kVector;
  episodes_ = std::clamp(rounded, smallest_, settings_.environments);
}

void PolicyMonitor::save(Tensors& tensors) const {
  for (std::size_t k = 0; k < estimates_.size(); ++k) {
    estimates_[k].save(tensors, fmt::format("monitor.estimate{}", k));
    estimates_then_[k].save(tensors, fmt::format("monitor.estimate_then{}", k));
  }
  std::vector<double> spreads;
  for (std::size_t k = 0; k < estimates_.size(); ++k) {
    for (const Average* average : spreads_[k].all())
      spreads.insert(spreads.end(), {average->value, average->known ? 1.0 : 0.0});
  }
  tensors.put("monitor.spreads", std::span<const double>(spreads));
  tensors.put("monitor.signals", std::span<const double>(signals_));
  tensors.put("monitor.returns", std::span<const double>(std::array{lowest_, highest_, lagging_, 1.0 * seen_}));
  tensors.put("monitor.lost_to_ends",
              std::span<const double>(std::array{lost_to_ends_.value, lost_to_ends_.known ? 1.0 : 0.0}));
  tensors.put("monitor.episodes", static_cast<std::int64_t>(episodes_));
  tensors.put("steps", steps_);
}

void PolicyMonitor::load(const Tensors& tensors) {
  steps_ = tensors.integer("steps");
  if (!tensors.contains("monitor.episodes")) return;  // of an older version: begin with what the next batch says
  for (std::size_t k = 0; k < estimates_.size(); ++k) {
    estimates_[k].load(tensors, fmt::format("monitor.estimate{}", k));
    estimates_then_[k].load(tensors, fmt::format("monitor.estimate_then{}", k));
  }
  const std::vector<double> spreads = tensors.numbers("monitor.spreads");
  std::size_t next = 0;
  for (std::size_t k = 0; k < estimates_.size(); ++k) {
    for (const Average* const kept : spreads_[k].all()) {
      auto* const average = const_cast<Average*>(kept);
      *average = {spreads.at(next), spreads.at(next + 1) != 0.0};
      next += 2;
    }
  }
  signals_ = tensors.numbers("monitor.signals");
  const std::vector<double> returns = tensors.numbers("monitor.returns");
  lowest_ = returns.at(0);
  highest_ = returns.at(1);
  lagging_ = returns.at(2);
  seen_ = static_cast<int>(returns.at(3));
  if (tensors.contains("monitor.lost_to_ends")) {
    const std::vector<double> lost = tensors.numbers("monitor.lost_to_ends");
    lost_to_ends_ = {lost.at(0), lost.at(1) != 0.0};
  }
  const std::int64_t episodes = tensors.integer("monitor.episodes");
  if (episodes < 1 || episodes > settings_.environments)
    throw UserError("it goes on with {} episodes, and environments is {}", episodes, settings_.environments);
  episodes_ = static_cast<int>(episodes);
}

}  // namespace cgpo
