// What every algorithm asks of its episodes before it learns from them: how many there should be, what J is of the
// policy that acts with noise and of the one that is deployed, which takes its mean action, and how far below a limit
// an update has to aim.
//
// The limit is kept for both policies, with a stated confidence: an update may aim at
//   max(J with noise, J deployed) ≤ b − z·√(variance of that after the update + that of the next batch's mean),
// z the normal quantile of radius.confidence. J is filtered over iterations (moving_estimate.hpp).
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "cgpo/updates/actor_critic.hpp"
#include "cgpo/updates/moving_estimate.hpp"

namespace cgpo {

// What an update is expected to do to J_R and to every J_C.
struct ExpectedMove {
  std::vector<double> change;  // [1+m], by the linear prediction; NaN: not known
  std::vector<double> reach;   // [1+m], the largest change that a step as long could make
};

class PolicyMonitor {
 public:
  explicit PolicyMonitor(const ActorCritic<float>& parts);

  // The episodes that set the normaliser before iteration 0.
  void warm_up(ActorCritic<float>& parts);
  // Samples the episodes of an iteration into parts.batch, and those of the deployed policy beside them. The report has
  // all that they tell.
  IterationReport collect(ActorCritic<float>& parts, int iteration);
  const BatchStatistics& statistics() const { return statistics_; }
  void count_steps(std::int64_t steps) { steps_ += steps; }

  // The largest of what cost i is with noise and deployed; infinite limits too.
  double cost(std::size_t i) const;
  const MovingEstimate& estimate(std::size_t k) const { return estimates_[k]; }  // k = 0: the return
  // By how much an update has to aim below limit i; `reach` as in ExpectedMove.
  double margin(std::size_t i, double reach) const;
  // The largest reach with which the margin below limit i is mostly that of knowing J_C at all.
  double farthest_reach(std::size_t i) const;
  // Cost and margin together, for algorithms without a prediction: what a multiplier, say, compares with the limit.
  std::vector<double> costs_to_keep() const;

  // The factor on σ that goes with the next update; 1 while the policy has not settled.
  double noise_factor(const ActorCritic<float>& parts) const;
  // What that alone changes of the return with noise.
  double return_by_noise(double noise_factor) const;

  // The policy has moved, and its noise with it.
  void expect(const ExpectedMove& move, double noise_factor);
  // For algorithms that predict nothing.
  void expect_anything(double noise_factor);
  // The policy is what it was when remember() was called.
  void remember();
  void go_back();

  // Chooses the number of episodes of the next iteration. signals: of the gradients, shares that are no noise; may be
  // empty.
  void plan(const ActorCritic<float>& parts, const std::vector<double>& signals);

  void save(Tensors& tensors) const;
  void load(const Tensors& tensors);

 private:
  struct Average {  // running
    double value = 0.0;
    bool known = false;
    double slope(const Average& covariance) const;  // of a variance
  };
  struct Spread {                     // over episodes
    Average starts, starts_and_sums;  // var V(s_0), cov with the sums
    Average episode;                  // variance of a sum, less what it owes to its start
    Average off;                      // squared: how far starts put a batch's mean off
    Average noisy, both, deployed;    // of pairs from the same start
    Average pairs;                    // that were seen, up to a number
    std::array<const Average*, 8> all() const {
      return {&starts, &starts_and_sums, &episode, &off, &noisy, &both, &deployed, &pairs};
    }
  };
  struct Starts {
    std::vector<double> values;  // [environment], V(s_0)
    double mean = 0.0;           // E V(s_0)
  };
  static void average(double value, double memory, Average& mean);

  bool filters() const { return quantile_.has_value(); }
  double limit_size(std::size_t i) const;
  bool is_near(std::size_t i) const;
  bool noise_matters() const;
  bool noise_can_fall(const ActorCritic<float>& parts) const;
  bool has_settled() const;
  void follow_return(double reached);
  void look_at_starts(const ActorCritic<float>& parts);
  void measure_noisy(const Batch<float>& batch);
  void measure_deployed(ActorCritic<float>& parts, int iteration);
  void fill(IterationReport& report) const;

  Settings settings_;
  std::vector<double> limits_;
  int horizon_;
  std::optional<double> quantile_;         // z; none: the batch's mean is all there is, and no margin
  std::optional<Batch<float>> deployed_;   // episodes without noise; none: they are not looked at
  BatchStatistics statistics_;             // of the last batch
  std::vector<MovingEstimate> estimates_;  // [1+m]
  std::vector<MovingEstimate> estimates_then_;
  std::vector<Spread> spreads_;  // [1+m]
  std::vector<Starts> starts_;   // [1+m], of the last batch
  RowStore<float> start_observations_, start_inputs_;
  std::unique_ptr<CriticWorkspace<float>> workspace_;
  std::vector<double> signals_;          // of the gradients, running mean
  double lowest_ = 0.0, highest_ = 0.0;  // return deployed, so far
  double lagging_ = 0.0;                 // the same return, some ten iterations late
  int seen_ = 0;                         // how often there was one
  Average lost_to_ends_;                 // share of an episode's steps
  int smallest_;                         // number of episodes
  int episodes_;
  std::int64_t steps_ = 0;
};

}  // namespace cgpo
