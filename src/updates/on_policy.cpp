#include "cgpo/updates/on_policy.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "cgpo/base/error.hpp"
#include "cgpo/base/index.hpp"
#include "cgpo/gradient/advantages.hpp"
#include "cgpo/gradient/targets.hpp"

namespace cgpo {
namespace {

constexpr int kColumns = 512;  // of V at once
constexpr double kSmallestScale = 1e-8;

}  // namespace

OnPolicy::OnPolicy(const AlgorithmContext& context)
    : parts(context, Keep::kOutcome),
      monitor(parts),
      samples(parts.policy, parts.signals()),
      adam(parts.policy.parameter_count()),
      gradient_(at(parts.policy.parameter_count())) {
  if (settings().critic.sobolev > 0.0) {
    throw UserError("critic.sobolev needs gradients through the simulator, which this algorithm does not take");
  }
  const auto& blocks = parts.batch.blocks;
  for (int k = 0; k < parts.signals(); ++k) {
    SignalAdvantages signal;
    signal.stops = parts.simulator->stops_at_end(k);
    values_.emplace_back();
    targets_.emplace_back();
    for (const auto& block : blocks) {
      signal.blocks.emplace_back(at(block.column(parts.horizon)));
      values_.back().emplace_back(at(block.column(parts.horizon + 1)));
      targets_.back().emplace_back(at(block.column(parts.horizon)));
    }
    advantages_.push_back(std::move(signal));
  }
  for (const auto& block : blocks)
    block_memory_.emplace_back(parts.critics.front().mlp(), std::max(kColumns, block.lanes()));
  monitor.warm_up(parts);
}

IterationReport OnPolicy::collect() { return monitor.collect(parts, iteration_); }

bool OnPolicy::usable(IterationReport& report) const { return !parts.refuses_batch(report); }

void OnPolicy::estimate_advantages() {
  const AdvantageOptions options{discount(), settings().critic.lambda, settings().finite_horizon};
  const HorizonRule horizon{.discount = discount(), .ends_at_horizon = settings().finite_horizon};
  pool().run(static_cast<int>(parts.batch.blocks.size()), [&](int b) {
    for (int k = 0; k < parts.signals(); ++k) {
      find_values<float>(parts.critics[at(k)], parts.batch.blocks[at(b)], 0, parts.batch.blocks[at(b)].simulated,
                         horizon, values_[at(k)][at(b)], block_memory_[at(b)]);
      generalised_advantages<float>(parts.batch.blocks[at(b)], k, advantages_[at(k)].stops, options,
                                    values_[at(k)][at(b)], advantages_[at(k)].blocks[at(b)]);
    }
  });
  scale_advantages();
  samples.take(parts.batch, parts.actor(), advantages_, pool());
}

// Means and deviations over the samples that count for each signal, in the order of the blocks.
void OnPolicy::scale_advantages() {
  const AdvantageScale how = settings().update.advantages;
  for (int k = 0; k < parts.signals(); ++k) {
    SignalAdvantages& signal = advantages_[at(k)];
    const auto sum = [&](auto term) {
      double total = 0.0;
      for (std::size_t b = 0; b < parts.batch.blocks.size(); ++b) {
        const auto& block = parts.batch.blocks[b];
        for (int t = 0; t < block.simulated; ++t) {
          for (int lane = 0; lane < block.lanes(); ++lane) {
            if (counts(block, signal.stops, t, lane))
              total += term(static_cast<double>(signal.blocks[b][at(block.column(t) + lane)]));
          }
        }
      }
      return total;
    };
    const double count = std::max(sum([](double) { return 1.0; }), 1.0);
    signal.mean = how == AdvantageScale::kRaw ? 0.0 : sum([](double value) { return value; }) / count;
    const double squares = sum([&](double value) { return (value - signal.mean) * (value - signal.mean); });
    const double deviation = std::max(std::sqrt(squares / count), kSmallestScale);
    if (how == AdvantageScale::kRaw || (how == AdvantageScale::kReward && k > 0)) {
      signal.scale = 1.0;
    } else {
      signal.scale = k == 0 ? deviation : advantages_[0].scale;
    }
  }
}

double OnPolicy::steps_per_episode() const {
  return static_cast<double>(samples.count()) / std::max(parts.batch.intact_environments(), 1);
}

void OnPolicy::ascend(const Objective& objective, Adam<float>& optimiser, const Ascent& ascent,
                      IterationReport& report) {
  const UpdateSettings& update = settings().update;
  const double left = 1.0 - static_cast<double>(iteration_) / settings().iterations;
  const double rate = update.learning_rate * (update.anneal ? std::max(left, 0.0) : 1.0);
  order_.assign(samples.all().begin(), samples.all().end());
  const auto count = static_cast<std::uint32_t>(order_.size());
  const int minibatches = std::max(1, static_cast<int>(std::lround(static_cast<double>(count) / update.batch)));
  for (int pass = 0; pass < update.passes; ++pass) {
    RandomStream random(parts.context.seed, Purpose::kShuffle, static_cast<std::uint32_t>(iteration_),
                        static_cast<std::uint32_t>(ascent.stage), static_cast<std::uint32_t>(pass));
    for (std::uint32_t i = count; i > 1; --i) std::swap(order_[i - 1], order_[random.below(i)]);
    for (int m = 0; m < minibatches; ++m) {
      const std::size_t begin = std::uint64_t{count} * static_cast<std::uint64_t>(m) / at(minibatches);
      const std::size_t end = std::uint64_t{count} * static_cast<std::uint64_t>(m + 1) / at(minibatches);
      const auto slope = samples.gradient(parts.parameters, std::span(order_).subspan(begin, end - begin), objective,
                                          update.entropy, ascent.anchor, pool(), gradient_);
      const double norm = std::sqrt(std::inner_product(gradient_.begin(), gradient_.end(), gradient_.begin(), 0.0));
      if (!std::isfinite(norm) || !std::isfinite(slope.kl)) {
        report.update_case = "refused";
        report.warning = "update ended early: a gradient is not finite";
        return;
      }
      report.kl = slope.kl;
      if (slope.kl > ascent.furthest) return;
      const double cut = update.max_norm > 0.0 && norm > update.max_norm ? update.max_norm / norm : 1.0;
      for (double& value : gradient_) value *= -cut;  // Adam descends
      optimiser.step(parts.parameters, gradient_, rate);
    }
  }
}

void OnPolicy::fit_critics(IterationReport& report) {
  const auto value_plus_advantage = [this](int k) -> const auto& {
    auto& targets = targets_[at(k)];
    for (std::size_t b = 0; b < targets.size(); ++b) {
      const std::ptrdiff_t steps = parts.batch.blocks[b].column(parts.batch.blocks[b].simulated);
      for (std::size_t column = 0; column < at(steps); ++column)
        targets[b][column] = advantages_[at(k)].blocks[b][column] + values_[at(k)][b][column];
    }
    return targets;
  };
  add_fits(parts.fit_critics_to(value_plus_advantage, settings().finite_horizon, iteration_), report);
}

void OnPolicy::finish() {
  const double factor = monitor.noise_factor(parts);
  parts.scale_noise(factor);
  monitor.expect_anything(factor);
  parts.update_normaliser();
  monitor.plan(parts, {});
  ++iteration_;
}

void OnPolicy::save(Tensors& tensors) const {
  parts.save(tensors);
  adam.save(tensors, "policy.adam");
  monitor.save(tensors);
  tensors.put("iteration", static_cast<std::int64_t>(iteration_));
}

void OnPolicy::load(const Tensors& tensors) {
  parts.load(tensors);
  adam.load(tensors, "policy.adam");
  monitor.load(tensors);
  iteration_ = static_cast<int>(tensors.integer("iteration"));
}

}  // namespace cgpo
