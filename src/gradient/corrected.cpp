#include "cgpo/gradient/corrected.hpp"

namespace cgpo {

template <class Real>
CorrectedGradient<Real>::CorrectedGradient(const Simulator<Real>& task, const Simulator<Real>& model,
                                           const Policy<Real>& policy, const Batch<Real>& real,
                                           const Batch<Real>& predicted, const HorizonRule& horizon, double lambda,
                                           Ends ends)
    : task_(task),
      horizon_(horizon),
      lambda_(lambda),
      ends_(ends),
      promised_(model, policy, predicted, /*window=*/1, horizon),
      missed_(task, policy, real, /*step_baseline=*/true) {
  for (const auto& block : real.blocks) {
    const auto lanes = static_cast<std::size_t>(block.lanes());
    const auto steps = static_cast<std::size_t>(real.horizon);
    workspaces_.push_back(
        {AlignedVector<Real>((steps + 1) * lanes), AlignedVector<Real>(steps * lanes), AlignedVector<Real>(lanes), {}});
  }
}

template <class Real>
void CorrectedGradient<Real>::find_residuals(const TrajectoryBlock<Real>& real, const TrajectoryBlock<Real>& predicted,
                                             int signal, const Critic<Real>& critic, Workspace& w,
                                             std::span<Real> weights) const {
  const int lanes = real.lanes();
  const bool stops = task_.stops_at_end(signal);
  CriticWorkspace<Real>& memory = w.critic[static_cast<std::size_t>(signal)];
  find_values<Real>(critic, real, 0, real.simulated, horizon_, w.values, memory);
  generalised_advantages<Real>(real, signal, stops, {horizon_.discount, lambda_, horizon_.ends_at_horizon}, w.values,
                               w.advantages);
  const Real* const reward = predicted.signals.view().row(signal);
  const auto discount = static_cast<Real>(horizon_.discount);
  for (int t = 0; t < real.simulated; ++t) {
    critic.value(predicted.end_inputs.view().from_column(real.column(t)), horizon_.critic_time(t + 1), w.next.data(),
                 lanes, memory);
    for (int lane = 0; lane < lanes; ++lane) {
      const auto at = static_cast<std::size_t>(real.column(t) + lane);
      if (!counts(real, stops, t, lane) || predicted.diverged[static_cast<std::size_t>(lane)] != 0) {
        weights[at] = Real(0);
        continue;
      }
      const bool closed = ends_ == Ends::kClosed && ends_early(real, stops, t, lane);
      const bool followed = closed || goes_on(real, stops, t, lane, horizon_.ends_at_horizon);
      const Real following = followed ? discount * w.next[static_cast<std::size_t>(lane)] : Real(0);
      weights[at] = w.advantages[at] - (reward[at] + following - w.values[at]);
    }
  }
}

template <class Real>
const GradientEstimate& CorrectedGradient<Real>::estimate(const Batch<Real>& real, const Batch<Real>& predicted,
                                                          const Actor<Real>& actor,
                                                          std::span<const Critic<Real>> critics, ThreadPool& pool) {
  pool.run(static_cast<int>(real.blocks.size()), [&](int b) {
    const auto index = static_cast<std::size_t>(b);
    Workspace& workspace = workspaces_[index];
    for (std::size_t k = workspace.critic.size(); k < critics.size(); ++k)
      workspace.critic.emplace_back(critics[k].mlp(), real.blocks[index].lanes());
    RowStore<Real>& weights = missed_.weights()[index];
    for (int k = 0; k < task_.signals(); ++k) {
      find_residuals(real.blocks[index], predicted.blocks[index], k, critics[static_cast<std::size_t>(k)], workspace,
                     std::span(weights.view().row(k), static_cast<std::size_t>(weights.columns())));
    }
  });
  const GradientEstimate& promised = promised_.estimate(predicted, actor, critics, pool, ends_);
  result_ = missed_.estimate_from_weights(real, actor, pool);
  add_sums(promised, result_);
  result_.critic_cosines = promised.critic_cosines;
  result_.group_episodes = promised.group_episodes;  // leaves out what diverged in either
  result_.average();
  return result_;
}

template class CorrectedGradient<float>;
template class CorrectedGradient<double>;

}  // namespace cgpo
