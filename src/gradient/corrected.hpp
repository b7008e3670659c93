// A gradient through a model that may be wrong, and, by the score function, what it missed.
//
// With Q̂(s, a) = f̂(s, a) + γ V(ŝ′), what model and critic promise of an action, and Â = Q̂(s_t, a_t) − V(s_t),
//   ∇J_f ≈ (1/N) Σ_i Σ_t [ (∂a_t/∂θ)ᵀ ∂Q̂/∂a (s_t, a_t)  +  ∇ log π(a_t | s_t) (A_t − Â_t) ],
// A_t being the advantage in the real episode (generalised, λ). For any function Q̂ of state and action that has not
// seen these episodes both terms with Q̂ have the same mean, so its errors cancel: what is left is the score-function
// gradient of A. The better the model, the less has to be made up for by scores.
//
// A twin (Ends::kClosed) is such a model: ŝ′ is where it leads from s_t, with derivatives of its own. Its episodes end
// when the real ones do, which a_t brings about; so V(ŝ′) closes an end as it does any other step, and Q̂ has no jump
// there. Its critics have not seen the episodes. One step at a time it is right in the mean (λ = 1) whatever twin and
// critics are, with ends and without; but for what few numbers, fitted to them, took from the episodes' noise.
//
// A learned model and its critics were fitted to the very episodes first. What they follow of the episodes' noise is
// missing in A − Â, so a part of the model's error is not made up for: the less, the more transitions the model keeps
// from other iterations and the fewer steps each fit takes. That is a smaller bias than the model's own, not none.
#pragma once

#include <span>
#include <vector>

#include "cgpo/gradient/advantages.hpp"
#include "cgpo/gradient/first_order.hpp"
#include "cgpo/gradient/targets.hpp"
#include "cgpo/gradient/zeroth_order.hpp"

namespace cgpo {

template <class Real>
class CorrectedGradient {
 public:
  // Sizes all working memory for batches of these shapes.
  CorrectedGradient(const Simulator<Real>& task, const Simulator<Real>& model, const Policy<Real>& policy,
                    const Batch<Real>& real, const Batch<Real>& predicted, const HorizonRule& horizon, double lambda,
                    Ends ends = Ends::kCut);

  // predicted: one step in the model from every state of the real episodes, with their noise (imagine, window 1).
  const GradientEstimate& estimate(const Batch<Real>& real, const Batch<Real>& predicted, const Actor<Real>& actor,
                                   std::span<const Critic<Real>> critics, ThreadPool& pool);

 private:
  struct Workspace {
    AlignedVector<Real> values;      // V at every column
    AlignedVector<Real> advantages;  // A
    AlignedVector<Real> next;        // [B], V(ŝ′)
    std::vector<CriticWorkspace<Real>> critic;
  };
  // Row k of the block's weights: A − Â.
  void find_residuals(const TrajectoryBlock<Real>& real, const TrajectoryBlock<Real>& predicted, int signal,
                      const Critic<Real>& critic, Workspace& workspace, std::span<Real> weights) const;

  const Simulator<Real>& task_;
  HorizonRule horizon_;
  double lambda_;
  Ends ends_;
  FirstOrderGradient<Real> promised_;
  ZerothOrderGradient<Real> missed_;
  std::vector<Workspace> workspaces_;  // one a block
  GradientEstimate result_;
};

extern template class CorrectedGradient<float>;
extern template class CorrectedGradient<double>;

}  // namespace cgpo
