#include "cgpo/tasks/task.hpp"

#include <cmath>
#include <fmt/ranges.h>

#include "cgpo/base/error.hpp"
#include "cgpo/base/text.hpp"

namespace cgpo {

int Task::cost_index(const std::string& name) const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < spec_.costs.size(); ++i) {
    if (spec_.costs[i].name == name) return static_cast<int>(i);
    names.push_back(spec_.costs[i].name);
  }
  throw UserError("costs: task {} has no cost '{}'{}; it has: {}", spec_.name, name, did_you_mean(name, names),
                  fmt::join(names, ", "));
}

void check_start(const TaskSpec& spec, std::span<const double> state) {
  for (std::size_t i = 0; i < state.size(); ++i) {
    if (!std::isfinite(state[i])) {
      throw UserError("task {}: reset() sets entry {} of the state to {}, which is not finite", spec.name, i, state[i]);
    }
  }
}

void check_step_sizes(const TaskSpec& spec, std::size_t states, std::size_t costs) {
  if (states != static_cast<std::size_t>(spec.states) || costs != spec.costs.size()) {
    throw UserError("task {}: step() returns {} states and {} costs, its spec says {} and {}", spec.name, states, costs,
                    spec.states, spec.costs.size());
  }
}

void trace_step_outputs(Graph& graph, const TaskSpec& spec, const StepResult<Traced>& result,
                        std::span<const Traced> observation) {
  check_step_sizes(spec, result.state.size(), result.costs.size());
  trace_outputs(graph, result.state);
  trace_outputs(graph, observation);
  trace_output(graph, result.reward);
  trace_output(graph, result.reward_paper);
  trace_output(graph, result.ended);
  trace_outputs(graph, result.costs);
}

}  // namespace cgpo
