#include "cgpo/gradient/targets.hpp"

namespace cgpo {

template <class Real>
void lambda_returns(const TrajectoryBlock<Real>& block, int signal, bool stops, int window, double lambda,
                    std::span<const Real> values, std::span<Real> targets) {
  const Real* const f = block.signals.view().row(signal);
  const auto mix = static_cast<Real>(lambda);
  for (int t = block.simulated - 1; t >= 0; --t) {
    const bool window_ends = window > 0 && (t + 1) % window == 0;
    for (int lane = 0; lane < block.lanes(); ++lane) {
      const auto now = static_cast<std::size_t>(block.column(t) + lane);
      const auto next = static_cast<std::size_t>(block.column(t + 1) + lane);
      Real target = f[now];
      if (t + 1 < block.horizon && counts(block, stops, t + 1, lane)) {
        target += window_ends ? values[next] : (Real(1) - mix) * values[next] + mix * targets[next];
      }
      targets[now] = target;
    }
  }
}

template void lambda_returns(const TrajectoryBlock<float>&, int, bool, int, double, std::span<const float>,
                             std::span<float>);
template void lambda_returns(const TrajectoryBlock<double>&, int, bool, int, double, std::span<const double>,
                             std::span<double>);

}  // namespace cgpo
