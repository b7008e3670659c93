// What gradients through windows miss, by the score function.
//
// shac's windows end in a critic's word, V(s_e), and where an episode ends by itself, in nothing: the sweep takes that
// end as given, though actions bring it about. Say instead that a signal's end closes its window like any other, with
// what the critic would say of the state in which it came: e is the first of the window's end and the step after the
// episode's last one, and
//   L̂_t = Σ_{u=t}^{e−1} γ^{u−t} f_u + γ^{e−t} V(s_e)                            (first_order.hpp, Ends::kClosed)
// has no jump where the episode does. What really came after e was G_e, nothing after an end. So
//   ∇J_f = (1/N) Σ_i Σ_t [ (∂a_t/∂θ)ᵀ ∂L̂_t/∂a_t  +  ∇ log π(a_t | s_t) γ^{e−t} (G_e − V(s_e)) ]     in the mean:
// the second sum, which is made here, says what the first one, the sweep, missed. G_e − V(s_e) is taken as the
// generalised advantage A_e (λ); −V(s_e) at an end, 0 at T.
//
// V may be any function, if it was not fitted to these very episodes: both sums with V have the same mean. That is
// exact (for λ = 1) for windows of one step, and for longer ones where no episode ends inside of one. Where one does,
// whether step u > t of the window is reached at all depends on a_t, too, and what the sweep misses of that is the mean
// of f_u + γV(s_{u+1}) − V(s_u) on the border: of second order, the critic's error where episodes end.
//
// All of it takes the sweep for the derivative of what came. Where that is a twin's, what the twin gets wrong within a
// window is not in G_e − V(s_e), and the sum is as wrong as the sweep: corrected.hpp is for that.
#pragma once

#include <span>
#include <vector>

#include "cgpo/gradient/horizon_rule.hpp"
#include "cgpo/gradient/zeroth_order.hpp"
#include "cgpo/nn/critic.hpp"

namespace cgpo {

template <class Real>
class MissedGradient {
 public:
  // Sizes all working memory for batches of this shape. window: that of the sweep; 0: the whole episode.
  MissedGradient(const Simulator<Real>& simulator, const Policy<Real>& policy, const Batch<Real>& shape, int window,
                 const HorizonRule& horizon, double lambda);

  const GradientEstimate& estimate(const Batch<Real>& batch, const Actor<Real>& actor,
                                   std::span<const Critic<Real>> critics, ThreadPool& pool);

 private:
  struct Workspace {
    AlignedVector<Real> values;      // V at every column
    AlignedVector<Real> advantages;  // A
    std::vector<CriticWorkspace<Real>> critic;
  };
  void find_weights(const TrajectoryBlock<Real>& block, int signal, const Critic<Real>& critic, Workspace& workspace,
                    std::span<Real> weights) const;

  const Simulator<Real>& simulator_;
  int window_;
  HorizonRule horizon_;
  double lambda_;
  ZerothOrderGradient<Real> scores_;
  std::vector<Workspace> workspaces_;  // one a block
};

extern template class MissedGradient<float>;
extern template class MissedGradient<double>;

}  // namespace cgpo
