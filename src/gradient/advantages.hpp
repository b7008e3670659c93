// Generalised advantage estimation (Schulman et al., 2016) of any signal.
#pragma once

#include <span>

#include "cgpo/rollout/trajectory.hpp"

namespace cgpo {

struct AdvantageOptions {
  double discount = 0.99;        // γ
  double lambda = 0.95;          // mixes short and long estimates
  bool ends_at_horizon = false;  // whether T is the end of the problem, or only cuts the episode off
};

// Advantages of one signal f over one block, backwards:
//   δ_t = f_t + γ V_{t+1} − V_t,   A_t = δ_t + γλ A_{t+1}
// Where the signal stops with step t, V_{t+1} = A_{t+1} = 0. At t = T−1 A_T = 0, and V_T = 0 only if T is the end.
// Steps that do not count for the signal get 0. values: V at columns of steps 0 … T; advantages: of steps 0 … T−1.
// A critic's target is A_t + V_t.
template <class Real>
void generalised_advantages(const TrajectoryBlock<Real>& block, int signal, bool stops, const AdvantageOptions& options,
                            std::span<const Real> values, std::span<Real> advantages);

}  // namespace cgpo
