#include "cgpo/tasks/simulator.hpp"

#include <numeric>

#include "cgpo/base/error.hpp"
#include "cgpo/graph/differentiate.hpp"

namespace cgpo {
namespace {

template <class Real>
void push_rows(std::vector<const Real*>& pointers, Rows<const Real> rows, int count) {
  for (int i = 0; i < count; ++i) pointers.push_back(rows.row(i));
}

template <class Real>
void push_rows(std::vector<Real*>& pointers, Rows<Real> rows, int count) {
  for (int i = 0; i < count; ++i) pointers.push_back(rows.row(i));
}

}  // namespace

namespace {

// Outputs of a step's graph from `first` on, only the chosen costs among them.
Graph choose_outputs(const Task& task, const Graph& full, int first, const std::vector<int>& costs) {
  const StepLayout layout = task.layout();
  std::vector<int> chosen(static_cast<std::size_t>(layout.reward() - first));
  std::iota(chosen.begin(), chosen.end(), first);
  chosen.push_back(layout.reward());
  for (const int cost : costs) chosen.push_back(layout.cost(cost));
  chosen.push_back(layout.reward_paper());
  chosen.push_back(layout.ended());
  return with_outputs(full, chosen);
}

// A kernel of the state and one more vector: the observation's derivatives.
template <class Real>
void run_at_state(const Kernel<Real>& kernel, Rows<const Real> state, int states, Rows<const Real> vector, int size,
                  Rows<Real> result, int results, int lanes, SimulatorScratch<Real>& scratch) {
  scratch.inputs.clear();
  scratch.outputs.clear();
  push_rows(scratch.inputs, state, states);
  push_rows(scratch.inputs, vector, size);
  push_rows(scratch.outputs, result, results);
  kernel.run(scratch.inputs.data(), scratch.outputs.data(), lanes, scratch.kernel);
}

}  // namespace

Graph step_graph(const Task& task, const std::vector<int>& costs) {
  return choose_outputs(task, task.trace_step(), 0, costs);
}

Graph outcome_graph(const Task& task, const std::vector<int>& costs) {
  return choose_outputs(task, task.trace_outcome(), task.layout().observation(), costs);
}

Graph step_adjoint_graph(const Task& task, const std::vector<int>& costs) {
  const int results = task.spec().states + task.spec().observations;
  ReverseRequest request;
  for (int k = 0; k <= static_cast<int>(costs.size()); ++k) {
    std::vector<int> seed(static_cast<std::size_t>(results));
    std::iota(seed.begin(), seed.end(), 0);
    seed.push_back(results + k);
    request.seeds.push_back(std::move(seed));
  }
  request.wrt.resize(static_cast<std::size_t>(task.spec().states + task.spec().actions));
  std::iota(request.wrt.begin(), request.wrt.end(), 0);
  return differentiate(step_graph(task, costs), request);
}

template <class Real>
bool Simulator<Real>::stops_at_end(int k) const {
  const TaskSpec& spec = task_->spec();
  if (k == 0) return spec.reward_stops_at_end;
  return spec.costs[static_cast<std::size_t>(costs_[static_cast<std::size_t>(k - 1)])].stops_at_end;
}

template <class Real>
KernelSimulator<Real>::KernelSimulator(std::shared_ptr<const Task> task, std::vector<int> costs, Backend backend)
    : Simulator<Real>(std::move(task), std::move(costs)) {
  observe_ = compile<Real>(this->task().trace_observation(), backend);
  step_ = compile<Real>(step_graph(this->task(), this->costs()), backend);
  if (!differentiable()) return;
  adjoint_ = compile<Real>(step_adjoint_graph(this->task(), this->costs()), backend);
  const Graph observation = this->task().trace_observation();
  ReverseRequest request{.seeds = {std::vector<int>(observation.outputs().size())},
                         .wrt = std::vector<int>(observation.inputs().size())};
  std::iota(request.seeds[0].begin(), request.seeds[0].end(), 0);
  std::iota(request.wrt.begin(), request.wrt.end(), 0);
  observe_adjoint_ = compile<Real>(differentiate(observation, request), backend);
  observe_tangent_ = compile<Real>(differentiate_forward(observation), backend);
}

template <class Real>
void KernelSimulator<Real>::observe(Rows<const Real> state, Rows<Real> observation, int lanes,
                                    SimulatorScratch<Real>& scratch) const {
  const TaskSpec& spec = this->task().spec();
  scratch.inputs.clear();
  scratch.outputs.clear();
  push_rows(scratch.inputs, state, spec.states);
  push_rows(scratch.outputs, observation, spec.observations);
  observe_->run(scratch.inputs.data(), scratch.outputs.data(), lanes, scratch.kernel);
}

template <class Real>
void KernelSimulator<Real>::step(const StepBatch<Real>& batch, int lanes, SimulatorScratch<Real>& scratch) const {
  const TaskSpec& spec = this->task().spec();
  scratch.inputs.clear();
  scratch.outputs.clear();
  push_rows(scratch.inputs, batch.state, spec.states);
  push_rows(scratch.inputs, batch.action, spec.actions);
  push_rows(scratch.outputs, batch.next_state, spec.states);
  push_rows(scratch.outputs, batch.observation, spec.observations);
  push_rows(scratch.outputs, batch.signals, this->signals());
  scratch.outputs.push_back(batch.reward_paper);
  scratch.outputs.push_back(batch.ended);
  step_->run(scratch.inputs.data(), scratch.outputs.data(), lanes, scratch.kernel);
}

template <class Real>
void KernelSimulator<Real>::pull_back(const AdjointBatch<Real>& batch, int lanes,
                                      SimulatorScratch<Real>& scratch) const {
  check(adjoint_ != nullptr, "only a differentiable task is pulled back");
  const TaskSpec& spec = this->task().spec();
  scratch.inputs.clear();
  scratch.outputs.clear();
  push_rows(scratch.inputs, batch.state, spec.states);
  push_rows(scratch.inputs, batch.action, spec.actions);
  for (int k = 0; k < this->signals(); ++k) {
    push_rows(scratch.inputs, batch.next_state_adjoint.from_row(k * spec.states), spec.states);
    push_rows(scratch.inputs, batch.observation_adjoint.from_row(k * spec.observations), spec.observations);
    scratch.inputs.push_back(batch.weight.row(k));
    push_rows(scratch.outputs, batch.state_adjoint.from_row(k * spec.states), spec.states);
    push_rows(scratch.outputs, batch.action_adjoint.from_row(k * spec.actions), spec.actions);
  }
  adjoint_->run(scratch.inputs.data(), scratch.outputs.data(), lanes, scratch.kernel);
}

template <class Real>
void KernelSimulator<Real>::observe_pull_back(Rows<const Real> state, Rows<const Real> adjoint, Rows<Real> result,
                                              int lanes, SimulatorScratch<Real>& scratch) const {
  const TaskSpec& spec = this->task().spec();
  run_at_state(*observe_adjoint_, state, spec.states, adjoint, spec.observations, result, spec.states, lanes, scratch);
}

template <class Real>
void KernelSimulator<Real>::observe_push(Rows<const Real> state, Rows<const Real> tangent, Rows<Real> result, int lanes,
                                         SimulatorScratch<Real>& scratch) const {
  const TaskSpec& spec = this->task().spec();
  run_at_state(*observe_tangent_, state, spec.states, tangent, spec.states, result, spec.observations, lanes, scratch);
}

template <class Real>
std::unique_ptr<Simulator<Real>> make_simulator(std::shared_ptr<const Task> task, std::vector<int> costs,
                                                Backend backend) {
  if (task->is_black_box()) {
    return std::make_unique<BlackBoxSimulator<Real>>(std::move(task), std::move(costs), backend);
  }
  return std::make_unique<KernelSimulator<Real>>(std::move(task), std::move(costs), backend);
}

template class Simulator<float>;
template class Simulator<double>;
template class KernelSimulator<float>;
template class KernelSimulator<double>;
template std::unique_ptr<Simulator<float>> make_simulator(std::shared_ptr<const Task>, std::vector<int>, Backend);
template std::unique_ptr<Simulator<double>> make_simulator(std::shared_ptr<const Task>, std::vector<int>, Backend);

}  // namespace cgpo
