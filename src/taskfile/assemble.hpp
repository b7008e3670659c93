// Private to this folder: from a definition to a task.
#pragma once

#include <memory>

#include "cgpo/taskfile/definition.hpp"
#include "cgpo/tasks/robots/robot.hpp"
#include "cgpo/tasks/task.hpp"

namespace cgpo {

// `robot`: what its options are made from; null: the task has none. `warnings`: what to beware of. Throws UserError,
// with place, for an expression that has no value: all of them are evaluated here.
std::shared_ptr<const Task> assemble_task(const std::shared_ptr<const TaskDefinition>& definition,
                                          const RobotDefaults* robot, const std::vector<std::string>& warnings,
                                          const TaskOptions& options);

}  // namespace cgpo
