#include "cgpo/gradient/targets.hpp"

namespace cgpo {

template <class Real>
void find_values(const Critic<Real>& critic, const TrajectoryBlock<Real>& block, int first, int last,
                 const HorizonRule& horizon, std::span<Real> values, CriticWorkspace<Real>& workspace) {
  if (last < first) return;
  critic.value(block.inputs.view().from_column(block.column(first)),
               {.first = first, .count = last - first + 1, .lanes = block.lanes(), .timed = horizon.ends_at_horizon},
               values.data() + block.column(first), workspace);
}

template void find_values(const Critic<float>&, const TrajectoryBlock<float>&, int, int, const HorizonRule&,
                          std::span<float>, CriticWorkspace<float>&);
template void find_values(const Critic<double>&, const TrajectoryBlock<double>&, int, int, const HorizonRule&,
                          std::span<double>, CriticWorkspace<double>&);

template <class Real>
void lambda_returns(const TrajectoryBlock<Real>& block, int signal, bool stops, const ReturnOptions& options,
                    std::span<const Real> values, std::span<Real> targets) {
  const Real* const f = block.signals.view().row(signal);
  const auto mix = static_cast<Real>(options.lambda);
  const auto discount = static_cast<Real>(options.horizon.discount);
  for (int t = block.simulated - 1; t >= 0; --t) {
    const bool window_ends = t + 1 == block.horizon || (options.window > 0 && (t + 1) % options.window == 0);
    for (int lane = 0; lane < block.lanes(); ++lane) {
      const auto now = static_cast<std::size_t>(block.column(t) + lane);
      const auto next = static_cast<std::size_t>(block.column(t + 1) + lane);
      Real target = f[now];
      if (goes_on(block, stops, t, lane, options.horizon.ends_at_horizon)) {
        target += discount * (window_ends ? values[next] : (Real(1) - mix) * values[next] + mix * targets[next]);
      }
      targets[now] = target;
    }
  }
}

template void lambda_returns(const TrajectoryBlock<float>&, int, bool, const ReturnOptions&, std::span<const float>,
                             std::span<float>);
template void lambda_returns(const TrajectoryBlock<double>&, int, bool, const ReturnOptions&, std::span<const double>,
                             std::span<double>);

}  // namespace cgpo
