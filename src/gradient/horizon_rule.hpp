// What the horizon is to a signal's sum: the end of the problem, or only where the episode is cut off.
#pragma once

#include "cgpo/rollout/trajectory.hpp"

namespace cgpo {

// As it stands: sums without discount that end at T, and critics that know the time.
struct HorizonRule {
  double discount = 1.0;        // γ, weight of the next step's L
  bool ends_at_horizon = true;  // else T only truncates, and a critic speaks for what would follow

  // The step whose time feature a critic sees: where T is no end the time means nothing, and the feature is always 0.
  int critic_time(int t) const { return ends_at_horizon ? t : 0; }
};

// Whether anything of the signal follows step t of a lane. At T that is so only if T merely truncates; an episode that
// ended by itself is over also if it did so with its very last step.
template <class Real>
bool goes_on(const TrajectoryBlock<Real>& block, bool stops, int t, int lane, bool ends_at_horizon) {
  if (t + 1 < block.horizon) return counts(block, stops, t + 1, lane);
  return !ends_at_horizon && counts(block, stops, t, lane) &&
         !(stops && block.ended[static_cast<std::size_t>(lane)] != 0);
}

// Whether it is with step t that the lane's episode ends by itself and takes the signal with it, before T.
template <class Real>
bool ends_early(const TrajectoryBlock<Real>& block, bool stops, int t, int lane) {
  const auto at = static_cast<std::size_t>(lane);
  return stops && t + 1 < block.horizon && block.length[at] == t + 1 && block.ended[at] != 0 && block.diverged[at] == 0;
}

}  // namespace cgpo
