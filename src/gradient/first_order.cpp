#include "cgpo/gradient/first_order.hpp"

#include <algorithm>

#include "cgpo/base/error.hpp"

namespace cgpo {
namespace {

constexpr int kSegment = 16;  // steps: long enough for large products, short enough for the cache

template <class Real>
void clear(RowStore<Real>& store) {
  Rows<Real> rows = store.view();
  for (int i = 0; i < store.rows(); ++i) std::fill_n(rows.row(i), store.columns(), Real(0));
}

}  // namespace

template <class Real>
FirstOrderGradient<Real>::FirstOrderGradient(const Simulator<Real>& simulator, const Policy<Real>& policy,
                                             const Batch<Real>& shape, int window)
    : simulator_(simulator),
      window_(window > 0 ? std::min(window, shape.horizon) : shape.horizon),
      segment_(std::min(window_, kSegment)) {
  const TaskSpec& spec = simulator.task().spec();
  const int signals = simulator.signals();
  for (const auto& block : shape.blocks) {
    const int lanes = block.lanes();
    Workspace workspace;
    workspace.deltas.assign(static_cast<std::size_t>(signals), RowStore<Real>(policy.unit_count(), segment_ * lanes));
    workspace.next_state_adjoint.resize(signals * spec.states, lanes);
    workspace.observation_adjoint.resize(signals * spec.observations, lanes);
    workspace.state_adjoint.resize(signals * spec.states, lanes);
    workspace.action_adjoint.resize(signals * spec.actions, lanes);
    workspace.weight.resize(signals, lanes);
    workspaces_.push_back(std::move(workspace));
  }
  result_.resize(signals, shape.blocks.size(), policy.parameter_count());
}

template <class Real>
const GradientEstimate& FirstOrderGradient<Real>::estimate(const Batch<Real>& batch, const Actor<Real>& actor,
                                                           std::span<const Critic<Real>> critics, ThreadPool& pool) {
  if (!simulator_.differentiable()) {
    throw UserError(
        "task {} is not differentiable: it has no shac or bptt gradient (gradient.source = \"zobg\" needs none)",
        simulator_.task().spec().name);
  }
  check(critics.empty() || static_cast<int>(critics.size()) == simulator_.signals(), "one critic a signal");
  check(batch.blocks.front().keep == Keep::kInner, "the episodes kept what a sweep needs");
  check(batch.blocks.size() == workspaces_.size(), "the batch has the shape that memory was made for");
  for (Workspace& workspace : workspaces_) {
    if (!critics.empty() && workspace.critic.empty())
      workspace.critic.emplace_back(critics[0].mlp(), workspace.weight.columns());
  }
  pool.run(static_cast<int>(batch.blocks.size()), [&](int b) {
    const auto index = static_cast<std::size_t>(b);
    sweep(batch.blocks[index], actor, critics, workspaces_[index], index);
  });
  result_.reduce(batch);
  return result_;
}

template <class Real>
void FirstOrderGradient<Real>::sweep(const TrajectoryBlock<Real>& block, const Actor<Real>& actor,
                                     std::span<const Critic<Real>> critics, Workspace& w, std::size_t index) {
  const TaskSpec& spec = simulator_.task().spec();
  const int signals = simulator_.signals();
  const int lanes = block.lanes();
  const bool intact = block.intact();
  const bool keeps_inner = block.inner.rows() == simulator_.inner_rows();
  const Rows<const Real> none;
  result_.clear_block(index);

  for (int window = (block.simulated - 1) / window_ * window_; window >= 0; window -= window_) {
    const int window_end = std::min(window + window_, block.simulated);
    start_window(block, window_end, actor, critics, w);
    for (int begin = window + (window_end - 1 - window) / segment_ * segment_; begin >= window; begin -= segment_) {
      const int end = std::min(begin + segment_, window_end);
      const int first = block.column(begin);
      const int columns = (end - begin) * lanes;
      const Rows<const Real> inputs = block.inputs.view().from_column(first);
      const Rows<const Real> noise = block.noise.view().from_column(first);
      const Rows<const Real> units = block.units.view().from_column(first);

      for (int t = end - 1; t >= begin; --t) {
        const int column = block.column(t);
        const int local = column - first;
        for (int k = 0; k < signals; ++k) std::fill_n(w.weight.view().row(k), lanes, Real(1));
        if (!intact) cut(block, t, w);
        simulator_.pull_back({.state = block.states.view().from_column(column),
                              .action = block.actions.view().from_column(column),
                              .next_state_adjoint = w.next_state_adjoint.view(),
                              .observation_adjoint = w.observation_adjoint.view(),
                              .weight = w.weight.view(),
                              .state_adjoint = w.state_adjoint.view(),
                              .action_adjoint = w.action_adjoint.view(),
                              .next_state = keeps_inner ? block.states.view().from_column(block.column(t + 1)) : none,
                              .inner = keeps_inner ? block.inner.view().from_column(column) : none},
                             lanes, w.simulator);
        for (int k = 0; k < signals; ++k) {
          if (!intact) {  // a lane that does not count has no adjoint, whatever its Jacobian is: assigned, not
                          // multiplied
            for (int lane = 0; lane < lanes; ++lane) {
              if (counts(block, simulator_.stops_at_end(k), t, lane)) continue;
              for (int i = 0; i < spec.states; ++i) w.state_adjoint.view().row(k * spec.states + i)[lane] = Real(0);
              for (int i = 0; i < spec.actions; ++i) w.action_adjoint.view().row(k * spec.actions + i)[lane] = Real(0);
            }
          }
          const Rows<Real> observation_adjoint = w.observation_adjoint.view().from_row(k * spec.observations);
          actor.policy.backward(actor.parameters, units.from_column(local), block.actions.view().from_column(column),
                                std::as_const(w.action_adjoint).view().from_row(k * spec.actions),
                                w.deltas[static_cast<std::size_t>(k)].view().from_column(local), lanes,
                                {.rows = observation_adjoint});
          actor.normaliser.scale_adjoint(observation_adjoint, lanes);
        }
        if (keeps_slopes_) keep_slopes(block, t, w, slopes_[index]);
        std::swap(w.next_state_adjoint, w.state_adjoint);
      }
      for (int k = 0; k < signals; ++k) {
        actor.policy.accumulate_gradient(actor.parameters, inputs, noise, units,
                                         std::as_const(w.deltas[static_cast<std::size_t>(k)]).view(),
                                         result_.block_sums[static_cast<std::size_t>(k)][index], columns);
      }
    }
  }
}

template <class Real>
const std::vector<RowStore<Real>>& FirstOrderGradient<Real>::state_slopes(const Batch<Real>& batch,
                                                                          const Actor<Real>& actor,
                                                                          std::span<const Critic<Real>> critics,
                                                                          ThreadPool& pool) {
  if (slopes_.empty()) {
    for (const auto& block : batch.blocks) {
      slopes_.emplace_back(simulator_.signals() * simulator_.task().spec().states, block.horizon * block.lanes());
    }
  }
  keeps_slopes_ = true;
  estimate(batch, actor, critics, pool);
  keeps_slopes_ = false;
  return slopes_;
}

// ds-part of the step plus Oᵀ times what came through the policy's input.
template <class Real>
void FirstOrderGradient<Real>::keep_slopes(const TrajectoryBlock<Real>& block, int t, Workspace& w,
                                           RowStore<Real>& slopes) const {
  const TaskSpec& spec = simulator_.task().spec();
  const int column = block.column(t);
  for (int k = 0; k < simulator_.signals(); ++k) {
    const Rows<Real> result = slopes.view().from_row(k * spec.states).from_column(column);
    simulator_.observe_pull_back(block.states.view().from_column(column),
                                 std::as_const(w.observation_adjoint).view().from_row(k * spec.observations), result,
                                 block.lanes(), w.simulator);
    for (int i = 0; i < spec.states; ++i) {
      const Real* const direct = w.state_adjoint.view().row(k * spec.states + i);
      for (int lane = 0; lane < block.lanes(); ++lane) result.row(i)[lane] += direct[lane];
    }
  }
}

// The adjoints that enter a window at its end: the critics' slopes where the episode goes on, nothing at T.
template <class Real>
void FirstOrderGradient<Real>::start_window(const TrajectoryBlock<Real>& block, int end, const Actor<Real>& actor,
                                            std::span<const Critic<Real>> critics, Workspace& w) const {
  const int observations = simulator_.task().spec().observations;
  clear(w.next_state_adjoint);
  clear(w.observation_adjoint);
  if (critics.empty() || end == block.horizon) return;
  const Rows<const Real> inputs = block.inputs.view().from_column(block.column(end));
  for (int k = 0; k < simulator_.signals(); ++k) {
    Real* const weight = w.weight.view().row(k);
    for (int lane = 0; lane < block.lanes(); ++lane) {
      weight[lane] = counts(block, simulator_.stops_at_end(k), end, lane) ? Real(1) : Real(0);
    }
    const Rows<Real> adjoint = w.observation_adjoint.view().from_row(k * observations);
    critics[static_cast<std::size_t>(k)].value_gradient(inputs, end, weight, adjoint, block.lanes(), w.critic.front());
    actor.normaliser.scale_adjoint(adjoint, block.lanes());
  }
}

// Weights of step t, and the adjoints from beyond it, where an episode has ended or diverged.
template <class Real>
void FirstOrderGradient<Real>::cut(const TrajectoryBlock<Real>& block, int t, Workspace& w) const {
  const TaskSpec& spec = simulator_.task().spec();
  for (int k = 0; k < simulator_.signals(); ++k) {
    const bool stops = simulator_.stops_at_end(k);
    for (int lane = 0; lane < block.lanes(); ++lane) {
      if (!counts(block, stops, t, lane)) w.weight.view().row(k)[lane] = Real(0);
      if (counts(block, stops, t + 1, lane)) continue;
      for (int i = 0; i < spec.states; ++i) w.next_state_adjoint.view().row(k * spec.states + i)[lane] = Real(0);
      for (int i = 0; i < spec.observations; ++i)
        w.observation_adjoint.view().row(k * spec.observations + i)[lane] = Real(0);
    }
  }
}

template class FirstOrderGradient<float>;
template class FirstOrderGradient<double>;

}  // namespace cgpo
