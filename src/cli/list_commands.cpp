// `cgpo tasks` and `cgpo algorithms`: what there is.

#include <fmt/format.h>
#include <string>
#include <vector>

#include "cgpo/algorithms/registry.hpp"
#include "cgpo/base/table.hpp"
#include "cgpo/cli/commands.hpp"
#include "cgpo/cli/terminal.hpp"
#include "cgpo/config/configuration.hpp"
#include "cgpo/config/defaults.hpp"
#include "cgpo/config/listing.hpp"
#include "cgpo/config/value.hpp"
#include "cgpo/tasks/registry.hpp"
#include "cgpo/tasks/unconstrained.hpp"

namespace cgpo {
namespace {

std::string describe_options(const TaskEntry& entry) {
  std::string text;
  for (const TaskOption& option : entry.options) {
    text += fmt::format("  task.{} = {}  # {}\n", option.name, format_value(value_of(option.standard)), option.help);
  }
  return text;
}

std::string describe_costs(const TaskSpec& spec) {
  std::string text;
  for (const CostSpec& cost : spec.costs) {
    text += fmt::format("{}{} <= {}{}", text.empty() ? "" : ", ", cost.name, cost.limit,
                        cost.standard ? "" : " (optional)");
  }
  return text.empty() ? "none" : text;
}

// The limit beside what it limits: the paper takes half of what PPO reaches without one.
std::string describe_unconstrained(const TaskSpec& spec) {
  std::string text;
  for (const CostSpec& cost : spec.costs) {
    const UnconstrainedCost* free = find_unconstrained_cost(spec.name, cost.name);
    if (free == nullptr) continue;
    text += fmt::format(
        "  without a limit {} reaches {} = {:.4g} ± {:.3g} ({} seeds, {:.1f} M steps); "
        "the limit in use, {}, is {:.0f} % of that\n",
        free->algorithm, cost.name, free->mean, free->se, free->seeds, 1e-6 * static_cast<double>(free->steps),
        cost.limit, 100.0 * cost.limit / free->mean);
  }
  return text;
}

int list_tasks(bool json) {
  if (json) {
    say_json(list_of_tasks());
    return 0;
  }
  std::vector<std::vector<std::string>> rows = {
      {"task", "observations", "actions", "horizon", "substeps", "dt", "derivatives", "costs and limits"}};
  std::string notes;
  for (const TaskEntry& entry : task_registry()) {
    if (!entry.needs.empty()) {
      rows.push_back({entry.name, "?", "?", "?", "?", "?", "no", "as the simulator says"});
      notes += fmt::format("\n{}: {}\n{}", entry.name, entry.summary, describe_options(entry));
      continue;
    }
    const std::shared_ptr<const Task> task = standard_task(entry.name);
    const TaskSpec& spec = task->spec();
    rows.push_back({spec.name, std::to_string(spec.observations), std::to_string(spec.actions),
                    std::to_string(spec.horizon), std::to_string(spec.substeps),
                    spec.dt > 0.0 ? fmt::format("{}", spec.dt) : "-", has_derivative(*task) ? "yes" : "no",
                    describe_costs(spec)});
    notes += fmt::format("\n{}: {}\n", spec.name, spec.summary);
    notes += describe_unconstrained(spec);
    for (const Assignment& own : defaults_of_task(spec)) {
      notes += fmt::format("  {} = {}\n", own.key, format_value(own.value));
    }
    notes += describe_options(entry);
  }
  say_lines(text_table(rows));
  say_lines(notes);
  return 0;
}

int list_algorithms(bool json) {
  if (json) {
    say_json(list_of_algorithms());
    return 0;
  }
  std::vector<std::vector<std::string>> rows = {{"algorithm", "what it does"}};
  std::string notes;
  for (const AlgorithmEntry& entry : algorithm_registry()) {
    rows.push_back({entry.name, entry.summary});
    const std::vector<Assignment> defaults = defaults_of_algorithm(entry.name);
    if (defaults.empty()) continue;
    notes += fmt::format("\n{} sets\n", entry.name);
    for (const Assignment& own : defaults) notes += fmt::format("  {} = {}\n", own.key, format_value(own.value));
  }
  say_lines(text_table(rows));
  say_lines(notes);
  return 0;
}

// Both take nothing but --json.
Command make_listing(int (*list)(bool json)) {
  const auto json = std::make_shared<bool>(false);
  return {{json_flag(*json)}, [list, json](const Given&) { return list(*json); }};
}

}  // namespace

Command make_tasks_command() { return make_listing(list_tasks); }
Command make_algorithms_command() { return make_listing(list_algorithms); }

}  // namespace cgpo
