#include "cgpo/tasks/outside/external.hpp"

#include "cgpo/base/error.hpp"
#include "cgpo/tasks/outside/environment.hpp"
#include "cgpo/tasks/outside/process.hpp"

namespace cgpo {
TaskEntry external_entry() {
  return {.name = "external",
          .options = {{.name = "command",
                       .standard = std::string(),
                       .help = "what starts your simulator (docs/guide/your-own-simulator.md), as the shell takes it",
                       .executes = true},
                      {.name = "timeout",
                       .standard = 60.0,
                       .help = "seconds to wait for an answer of it",
                       .low = 0.001,
                       .high = 1e6,
                       .may_change = true}},
          .make = [](const TaskOptions& options) -> std::shared_ptr<const Task> {
            const std::string& command = options.text("command");
            if (command.empty()) {
              throw UserError(
                  "task external needs task.command, what starts your simulator: --set 'task.command=\"python3 "
                  "my_env.py\"'");
            }
            const auto process = std::make_shared<OutsideProcess>(command, options.number("timeout"));
            return make_outside_task(process->spec(), process);
          },
          .needs = "task.command",
          .summary = "a simulator of your own that answers over pipes; see docs/guide/your-own-simulator.md"};
}

}  // namespace cgpo
