#include "cgpo/judge/evaluate_policy.hpp"

#include "cgpo/algorithms/memory.hpp"
#include "cgpo/base/error.hpp"

namespace cgpo {
namespace {

// The run's task on another simulator, or with another time step.
void change_engine(const EvaluationOptions& options, Configuration& configuration) {
  if (options.engine.empty() && options.substeps == 0) return;
  if (!configuration.task_options.values().contains("engine")) {
    throw UserError("task {} has no choice of engines: it is no robot", configuration.task);
  }
  if (!options.engine.empty() && options.engine != configuration.task_options.text("engine")) {
    configuration.task_options.set("engine", options.engine);
    configuration.task_options.set("substeps", 0.0);
    configuration.task_options.set("dt", 0.0);
  }
  if (options.substeps > 0) {
    configuration.task_options.set("substeps", static_cast<double>(options.substeps));
    configuration.task_options.set("dt", 0.0);
  }
  configuration.made = nullptr;
}

}  // namespace

Configuration changed_configuration(const TrainedPolicy& policy, const EvaluationOptions& options) {
  Configuration configuration = policy.configuration();
  change_engine(options, configuration);
  change_task_options(options.task_sets, configuration);
  configuration.made = task_of(configuration);
  return configuration;
}

std::uint64_t seed_of(const TrainedPolicy& policy, const EvaluationOptions& options) {
  return options.seed ? static_cast<std::uint64_t>(*options.seed) : policy.configuration().seed;
}

EvaluationReport evaluate(const TrainedPolicy& policy, const EvaluationOptions& options) {
  const Configuration configuration = changed_configuration(policy, options);
  ThreadPool pool(options.threads);
  AlgorithmContext context = context_of(configuration, pool);
  context.seed = seed_of(policy, options);
  try {
    return judge(context, policy.checkpoint(), options.episodes, options.deterministic);
  } catch (const TooLittleMemory&) {
    throw;
  } catch (const UserError& error) {
    throw UserError("'{}' does not fit its run: {}", policy.path().string(), error.what());
  }
}

Json evaluation_json(const TrainedPolicy& policy, const EvaluationOptions& options, const EvaluationReport& report) {
  Json result = to_json(report);
  result["task"] = policy.configuration().task;
  result["seed"] = seed_of(policy, options);
  result["checkpoint"] = policy.path().string();
  result["deterministic"] = options.deterministic;
  if (!options.engine.empty()) result["engine"] = options.engine;
  for (const Assignment& assignment : options.task_sets) result["changed"].push_back(assignment.key);
  return result;
}

}  // namespace cgpo
