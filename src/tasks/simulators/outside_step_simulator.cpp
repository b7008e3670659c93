#include <limits>

#include "cgpo/tasks/simulators/kernel_call.hpp"

namespace cgpo {

template <class Real>
OutsideStepSimulator<Real>::OutsideStepSimulator(std::shared_ptr<const Task> task, std::vector<int> costs,
                                                 Backend backend)
    : Simulator<Real>(task, std::move(costs), /*differentiable=*/false, backend),
      make_engine_(std::get<OutsideStep>(task->dynamics()).make),
      outcome_(compile<Real>(outcome_graph(*task, this->costs()), backend)) {}

template <class Real>
auto OutsideStepSimulator<Real>::take() const -> std::unique_ptr<Worker> {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      std::unique_ptr<Worker> worker = std::move(idle_.back());
      idle_.pop_back();
      return worker;
    }
  }
  const TaskSpec& spec = this->spec();
  const auto states = static_cast<std::size_t>(spec.states);
  return std::make_unique<Worker>(Worker{make_engine_(), std::vector<double>(states),
                                         std::vector<double>(static_cast<std::size_t>(spec.actions)),
                                         std::vector<double>(states)});
}

template <class Real>
void OutsideStepSimulator<Real>::put_back(std::unique_ptr<Worker> worker) const {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(worker));
}

template <class Real>
void OutsideStepSimulator<Real>::move(const StepBatch<Real>& batch, int lanes) const {
  const TaskSpec& spec = this->spec();
  std::unique_ptr<Worker> worker = take();
  auto& [engine, state, action, next] = *worker;
  for (int lane = 0; lane < lanes; ++lane) {
    for (int i = 0; i < spec.states; ++i) state[static_cast<std::size_t>(i)] = batch.state.row(i)[lane];
    for (int i = 0; i < spec.actions; ++i) action[static_cast<std::size_t>(i)] = batch.action.row(i)[lane];
    const bool good = engine->step(state, action, next);
    for (int i = 0; i < spec.states; ++i) {
      batch.next_state.row(i)[lane] =
          good ? static_cast<Real>(next[static_cast<std::size_t>(i)]) : std::numeric_limits<Real>::quiet_NaN();
    }
  }
  put_back(std::move(worker));
}

template <class Real>
void OutsideStepSimulator<Real>::step(const StepBatch<Real>& batch, int lanes, SimulatorScratch<Real>& scratch) const {
  move(batch, lanes);
  run_outcome(*outcome_, this->spec(), this->signals(), batch, lanes, scratch);
}

template class OutsideStepSimulator<float>;
template class OutsideStepSimulator<double>;

}  // namespace cgpo
