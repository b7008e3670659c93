// The parts that every algorithm here shares: a simulator, a policy, a normaliser, a batch of episodes, and one critic
// a signal. Plain members and functions on them; an algorithm calls those it needs, in the order it needs.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "cgpo/gradient/first_order.hpp"
#include "cgpo/nn/critic.hpp"
#include "cgpo/rollout/collect.hpp"
#include "cgpo/updates/algorithm.hpp"
#include "cgpo/updates/slope_targets.hpp"

namespace cgpo {

// What a sweep found of the states' slopes: of which episodes, in which simulator. Nothing: there are none.
template <class Real>
struct SlopeSource {
  const Simulator<Real>* simulator = nullptr;
  const Batch<Real>* batch = nullptr;
  const std::vector<RowStore<Real>>* slopes = nullptr;  // FirstOrderGradient::state_slopes
};

template <class Real>
struct ActorCritic {
  explicit ActorCritic(const AlgorithmContext& context, Keep keep = Keep::kInner);

  AlgorithmContext context;
  Constraints constraints;
  int horizon;
  std::unique_ptr<Simulator<Real>> simulator;
  Policy<Real> policy;
  AlignedVector<Real> parameters;  // θ
  Normaliser<Real> normaliser;
  std::vector<Critic<Real>> critics;  // V_R, V_C1 … V_Cm
  Batch<Real> batch;

  Actor<Real> actor() const { return {policy, parameters, normaliser}; }
  int signals() const { return simulator->signals(); }

  // One batch under the first policy sets the normaliser before iteration 0.
  void warm_up_normaliser();
  // Samples the episodes of an iteration into `batch`.
  void collect_episodes(int iteration);
  // Merges the batch's observations; the first layers take the change up, so that no network's function moves.
  void update_normaliser();
  // TD(λ) targets from the critics as they are, by horizon_rule(), then a fit of each. With slopes the fit minds them
  // too, by the weight critic.sobolev.
  std::vector<FitReport> fit_critics(int iteration, const SlopeSource<Real>& slopes = {});
  // The fit alone: targets(k) of signal k are [block], at the columns of the steps that count. Signals go side by side,
  // targets() too. timed: the critics see t/T, else 0.
  using TargetsOfSignal = std::function<const std::vector<AlignedVector<Real>>&(int signal)>;
  std::vector<FitReport> fit_critics_to(const TargetsOfSignal& targets, bool timed, int iteration,
                                        const SlopeSource<Real>& slopes = {});

  void save(Tensors& tensors) const;
  void load(const Tensors& tensors);

 private:
  struct CriticMemory {
    std::vector<AlignedVector<Real>> values;   // [block], V at every column
    std::vector<AlignedVector<Real>> targets;  // [block]
    AlignedVector<Real> all_targets;           // of the table's samples
    std::vector<std::uint32_t> chosen;         // samples that count for the signal
    std::unique_ptr<CriticWorkspace<Real>> workspace;
    std::unique_ptr<SlopeTargets<Real>> slopes;
  };
  const std::vector<AlignedVector<Real>>& lambda_targets(int signal);
  FitReport fit_critic(int signal, const std::vector<AlignedVector<Real>>& targets, int iteration,
                       const SlopeSource<Real>& slopes);

  SampleTable<Real> table_;
  std::vector<CriticMemory> memory_;  // [signal]
};

extern template struct ActorCritic<float>;
extern template struct ActorCritic<double>;

// An update from a batch with a larger share of diverged environments is refused: those that are left look safer than
// the policy is.
constexpr double kDivergedShare = 0.01;

// What the batch shows of the policy, before the update.
IterationReport report_of(const ActorCritic<float>& parts, const BatchStatistics& statistics, int iteration,
                          std::int64_t steps);

// How well the critics were fitted.
void add_fits(const std::vector<FitReport>& fits, IterationReport& report);
// Fits the critics that close windows, to their slopes too if critic.sobolev says so.
void fit_critics(ActorCritic<float>& parts, FirstOrderGradient<float>& gradient, int iteration,
                 IterationReport& report);

// Throws UserError if an iteration would have more samples than can be told apart.
void check_batch_size(int environments, int horizon);

// The horizon that settings and task come to, with that check.
int resolve_horizon(const Task& task, const Settings& settings);

// What that horizon is to the sums that are learned: over at T, or cut off there; each with a discount of its own.
// J and the limits are plain sums up to T in both.
HorizonRule horizon_rule(const Settings& settings);

}  // namespace cgpo
