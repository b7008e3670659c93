#include "cgpo/tasks/outside/external.hpp"

#include <map>

#include "cgpo/base/error.hpp"
#include "cgpo/tasks/outside/process.hpp"

namespace cgpo {
namespace {

// A command makes its task several times (to read the configuration, to train), and an interpreter with its libraries
// takes seconds to start: one process serves them all. They never simulate at the same time, and every batch begins
// with resets, so the timeout is that of the newest.
std::shared_ptr<ExternalProcess> process_of(const std::string& command, double timeout) {
  static std::map<std::string, std::shared_ptr<ExternalProcess>> running;
  std::shared_ptr<ExternalProcess>& process = running[command];
  if (process == nullptr || process->failed()) {
    process = nullptr;
    process = std::make_shared<ExternalProcess>(command, timeout);
  }
  process->set_timeout(timeout);
  return process;
}

}  // namespace

TaskEntry external_entry() {
  return {.name = "external",
          .options = {{.name = "command",
                       .standard = std::string(),
                       .help = "what starts your simulator (docs/your-own-simulator.md), as the shell takes it"},
                      {.name = "timeout",
                       .standard = 60.0,
                       .help = "seconds to wait for an answer of it",
                       .low = 0.001,
                       .high = 1e6}},
          .make = [](const TaskOptions& options) -> std::shared_ptr<const Task> {
            const std::string& command = options.text("command");
            if (command.empty()) {
              throw UserError(
                  "task external needs task.command, what starts your simulator: --set 'task.command=\"python3 "
                  "my_env.py\"'");
            }
            const std::shared_ptr<ExternalProcess> process = process_of(command, options.number("timeout"));
            return std::make_shared<OutsideTask>(process->spec(), process);
          },
          .needs = "task.command",
          .summary = "a simulator of your own, a program that answers over pipes; see docs/your-own-simulator.md"};
}

}  // namespace cgpo
