// `cgpo export`: a trained policy as a file for other programs.
#include "cgpo/base/error.hpp"
#include "cgpo/base/program_name.hpp"
#include "cgpo/cli/commands.hpp"
#include "cgpo/cli/terminal.hpp"
#include "cgpo/export/export.hpp"

namespace cgpo {
namespace {

struct ExportRequest {
  std::string run;
  std::optional<std::string> to;
  std::optional<std::string> out;
  std::string checkpoint = "last";  // or "best"
  ExportOptions options;
  std::vector<std::string> sets;
  bool allow_command = false;
  bool json = false;
};

// What it reads and gives, in a line.
std::string sizes(const Json& metadata, const TaskSpec& spec) {
  const Json& period = metadata.at("control_period");
  const auto plural = [](int count) { return count == 1 ? "" : "s"; };
  return fmt::format("{} observation{} to {} action{}{}", spec.observations, plural(spec.observations), spec.actions,
                     plural(spec.actions), period.is_null() ? "" : fmt::format(", every {} s", period.get<double>()));
}

int export_run(ExportRequest& request) {
  if (request.run.empty()) throw UserError("export needs the folder of a run: {} export RUN", program_name());
  if (!request.to) throw UserError("export needs a format: --to onnx, c or torch");
  if (request.checkpoint != "last" && request.checkpoint != "best") {
    throw UserError("--checkpoint must be last or best, not '{}'", request.checkpoint);
  }
  ExportOptions& options = request.options;
  options.to = *request.to;
  if (request.out) options.out = *request.out;
  const bool best = request.checkpoint == "best";
  const TrainedPolicy policy = TrainedPolicy::load(request.run, best ? SavedPolicy::kBest : SavedPolicy::kLast,
                                                   consent_from(request.sets, request.allow_command));
  const ExportResult result = export_policy(policy, options);
  if (request.json) {
    say_json(to_json(result));
    return 0;
  }
  const Json& metadata = result.metadata;
  say("policy  the {} of {}: {}\n", best ? "best feasible" : "last", request.run, sizes(metadata, policy.spec()));
  say("action  {}\n", metadata.at("action").get<std::string>());
  say("verdict {}\n", metadata.at("verdict").get<std::string>());
  say("file    {} ({} bytes)\n", result.out.string(), result.bytes);
  return 0;
}

}  // namespace

Command make_export_command() {
  const auto owned = std::make_shared<ExportRequest>();
  ExportRequest& request = *owned;
  ExportOptions& options = request.options;
  return {
      {{"RUN", Text{&request.run}, "the folder of a run"},
       {"--to", FilledText{&request.to}, "onnx, c (a C99 header) or torch (a Python file)", "FORMAT"},
       {"--out", FilledText{&request.out}, "the file", "FILE"},
       {"--checkpoint", Text{&request.checkpoint}, "last, or best: the best feasible policy of the run (last)",
        "WHICH"},
       {"--force", Switch{&options.force}, "replace a file that is there"},
       {"--episodes", whole(options.episodes, 0, 100'000'000),
        "of the evaluation whose verdict is written into the file (1024); 0: none"},
       {"--policy-action", Switch{&options.policy_action},
        "onnx: a second output, policy_action: the action in (-1, 1), before the robot's scale"},
       {"--name", Text{&options.name}, "c: what the names of functions and macros begin with (cgpo_policy)", "NAME"},
       given_again_flag(request.sets),
       allow_command_flag(request.allow_command),
       threads_flag(options.threads),
       json_flag(request.json)},
      [owned](const Given&) { return export_run(*owned); }};
}

}  // namespace cgpo
