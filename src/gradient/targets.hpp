// What the critics say of episodes, and what they are fitted to: TD(λ) returns over windows.
#pragma once

#include <span>

#include "cgpo/gradient/horizon_rule.hpp"
#include "cgpo/nn/critic.hpp"
#include "cgpo/rollout/trajectory.hpp"

namespace cgpo {

struct ReturnOptions {
  int window = 0;       // steps; 0: the whole episode
  double lambda = 1.0;  // mixes short and long returns
  HorizonRule horizon = {};
};

// V at the columns of steps first … last of a block; values: at columns of steps 0 … T.
template <class Real>
void find_values(const Critic<Real>& critic, const TrajectoryBlock<Real>& block, int first, int last,
                 const HorizonRule& horizon, std::span<Real> values, CriticWorkspace<Real>& workspace);

// λ-returns of one signal over one block, backwards in each window:
//   G_t = f_t                                        if the signal stops with step t, or T ends the sum and t = T−1
//   G_t = f_t + γ V_{t+1}                            at the end of a window, and at a T that only truncates
//   G_t = f_t + γ ((1−λ) V_{t+1} + λ G_{t+1})        else
// values: V at columns of steps 0 … T (the last is read only if T truncates); targets: at columns of steps 0 … T−1.
template <class Real>
void lambda_returns(const TrajectoryBlock<Real>& block, int signal, bool stops, const ReturnOptions& options,
                    std::span<const Real> values, std::span<Real> targets);

}  // namespace cgpo
