#include "cgpo/tasks/simulators/simulator.hpp"

#include <algorithm>
#include <numeric>

#include "cgpo/base/error.hpp"
#include "cgpo/base/overloaded.hpp"
#include "cgpo/graph/differentiate.hpp"
#include "cgpo/tasks/simulators/kernel_call.hpp"

namespace cgpo {
namespace {

std::vector<int> count_up(int size) {
  std::vector<int> values(static_cast<std::size_t>(size));
  std::iota(values.begin(), values.end(), 0);
  return values;
}

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

// With respect to all inputs; seed k weighs the state, the observation and signal k.
Graph differentiate_signals(const Task& task, const Graph& graph, int signals) {
  const int results = task.spec().states + task.spec().observations;
  ReverseRequest request{.seeds = {}, .wrt = count_up(static_cast<int>(graph.inputs().size()))};
  for (int k = 0; k < signals; ++k) {
    std::vector<int> seed = count_up(results);
    seed.push_back(results + k);
    request.seeds.push_back(std::move(seed));
  }
  return differentiate(graph, request);
}

int signals_of(const std::vector<int>& costs) { return 1 + static_cast<int>(costs.size()); }

}  // namespace

Graph step_graph(const Task& task, const std::vector<int>& costs) {
  return choose_outputs(task, task.trace_step(), 0, costs);
}

Graph step_adjoint_graph(const Task& task, const std::vector<int>& costs) {
  return differentiate_signals(task, step_graph(task, costs), signals_of(costs));
}

Graph substep_graph(const Task& task) { return with_outputs(task.trace_substep(), count_up(task.spec().states)); }

Graph substep_adjoint_graph(const Task& task, const std::vector<int>& costs) {
  const std::vector<int> all = count_up(task.spec().states + task.spec().actions);
  const std::vector<std::vector<int>> seeds(static_cast<std::size_t>(signals_of(costs)), all);
  return differentiate(task.trace_substep(), {.seeds = seeds, .wrt = all});
}

Graph outcome_graph(const Task& task, const std::vector<int>& costs) {
  return choose_outputs(task, task.trace_outcome(), task.layout().observation(), costs);
}

Graph outcome_adjoint_graph(const Task& task, const std::vector<int>& costs) {
  return differentiate_signals(task, choose_outputs(task, task.trace_outcome(), 0, costs), signals_of(costs));
}

template <class Real>
void Simulator<Real>::start(const EpisodeStarts& starts, Rows<Real> state, int lanes,
                            SimulatorScratch<Real>& scratch) const {
  check(task_ != nullptr, "this simulator begins no episodes");
  const auto states = static_cast<std::size_t>(spec_.states);
  scratch.start.resize(states);
  for (int lane = 0; lane < lanes; ++lane) {
    const int environment = (starts.environment + lane) * starts.every;
    RandomStream random(starts.seed, starts.purpose, starts.iteration,
                        starts.first_stream + static_cast<std::uint32_t>(environment));
    // Step 1 of the first environment: a stream that no reset draws from, since those are step 0.
    const BatchPlace place{
        .environment = environment,
        .environments = starts.environments,
        .common = RandomStream(starts.seed, starts.purpose, starts.iteration, starts.first_stream, /*step=*/1)};
    task_->reset_in_batch(random, place, scratch.start);
    for (std::size_t i = 0; i < states; ++i) state.row(static_cast<int>(i))[lane] = static_cast<Real>(scratch.start[i]);
  }
}

template <class Real>
bool Simulator<Real>::stops_at_end(int k) const {
  if (k == 0) return spec_.reward_stops_at_end;
  return spec_.costs[static_cast<std::size_t>(costs_[static_cast<std::size_t>(k - 1)])].stops_at_end;
}

template <class Real>
void Simulator<Real>::pull_back(const AdjointBatch<Real>&, int, SimulatorScratch<Real>&) const {
  check(false, "only a differentiable simulator is pulled back");
}

template <class Real>
ObservationKernels<Real>::ObservationKernels(int states) : states_(states), observations_(states) {}

template <class Real>
ObservationKernels<Real>::ObservationKernels(const Task& task, bool derivatives, Backend backend)
    : states_(task.spec().states), observations_(task.spec().observations) {
  const Graph graph = task.trace_observation();
  observe_ = compile<Real>(graph, backend);
  if (!derivatives) return;
  adjoint_ =
      compile<Real>(differentiate(graph, {.seeds = {count_up(observations_)}, .wrt = count_up(states_)}), backend);
  tangent_ = compile<Real>(differentiate_forward(graph), backend);
}

template <class Real>
void ObservationKernels<Real>::observe(Rows<const Real> state, Rows<Real> observation, int lanes,
                                       SimulatorScratch<Real>& scratch) const {
  if (observe_ == nullptr) return copy_rows(state, observation, observations_, lanes);
  KernelCall<Real> call(scratch);
  call.read(state, states_);
  call.write(observation, observations_);
  call.run(*observe_, lanes);
}

template <class Real>
void ObservationKernels<Real>::pull_back(Rows<const Real> state, Rows<const Real> adjoint, Rows<Real> result, int lanes,
                                         SimulatorScratch<Real>& scratch) const {
  if (observe_ == nullptr) return copy_rows(adjoint, result, states_, lanes);
  check(adjoint_ != nullptr, "only a differentiable task is pulled back");
  KernelCall<Real> call(scratch);
  call.read(state, states_);
  call.read(adjoint, observations_);
  call.write(result, states_);
  call.run(*adjoint_, lanes);
}

template <class Real>
void ObservationKernels<Real>::push(Rows<const Real> state, Rows<const Real> tangent, Rows<Real> result, int lanes,
                                    SimulatorScratch<Real>& scratch) const {
  if (observe_ == nullptr) return copy_rows(tangent, result, observations_, lanes);
  check(tangent_ != nullptr, "only a differentiable task is differentiated");
  KernelCall<Real> call(scratch);
  call.read(state, states_);
  call.read(tangent, states_);
  call.write(result, observations_);
  call.run(*tangent_, lanes);
}

template <class Real>
std::unique_ptr<Simulator<Real>> make_simulator(std::shared_ptr<const Task> task, std::vector<int> costs,
                                                Backend backend) {
  using Made = std::unique_ptr<Simulator<Real>>;
  return std::visit(
      Overloaded{
          [&](const WholeStep&) -> Made { return std::make_unique<KernelSimulator<Real>>(task, costs, backend); },
          [&](const Substeps&) -> Made { return std::make_unique<SubstepSimulator<Real>>(task, costs, backend); },
          [&](const OutsideStep&) -> Made {
            return std::make_unique<OutsideStepSimulator<Real>>(task, costs, backend);
          },
          [&](const std::shared_ptr<OutsideEnvironments>& environments) -> Made {
            return std::make_unique<OutsideEnvironmentSimulator<Real>>(task->spec(), costs, environments);
          }},
      task->dynamics());
}

template class Simulator<float>;
template class Simulator<double>;
template class ObservationKernels<float>;
template class ObservationKernels<double>;
template std::unique_ptr<Simulator<float>> make_simulator(std::shared_ptr<const Task>, std::vector<int>, Backend);
template std::unique_ptr<Simulator<double>> make_simulator(std::shared_ptr<const Task>, std::vector<int>, Backend);

}  // namespace cgpo
