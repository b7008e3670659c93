#include "cgpo/gradient/advantages.hpp"

#include <vector>

#include "cgpo/gradient/horizon_rule.hpp"

namespace cgpo {

template <class Real>
void generalised_advantages(const TrajectoryBlock<Real>& block, int signal, bool stops, const AdvantageOptions& options,
                            std::span<const Real> values, std::span<Real> advantages) {
  const Real* const f = block.signals.view().row(signal);
  const double decay = options.discount * options.lambda;
  std::vector<double> later(static_cast<std::size_t>(block.lanes()), 0.0);  // A_{t+1}
  for (int t = block.simulated - 1; t >= 0; --t) {
    for (int lane = 0; lane < block.lanes(); ++lane) {
      const auto now = static_cast<std::size_t>(block.column(t) + lane);
      double& advantage = later[static_cast<std::size_t>(lane)];
      if (!counts(block, stops, t, lane)) {
        advantage = 0.0;
      } else {
        const bool followed = goes_on(block, stops, t, lane, options.ends_at_horizon);
        const auto next = static_cast<std::size_t>(block.column(t + 1) + lane);
        const double following = followed ? options.discount * static_cast<double>(values[next]) : 0.0;
        const double error = static_cast<double>(f[now]) + following - static_cast<double>(values[now]);
        advantage = error + (followed ? decay * advantage : 0.0);
      }
      advantages[now] = static_cast<Real>(advantage);
    }
  }
}

template void generalised_advantages(const TrajectoryBlock<float>&, int, bool, const AdvantageOptions&,
                                     std::span<const float>, std::span<float>);
template void generalised_advantages(const TrajectoryBlock<double>&, int, bool, const AdvantageOptions&,
                                     std::span<const double>, std::span<double>);

}  // namespace cgpo
