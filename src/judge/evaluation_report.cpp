#include "cgpo/judge/evaluation_report.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <limits>

#include "cgpo/base/error.hpp"
#include "cgpo/base/statistics.hpp"
#include "cgpo/judge/explain.hpp"
#include "cgpo/judge/metrics.hpp"
#include "cgpo/run/run_folder.hpp"
#include "cgpo/tasks/robots/robot.hpp"

namespace cgpo {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Json to_json(const Estimate& estimate) {
  Json result;
  result["mean"] = estimate.mean;
  result["se"] = estimate.se;
  return result;
}

}  // namespace

const char* verdict_word(Verdict verdict) {
  switch (verdict) {
    case Verdict::kHolds: return "holds";
    case Verdict::kExceeded: return "exceeded";
    default: return "too close to call";
  }
}

std::string verdict_sentence(const CostReport& cost) {
  if (std::isinf(cost.limit)) return "there is none";
  if (!std::isfinite(cost.estimate.se)) return "no verdict from one episode";
  const std::string interval = fmt::format("95 % interval {:.5g} to {:.5g}", cost.estimate.low(), cost.estimate.high());
  switch (cost.verdict()) {
    case Verdict::kHolds: return fmt::format("the limit holds ({})", interval);
    case Verdict::kExceeded: return fmt::format("the limit is exceeded ({})", interval);
    default: return fmt::format("too close to the limit to call ({})", interval);
  }
}

std::string overall_sentence(const EvaluationReport& report) {
  if (report.episodes == 0) return "no verdict: every episode diverged";
  if (report.costs.empty()) return "feasible: there are no constraints";
  if (!std::isfinite(report.return_optimised.se)) return "no verdict from one episode";
  const auto all = [&](auto&& holds) { return std::all_of(report.costs.begin(), report.costs.end(), holds); };
  if (!report.feasible) {
    const bool sure = !all([](const CostReport& cost) { return cost.verdict() != Verdict::kExceeded; });
    return sure ? "not feasible, with 95 % confidence"
                : "not feasible on average, but within the uncertainty of these episodes";
  }
  return all([](const CostReport& cost) { return cost.verdict() == Verdict::kHolds; })
             ? "feasible, with 95 % confidence"
             : "feasible on average, but within the uncertainty of these episodes";
}

Estimate estimate_mean(const std::vector<double>& samples, int lattice) {
  if (samples.empty()) return {kNan, kNan};
  double sum = 0.0;
  for (const double sample : samples) sum += sample;
  return {sum / static_cast<double>(samples.size()),
          lattice > 0 ? standard_error_of_lattice(samples, lattice) : standard_error(samples),
          student_quantile(std::max(1, static_cast<int>(samples.size()) - 1))};
}

Verdict CostReport::verdict() const {
  if (limit == std::numeric_limits<double>::infinity() || estimate.high() <= limit) return Verdict::kHolds;
  return estimate.low() > limit ? Verdict::kExceeded : Verdict::kTooClose;
}

EvaluationReport summarise(const Evaluation& evaluation, const Constraints& constraints) {
  check(evaluation.costs.size() == constraints.names.size(), "an evaluation has the constraints' costs");
  EvaluationReport report;
  report.episodes = static_cast<int>(evaluation.returns.size());
  report.diverged = evaluation.diverged;
  report.return_optimised = estimate_mean(evaluation.returns, evaluation.lattice);
  report.return_paper = estimate_mean(evaluation.returns_paper, evaluation.lattice);
  report.episode_length = estimate_mean(evaluation.lengths).mean;
  report.feasible = report.episodes > 0;
  for (std::size_t i = 0; i < constraints.names.size(); ++i) {
    const std::vector<double>& samples = evaluation.costs[i];
    CostReport cost{constraints.names[i], estimate_mean(samples, evaluation.lattice), constraints.limits[i],
                    spread_over_episodes(samples, constraints.limits[i])};
    report.feasible = report.feasible && cost.estimate.mean <= cost.limit;
    report.costs.push_back(std::move(cost));
  }
  return report;
}

Json to_json(const EvaluationReport& report) {
  Json result;
  result["episodes"] = report.episodes;
  result["diverged"] = report.diverged;
  result["return"] = to_json(report.return_optimised);
  result["return_paper"] = to_json(report.return_paper);
  result["costs"] = Json::array();
  for (const CostReport& cost : report.costs) {
    Json entry;
    entry["name"] = cost.name;
    entry["mean"] = cost.estimate.mean;
    entry["se"] = cost.estimate.se;
    entry["limit"] = cost.limit;
    entry["violation_rate"] = cost.spread.over;
    entry["low"] = cost.spread.low;  // 5 % quantile
    entry["median"] = cost.spread.median;
    entry["high"] = cost.spread.high;  // 95 %
    entry["verdict"] = verdict_word(cost.verdict());
    result["costs"].push_back(std::move(entry));
  }
  result["episode_length"] = report.episode_length;
  result["feasible"] = report.feasible;
  return result;
}

namespace {

std::string plus_minus(const Estimate& estimate) {
  return std::isfinite(estimate.se) ? fmt::format("{:.5g} ± {:.2g}", estimate.mean, estimate.se)
                                    : fmt::format("{:.5g}", estimate.mean);
}

}  // namespace

