#include "cgpo/tasks/task.hpp"

#include <cmath>
#include <fmt/ranges.h>

#include "cgpo/base/error.hpp"
#include "cgpo/base/text.hpp"

namespace cgpo {
namespace {

void check_step_sizes(const TaskSpec& spec, const StepResult<Traced>& result) {
  if (result.state.size() != static_cast<std::size_t>(spec.states) || result.costs.size() != spec.costs.size()) {
    throw UserError("task {}: step() returns {} states and {} costs, its spec says {} and {}", spec.name,
                    result.state.size(), result.costs.size(), spec.states, spec.costs.size());
  }
}

std::vector<Traced> fixed_parameters(const Substeps& substeps) {
  std::vector<Traced> numbers;
  for (const StepParameter& parameter : substeps.parameters) numbers.emplace_back(parameter.standard);
  return numbers;
}

}  // namespace

std::span<const StepParameter> Task::parameters() const {
  const auto* const substeps = std::get_if<Substeps>(&dynamics());
  return substeps != nullptr ? std::span<const StepParameter>(substeps->parameters) : std::span<const StepParameter>();
}

std::shared_ptr<const Task> moved_by(Substeps dynamics, int substeps, const TaskParts& parts) {
  TaskParts moved = parts;
  moved.spec.dt *= static_cast<double>(parts.spec.substeps) / substeps;
  moved.spec.substeps = substeps;
  moved.spec.differentiable = true;
  moved.dynamics = std::move(dynamics);
  moved.twin = moved.prelude = nullptr;
  return std::make_shared<const Task>(std::move(moved));
}

int Task::cost_index(const std::string& name) const {
  std::vector<std::string> names;
  for (const CostSpec& cost : spec().costs) {
    if (cost.name == name) return static_cast<int>(names.size());
    names.push_back(cost.name);
  }
  throw UserError("costs: task {} has no cost '{}'{}; it has: {}", spec().name, name, did_you_mean(name, names),
                  fmt::join(names, ", "));
}

void check_start(const TaskSpec& spec, std::span<const double> state) {
  for (std::size_t i = 0; i < state.size(); ++i) {
    if (!std::isfinite(state[i])) {
      throw UserError("task {}: reset() sets entry {} of the state to {}, which is not finite", spec.name, i, state[i]);
    }
  }
}

void Task::reset(RandomStream& random, std::span<double> state) const {
  parts_.reset(random, state);
  check_start(spec(), state);
}

void Task::reset_in_batch(RandomStream& random, const BatchPlace& place, std::span<double> state) const {
  parts_.reset_in_batch(random, place, state);
  check_start(spec(), state);
}

std::vector<Traced> Task::observe(TracedSpan state) const {
  std::vector<Traced> observation(static_cast<std::size_t>(spec().observations));
  parts_.observe(state, observation);
  return observation;
}

// In the order of StepLayout.
void Task::trace_result(Graph& graph, const StepResult<Traced>& result) const {
  check_step_sizes(spec(), result);
  const std::vector<Traced> observation = observe(result.state);
  trace_outputs(graph, result.state);
  trace_outputs(graph, observation);
  trace_output(graph, result.reward);
  trace_output(graph, result.reward_paper);
  trace_output(graph, result.ended);
  trace_outputs(graph, result.costs);
}

Graph Task::trace_observation() const {
  Graph graph;
  trace_outputs(graph, observe(trace_inputs(graph, spec().states)));
  return graph;
}

Graph Task::trace_step() const {
  Graph graph;
  const std::vector<Traced> state = trace_inputs(graph, spec().states);
  const std::vector<Traced> action = trace_inputs(graph, spec().actions);
  if (const auto* const whole = std::get_if<WholeStep>(&dynamics())) {
    trace_result(graph, whole->step(state, action));
    return graph;
  }
  const auto* const substeps = std::get_if<Substeps>(&dynamics());
  check(substeps != nullptr, "a step outside is no graph");
  const std::vector<Traced> numbers = fixed_parameters(*substeps);
  std::vector<Traced> next = state;
  for (int i = 0; i < spec().substeps; ++i) next = substeps->substep(next, action, numbers);
  StepResult<Traced> result = substeps->outcome(state, action, next);
  result.state = std::move(next);
  trace_result(graph, result);
  return graph;
}

Graph Task::trace_substep() const {
  const auto* const substeps = std::get_if<Substeps>(&dynamics());
  check(substeps != nullptr, "the task has no substeps");
  Graph graph;
  const std::vector<Traced> state = trace_inputs(graph, spec().states);
  const std::vector<Traced> action = trace_inputs(graph, spec().actions);
  const std::vector<Traced> numbers = trace_inputs(graph, static_cast<int>(substeps->parameters.size()));
  trace_outputs(graph, substeps->substep(state, action, numbers));
  trace_outputs(graph, action);
  return graph;
}

bool Task::has_environments_outside() const {
  const auto* const step = std::get_if<OutsideStep>(&dynamics());
  return std::holds_alternative<std::shared_ptr<OutsideEnvironments>>(dynamics()) ||
         (step != nullptr && step->states.has_value());
}

Graph Task::trace_outcome() const {
  const auto* const substeps = std::get_if<Substeps>(&dynamics());
  const auto* const outside = std::get_if<OutsideStep>(&dynamics());
  check(substeps != nullptr || outside != nullptr, "what follows from a step is not a graph of its own");
  Graph graph;
  const std::vector<Traced> state = trace_inputs(graph, spec().states);
  const std::vector<Traced> action = trace_inputs(graph, spec().actions);
  std::vector<Traced> next = trace_inputs(graph, spec().states);
  StepResult<Traced> result = (substeps != nullptr ? substeps->outcome : outside->outcome)(state, action, next);
  result.state = std::move(next);
  trace_result(graph, result);
  return graph;
}

}  // namespace cgpo
