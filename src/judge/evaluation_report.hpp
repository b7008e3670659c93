// What an evaluation says: return and costs with their uncertainty, and whether the limits hold.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cgpo/base/json.hpp"
#include "cgpo/judge/evaluation.hpp"
#include "cgpo/updates/spread.hpp"

namespace cgpo {

struct Estimate {
  double mean = 0.0;
  double se = 0.0;         // standard error of the mean; NaN: unknown
  double quantile = 1.96;  // half the width of the 95 % confidence interval, in standard errors

  double low() const { return mean - quantile * se; }
  double high() const { return mean + quantile * se; }
};

// Without samples all is NaN. lattice: as in Evaluation.
Estimate estimate_mean(const std::vector<double>& samples, int lattice = 0);

enum class Verdict {
  kHolds,  // the limit lies above, inside, below the confidence interval
  kTooClose,
  kExceeded,
  kUnknown,   // one episode has no interval
  kDiverged,  // too many episodes did (rollout/divergence.hpp): those that are left do not speak for the policy
};

struct CostReport {
  std::string name;
  Estimate estimate;
  double limit = 0.0;
  Spread spread = {};     // over the episodes
  bool diverged = false;  // too many of them

  Verdict verdict() const;
};

// What episodes with the policy's noise say, and beside them what those of the policy as it is deployed do: a robot, a
// replay and an export take its mean action.
struct EvaluationReport {
  int episodes = 0;  // that did not diverge
  int diverged = 0;
  Estimate return_optimised;
  Estimate return_paper;
  std::vector<CostReport> costs;
  double episode_length = 0.0;
  // Every cost's mean is within its limit, and that can be judged; if there is a deployed part, of both.
  bool feasible = false;
  std::shared_ptr<const EvaluationReport> deployed = {};  // without noise; null: only one of the two was asked for

  int all_episodes() const { return episodes + diverged; }
  Verdict verdict() const;  // of all limits together, with noise and deployed: the worse
};

bool too_many_diverged(const EvaluationReport& report);

EvaluationReport summarise(const Evaluation& evaluation, const Constraints& constraints);
EvaluationReport summarise(const BothEvaluations& evaluations, const Constraints& constraints);

// Evaluates the policy in a checkpoint, as in evaluation.hpp, and sums it up: with noise and as it is deployed, or, if
// `deterministic`, without noise alone.
EvaluationReport judge(const AlgorithmContext& context, const Tensors& checkpoint, int episodes, bool deterministic);

const char* verdict_word(Verdict verdict);
std::string verdict_sentence(const CostReport& cost);
std::string overall_sentence(const EvaluationReport& report);
Json to_json(const EvaluationReport& report);
std::string to_text(const EvaluationReport& report);  // several lines

}  // namespace cgpo