std::string to_text(const EvaluationReport& report) {
  std::string text = fmt::format("return         {}\n", plus_minus(report.return_optimised));
  if (report.return_paper.mean != report.return_optimised.mean) {
    text += fmt::format("return, paper  {}\n", plus_minus(report.return_paper));
  }
  for (const CostReport& cost : report.costs) {
    text += fmt::format("cost {:<9} {}, limit {:.5g}: {}; {:.1f} % of the episodes are over it\n", cost.name,
                        plus_minus(cost.estimate), cost.limit, verdict_sentence(cost), 100.0 * cost.spread.over);
  }
  text += fmt::format("episodes       {} of {:.5g} steps on average{}\n", report.episodes, report.episode_length,
                      report.diverged > 0 ? fmt::format("; {} more diverged and are left out", report.diverged) : "");
  text += fmt::format("verdict        {}\n", overall_sentence(report));
  return text;
}

namespace {

// The run's task on another simulator, or with another time step.
void change_engine(const EvaluationRequest& request, Configuration& configuration) {
  if (request.engine.empty() && request.substeps == 0) return;
  if (!configuration.task_options.values().contains("engine")) {
    throw UserError("task {} has no choice of engines: it is no robot", configuration.task);
  }
  if (!request.engine.empty() && request.engine != configuration.task_options.text("engine")) {
    configuration.task_options.set("engine", request.engine);
    configuration.task_options.set("substeps", 0.0);
    configuration.task_options.set("dt", 0.0);
  }
  if (request.substeps > 0) {
    configuration.task_options.set("substeps", static_cast<double>(request.substeps));
    configuration.task_options.set("dt", 0.0);
  }
  configuration.made = nullptr;
}

// What differs from the task that the policy was trained on.
std::string describe_changes(const EvaluationRequest& request) {
  std::string text;
  if (!request.engine.empty()) text += " with engine " + request.engine;
  if (request.substeps > 0) text += fmt::format("{} {} substeps", text.empty() ? " with" : ",", request.substeps);
  for (const Assignment& assignment : request.task_sets) {
    text += fmt::format("{} {} = {}", text.empty() ? " with" : ",", assignment.key, format_value(assignment.value));
  }
  return text;
}

}  // namespace

int eval_command(const EvaluationRequest& request) {
  const RunPaths run = find_run(request.run);
  Configuration configuration = read_configuration(run.config());
  const std::filesystem::path path = request.checkpoint == "best" ? run.best() : run.checkpoint();
  if (std::error_code ignored; request.checkpoint == "best" && !std::filesystem::exists(path, ignored)) {
    throw UserError("'{}' has no best.safetensors: no policy of that run was feasible", request.run);
  }
  const Tensors checkpoint = read_checkpoint(path, configuration);

  change_engine(request, configuration);
  change_task_options(request.task_sets, configuration);
  ThreadPool pool(request.threads);
  const AlgorithmContext context{task_of(configuration), configuration.settings,
                                 request.seed ? static_cast<std::uint64_t>(*request.seed) : configuration.seed, &pool};
  const auto begin = std::chrono::steady_clock::now();
  const auto with_checkpoint = [&](auto&& use) {
    try {
      return use();
    } catch (const UserError& error) {
      throw UserError("'{}' does not fit its run: {}", path.string(), error.what());
    }
  };
  const Evaluation evaluation =
      with_checkpoint([&] { return evaluate(context, checkpoint, request.episodes, request.deterministic); });
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const EvaluationReport report = summarise(evaluation, resolve_constraints(*context.task, configuration.settings));
  std::optional<Explanation> explanation;
  if (request.explain) {
    const Robot* const robot = context.task->find_robot();
    explanation.emplace(Explanation{.task = configuration.task,
                                    .substeps = robot == nullptr ? 0 : robot->substeps,
                                    .offered_costs = {},
                                    .settings = configuration.settings,
                                    .evaluation = report,
                                    .diagnosis = with_checkpoint([&] { return diagnose(context, checkpoint); }),
                                    .history = summarise_log(read_log(run.log()), configuration.settings.radius)});
    for (const CostSpec& cost : context.task->spec().costs) explanation->offered_costs.push_back(cost.name);
  }

  if (request.json) {
    Json result = to_json(report);
    result["task"] = configuration.task;
    result["seed"] = context.seed;
    result["checkpoint"] = path.string();
    result["deterministic"] = request.deterministic;
    if (!request.engine.empty()) result["engine"] = request.engine;
    for (const Assignment& assignment : request.task_sets) result["changed"].push_back(assignment.key);
    if (explanation) result["explanation"] = to_json(*explanation, find_causes(*explanation));
    fmt::print("{}\n", result.dump());
    return 0;
  }
  fmt::print("{} on {}{}, {} policy{}, {:.1f} s\n", configuration.algorithm, configuration.task,
             describe_changes(request), request.checkpoint == "best" ? "best feasible" : "last",
             request.deterministic ? ", without noise" : "", seconds);
  fmt::print("{}", to_text(report));
  if (explanation) fmt::print("\n{}", to_text(*explanation, find_causes(*explanation)));
  return 0;
}

}  // namespace cgpo
