#include "cgpo/gradient/first_order.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cgpo/base/error.hpp"

namespace cgpo {
namespace {

constexpr int kSegment = 16;  // steps: long enough for large products, short enough for the cache

template <class Real>
void clear(RowStore<Real>& store) {
  Rows<Real> rows = store.view();
  for (int i = 0; i < store.rows(); ++i) std::fill_n(rows.row(i), store.columns(), Real(0));
}

template <class Real>
void multiply(RowStore<Real>& store, Real factor) {
  Rows<Real> rows = store.view();
  for (int i = 0; i < store.rows(); ++i) {
    for (std::ptrdiff_t column = 0; column < store.columns(); ++column) rows.row(i)[column] *= factor;
  }
}

}  // namespace

template <class Real>
FirstOrderGradient<Real>::FirstOrderGradient(const Simulator<Real>& simulator, const Policy<Real>& policy,
                                             const Batch<Real>& shape, int window, const HorizonRule& horizon)
    : simulator_(simulator),
      horizon_(horizon),
      window_(window > 0 ? std::min(window, shape.horizon) : shape.horizon),
      segment_(std::min(window_, kSegment)) {
  const TaskSpec& spec = simulator.spec();
  const int signals = simulator.signals();
  for (const auto& block : shape.blocks) {
    const int lanes = block.lanes();
    Workspace workspace;
    workspace.deltas.assign(static_cast<std::size_t>(signals),
                            RowStore<Real>(policy.unit_count(), block.column(segment_)));
    workspace.grouped_inputs.resize(spec.observations, block.column(segment_));
    workspace.grouped_noise.resize(spec.actions, block.column(segment_));
    workspace.grouped_units.resize(policy.unit_count(), block.column(segment_));
    workspace.grouped_deltas.resize(policy.unit_count(), block.column(segment_));
    workspace.next_state_adjoint.resize(signals * spec.states, lanes);
    workspace.observation_adjoint.resize(signals * spec.observations, lanes);
    workspace.state_adjoint.resize(signals * spec.states, lanes);
    workspace.action_adjoint.resize(signals * spec.actions, lanes);
    workspace.weight.resize(signals, lanes);
    workspace.slope.resize(signals * spec.states, lanes);
    workspace.critic_slope.resize(spec.states, lanes);
    workspace.end_slope.resize(spec.observations, lanes);
    workspace.ending.resize(static_cast<std::size_t>(lanes));
    workspaces_.push_back(std::move(workspace));
  }
  result_.resize(signals, shape.blocks.size(), policy.parameter_count());
}

template <class Real>
const GradientEstimate& FirstOrderGradient<Real>::estimate(const Batch<Real>& batch, const Actor<Real>& actor,
                                                           std::span<const Critic<Real>> critics, ThreadPool& pool,
                                                           Ends ends) {
  ends_ = ends;
  if (!simulator_.differentiable()) {
    throw UserError(
        "task {} is not differentiable: it has no shac or bptt gradient (gradient.source = \"zobg\" needs none)",
        simulator_.spec().name);
  }
  check(critics.empty() || static_cast<int>(critics.size()) == simulator_.signals(), "one critic a signal");
  check(batch.blocks.front().keep == Keep::kInner, "the episodes kept what a sweep needs");
  check(batch.blocks.size() <= workspaces_.size(), "the batch has the shape that memory was made for");
  for (Workspace& workspace : workspaces_) {
    if (!critics.empty() && workspace.critic.empty())
      workspace.critic.emplace_back(critics[0].mlp(), static_cast<int>(workspace.weight.columns()));
    workspace.cosines.assign(static_cast<std::size_t>(simulator_.signals()), {});
  }
  if (!critics.empty()) measure_states(batch);
  pool.run(static_cast<int>(batch.blocks.size()), [&](int b) {
    const auto index = static_cast<std::size_t>(b);
    sweep(batch.blocks[index], actor, critics, workspaces_[index], index);
  });
  result_.reduce(batch);
  result_.critic_cosines.clear();
  for (std::size_t k = 0; k < critics.size(); ++k) {
    const auto of_all = [&](double Cosine::*part) {
      return sum_over_blocks(batch.blocks.size(), [&](std::size_t b) { return workspaces_[b].cosines[k].*part; });
    };
    const double count = of_all(&Cosine::count);
    result_.critic_cosines.push_back(count > 0.0 ? of_all(&Cosine::sum) / count
                                                 : std::numeric_limits<double>::quiet_NaN());
  }
  return result_;
}

template <class Real>
void FirstOrderGradient<Real>::sweep(const TrajectoryBlock<Real>& block, const Actor<Real>& actor,
                                     std::span<const Critic<Real>> critics, Workspace& w, std::size_t index) {
  result_.clear_block(index);
  w.intact = block.intact();
  for (int window = (block.simulated - 1) / window_ * window_; window >= 0; window -= window_) {
    const int window_end = std::min(window + window_, block.simulated);
    const bool compares = !critics.empty() && window_end < block.simulated;
    if (compares)
      total_slope(block, window_end, w.next_state_adjoint, w, w.slope.view());  // as the next window left it
    start_window(block, window_end, actor, critics, w);
    if (compares) compare_slopes(block, window_end, w);
    for (int begin = window + (window_end - 1 - window) / segment_ * segment_; begin >= window; begin -= segment_)
      sweep_segment(block, {begin, std::min(begin + segment_, window_end)}, actor, critics, w, index);
  }
}

// Steps backwards, then all their weight gradients in one product a group.
template <class Real>
void FirstOrderGradient<Real>::sweep_segment(const TrajectoryBlock<Real>& block, const Segment& segment,
                                             const Actor<Real>& actor, std::span<const Critic<Real>> critics,
                                             Workspace& w, std::size_t index) {
  const std::ptrdiff_t first = block.column(segment.begin);
  for (int t = segment.end - 1; t >= segment.begin; --t) {
    pull_back_step(block, t, actor, critics, w);
    pull_back_policy(block, t, first, actor, w);
    if (keeps_slopes_) total_slope(block, t, w.state_adjoint, w, slopes_[index].view().from_column(block.column(t)));
    std::swap(w.next_state_adjoint, w.state_adjoint);
  }
  const int units = actor.policy.unit_count();
  w.grouping.set(block.environments, segment.end - segment.begin);
  w.grouping.take(block.inputs.view().from_column(first), block.inputs.rows(), w.grouped_inputs.view());
  w.grouping.take(block.noise.view().from_column(first), block.noise.rows(), w.grouped_noise.view());
  w.grouping.take(block.units.view().from_column(first), units, w.grouped_units.view());
  for (std::size_t k = 0; k < w.deltas.size(); ++k) {
    w.grouping.take(std::as_const(w.deltas[k]).view(), units, w.grouped_deltas.view());
    for (int g = 0; g < kGradientGroups; ++g) {
      if (w.grouping.count(g) == 0) continue;
      const int from = w.grouping.first(g);
      actor.policy.accumulate_gradient(actor.parameters, std::as_const(w.grouped_inputs).view().from_column(from),
                                       std::as_const(w.grouped_noise).view().from_column(from),
                                       std::as_const(w.grouped_units).view().from_column(from),
                                       std::as_const(w.grouped_deltas).view().from_column(from),
                                       result_.partial_sum(index, k, g), w.grouping.count(g));
    }
  }
}

template <class Real>
Rows<const Real> FirstOrderGradient<Real>::after(const TrajectoryBlock<Real>& block, int t) const {
  if (block.end_states.rows() > 0 && ((t + 1) % window_ == 0 || t + 1 == block.simulated))
    return block.end_states.view().from_column(block.column(t / window_));
  return block.states.view().from_column(block.column(t + 1));
}

template <class Real>
Rows<const Real> FirstOrderGradient<Real>::inputs_after(const TrajectoryBlock<Real>& block, int t) const {
  if (block.end_inputs.rows() > 0 && ((t + 1) % window_ == 0 || t + 1 == block.simulated))
    return block.end_inputs.view().from_column(block.column(t / window_));
  return block.inputs.view().from_column(block.column(t + 1));
}

// From the adjoints of what follows step t to those of its state and action.
template <class Real>
void FirstOrderGradient<Real>::pull_back_step(const TrajectoryBlock<Real>& block, int t, const Actor<Real>& actor,
                                              std::span<const Critic<Real>> critics, Workspace& w) const {
  const TaskSpec& spec = simulator_.spec();
  const int lanes = block.lanes();
  const std::ptrdiff_t column = block.column(t);
  const auto discount = static_cast<Real>(horizon_.discount);
  const bool keeps_inner = block.inner.rows() == simulator_.inner_rows();
  const Rows<const Real> none;
  for (int k = 0; k < simulator_.signals(); ++k) std::fill_n(w.weight.view().row(k), lanes, Real(1));
  if (!w.intact) cut(block, t, w);
  if (!w.intact && ends_ == Ends::kClosed && !critics.empty()) close_ends(block, t, actor, critics, w);
  if (discount != Real(1)) {
    multiply(w.next_state_adjoint, discount);
    multiply(w.observation_adjoint, discount);
  }
  simulator_.pull_back({.state = block.states.view().from_column(column),
                        .action = block.actions.view().from_column(column),
                        .next_state_adjoint = w.next_state_adjoint.view(),
                        .observation_adjoint = w.observation_adjoint.view(),
                        .weight = w.weight.view(),
                        .state_adjoint = w.state_adjoint.view(),
                        .action_adjoint = w.action_adjoint.view(),
                        .next_state = keeps_inner ? after(block, t) : none,
                        .inner = keeps_inner ? block.inner.view().from_column(column) : none},
                       lanes, w.simulator);
  if (w.intact) return;
  // A lane that does not count has no adjoint, whatever its Jacobian is: assigned, not multiplied.
  for (int k = 0; k < simulator_.signals(); ++k) {
    for (int lane = 0; lane < lanes; ++lane) {
      if (counts(block, simulator_.stops_at_end(k), t, lane)) continue;
      for (int i = 0; i < spec.states; ++i) w.state_adjoint.view().row(k * spec.states + i)[lane] = Real(0);
      for (int i = 0; i < spec.actions; ++i) w.action_adjoint.view().row(k * spec.actions + i)[lane] = Real(0);
    }
  }
}

// From the adjoints of step t's action to those of its observation, through the policy; `first` is the segment's
// column.
template <class Real>
void FirstOrderGradient<Real>::pull_back_policy(const TrajectoryBlock<Real>& block, int t, std::ptrdiff_t first,
                                                const Actor<Real>& actor, Workspace& w) const {
  const TaskSpec& spec = simulator_.spec();
  const std::ptrdiff_t column = block.column(t);
  for (int k = 0; k < simulator_.signals(); ++k) {
    const Rows<Real> observation_adjoint = w.observation_adjoint.view().from_row(k * spec.observations);
    actor.policy.backward(actor.parameters, block.units.view().from_column(column),
                          block.actions.view().from_column(column),
                          std::as_const(w.action_adjoint).view().from_row(k * spec.actions),
                          w.deltas[static_cast<std::size_t>(k)].view().from_column(column - first), block.lanes(),
                          {.rows = observation_adjoint});
    actor.normaliser.scale_adjoint(observation_adjoint, block.lanes());
  }
}

template <class Real>
const std::vector<RowStore<Real>>& FirstOrderGradient<Real>::state_slopes(const Batch<Real>& batch,
                                                                          const Actor<Real>& actor,
                                                                          std::span<const Critic<Real>> critics,
                                                                          ThreadPool& pool) {
  if (slopes_.empty()) {
    for (const auto& block : batch.blocks) {
      slopes_.emplace_back(simulator_.signals() * simulator_.spec().states, block.column(block.horizon));
    }
  }
  keeps_slopes_ = true;
  estimate(batch, actor, critics, pool);
  keeps_slopes_ = false;
  return slopes_;
}

// ds-part of the step plus Oᵀ times what came through the policy's input.
template <class Real>
void FirstOrderGradient<Real>::total_slope(const TrajectoryBlock<Real>& block, int t,
                                           const RowStore<Real>& state_adjoint, Workspace& w, Rows<Real> slope) const {
  const TaskSpec& spec = simulator_.spec();
  for (int k = 0; k < simulator_.signals(); ++k) {
    const Rows<Real> result = slope.from_row(k * spec.states);
    simulator_.observe_pull_back(block.states.view().from_column(block.column(t)),
                                 std::as_const(w.observation_adjoint).view().from_row(k * spec.observations), result,
                                 block.lanes(), w.simulator);
    for (int i = 0; i < spec.states; ++i) {
      const Real* const direct = state_adjoint.view().row(k * spec.states + i);
      for (int lane = 0; lane < block.lanes(); ++lane) result.row(i)[lane] += direct[lane];
    }
  }
}

// A product of slopes has the units of 1 / state², so each state is measured in what it usually varies by.
template <class Real>
void FirstOrderGradient<Real>::measure_states(const Batch<Real>& batch) {
  Moments moments(simulator_.spec().states);
  for (const auto& block : batch.blocks) {
    std::vector<std::uint8_t> keep(block.diverged.size());
    for (int t = window_; t < block.simulated; t += window_) {
      for (int lane = 0; lane < block.lanes(); ++lane) {  // where an episode has ended, its states mean nothing
        bool any = false;
        for (int k = 0; k < simulator_.signals(); ++k) any = any || counts(block, simulator_.stops_at_end(k), t, lane);
        keep[static_cast<std::size_t>(lane)] = any ? 1 : 0;
      }
      moments.add(block.states.view().from_column(block.column(t)), block.lanes(), keep.data());
    }
  }
  state_std_.clear();
  for (int i = 0; i < simulator_.spec().states; ++i) state_std_.push_back(std::sqrt(moments.variance(i)));
}

template <class Real>
void FirstOrderGradient<Real>::compare_slopes(const TrajectoryBlock<Real>& block, int t, Workspace& w) const {
  const TaskSpec& spec = simulator_.spec();
  for (int k = 0; k < simulator_.signals(); ++k) {
    simulator_.observe_pull_back(block.states.view().from_column(block.column(t)),
                                 std::as_const(w.observation_adjoint).view().from_row(k * spec.observations),
                                 w.critic_slope.view(), block.lanes(), w.simulator);
    for (int lane = 0; lane < block.lanes(); ++lane) {
      if (!counts(block, simulator_.stops_at_end(k), t, lane)) continue;
      double product = 0.0;
      double of_window = 0.0;
      double of_critic = 0.0;
      for (int i = 0; i < spec.states; ++i) {
        const double unit = state_std_[static_cast<std::size_t>(i)];
        const double a = unit * static_cast<double>(w.slope.view().row(k * spec.states + i)[lane]);
        const double b = unit * static_cast<double>(w.critic_slope.view().row(i)[lane]);
        product += a * b;
        of_window += a * a;
        of_critic += b * b;
      }
      const double scale = std::sqrt(of_window) * std::sqrt(of_critic);
      if (!(of_window > 0.0) || !std::isfinite(scale)) continue;  // nothing to compare with
      Cosine& cosine = w.cosines[static_cast<std::size_t>(k)];
      cosine.sum += scale > 0.0 ? product / scale : 0.0;
      cosine.count += 1.0;
    }
  }
}

// The adjoints that enter a window at its end: the critics' slopes where the signal goes on, nothing at a T that ends
// it.
template <class Real>
void FirstOrderGradient<Real>::start_window(const TrajectoryBlock<Real>& block, int end, const Actor<Real>& actor,
                                            std::span<const Critic<Real>> critics, Workspace& w) const {
  const int observations = simulator_.spec().observations;
  clear(w.next_state_adjoint);
  clear(w.observation_adjoint);
  if (critics.empty() || (end == block.horizon && horizon_.ends_at_horizon)) return;
  const Rows<const Real> inputs = inputs_after(block, end - 1);
  for (int k = 0; k < simulator_.signals(); ++k) {
    Real* const weight = w.weight.view().row(k);
    for (int lane = 0; lane < block.lanes(); ++lane) {
      const bool followed = goes_on(block, simulator_.stops_at_end(k), end - 1, lane, horizon_.ends_at_horizon);
      weight[lane] = followed ? Real(1) : Real(0);
    }
    const Rows<Real> adjoint = w.observation_adjoint.view().from_row(k * observations);
    critics[static_cast<std::size_t>(k)].value_gradient(inputs, horizon_.critic_time(end), weight, adjoint,
                                                        block.lanes(), w.critic.front());
    actor.normaliser.scale_adjoint(adjoint, block.lanes());
  }
}

// Weights of step t, and the adjoints from beyond it, where an episode has ended or diverged.
template <class Real>
void FirstOrderGradient<Real>::cut(const TrajectoryBlock<Real>& block, int t, Workspace& w) const {
  const TaskSpec& spec = simulator_.spec();
  for (int k = 0; k < simulator_.signals(); ++k) {
    const bool stops = simulator_.stops_at_end(k);
    for (int lane = 0; lane < block.lanes(); ++lane) {
      if (!counts(block, stops, t, lane)) w.weight.view().row(k)[lane] = Real(0);
      if (goes_on(block, stops, t, lane, horizon_.ends_at_horizon)) continue;
      for (int i = 0; i < spec.states; ++i) w.next_state_adjoint.view().row(k * spec.states + i)[lane] = Real(0);
      for (int i = 0; i < spec.observations; ++i)
        w.observation_adjoint.view().row(k * spec.observations + i)[lane] = Real(0);
    }
  }
}

template <class Real>
void FirstOrderGradient<Real>::close_ends(const TrajectoryBlock<Real>& block, int t, const Actor<Real>& actor,
                                          std::span<const Critic<Real>> critics, Workspace& w) const {
  const int lanes = block.lanes();
  const int observations = simulator_.spec().observations;
  bool any = false;
  for (int lane = 0; lane < lanes; ++lane) {
    const bool ends = ends_early(block, /*stops=*/true, t, lane);
    w.ending[static_cast<std::size_t>(lane)] = ends ? Real(1) : Real(0);
    any = any || ends;
  }
  if (!any) return;
  for (int k = 0; k < simulator_.signals(); ++k) {
    if (!simulator_.stops_at_end(k)) continue;
    // Into rows of their own, which this step fills anew: the other lanes' adjoints stay as they are, to the bit.
    const Rows<Real> slope = w.end_slope.view();
    clear(w.end_slope);
    critics[static_cast<std::size_t>(k)].value_gradient(inputs_after(block, t), horizon_.critic_time(t + 1),
                                                        w.ending.data(), slope, lanes, w.critic.front());
    actor.normaliser.scale_adjoint(slope, lanes);
    for (int i = 0; i < observations; ++i) {
      Real* const adjoint = w.observation_adjoint.view().row(k * observations + i);
      for (int lane = 0; lane < lanes; ++lane) {
        if (w.ending[static_cast<std::size_t>(lane)] != Real(0)) adjoint[lane] = slope.row(i)[lane];
      }
    }
  }
}

template class FirstOrderGradient<float>;
template class FirstOrderGradient<double>;

}  // namespace cgpo
