#include "cgpo/tasks/outside/external.hpp"

#include "cgpo/base/error.hpp"
#include "cgpo/tasks/outside/environment.hpp"

namespace cgpo {

std::vector<TaskOption> process_options() {
  return {{.name = "command",
           .standard = std::string(),
           .help = "what starts your simulator (docs/guide/your-own-simulator.md), as the shell takes it",
           .executes = true},
          {.name = "timeout",
           .standard = 60.0,
           .help = "seconds to wait for an answer of it",
           .low = 0.001,
           .high = 1e6,
           .may_change = true}};
}

std::shared_ptr<OutsideProcess> start_process(const TaskOptions& options, const std::string& needer) {
  const std::string& command = options.text("command");
  if (command.empty()) {
    throw UserError("{} needs task.command, what starts your simulator: --set 'task.command=\"python3 my_env.py\"'",
                    needer);
  }
  return std::make_shared<OutsideProcess>(command, options.number("timeout"));
}

TaskEntry external_entry() {
  std::vector<TaskOption> options = process_options();
  options.push_back({.name = "twin",
                     .standard = std::string(),
                     .help = "none: an MJCF file lends its derivative in a task file with [simulator] "
                             "(docs/guide/their-simulator.md)"});
  return {.name = "external",
          .options = std::move(options),
          .make = [](const TaskOptions& chosen) -> std::shared_ptr<const Task> {
            if (const std::string& twin = chosen.text("twin"); !twin.empty()) {
              throw UserError(
                  "task.twin: a twin knows how robot '{}' moves, but not how reward and costs follow from it, which "
                  "are the program's here; say these in a task file with [robot] file and [simulator] "
                  "(docs/guide/their-simulator.md), and train that",
                  twin);
            }
            const std::shared_ptr<OutsideProcess> process = start_process(chosen, "task external");
            return make_outside_task(process->spec(), process);
          },
          .needs = "task.command",
          .summary = "a simulator of your own that answers over pipes; see docs/guide/your-own-simulator.md"};
}

}  // namespace cgpo
