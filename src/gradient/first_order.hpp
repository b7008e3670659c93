// Gradients through the simulator: `shac` and `bptt`.
//
// shac cuts an episode into windows of h steps. In each, the start state is a constant and
//   L_w = Σ_{t in window} f(s_t, a_t) + V_f(s_end, t_end),   V_f(·, T) = 0,
// and ∇J_f ≈ Σ_w ∂L_w/∂θ, averaged over episodes. bptt is one window of T steps, without a critic.
//
// With a discount (HorizonRule) sums are discounted from each step on:
//   L_t = f_t + γ L_{t+1},   L_end = V_f(s_end), at a T that only truncates too unless the signal stopped before,
// and ∇J_f ≈ Σ_t (∂a_t/∂θ)ᵀ ∂L_t/∂a_t. Every action counts once, whatever its t, as every discounted advantage does in
// a score-function gradient: so it does not matter where windows begin, and the sum keeps the units of J. (It is the
// gradient of no single sum. That would weigh action t by γ^t: over the whole episode, where late actions would fade,
// or from each window's start, as SHAC's public code has it.) All that changes backwards is that the adjoint that
// arrives from t+1 is multiplied by γ.
//
// Backwards through a window, for every signal f at once (λ: adjoint of a state, o = observe(s), x = normalise(o)):
//   (λ_t, ā_t) = step'ᵀ(s_t, a_t) · (γ λ_{t+1}, γ ō_{t+1}, weight_t)
//   ō_t = (1/std) · (∂π/∂x)ᵀ ā_t        θ̄ += (∂π/∂θ)ᵀ ā_t
// A signal that stops with the episode has weight 0 after the end and no adjoint from beyond it, or, if asked for, that
// of the critic: see missed.hpp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cgpo/gradient/estimate.hpp"
#include "cgpo/gradient/horizon_rule.hpp"
#include "cgpo/nn/critic.hpp"
#include "cgpo/rollout/collect.hpp"

namespace cgpo {

// What closes a window in which a signal stops: nothing, or the critic at the state that ended the episode.
enum class Ends : std::uint8_t { kCut, kClosed };

template <class Real>
class FirstOrderGradient {
 public:
  // Sizes all working memory for batches of this shape. window = 0: the whole episode.
  FirstOrderGradient(const Simulator<Real>& simulator, const Policy<Real>& policy, const Batch<Real>& shape, int window,
                     const HorizonRule& horizon = {});

  // critics: one a signal, to close the windows; empty: windows end with nothing (bptt).
  const GradientEstimate& estimate(const Batch<Real>& batch, const Actor<Real>& actor,
                                   std::span<const Critic<Real>> critics, ThreadPool& pool, Ends ends = Ends::kCut);

  // The same sweep, kept for what it says of the states instead of the parameters: for each block, rows
  // [signals · states × T·B] of dL/ds_t, the total derivative along the policy from s_t to the end of its window,
  // discounted from t on. It is what the slope of an exact V would be.
  const std::vector<RowStore<Real>>& state_slopes(const Batch<Real>& batch, const Actor<Real>& actor,
                                                  std::span<const Critic<Real>> critics, ThreadPool& pool);

 private:
  struct Cosine {
    double sum = 0.0;
    double count = 0.0;
  };
  struct Segment {  // of an episode, in steps
    int begin = 0;
    int end = 0;
  };
  struct Workspace {
    SimulatorScratch<Real> simulator;
    bool intact = true;                  // the block at hand
    std::vector<RowStore<Real>> deltas;  // [signals], of the policy's units, for the steps of a segment
    GroupedColumns grouping;             // of the segment at hand, and its rows in that order
    RowStore<Real> grouped_inputs, grouped_noise, grouped_units, grouped_deltas;
    RowStore<Real> next_state_adjoint;   // [signals · states × B]
    RowStore<Real> observation_adjoint;  // [signals · observations × B]
    RowStore<Real> state_adjoint;        // [signals · states × B]
    RowStore<Real> action_adjoint;       // [signals · actions × B]
    RowStore<Real> weight;               // [signals × B]
    RowStore<Real> slope;                // [signals · states × B], of the next window's L at its start
    RowStore<Real> critic_slope;         // [states × B]
    RowStore<Real> end_slope;            // [observations × B]
    AlignedVector<Real> ending;          // [B], 1 where an episode ends
    std::vector<Cosine> cosines;         // [signals]
    std::vector<CriticWorkspace<Real>> critic;
  };

  void sweep(const TrajectoryBlock<Real>& block, const Actor<Real>& actor, std::span<const Critic<Real>> critics,
             Workspace& workspace, std::size_t index);
  void sweep_segment(const TrajectoryBlock<Real>& block, const Segment& segment, const Actor<Real>& actor,
                     std::span<const Critic<Real>> critics, Workspace& workspace, std::size_t index);
  void pull_back_step(const TrajectoryBlock<Real>& block, int t, const Actor<Real>& actor,
                      std::span<const Critic<Real>> critics, Workspace& workspace) const;
  void pull_back_policy(const TrajectoryBlock<Real>& block, int t, std::ptrdiff_t first, const Actor<Real>& actor,
                        Workspace& workspace) const;
  // Where step t led.
  Rows<const Real> after(const TrajectoryBlock<Real>& block, int t) const;
  Rows<const Real> inputs_after(const TrajectoryBlock<Real>& block, int t) const;
  void start_window(const TrajectoryBlock<Real>& block, int end, const Actor<Real>& actor,
                    std::span<const Critic<Real>> critics, Workspace& workspace) const;
  void cut(const TrajectoryBlock<Real>& block, int t, Workspace& workspace) const;
  // After that: the critics' slopes where it was an end that cut.
  void close_ends(const TrajectoryBlock<Real>& block, int t, const Actor<Real>& actor,
                  std::span<const Critic<Real>> critics, Workspace& workspace) const;

  // slope = dL/ds_t from what a sweep has at step t.
  void total_slope(const TrajectoryBlock<Real>& block, int t, const RowStore<Real>& state_adjoint, Workspace& workspace,
                   Rows<Real> slope) const;
  // Adds up the cosines of workspace.slope with the critics' slopes at step t, where the window before it ends.
  void compare_slopes(const TrajectoryBlock<Real>& block, int t, Workspace& workspace) const;
  void measure_states(const Batch<Real>& batch);

  const Simulator<Real>& simulator_;
  HorizonRule horizon_;
  bool keeps_slopes_ = false;
  Ends ends_ = Ends::kCut;
  std::vector<RowStore<Real>> slopes_;  // [block]
  int window_;
  int segment_;                        // steps whose weight gradients are one product; divides the window
  std::vector<Workspace> workspaces_;  // one a block
  std::vector<double> state_std_;      // over window ends
  GradientEstimate result_;
};

extern template class FirstOrderGradient<float>;
extern template class FirstOrderGradient<double>;

}  // namespace cgpo
