// What an iteration hands to the training loop: the numbers of its log line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cgpo {

// How good a learned model of the task was, after this iteration's fit. Errors are root mean squares on episodes that
// it was not fitted to; those of one step in units of each target's standard deviation (1: no better than the mean),
// that of the last step of a window in standard deviations of the observations.
struct WorldReport {
  double state_error = 0.0;
  std::vector<double> signal_errors;  // reward, then each cost
  double window_error = 0.0;          // of the observation at a window's end
  double spread = 0.0;                // standard deviation between the members, like the one-step errors
  double training_loss = 0.0;         // mean squared error of the last minibatches
  int minibatches = 0;                // that the fit took, mean over the members
  std::int64_t transitions = 0;       // kept to learn from
  double model_share = 0.0;           // of all steps so far, those inside the model
  // J as the model sees it: sums over windows that begin in real states, and over whole episodes from the real starts.
  double return_windows = 0.0;
  std::vector<double> costs_windows;
  double return_episodes = 0.0;
  std::vector<double> costs_episodes;
};

using NamedNumbers = std::vector<std::pair<std::string, double>>;

// One iteration in numbers: the line that goes into the log, under these names. J and its standard errors are those of
// the policy before this iteration's update; NaN where too few episodes are left to tell. What an algorithm does not
// have stays empty and is left out.
struct IterationReport {
  int iteration = 0;         // counts from 0
  std::int64_t steps = 0;    // environment steps so far, this iteration's included
  double return_mean = 0.0;  // "return" in the log
  double return_se = 0.0;
  double return_paper = 0.0;
  std::vector<double> costs;
  std::vector<double> costs_se;
  std::vector<double> limits;
  // J_C as all iterations together tell it (updates/moving_estimate.hpp): what the update aimed by.
  std::vector<double> costs_filtered;
  std::vector<double> costs_filtered_se;
  // The same of the policy that is deployed, which takes its mean action: no noise.
  std::optional<double> return_deployed;
  std::vector<double> costs_deployed;
  std::vector<double> costs_deployed_se;
  std::optional<double> noise;    // σ, mean over the actions
  std::vector<double> costs_low;  // 5 and 95 % quantile over the episodes
  std::vector<double> costs_high;
  std::vector<double> violation_rates;  // of each cost, the share of the episodes over its limit
  double episode_length = 0.0;
  std::optional<double> contact_share;  // of the steps, as far as sampled, in which a robot touches anything
  int diverged = 0;                     // episodes of this iteration
  int episodes = 0;                     // all of them, the diverged ones too; 0: not known
  std::string update_case;              // "case" in the log: recover, free, constrained, none, refused
  std::optional<double> radius;         // δ̂ that bounded this iteration's update
  std::optional<double> rho;            // ρ and ζ of the update before this iteration
  std::optional<double> zeta;
  // The same update: what J_R and each J_C were to change by, what they did, and the standard error of that.
  std::vector<double> change_predicted;
  std::vector<double> change_realised;
  std::vector<double> change_se;
  std::optional<double> kl;  // KL(π_k‖π_θ) of this iteration's update
  std::optional<double> lambda;
  std::vector<double> nu;                // multipliers of the costs
  std::vector<double> gradient_norms;    // of J_R, then of each J_C
  std::vector<double> gradient_errors;   // of each, the length of its standard error
  std::vector<double> gradient_signals;  // of each, the share of the squared norm that is not sampling noise
  std::vector<double> gradient_mixture;  // of each, the weight of what scores put right; gradient.correction
  std::vector<double> critic_losses;     // mean squared error, in the units of the return
  std::vector<double> critic_explained;  // share of the targets' variance
  std::vector<double> critic_cosines;    // of V's slope with the adjoint of the next window, mean over window ends
  std::optional<WorldReport> world;      // of the learned model, if there is one
  // Of a twin (updates/twin_fit.hpp), against the engine's own episodes: root mean squares of the errors of its state
  // after a step and after a window, in units of what the engine changes it by; and its fitted numbers.
  std::optional<double> twin_error;
  std::optional<double> twin_window_error;
  NamedNumbers twin_parameters;
  std::string stage;  // of a run in stages: own, where it prepares on our engine, then task; else empty
  // Of a run in stages: how many of the steps were taken on our engine, and how many where the task is.
  std::optional<double> steps_own;
  std::optional<double> steps_task;
  // Seconds in an engine outside since the report before, of all threads together; for timing.jsonl alone, not the log.
  std::optional<double> seconds_outside;
  std::string warning;  // one sentence, empty if all is well
};

// Whether the iteration was one of preparation, on another engine than the task's: it says nothing of the task.
bool is_preparation(const IterationReport& report);

// rollout/divergence.hpp, of an iteration: nothing that it measured can be judged.
bool too_many_diverged(const IterationReport& report);

// All costs within their limits on average, nothing of it undefined, and not too many episodes diverged.
bool is_feasible(const IterationReport& report);

// Feasible, and so is the policy without its noise as far as that is known: what may be deployed.
bool is_deployable(const IterationReport& report);

// Between a cost and its limit, in a line: <=, > or, if it cannot be judged, ?
const char* limit_sign(const IterationReport& report, std::size_t cost);

}  // namespace cgpo
