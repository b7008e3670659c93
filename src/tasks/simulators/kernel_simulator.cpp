#include "cgpo/base/error.hpp"
#include "cgpo/tasks/simulators/kernel_call.hpp"

namespace cgpo {

template <class Real>
KernelSimulator<Real>::KernelSimulator(std::shared_ptr<const Task> task, std::vector<int> costs, Backend backend)
    : Simulator<Real>(task, std::move(costs), task->spec().differentiable, backend),
      step_(compile<Real>(step_graph(*task, this->costs()), backend)) {
  if (differentiable()) adjoint_ = compile<Real>(step_adjoint_graph(*task, this->costs()), backend);
}

template <class Real>
void KernelSimulator<Real>::step(const StepBatch<Real>& batch, int lanes, SimulatorScratch<Real>& scratch) const {
  const TaskSpec& spec = this->spec();
  KernelCall<Real> call(scratch);
  call.read(batch.state, spec.states);
  call.read(batch.action, spec.actions);
  call.write(batch.next_state, spec.states);
  call.write_outcome(batch, spec.observations, this->signals());
  call.run(*step_, lanes);
}

template <class Real>
void KernelSimulator<Real>::pull_back(const AdjointBatch<Real>& batch, int lanes,
                                      SimulatorScratch<Real>& scratch) const {
  check(adjoint_ != nullptr, "only a differentiable task is pulled back");
  const TaskSpec& spec = this->spec();
  KernelCall<Real> call(scratch);
  call.read(batch.state, spec.states);
  call.read(batch.action, spec.actions);
  for (int k = 0; k < this->signals(); ++k) {
    call.read(batch.next_state_adjoint.from_row(k * spec.states), spec.states);
    call.read(batch.observation_adjoint.from_row(k * spec.observations), spec.observations);
    call.read(batch.weight.from_row(k), 1);
    call.write(batch.state_adjoint.from_row(k * spec.states), spec.states);
    call.write(batch.action_adjoint.from_row(k * spec.actions), spec.actions);
  }
  call.run(*adjoint_, lanes);
}

template class KernelSimulator<float>;
template class KernelSimulator<double>;

}  // namespace cgpo
