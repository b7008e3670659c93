#include "cgpo/gradient/zeroth_order.hpp"

#include <algorithm>

namespace cgpo {
namespace {

constexpr int kStepsAtOnce = 16;

}  // namespace

template <class Real>
ZerothOrderGradient<Real>::ZerothOrderGradient(const Simulator<Real>& simulator, const Policy<Real>& policy,
                                               const Batch<Real>& shape, bool step_baseline)
    : simulator_(simulator), step_baseline_(step_baseline) {
  for (const auto& block : shape.blocks) {
    const std::ptrdiff_t columns = block.column(kStepsAtOnce);
    workspaces_.push_back({{},
                           {policy.observations(), columns},
                           {policy.actions(), columns},
                           {policy.unit_count(), columns},
                           {policy.unit_count(), columns},
                           {simulator.signals(), columns}});
    weights_.emplace_back(simulator.signals(), block.column(shape.horizon));
  }
  result_.resize(simulator.signals(), shape.blocks.size(), policy.parameter_count());
}

// w of every step and environment; 0 where the signal no longer counts.
template <class Real>
void ZerothOrderGradient<Real>::compute_weights(const Batch<Real>& batch) {
  for (int k = 0; k < simulator_.signals(); ++k) {
    const bool stops = simulator_.stops_at_end(k);
    // Σ of f from t on, replaced by the whole sum where no baseline is used.
    for (std::size_t b = 0; b < batch.blocks.size(); ++b) {
      const auto& block = batch.blocks[b];
      Real* const weight = weights_[b].view().row(k);
      const Real* const signal = block.signals.view().row(k);
      for (int lane = 0; lane < block.lanes(); ++lane) {
        double rest = 0.0;
        for (int t = block.simulated - 1; t >= 0; --t) {
          const std::ptrdiff_t column = block.column(t) + lane;
          rest += static_cast<double>(signal[column]);
          const double value = step_baseline_ ? rest : block.sums[block.sum_index(k, lane)];
          weight[column] = counts(block, stops, t, lane) ? static_cast<Real>(value) : Real(0);
        }
      }
    }
    if (!step_baseline_) continue;
    for (int t = 0; t < batch.horizon; ++t) {
      double sum = 0.0;
      int count = 0;
      const auto each = [&](auto visit) {
        for (std::size_t b = 0; b < batch.blocks.size(); ++b) {
          const auto& block = batch.blocks[b];
          if (t >= block.simulated) continue;
          Real* const weight = weights_[b].view().row(k) + block.column(t);
          for (int lane = 0; lane < block.lanes(); ++lane) {
            if (counts(block, stops, t, lane)) visit(weight[lane]);
          }
        }
      };
      each([&](Real& weight) {
        sum += static_cast<double>(weight);
        ++count;
      });
      if (count < 2) continue;
      each([&](Real& weight) {
        const auto own = static_cast<double>(weight);
        weight = static_cast<Real>(own - (sum - own) / (count - 1));
      });
    }
  }
}

template <class Real>
const GradientEstimate& ZerothOrderGradient<Real>::estimate(const Batch<Real>& batch, const Actor<Real>& actor,
                                                            ThreadPool& pool) {
  compute_weights(batch);
  return estimate_from_weights(batch, actor, pool);
}

template <class Real>
const GradientEstimate& ZerothOrderGradient<Real>::estimate_from_weights(const Batch<Real>& batch,
                                                                         const Actor<Real>& actor, ThreadPool& pool) {
  pool.run(static_cast<int>(batch.blocks.size()), [&](int b) {
    const auto index = static_cast<std::size_t>(b);
    const auto& block = batch.blocks[index];
    result_.clear_block(index);
    for (int begin = 0; begin < block.simulated; begin += kStepsAtOnce) {
      const std::ptrdiff_t first = block.column(begin);
      Workspace& w = workspaces_[index];
      w.grouping.set(block.environments, std::min(begin + kStepsAtOnce, block.simulated) - begin);
      w.grouping.take(block.inputs.view().from_column(first), block.inputs.rows(), w.inputs.view());
      w.grouping.take(block.noise.view().from_column(first), block.noise.rows(), w.noise.view());
      w.grouping.take(block.units.view().from_column(first), actor.policy.unit_count(), w.units.view());
      w.grouping.take(std::as_const(weights_[index]).view().from_column(first), simulator_.signals(), w.weights.view());
      for (int g = 0; g < kGradientGroups; ++g) {
        if (w.grouping.count(g) == 0) continue;
        const int from = w.grouping.first(g);
        for (int k = 0; k < simulator_.signals(); ++k) {
          actor.policy.accumulate_score(
              actor.parameters, std::as_const(w.inputs).view().from_column(from),
              std::as_const(w.noise).view().from_column(from), w.weights.view().row(k) + from,
              std::as_const(w.units).view().from_column(from), w.deltas.view().from_column(from),
              result_.partial_sum(index, static_cast<std::size_t>(k), g), w.grouping.count(g));
        }
      }
    }
  });
  result_.reduce(batch);
  return result_;
}

template class ZerothOrderGradient<float>;
template class ZerothOrderGradient<double>;

}  // namespace cgpo
