#include "cgpo/gradient/missed.hpp"

#include <algorithm>

#include "cgpo/gradient/advantages.hpp"
#include "cgpo/gradient/targets.hpp"

namespace cgpo {

template <class Real>
MissedGradient<Real>::MissedGradient(const Simulator<Real>& simulator, const Policy<Real>& policy,
                                     const Batch<Real>& shape, int window, const HorizonRule& horizon, double lambda)
    : simulator_(simulator),
      window_(window > 0 ? std::min(window, shape.horizon) : shape.horizon),
      horizon_(horizon),
      lambda_(lambda),
      scores_(simulator, policy, shape, /*step_baseline=*/true) {
  for (const auto& block : shape.blocks) {
    workspaces_.push_back({AlignedVector<Real>(static_cast<std::size_t>(block.column(shape.horizon + 1))),
                           AlignedVector<Real>(static_cast<std::size_t>(block.column(shape.horizon))),
                           {}});
  }
}

template <class Real>
void MissedGradient<Real>::find_weights(const TrajectoryBlock<Real>& block, int signal, const Critic<Real>& critic,
                                        Workspace& w, std::span<Real> weights) const {
  const bool stops = simulator_.stops_at_end(signal);
  find_values<Real>(critic, block, 0, block.simulated, horizon_, w.values, w.critic.front());
  generalised_advantages<Real>(block, signal, stops, {horizon_.discount, lambda_, horizon_.ends_at_horizon}, w.values,
                               w.advantages);
  const auto discount = static_cast<Real>(horizon_.discount);
  for (int lane = 0; lane < block.lanes(); ++lane) {
    Real missed = 0;  // γ^{e−t} (G_e − V(s_e))
    for (int t = block.simulated - 1; t >= 0; --t) {
      const auto now = static_cast<std::size_t>(block.column(t) + lane);
      const auto next = static_cast<std::size_t>(block.column(t + 1) + lane);
      if (!counts(block, stops, t, lane) || t + 1 == block.horizon) {
        missed = Real(0);
      } else if (ends_early(block, stops, t, lane)) {
        missed = -w.values[next];
      } else if ((t + 1) % window_ == 0) {
        missed = w.advantages[next];
      }
      missed *= discount;
      weights[now] = missed;
    }
  }
}

template <class Real>
const GradientEstimate& MissedGradient<Real>::estimate(const Batch<Real>& batch, const Actor<Real>& actor,
                                                       std::span<const Critic<Real>> critics, ThreadPool& pool) {
  pool.run(static_cast<int>(batch.blocks.size()), [&](int b) {
    const auto index = static_cast<std::size_t>(b);
    Workspace& workspace = workspaces_[index];
    if (workspace.critic.empty()) workspace.critic.emplace_back(critics[0].mlp(), batch.blocks[index].lanes());
    RowStore<Real>& weights = scores_.weights()[index];
    for (int k = 0; k < simulator_.signals(); ++k) {
      find_weights(batch.blocks[index], k, critics[static_cast<std::size_t>(k)], workspace,
                   std::span(weights.view().row(k), static_cast<std::size_t>(weights.columns())));
    }
  });
  return scores_.estimate_from_weights(batch, actor, pool);
}

template class MissedGradient<float>;
template class MissedGradient<double>;

}  // namespace cgpo
