#include "cgpo/updates/policy_samples.hpp"

#include <algorithm>
#include <cmath>

#include "cgpo/base/error.hpp"
#include "cgpo/base/index.hpp"
#include "cgpo/base/sum_over_blocks.hpp"
#include "cgpo/math/elementary.hpp"
#include "cgpo/nn/dense.hpp"

namespace cgpo {
namespace {

constexpr int kPiece = 512;  // samples that go through the networks at once
constexpr int kSlots = 16;   // sums are kept apart in so many slots, whatever the number of threads

}  // namespace

PolicySamples::PolicySamples(const Policy<float>& policy, int signals)
    : policy_(policy), signals_(signals), slots_(at(kSlots)) {
  const int features = policy.observations() + 2 * policy.actions() + signals;
  for (Workspace& w : slots_) {
    w.rows.resize(features, kPiece);
    w.units.resize(policy.unit_count(), kPiece);
    w.deltas.resize(policy.unit_count(), kPiece);
    w.noise.resize(policy.actions(), kPiece);
    w.ratio.resize(at(kPiece));
    w.slopes.resize(at(kPiece));
    w.log_ratio.resize(at(kPiece));
    w.gradient.resize(at(policy.parameter_count()));
    w.means.resize(at(signals));
  }
}

void PolicySamples::take(const Batch<float>& batch, const Actor<float>& behaviour,
                         std::span<const SignalAdvantages> advantages, ThreadPool& pool) {
  check(std::ssize(advantages) == signals_, "one set of advantages a signal");
  behaviour_.assign(behaviour.parameters.begin(), behaviour.parameters.end());
  scales_.clear();
  for (const SignalAdvantages& signal : advantages) scales_.push_back(signal.scale);
  const int observations = policy_.observations();
  const int actions = policy_.actions();
  table_.resize(observations + 2 * actions + signals_, batch.sample(batch.horizon, 0));
  std::vector<float> std(at(actions));
  for (int a = 0; a < actions; ++a) std[at(a)] = elementary::exp<float>(log_std(behaviour_, a));

  std::vector<std::vector<std::uint32_t>> chosen(batch.blocks.size());
  pool.run(static_cast<int>(batch.blocks.size()), [&](int b) {
    const auto& block = batch.blocks[at(b)];
    const int lanes = block.lanes();
    const int segment = std::max(1, kPiece / lanes);  // steps
    RowStore<float> units(policy_.unit_count(), block.column(segment));
    for (int begin = 0; begin < block.simulated; begin += segment) {
      const int end = std::min(begin + segment, block.simulated);
      const Rows<const float> inputs = block.inputs.view().from_column(block.column(begin));
      policy_.mlp().forward(weights(behaviour_), inputs, units.view(), (end - begin) * lanes);
      const Rows<const float> means = policy_.mean(units.view());
      for (int t = begin; t < end; ++t) {
        for (int lane = 0; lane < lanes; ++lane) {
          const std::ptrdiff_t column = block.column(t) + lane;
          const std::ptrdiff_t local = column - block.column(begin);
          const std::ptrdiff_t sample = batch.sample(t, block.environments.begin + lane);
          float* const to = table_.sample(sample);
          bool any = false;
          for (int k = 0; k < signals_; ++k) {
            const SignalAdvantages& signal = advantages[at(k)];
            const bool here = counts(block, signal.stops, t, lane);
            any = any || here;
            const double value = (static_cast<double>(signal.blocks[at(b)][at(column)]) - signal.mean) / signal.scale;
            to[observations + 2 * actions + k] = here ? static_cast<float>(value) : 0.0F;
          }
          if (!any) continue;
          chosen[at(b)].push_back(static_cast<std::uint32_t>(sample));
          for (int i = 0; i < observations; ++i) to[i] = block.inputs.view().row(i)[column];
          for (int a = 0; a < actions; ++a) {
            const float mean = means.row(a)[local];
            to[observations + a] = mean + std[at(a)] * block.noise.view().row(a)[column];
            to[observations + actions + a] = mean;
          }
        }
      }
    }
  });
  chosen_.clear();
  for (const auto& part : chosen) chosen_.insert(chosen_.end(), part.begin(), part.end());
}

Rows<const float> PolicySamples::inputs_of(std::span<const std::uint32_t> samples, RowStore<float>& memory) const {
  memory.resize(policy_.observations(), std::ssize(samples));
  dense::gather<float>(table_.data(), table_.width(), samples.data(), memory.view(), policy_.observations(),
                       static_cast<int>(samples.size()));
  return std::as_const(memory).view();
}

int PolicySamples::slots_used(std::size_t samples) const {
  return static_cast<int>(std::min<std::size_t>((samples + kPiece - 1) / kPiece, at(kSlots)));
}

template <class Work>
void PolicySamples::for_pieces(std::span<const std::uint32_t> samples, ThreadPool& pool, Work&& work) {
  const std::size_t pieces = (samples.size() + kPiece - 1) / kPiece;
  pool.run(slots_used(samples.size()), [&](int slot) {
    Workspace& w = slots_[at(slot)];
    w.objective = w.kl = w.anchor_kl = 0.0;
    std::fill(w.gradient.begin(), w.gradient.end(), 0.0);
    std::fill(w.means.begin(), w.means.end(), 0.0);
    for (std::size_t piece = at(slot); piece < pieces; piece += kSlots) {
      const auto part = samples.subspan(piece * kPiece, std::min<std::size_t>(kPiece, samples.size() - piece * kPiece));
      const int count = static_cast<int>(part.size());
      dense::gather<float>(table_.data(), table_.width(), part.data(), w.rows.view(), table_.features(), count);
      work(w, count);
    }
  });
}

// ρ, ε_θ = (u − μ_θ)/σ_θ (in noise) and the sum of KL(π_k‖π_θ) = log σ_θ/σ_k + (σ_k² + (μ_k − μ_θ)²)/2σ_θ² − ½.
void PolicySamples::find_ratios(std::span<const float> parameters, int count, Workspace& w) const {
  policy_.mlp().forward(weights(parameters), inputs(w), w.units.view(), count);
  float* const log_ratio = w.log_ratio.data();
  std::fill_n(log_ratio, count, 0.0F);
  double divergence = 0.0;
  for (int a = 0; a < policy_.actions(); ++a) {
    const float log_change = log_std(parameters, a) - log_std(behaviour_, a);
    const float inverse = 1.0F / elementary::exp<float>(log_std(parameters, a));
    const float old_inverse = 1.0F / elementary::exp<float>(log_std(behaviour_, a));
    const float* const u = chosen_actions(w).row(a);
    const float* const mean = policy_.mean(std::as_const(w.units).view()).row(a);
    const float* const old_mean = old_means(w).row(a);
    float* const noise = w.noise.view().row(a);
    double moved = 0.0;
    for (int j = 0; j < count; ++j) {
      const float old_noise = (u[j] - old_mean[j]) * old_inverse;
      noise[j] = (u[j] - mean[j]) * inverse;
      log_ratio[j] += 0.5F * (old_noise * old_noise - noise[j] * noise[j]) - log_change;
      const float shift = (old_mean[j] - mean[j]) * inverse;
      moved += static_cast<double>(shift * shift);
    }
    const double log_growth = static_cast<double>(log_change);
    divergence += 0.5 * moved + count * (log_growth + 0.5 * std::exp(-2.0 * log_growth) - 0.5);
  }
  for (int j = 0; j < count; ++j) w.ratio[at(j)] = elementary::exp<float>(log_ratio[j]);
  w.kl += divergence;
}

// KL(π_θ‖π_a) = log σ_a/σ_θ + (σ_θ² + (μ_θ − μ_a)²)/2σ_a² − ½ of every sample. Of those beyond the reach, ratio and
// advantages become 0, whatever the ratio was, and so does every objective of them. Returns how many are left.
int PolicySamples::leave_out_far(std::span<const float> parameters, const Anchor& anchor, int count,
                                 Workspace& w) const {
  if (w.anchor_units.rows() == 0) {
    w.anchor_units.resize(policy_.unit_count(), kPiece);
    w.near.resize(at(kPiece));
  }
  policy_.mlp().forward(weights(anchor.parameters), inputs(w), w.anchor_units.view(), count);
  float* const near = w.near.data();
  if (std::isinf(anchor.reach)) {
    std::fill_n(near, count, 1.0F);
    return count;
  }
  std::fill_n(near, count, 0.0F);
  for (int a = 0; a < policy_.actions(); ++a) {
    const float log_growth = log_std(parameters, a) - log_std(anchor.parameters, a);
    const float inverse = 1.0F / elementary::exp<float>(log_std(anchor.parameters, a));
    const float* const mean = policy_.mean(std::as_const(w.units).view()).row(a);
    const float* const anchor_mean = policy_.mean(std::as_const(w.anchor_units).view()).row(a);
    const float of_std = 0.5F * elementary::exp<float>(2.0F * log_growth) - log_growth - 0.5F;
    for (int j = 0; j < count; ++j) {
      const float shift = (mean[j] - anchor_mean[j]) * inverse;
      near[j] += 0.5F * (shift * shift) + of_std;
    }
  }
  const auto reach = static_cast<float>(anchor.reach);
  const Rows<float> advantages = w.rows.view().from_row(policy_.observations() + 2 * policy_.actions());
  int left = 0;
  for (int j = 0; j < count; ++j) {
    near[j] = near[j] <= reach ? 1.0F : 0.0F;
    if (near[j] > 0.0F) {
      ++left;
      continue;
    }
    w.ratio[at(j)] = 0.0F;
    for (int k = 0; k < signals_; ++k) advantages.row(k)[j] = 0.0F;
  }
  return left;
}

// Of the same divergence, by μ_θ (μ_θ − μ_a)/σ_a², by log σ_θ σ_θ²/σ_a² − 1.
void PolicySamples::seed_anchor(std::span<const float> parameters, const Anchor& anchor, int count, int near,
                                Workspace& w) const {
  const auto weight = static_cast<float>(anchor.weight);
  for (int a = 0; a < policy_.actions(); ++a) {
    const double log_growth =
        static_cast<double>(log_std(parameters, a)) - static_cast<double>(log_std(anchor.parameters, a));
    const float inverse = 1.0F / elementary::exp<float>(log_std(anchor.parameters, a));
    const float* const mean = policy_.mean(std::as_const(w.units).view()).row(a);
    const float* const anchor_mean = policy_.mean(std::as_const(w.anchor_units).view()).row(a);
    float* const seed = w.deltas.view().row(policy_.mlp().output_offset() + a);
    double moved = 0.0;
    for (int j = 0; j < count; ++j) {
      const float shift = w.near[at(j)] > 0.0F ? (mean[j] - anchor_mean[j]) * inverse : 0.0F;
      moved += static_cast<double>(shift * shift);
      seed[j] -= weight * shift * inverse;
    }
    const double squared = std::exp(2.0 * log_growth);
    w.anchor_kl += 0.5 * moved + near * (0.5 * squared - log_growth - 0.5);
    if (policy_.learns_std()) w.gradient[at(policy_.log_std_offset() + a)] -= anchor.weight * near * (squared - 1.0);
  }
}

PolicySamples::Slope PolicySamples::gradient(std::span<const float> parameters, std::span<const std::uint32_t> samples,
                                             const Objective& objective, double entropy,
                                             const std::optional<Anchor>& anchor, ThreadPool& pool,
                                             std::span<double> gradient) {
  check(!samples.empty(), "a gradient has samples");
  for_pieces(samples, pool, [&](Workspace& w, int count) {
    find_ratios(parameters, count, w);
    const int near = anchor ? leave_out_far(parameters, *anchor, count, w) : count;
    w.objective += objective({count, w.ratio.data(), advantages(w)}, w.slopes.data());
    // Σ slope · ∇log π_θ(u|x): by μ ε/σ, by log σ ε² − 1.
    const Mlp<float>& mlp = policy_.mlp();
    for (int a = 0; a < policy_.actions(); ++a) {
      const float inverse = 1.0F / elementary::exp<float>(log_std(parameters, a));
      const float* const noise = w.noise.view().row(a);
      float* const seed = w.deltas.view().row(mlp.output_offset() + a);
      for (int j = 0; j < count; ++j) seed[j] = w.slopes[at(j)] * (noise[j] * inverse);
      if (!policy_.learns_std()) continue;
      double sum = entropy * count;  // H = Σ log σ + const
      for (int j = 0; j < count; ++j) sum += static_cast<double>(w.slopes[at(j)] * (noise[j] * noise[j] - 1.0F));
      w.gradient[at(policy_.log_std_offset() + a)] += sum;
    }
    if (anchor) seed_anchor(parameters, *anchor, count, near, w);
    mlp.backward(weights(parameters), w.units.view(), w.deltas.view(), count);
    mlp.accumulate_gradient(inputs(w), w.units.view(), std::as_const(w.deltas).view(),
                            std::span(w.gradient).first(at(mlp.parameter_count())), count);
  });
  const double share = 1.0 / static_cast<double>(samples.size());
  const std::size_t used = at(slots_used(samples.size()));
  sum_over_blocks(
      used, [this](std::size_t slot) -> const auto& { return slots_[slot].gradient; }, gradient);
  for (double& value : gradient) value *= share;
  const auto mean = [&](double Workspace::*sum) {
    return sum_over_blocks(used, [&](std::size_t slot) { return slots_[slot].*sum * share; });
  };
  return {
      .objective = mean(&Workspace::objective), .kl = mean(&Workspace::kl), .anchor_kl = mean(&Workspace::anchor_kl)};
}

PolicySamples::Surrogates PolicySamples::evaluate(std::span<const float> parameters, ThreadPool& pool) {
  check(!chosen_.empty(), "an average has samples");
  for_pieces(chosen_, pool, [&](Workspace& w, int count) {
    find_ratios(parameters, count, w);
    for (int k = 0; k < signals_; ++k) {
      const float* const advantage = advantages(w).row(k);
      double sum = 0.0;
      for (int j = 0; j < count; ++j) sum += static_cast<double>(w.ratio[at(j)]) * static_cast<double>(advantage[j]);
      w.means[at(k)] += sum;
    }
  });
  Surrogates result{std::vector<double>(at(signals_), 0.0), 0.0};
  const double share = 1.0 / static_cast<double>(chosen_.size());
  const std::size_t used = at(slots_used(chosen_.size()));
  result.kl = sum_over_blocks(used, [&](std::size_t slot) { return slots_[slot].kl * share; });
  for (std::size_t k = 0; k < result.means.size(); ++k)
    result.means[k] = sum_over_blocks(used, [&](std::size_t slot) { return slots_[slot].means[k] * share; });
  return result;
}

}  // namespace cgpo
