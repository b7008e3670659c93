#include "cgpo/tasks/registry.hpp"

#include <fmt/ranges.h>

#include "cgpo/base/error.hpp"
#include "cgpo/base/text.hpp"
#include "cgpo/tasks/outside/external.hpp"
#include "cgpo/tasks/robots/ant.hpp"
#include "cgpo/tasks/robots/cartpole.hpp"
#include "cgpo/tasks/robots/halfcheetah.hpp"
#include "cgpo/tasks/robots/hopper.hpp"
#include "cgpo/tasks/robots/humanoid.hpp"
#include "cgpo/tasks/robots/quadruped.hpp"
#include "cgpo/tasks/robots/reacher.hpp"
#include "cgpo/tasks/robots/swimmer.hpp"
#include "cgpo/tasks/robots/velocity.hpp"
#include "cgpo/tasks/robots/walker2d.hpp"
#include "cgpo/tasks/toys/function.hpp"

namespace cgpo {
namespace {

std::vector<TaskEntry> with_velocity_tasks(std::vector<TaskEntry> entries) {
  std::vector<TaskEntry> velocity = velocity_entries();
  entries.insert(entries.end() - 1, velocity.begin(), velocity.end());  // external comes last
  return entries;
}

}  // namespace

std::vector<TaskEntry>& task_registry() {
  static std::vector<TaskEntry> entries = with_velocity_tasks(
      {function_entry(), function_floor_entry(), cartpole_entry(), reacher_entry(), halfcheetah_entry(), ant_entry(),
       swimmer_entry(), hopper_entry(), walker2d_entry(), humanoid_entry(), quadruped_entry(), external_entry()});
  return entries;
}

const TaskEntry& find_task(const std::string& name) {
  std::vector<std::string> names;
  for (const TaskEntry& entry : task_registry()) {
    if (entry.name == name) return entry;
    names.push_back(entry.name);
  }
  if (name.ends_with(".xml")) {
    throw UserError(
        "{} is a robot, and what it is to do is not said: a task file names it, with observation, reward and costs "
        "(docs/guide/task-files.md)",
        name);
  }
  throw UserError("unknown task '{}'{}; there are: {}; a task file is named with its ending, .toml", name,
                  did_you_mean(name, names), fmt::join(names, ", "));
}

std::shared_ptr<const Task> standard_task(const std::string& name) {
  const TaskEntry& entry = find_task(name);
  return entry.make(TaskOptions(entry.options));
}

}  // namespace cgpo
