// The parts that every algorithm here shares: a simulator, a policy, a normaliser, a batch of episodes, and one critic
// a signal. Plain members and functions on them; an algorithm calls those it needs, in the order it needs.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include "cgpo/gradient/first_order.hpp"
#include "cgpo/nn/critic.hpp"
#include "cgpo/rollout/collect.hpp"
#include "cgpo/updates/algorithm.hpp"
#include "cgpo/updates/slope_targets.hpp"
#include "cgpo/updates/twin_fit.hpp"

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
  std::unique_ptr<TwinFit> twin;  // null: the task has none, or nothing is swept

  Actor<Real> actor() const { return {policy, parameters, normaliser}; }
  int signals() const { return simulator->signals(); }

  double noise() const;  // σ, mean over the actions
  void scale_noise(double factor);

  // So many episodes under the first policy set the normaliser before iteration 0; 0: as many as the batch can hold.
  void warm_up_normaliser(int episodes = 0);
  // Samples so many episodes of an iteration into `batch`.
  void collect_episodes(int iteration, int episodes = 0);
  // Fills `repeated` with episodes from start states of the batch, of every so-many-th of its own, with the noise that
  // they had or by the mean action.
  void repeat_episodes(int iteration, bool deterministic, Batch<Real>& repeated) const;
  int repeats_every(const Batch<Real>& repeated) const {
    return std::max(1, batch.environments / repeated.environments);
  }
  // Merges the batch's observations; the first layers take the change up, so that no network's function moves. Not
  // those of a batch that no update may come from.
  void update_normaliser();
  // Whether too many environments diverged for an update; then the report says so.
  bool refuses_batch(IterationReport& report) const;
  bool policy_is_finite() const;
  // Puts the policy back if an update has made it anything but finite, and says so in the report.
  void restore_if_not_finite(std::span<const Real> before, IterationReport& report);
  // TD(λ) targets from the critics as they are, by horizon_rule(), then a fit of each. With slopes the fit minds them
  // too, by the weight critic.sobolev.
  std::vector<FitReport> fit_critics(int iteration, const SlopeSource<Real>& slopes = {});
  // The fit alone: targets(k) of signal k are [block], at the columns of the steps that count. Signals go side by side,
  // targets() too. timed: the critics see t/T, else 0.
  using TargetsOfSignal = std::function<const std::vector<AlignedVector<Real>>&(int signal)>;
  std::vector<FitReport> fit_critics_to(const TargetsOfSignal& targets, bool timed, int iteration,
                                        const SlopeSource<Real>& slopes = {});

  // What the batch tells of the twin, if there is one; the simulator takes its derivatives from it as it is then.
  void fit_twin(IterationReport& report) const;
  void load_twin(const Tensors& tensors);

  void save(Tensors& tensors) const;
  void load_policy(const Tensors& tensors);   // and its normaliser
  void load_critics(const Tensors& tensors);  // UserError if there are none
  void load(const Tensors& tensors);          // all of it

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
  // The table of all samples that critics are fitted to: this batch's, sample t·N + environment, then older ones.
  void fill_table(bool timed);
  void remember_samples();
  FitReport fit_critic(int signal, const std::vector<AlignedVector<Real>>& targets, int iteration,
                       const SlopeSource<Real>& slopes);

  // Samples of earlier iterations, oldest first: observation as the task gives it, time, and for each signal a target
  // and whether it counts. With few episodes an iteration they steady the critics.
  struct OldSamples {
    std::int64_t count = 0;
    std::vector<Real> rows;  // [count × (observations + 1 + 2 signals)]
  };
  int old_width() const { return context.task->spec().observations + 1 + 2 * signals(); }
  bool remembers() const;

  SampleTable<Real> table_;
  OldSamples old_;
  std::vector<CriticMemory> memory_;  // [signal]
};

extern template struct ActorCritic<float>;
extern template struct ActorCritic<double>;

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
