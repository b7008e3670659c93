// All tasks by name.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cgpo/tasks/options.hpp"
#include "cgpo/tasks/task.hpp"

namespace cgpo {

struct TaskEntry {
  std::string name;
  std::vector<TaskOption> options;
  std::function<std::shared_ptr<const Task>(const TaskOptions&)> make;
  std::string needs = {};    // an option without which there is no task, and so no spec; empty: there is none
  std::string summary = {};  // of such a task
};

// The tasks of this program, in the order in which they are listed. A program of one's own adds to it before it parses
// its command line.
std::vector<TaskEntry>& task_registry();

// Throws UserError, with the nearest name, if there is none.
const TaskEntry& find_task(const std::string& name);

// The task of this name, with its standard options.
std::shared_ptr<const Task> standard_task(const std::string& name);

}  // namespace cgpo
