// The task that is a program outside.
#pragma once

#include <memory>
#include <vector>

#include "cgpo/tasks/outside/process.hpp"
#include "cgpo/tasks/registry.hpp"

namespace cgpo {

TaskEntry external_entry();

// The options of every task that has such a program: what starts it, and how long it may think.
std::vector<TaskOption> process_options();
// Starts it. `needer` needs it: UserError if nobody has said what, or nobody but a file.
std::shared_ptr<OutsideProcess> start_process(const TaskOptions& options, const std::string& needer);

}  // namespace cgpo
