// Task files: whatever one says, it is a task whose graphs can be traced, or one sentence. Those with a robot are read
// as far as its text, for MuJoCo's compiler has a target of its own.
#include "cgpo/taskfile/definition.hpp"
#include "cgpo/taskfile/task_file.hpp"

#include "fuzz.hpp"

using namespace cgpo;

CGPO_FUZZ(input) {
  const std::string text(input);
  const auto definition = fuzz::accepted([&] { return parse_definition(text, "fuzz.toml", "fuzz"); });
  if (!definition || definition->robot) return;
  const auto file = fuzz::accepted([&] { return TaskFile::parse(text, "fuzz.toml"); });
  if (!file) return;
  const auto copy = TaskFile::parse((*file)->text(), "copy.toml");
  fuzz::require(copy->text() == (*file)->text(), "a copy is its own copy");
  fuzz::require(copy->entry().name == (*file)->entry().name, "a copy has the name of the task");
  const TaskEntry& entry = (*file)->entry();
  const auto task = fuzz::accepted([&] { return entry.make(TaskOptions(entry.options)); });
  if (!task) return;
  RandomStream random(1, Purpose::kTest);
  std::vector<double> state(static_cast<std::size_t>((*task)->spec().states));
  fuzz::passes([&] { (*task)->reset(random, state); });
  (*task)->trace_step();
  (*task)->trace_observation();
}
