#include <algorithm>

#include "cgpo/base/error.hpp"
#include "cgpo/tasks/simulators/kernel_call.hpp"

namespace cgpo {

template <class Real>
SubstepSimulator<Real>::SubstepSimulator(std::shared_ptr<const Task> task, std::vector<int> costs, Backend backend)
    : Simulator<Real>(task, std::move(costs), task->spec().differentiable, backend),
      substep_(compile<Real>(substep_graph(*task), backend)),
      outcome_(compile<Real>(outcome_graph(*task, this->costs()), backend)) {
  for (const StepParameter& parameter : task->parameters()) parameters_.push_back(parameter.standard);
  if (!differentiable()) return;
  substep_adjoint_ = compile<Real>(substep_adjoint_graph(*task, this->costs()), backend);
  outcome_adjoint_ = compile<Real>(outcome_adjoint_graph(*task, this->costs()), backend);
}

template <class Real>
int SubstepSimulator<Real>::inner_rows() const {
  return (this->spec().substeps - 1) * this->spec().states;
}

template <class Real>
std::int64_t SubstepSimulator<Real>::step_operations() const {
  return std::int64_t{this->spec().substeps} * substep_->operations() + outcome_->operations();
}

template <class Real>
std::int64_t SubstepSimulator<Real>::pull_back_operations() const {
  if (substep_adjoint_ == nullptr) return 0;
  return std::int64_t{this->spec().substeps} * substep_adjoint_->operations() + outcome_adjoint_->operations();
}

template <class Real>
void SubstepSimulator<Real>::set_parameters(std::span<const double> parameters) {
  check(parameters.size() == parameters_.size(), "a number for every parameter");
  parameters_.assign(parameters.begin(), parameters.end());
}

template <class Real>
Rows<const Real> SubstepSimulator<Real>::parameter_rows(int lanes, SimulatorScratch<Real>& scratch) const {
  const std::ptrdiff_t stride = padded_stride<Real>(lanes);
  scratch.parameters.resize(parameters_.size() * static_cast<std::size_t>(stride));
  const Rows<Real> rows(scratch.parameters.data(), stride);
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    std::fill_n(rows.row(static_cast<int>(i)), lanes, static_cast<Real>(parameters_[i]));
  return rows;
}

template <class Real>
void SubstepSimulator<Real>::move(Rows<const Real> state, Rows<const Real> action, Rows<Real> inner, Rows<Real> last,
                                  int lanes, SimulatorScratch<Real>& scratch) const {
  const TaskSpec& spec = this->spec();
  const Rows<const Real> parameters = parameter_rows(lanes, scratch);
  for (int i = 0; i < spec.substeps; ++i) {
    const Rows<Real> next = i + 1 < spec.substeps ? inner.from_row(i * spec.states) : last;
    KernelCall<Real> call(scratch);
    call.read(state, spec.states);
    call.read(action, spec.actions);
    call.read(parameters, static_cast<int>(parameters_.size()));
    call.write(next, spec.states);
    call.run(*substep_, lanes);
    state = next;
  }
}

template <class Real>
void SubstepSimulator<Real>::step(const StepBatch<Real>& batch, int lanes, SimulatorScratch<Real>& scratch) const {
  Rows<Real> inner = batch.inner;
  if (inner.data == nullptr) inner = ScratchRows<Real>(scratch, inner_rows(), lanes).take(inner_rows());
  move(batch.state, batch.action, inner, batch.next_state, lanes, scratch);
  run_outcome(*outcome_, this->spec(), this->signals(), batch, lanes, scratch);
}

// λ are adjoints of the state, α of the action. The outcome gives λ after the last substep, α, and a part of λ before
// the first; each substep turns (λ, α) into those before it.
template <class Real>
void SubstepSimulator<Real>::pull_back(const AdjointBatch<Real>& batch, int lanes,
                                       SimulatorScratch<Real>& scratch) const {
  check(substep_adjoint_ != nullptr, "only a differentiable task is pulled back");
  const TaskSpec& spec = this->spec();
  const int signals = this->signals();
  const int pair = spec.states + spec.actions;
  const bool known = batch.inner.data != nullptr || (inner_rows() == 0 && batch.next_state.data != nullptr);
  ScratchRows<Real> memory(scratch, (known ? 0 : inner_rows() + spec.states) + signals * (2 * pair + spec.states),
                           lanes);
  Rows<const Real> inner = batch.inner;
  Rows<const Real> next_state = batch.next_state;
  if (!known) {
    const Rows<Real> between = memory.take(inner_rows());
    const Rows<Real> last = memory.take(spec.states);
    move(batch.state, batch.action, between, last, lanes, scratch);
    inner = between;
    if (next_state.data == nullptr) next_state = last;
  }
  Rows<Real> adjoint = memory.take(signals * pair);  // (λ, α) of signal 0, of signal 1, …
  Rows<Real> other = memory.take(signals * pair);
  const Rows<Real> direct = memory.take(signals * spec.states);

  KernelCall<Real> outcome(scratch);
  outcome.read(batch.state, spec.states);
  outcome.read(batch.action, spec.actions);
  outcome.read(next_state, spec.states);
  for (int k = 0; k < signals; ++k) {
    outcome.read(batch.next_state_adjoint.from_row(k * spec.states), spec.states);
    outcome.read(batch.observation_adjoint.from_row(k * spec.observations), spec.observations);
    outcome.read(batch.weight.from_row(k), 1);
    outcome.write(direct.from_row(k * spec.states), spec.states);
    outcome.write(adjoint.from_row(k * pair + spec.states), spec.actions);
    outcome.write(adjoint.from_row(k * pair), spec.states);
  }
  outcome.run(*outcome_adjoint_, lanes);

  const Rows<const Real> parameters = parameter_rows(lanes, scratch);
  for (int i = spec.substeps - 1; i >= 0; --i) {
    KernelCall<Real> substep(scratch);
    substep.read(i == 0 ? batch.state : inner.from_row((i - 1) * spec.states), spec.states);
    substep.read(batch.action, spec.actions);
    substep.read(parameters, static_cast<int>(parameters_.size()));
    for (int k = 0; k < signals; ++k) {
      substep.read(adjoint.from_row(k * pair), pair);
      substep.write(i == 0 ? batch.state_adjoint.from_row(k * spec.states) : other.from_row(k * pair), spec.states);
      substep.write(i == 0 ? batch.action_adjoint.from_row(k * spec.actions) : other.from_row(k * pair + spec.states),
                    spec.actions);
    }
    substep.run(*substep_adjoint_, lanes);
    std::swap(adjoint, other);
  }
  for (int i = 0; i < signals * spec.states; ++i) {
    Real* const sum = batch.state_adjoint.row(i);
    const Real* const part = direct.row(i);
    for (int lane = 0; lane < lanes; ++lane) sum[lane] += part[lane];
  }
}

template class SubstepSimulator<float>;
template class SubstepSimulator<double>;

}  // namespace cgpo
