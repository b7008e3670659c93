// What the critics are fitted to: TD(λ) returns over windows.
#pragma once

#include <span>

#include "cgpo/rollout/trajectory.hpp"

namespace cgpo {

// λ-returns of one signal over one block, backwards in each window of `window` steps (0: the whole episode):
//   G_t = f_t                                        if the signal stops with step t, or t = T−1
//   G_t = f_t + V_{t+1}                              at the end of a window
//   G_t = f_t + (1−λ) V_{t+1} + λ G_{t+1}            else
// values: V at columns of steps 0 … T (the last is not read); targets: at columns of steps 0 … T−1.
template <class Real>
void lambda_returns(const TrajectoryBlock<Real>& block, int signal, bool stops, int window, double lambda,
                    std::span<const Real> values, std::span<Real> targets);

}  // namespace cgpo
