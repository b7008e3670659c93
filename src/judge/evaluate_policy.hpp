// From a trained policy to what its evaluation says.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cgpo/judge/evaluation_report.hpp"
#include "cgpo/run/trained_policy.hpp"

namespace cgpo {

struct EvaluationOptions {
  int episodes = 4096;                     // with noise, and as many without
  bool deterministic = false;              // only as it is deployed: without noise, and no `deployed` part
  std::optional<std::int64_t> seed = {};   // of start states and noise; the run's own unless given
  std::string engine = {};                 // own or mujoco, whatever the run was trained on; empty: the run's own
  int substeps = 0;                        // physics steps of an environment step; 0: the engine's standard
  std::vector<Assignment> task_sets = {};  // options of the task that differ from the run's
  int threads = 1;                         // results do not depend on it
};

// Fresh episodes on the run's task, or on what the options make of it. Throws UserError if they are not options of that
// task, or make another of it that the policy does not fit.
EvaluationReport evaluate(const TrainedPolicy& policy, const EvaluationOptions& options = {});

// What `cgpo eval --json` prints.
Json evaluation_json(const TrainedPolicy& policy, const EvaluationOptions& options, const EvaluationReport& report);

// The run's configuration as the options change it, with its task, and the seed of the episodes.
Configuration changed_configuration(const TrainedPolicy& policy, const EvaluationOptions& options);
std::uint64_t seed_of(const TrainedPolicy& policy, const EvaluationOptions& options);

}  // namespace cgpo
