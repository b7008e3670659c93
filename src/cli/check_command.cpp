// `cgpo check`: a task's derivatives beside central differences.
#include "cgpo/cli/commands.hpp"
#include "cgpo/cli/terminal.hpp"
#include "cgpo/config/configuration.hpp"
#include "cgpo/studies/derivative_check.hpp"

namespace cgpo {
namespace {

struct CheckRequest {
  std::string task;
  int states = 32;
  int window = 10;
  std::int64_t seed = 0;
  std::vector<std::string> sets;
  bool allow_command = false;
  bool json = false;
};

int check_task(const CheckRequest& request) {
  ConfigurationRequest wanted;
  if (!request.task.empty()) wanted.task = request.task;
  wanted.allow_commands = request.allow_command;
  for (const std::string& text : request.sets) wanted.sets.push_back(parse_assignment(text));
  const std::shared_ptr<const Task> task = task_of(resolve_configuration(wanted));
  for (const std::string& warning : task->spec().warnings) say(stderr, "warning: {}\n", warning);
  const DerivativeCheck check =
      check_derivatives(task, request.states, request.window, static_cast<std::uint64_t>(request.seed));
  if (request.json) {
    say_json(to_json(check, task->spec().name));
  } else {
    say_lines(describe(check, task->spec().name));
  }
  return check.agrees() ? 0 : 1;
}

}  // namespace

Command make_check_command() {
  const auto owned = std::make_shared<CheckRequest>();
  CheckRequest& request = *owned;
  return {{{"TASK", Text{&request.task}, task_words()},
           {"--states", whole(request.states, 1, 1'000'000), "random states to start from (32)"},
           {"--window", whole(request.window, 1, 1'000'000), "steps from each of them (10)"},
           {"--seed", seed(request.seed), "of the random states and actions (0)"},
           sets_flag(request.sets),
           allow_command_flag(request.allow_command),
           json_flag(request.json)},
          [owned](const Given&) { return check_task(*owned); }};
}

}  // namespace cgpo
