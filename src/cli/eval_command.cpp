// `cgpo eval`: how good a trained policy is.
#include <chrono>
#include <fmt/format.h>

#include "cgpo/base/error.hpp"
#include "cgpo/base/program_name.hpp"
#include "cgpo/cli/commands.hpp"
#include "cgpo/cli/terminal.hpp"
#include "cgpo/judge/explain.hpp"

namespace cgpo {
namespace {

struct EvalRequest {
  std::string run;
  std::string checkpoint = "last";  // or "best"
  EvaluationOptions options;
  std::vector<std::string> sets;
  bool allow_command = false;
  bool explain = false;  // also say what looks wrong
  bool json = false;
};

// What differs from the task that the policy was trained on.
std::string describe_changes(const EvaluationOptions& options) {
  std::string text;
  if (!options.engine.empty()) text += " with engine " + options.engine;
  if (options.substeps > 0) text += fmt::format("{} {} substeps", text.empty() ? " with" : ",", options.substeps);
  for (const Assignment& assignment : options.task_sets) {
    text += fmt::format("{} {} = {}", text.empty() ? " with" : ",", assignment.key, format_value(assignment.value));
  }
  return text;
}

int eval(EvalRequest& request) {
  if (request.run.empty()) throw UserError("eval needs the folder of a run: {} eval RUN", program_name());
  if (request.checkpoint != "last" && request.checkpoint != "best") {
    throw UserError("--checkpoint must be last or best, not '{}'", request.checkpoint);
  }
  EvaluationOptions& options = request.options;
  for (const std::string& text : request.sets) options.task_sets.push_back(parse_assignment(text));
  const bool best = request.checkpoint == "best";
  const TrainedPolicy policy = TrainedPolicy::load(request.run, best ? SavedPolicy::kBest : SavedPolicy::kLast,
                                                   {.commands = request.allow_command, .given = options.task_sets});
  const auto begin = std::chrono::steady_clock::now();
  const EvaluationReport report = evaluate(policy, options);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::optional<Explanation> explanation;
  if (request.explain) explanation = explain(policy, options, report);

  const Configuration& configuration = policy.configuration();
  if (request.json) {
    Json result = evaluation_json(policy, options, report);
    if (explanation) result["explanation"] = to_json(*explanation, find_causes(*explanation));
    say_json(result);
    return 0;
  }
  say("{} on {}{}, {} policy{}, {:.1f} s\n", configuration.algorithm, configuration.task, describe_changes(options),
      best ? "best feasible" : "last", options.deterministic ? ", without noise" : "", seconds);
  say_lines(to_text(report));
  if (explanation) {
    say("\n");
    say_lines(to_text(*explanation, find_causes(*explanation)));
  }
  return 0;
}

}  // namespace

Command make_eval_command() {
  const auto owned = std::make_shared<EvalRequest>();
  EvalRequest& request = *owned;
  EvaluationOptions& options = request.options;
  return {
      {{"RUN", Text{&request.run}, "the folder of a run"},
       {"--episodes", whole(options.episodes, 1, 100'000'000), "how many, with noise and without (4096)"},
       {"--checkpoint", Text{&request.checkpoint}, "last, or best: the best feasible policy of the run (last)",
        "WHICH"},
       {"--deterministic", Switch{&options.deterministic},
        "only as it is deployed, without noise (with noise and without)"},
       {"--seed", seed(options.seed), "of start states and noise (the run's own)"},
       {"--engine", Text{&options.engine}, "simulate with own or mujoco, whatever the policy was trained on", "NAME"},
       {"--substeps", whole(options.substeps, 1, 1000), "physics steps of an environment step (the engine's)"},
       {"--set", Texts{&request.sets}, "change options of the task: --set task.contact_stiffness=5e3",
        "task.KEY=VALUE"},
       allow_command_flag(request.allow_command),
       {"--explain", Switch{&request.explain},
        "also look into gradients, critics, updates and actions, and say what looks wrong and what to try"},
       threads_flag(options.threads),
       json_flag(request.json)},
      [owned](const Given&) { return eval(*owned); }};
}

}  // namespace cgpo
