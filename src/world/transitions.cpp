#include "cgpo/world/transitions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cgpo/base/error.hpp"

namespace cgpo {

void TransitionStore::append(std::span<const float> rows) {
  const std::ptrdiff_t wide = width();
  check(rows.size() % static_cast<std::size_t>(wide) == 0, "whole transitions are appended");
  for (std::size_t at = 0; at < rows.size(); at += static_cast<std::size_t>(wide)) {
    const bool full = size_ == capacity_;
    const std::int64_t to = full ? first_ : size_;
    if (full) {
      first_ = (first_ + 1) % capacity_;
    } else {
      ++size_;
      if (values_.size() < static_cast<std::size_t>(size_ * wide)) {
        const std::int64_t room = std::min(capacity_, std::max<std::int64_t>(2 * size_, 1024));
        values_.reserve(static_cast<std::size_t>(room * wide));  // resize() alone may take twice of it
        values_.resize(static_cast<std::size_t>(room * wide));
      }
    }
    std::copy_n(rows.data() + at, wide, values_.data() + to * wide);
  }
}

int held_out_every(double share, int environments) {
  if (share <= 0.0 || environments < 2) return 0;
  return std::clamp(static_cast<int>(std::lround(std::min(1.0 / share, 1e6))), 2, environments);
}

void gather_transitions(const Simulator<float>& simulator, const Batch<float>& batch, int held_every, int iteration,
                        BatchTransitions& result) {
  constexpr float kNothing = std::numeric_limits<float>::quiet_NaN();
  result.training.clear();
  result.held_out.clear();
  for (const TrajectoryBlock<float>& block : batch.blocks) {
    const Rows<const float> observations = block.observations.view();
    const Rows<const float> actions = block.actions.view();
    const Rows<const float> signals = block.signals.view();
    for (int lane = 0; lane < block.lanes(); ++lane) {
      const bool held = held_every > 0 && (block.environments.begin + lane + iteration) % held_every == 0;
      std::vector<float>& rows = held ? result.held_out : result.training;
      for (int t = 0; t < block.simulated; ++t) {
        bool any = false;
        for (int k = 0; k < simulator.signals(); ++k) any = any || counts(block, simulator.stops_at_end(k), t, lane);
        if (!any) break;
        const std::ptrdiff_t now = block.column(t) + lane;
        const std::ptrdiff_t next = block.column(t + 1) + lane;
        for (int i = 0; i < block.observations.rows(); ++i) rows.push_back(observations.row(i)[now]);
        for (int i = 0; i < block.actions.rows(); ++i) rows.push_back(actions.row(i)[now]);
        for (int i = 0; i < block.observations.rows(); ++i)
          rows.push_back(observations.row(i)[next] - observations.row(i)[now]);
        for (int k = 0; k < simulator.signals(); ++k) {
          rows.push_back(counts(block, simulator.stops_at_end(k), t, lane) ? signals.row(k)[now] : kNothing);
        }
      }
    }
  }
}

}  // namespace cgpo
