#include "cgpo/judge/explain.hpp"

#include <cmath>
#include <fmt/format.h>

#include "cgpo/base/error.hpp"
#include "cgpo/judge/explain_rules.hpp"
#include "cgpo/tasks/robots/robot.hpp"

namespace cgpo {
namespace explain_rules {

constexpr double kNear = 0.2;   // of the limit: a constraint this close may bind
constexpr double kFlat = 1e-3;  // change of J within the radius, as a share of it

std::string Case::name(std::size_t k) const { return k == 0 ? "the return" : "cost " + diagnosis.signals[k]; }

double Case::mean_of(std::size_t k) const {
  return k == 0 ? evaluation.return_optimised.mean : evaluation.costs[k - 1].estimate.mean;
}

bool Case::matters(std::size_t k) const { return k == 0 || std::isfinite(evaluation.costs.at(k - 1).limit); }

bool Case::steers(std::size_t k) const {
  if (k == 0 || !matters(k)) return k == 0;
  const CostReport& cost = evaluation.costs[k - 1];
  return cost.estimate.mean > cost.limit - kNear * std::max(std::abs(cost.limit), 1.0);
}

bool Case::is_flat(std::size_t k) const { return diagnosis.reach[k] < kFlat * std::max(std::abs(mean_of(k)), 1.0); }

const WindowGradients* Case::own_window() const {
  for (const WindowGradients& entry : diagnosis.windows) {
    if (entry.window == diagnosis.window) return &entry;
  }
  return nullptr;
}

std::string Case::limit_energy() const {
  const bool offered =
      std::find(all.offered_costs.begin(), all.offered_costs.end(), "energy") != all.offered_costs.end();
  return offered ? "limit the task's cost \"energy\" too (costs=[…, \"energy\"])"
                 : "let the reward or a cost weigh the actions' squares";
}

// Where the number adapts, `environments` is only the most that it may become.
std::string Case::more_episodes(int factor) const {
  return settings.batch.adaptive ? fmt::format("batch.smallest={}", factor * settings.batch.smallest)
                                 : fmt::format("environments={}", factor * settings.environments);
}

std::string Case::shorter_steps() const {
  const double radius = 0.25 * diagnosis.radius;
  return radius >= settings.radius.lower
             ? fmt::format("shorter steps (radius.upper={0:.2g} with radius.initial={0:.2g})", radius)
             : fmt::format("shorter steps (radius.lower={:.2g})", radius);
}

using Rule = void (*)(const Case&, Findings&);

// In this order: what comes first is the more likely reason of what follows.
constexpr Rule kRules[] = {
    divergence,      failed_updates, explosion, drowned_gradients, flat_return, critics,    unsteerable_constraints,
    broken_promises, poor_model,     poor_twin, radius_bounds,     early_ends,  wide_costs, noisy_limit,
    far_inputs,      saturation,     jitter,    contact,           fall_back,   warnings,
};

}  // namespace explain_rules

std::vector<Finding> find_causes(const Explanation& explanation) {
  const explain_rules::Case all(explanation);
  explain_rules::Findings found;
  for (const explain_rules::Rule rule : explain_rules::kRules) rule(all, found);
  return found.take();
}

Explanation explain(const TrainedPolicy& policy, const EvaluationOptions& options, const EvaluationReport& report) {
  const Configuration configuration = changed_configuration(policy, options);
  ThreadPool pool(options.threads);
  AlgorithmContext context = context_of(configuration, pool);
  context.seed = seed_of(policy, options);
  Explanation result;
  result.task = task_word(configuration);
  const Robot* const robot = context.task->find_robot();
  result.substeps = robot == nullptr ? 0 : robot->substeps;
  const std::shared_ptr<const Task>& twin = context.task->twin();
  if (twin != nullptr) {
    result.twin_substeps = twin->spec().substeps;
    result.twin_fitted = !twin->parameters().empty();
  }
  for (const CostSpec& cost : context.task->spec().costs) result.offered_costs.push_back(cost.name);
  result.settings = configuration.settings;
  result.evaluation = report;
  try {
    result.diagnosis = diagnose(context, policy.checkpoint());
  } catch (const UserError& error) {
    throw UserError("'{}' does not fit its run: {}", policy.path().string(), error.what());
  }
  result.history = summarise_log(read_log(policy.run().log(), policy.configuration().settings.environments),
                                 configuration.settings.radius);
  return result;
}

}  // namespace cgpo
