#include "cgpo/tasks/simulators/adjoint_step.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "cgpo/base/error.hpp"
#include "cgpo/graph/differentiate.hpp"
#include "cgpo/tasks/simulators/kernel_call.hpp"

namespace cgpo {
namespace {

std::vector<int> count_up(std::size_t size) {
  std::vector<int> values(size);
  std::iota(values.begin(), values.end(), 0);
  return values;
}

// Of all results of a step that a gradient can come from, one seed; with respect to all inputs.
Graph differentiate_results(const Task& task, const Graph& full, const std::vector<int>& costs) {
  const StepLayout layout = task.layout();
  std::vector<int> chosen = count_up(static_cast<std::size_t>(layout.reward()) + 1);
  for (const int cost : costs) chosen.push_back(layout.cost(cost));
  const Graph graph = with_outputs(full, chosen);
  return differentiate(graph, {.seeds = {count_up(chosen.size())}, .wrt = count_up(graph.inputs().size())});
}

// Which lanes have a seed that is not 0 (NaN is not).
template <class Real>
void mark_seeded(Rows<const Real> rows, int size, int lanes, Real* seeded) {
  for (int i = 0; i < size; ++i) {
    for (int lane = 0; lane < lanes; ++lane) seeded[lane] = rows.row(i)[lane] != Real(0) ? Real(1) : seeded[lane];
  }
}

template <class Real>
void clear_others(Rows<Real> rows, int size, int lanes, const Real* seeded) {
  for (int i = 0; i < size; ++i) {
    for (int lane = 0; lane < lanes; ++lane) rows.row(i)[lane] = seeded[lane] != Real(0) ? rows.row(i)[lane] : Real(0);
  }
}

}  // namespace

template <class Real>
AdjointStep<Real>::AdjointStep(const Task& task, const std::vector<int>& costs, Backend backend)
    : spec_(task.spec()), signals_(1 + static_cast<int>(costs.size())) {
  const bool whole = std::holds_alternative<WholeStep>(task.dynamics());
  const bool substeps = std::holds_alternative<Substeps>(task.dynamics());
  if (!spec_.differentiable || !(whole || substeps))
    throw UserError("task {} is not differentiable; `cgpo tasks` says which are", spec_.name);
  const Graph results = whole ? task.trace_step() : task.trace_outcome();
  result_ = compile<Real>(differentiate_results(task, results, costs), backend);
  if (whole) return;
  const std::vector<int> pair =
      count_up(static_cast<std::size_t>(spec_.states) + static_cast<std::size_t>(spec_.actions));
  substep_ = compile<Real>(differentiate(task.trace_substep(), {.seeds = {pair}, .wrt = pair}), backend);
}

template <class Real>
void AdjointStep<Real>::pull_back(const AdjointStepBatch<Real>& batch, int lanes,
                                  SimulatorScratch<Real>& scratch) const {
  if (substep_ != nullptr) {
    pull_back_substeps(batch, lanes, scratch);
  } else {
    KernelCall<Real> call(scratch);
    call.read(batch.state, spec_.states);
    call.read(batch.action, spec_.actions);
    call.read(batch.next_state_adjoint, spec_.states);
    call.read(batch.observation_adjoint, spec_.observations);
    call.read(batch.signal_adjoint, signals_);
    call.write(batch.state_adjoint, spec_.states);
    call.write(batch.action_adjoint, spec_.actions);
    call.run(*result_, lanes);
  }
  const Rows<Real> seeded = ScratchRows<Real>(scratch, 1, lanes).take(1);
  std::fill_n(seeded.data, lanes, Real(0));
  mark_seeded(batch.next_state_adjoint, spec_.states, lanes, seeded.data);
  mark_seeded(batch.observation_adjoint, spec_.observations, lanes, seeded.data);
  mark_seeded(batch.signal_adjoint, signals_, lanes, seeded.data);
  clear_others(batch.state_adjoint, spec_.states, lanes, seeded.data);
  clear_others(batch.action_adjoint, spec_.actions, lanes, seeded.data);
}

// As SubstepSimulator::pull_back has it, for one seed: the outcome gives adjoints (λ, α) of state and action after the
// last substep and a part of λ before the first; each substep turns (λ, α) into those before it.
template <class Real>
void AdjointStep<Real>::pull_back_substeps(const AdjointStepBatch<Real>& batch, int lanes,
                                           SimulatorScratch<Real>& scratch) const {
  const int pair = spec_.states + spec_.actions;
  ScratchRows<Real> memory(scratch, 2 * pair + spec_.states, lanes);
  Rows<Real> adjoint = memory.take(pair);
  Rows<Real> other = memory.take(pair);
  const Rows<Real> direct = memory.take(spec_.states);

  KernelCall<Real> outcome(scratch);
  outcome.read(batch.state, spec_.states);
  outcome.read(batch.action, spec_.actions);
  outcome.read(batch.next_state, spec_.states);
  outcome.read(batch.next_state_adjoint, spec_.states);
  outcome.read(batch.observation_adjoint, spec_.observations);
  outcome.read(batch.signal_adjoint, signals_);
  outcome.write(direct, spec_.states);
  outcome.write(adjoint.from_row(spec_.states), spec_.actions);
  outcome.write(adjoint, spec_.states);
  outcome.run(*result_, lanes);

  for (int i = spec_.substeps - 1; i >= 0; --i) {
    KernelCall<Real> substep(scratch);
    substep.read(i == 0 ? batch.state : batch.inner.from_row((i - 1) * spec_.states), spec_.states);
    substep.read(batch.action, spec_.actions);
    substep.read(adjoint, pair);
    substep.write(i == 0 ? batch.state_adjoint : other, spec_.states);
    substep.write(i == 0 ? batch.action_adjoint : other.from_row(spec_.states), spec_.actions);
    substep.run(*substep_, lanes);
    std::swap(adjoint, other);
  }
  for (int i = 0; i < spec_.states; ++i) {
    Real* const sum = batch.state_adjoint.row(i);
    const Real* const part = direct.row(i);
    for (int lane = 0; lane < lanes; ++lane) sum[lane] += part[lane];
  }
}

template class AdjointStep<float>;
template class AdjointStep<double>;

}  // namespace cgpo
