#include <algorithm>
#include <limits>
#include <utility>

#include "cgpo/base/error.hpp"
#include "cgpo/tasks/simulators/kernel_call.hpp"

namespace cgpo {

using OutsideClock = std::chrono::steady_clock;

template <class Real>
OutsideStepSimulator<Real>::OutsideStepSimulator(std::shared_ptr<const Task> task, std::vector<int> costs,
                                                 Backend backend)
    : Simulator<Real>(task, std::move(costs), task->twin() != nullptr, backend),
      make_engine_(std::get<OutsideStep>(task->dynamics()).make),
      states_(std::get<OutsideStep>(task->dynamics()).states),
      outcome_(compile<Real>(outcome_graph(*task, this->costs()), backend)) {
  if (task->twin() != nullptr) {
    twin_ = std::make_unique<SubstepSimulator<Real>>(task->twin(), this->costs(), backend);
  }
}

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
void OutsideStepSimulator<Real>::count(OutsideClock::time_point begin) const {
  const double seconds = std::chrono::duration<double>(OutsideClock::now() - begin).count();
  const std::lock_guard lock(mutex_);
  seconds_outside_ += seconds;
}

template <class Real>
std::optional<double> OutsideStepSimulator<Real>::take_seconds_outside() const {
  const std::lock_guard lock(mutex_);
  return std::exchange(seconds_outside_, 0.0);
}

template <class Real>
void OutsideStepSimulator<Real>::move(const StepBatch<Real>& batch, int lanes) const {
  const TaskSpec& spec = this->spec();
  std::unique_ptr<Worker> worker = take();
  const OutsideClock::time_point begin = OutsideClock::now();
  auto& [engine, state, action, next] = *worker;
  for (int lane = 0; lane < lanes; ++lane) {
    if (batch.keep != nullptr && batch.keep[lane] == 0) {
      for (int i = 0; i < spec.states; ++i) batch.next_state.row(i)[lane] = batch.state.row(i)[lane];
      continue;
    }
    for (int i = 0; i < spec.states; ++i) state[static_cast<std::size_t>(i)] = batch.state.row(i)[lane];
    for (int i = 0; i < spec.actions; ++i) action[static_cast<std::size_t>(i)] = batch.action.row(i)[lane];
    const bool good = engine->step(state, action, next);
    for (int i = 0; i < spec.states; ++i) {
      batch.next_state.row(i)[lane] =
          good ? static_cast<Real>(next[static_cast<std::size_t>(i)]) : std::numeric_limits<Real>::quiet_NaN();
    }
  }
  put_back(std::move(worker));
  count(begin);
}

// The numbers of episodes and those of environments are different things where a batch is a part of another.
template <class Real>
void OutsideStepSimulator<Real>::start(const EpisodeStarts& starts, Rows<Real> state, int lanes,
                                       SimulatorScratch<Real>& scratch) const {
  if (!states_) {
    Simulator<Real>::start(starts, state, lanes, scratch);
    return;
  }
  scratch.start.resize(static_cast<std::size_t>(this->spec().states));
  for (int lane = 0; lane < lanes; ++lane) {
    RandomStream random(starts.seed, starts.purpose, starts.iteration,
                        starts.first_stream + static_cast<std::uint32_t>((starts.environment + lane) * starts.every));
    states_->begin(starts.environment + lane, random, scratch.start);
    check_start(this->spec(), scratch.start);
    for (std::size_t i = 0; i < scratch.start.size(); ++i)
      state.row(static_cast<int>(i))[lane] = static_cast<Real>(scratch.start[i]);
  }
}

// Leaves in `ended` what the environments say of it, which is as good a reason as the task's own.
template <class Real>
void OutsideStepSimulator<Real>::move_outside(const StepBatch<Real>& batch, int lanes,
                                              SimulatorScratch<Real>& scratch) const {
  const TaskSpec& spec = this->spec();
  const auto size = [](int number) { return static_cast<std::size_t>(number); };
  const std::size_t wide = size(states_->shown) + 2;  // and reward and end, as all environments outside answer
  // In one piece of memory: actions, results, a state and the next.
  scratch.start.resize(size(lanes) * (size(spec.actions) + wide) + 2 * size(spec.states));
  const std::span<double> all(scratch.start);
  const std::span<double> actions = all.first(size(lanes) * size(spec.actions));
  const std::span<double> results = all.subspan(actions.size(), size(lanes) * wide);
  const std::span<double> state = all.subspan(actions.size() + results.size(), size(spec.states));
  const std::span<double> next = all.last(size(spec.states));
  for (int lane = 0; lane < lanes; ++lane) {
    for (int i = 0; i < spec.actions; ++i)
      actions[size(lane) * size(spec.actions) + size(i)] = static_cast<double>(batch.action.row(i)[lane]);
  }
  const OutsideClock::time_point begin = OutsideClock::now();
  states_->environments->step(batch.environment, lanes, actions, results);
  count(begin);
  for (int lane = 0; lane < lanes; ++lane) {
    for (int i = 0; i < spec.states; ++i) state[size(i)] = static_cast<double>(batch.state.row(i)[lane]);
    std::copy(state.begin(), state.end(), next.begin());
    const std::span<const double> result = results.subspan(size(lane) * wide, wide);
    batch.ended[lane] = Real(0);
    if (batch.keep == nullptr || batch.keep[lane] != 0) {
      std::copy_n(result.begin(), states_->shown, next.begin());
      if (states_->complete)
        states_->complete(state, actions.subspan(size(lane) * size(spec.actions), size(spec.actions)), next);
      batch.ended[lane] = result.back() != 0.0 ? Real(1) : Real(0);
    }
    for (int i = 0; i < spec.states; ++i) batch.next_state.row(i)[lane] = static_cast<Real>(next[size(i)]);
  }
}

template <class Real>
void OutsideStepSimulator<Real>::step(const StepBatch<Real>& batch, int lanes, SimulatorScratch<Real>& scratch) const {
  if (!states_) {
    move(batch, lanes);
    run_outcome(*outcome_, this->spec(), this->signals(), batch, lanes, scratch);
    return;
  }
  move_outside(batch, lanes, scratch);
  ScratchRows<Real> rows(scratch, 1, lanes);
  Real* const ended_outside = rows.take(1).row(0);
  std::copy_n(batch.ended, lanes, ended_outside);
  run_outcome(*outcome_, this->spec(), this->signals(), batch, lanes, scratch);
  for (int lane = 0; lane < lanes; ++lane) {
    if (ended_outside[lane] != Real(0)) batch.ended[lane] = Real(1);
  }
}

template <class Real>
void OutsideStepSimulator<Real>::pull_back(const AdjointBatch<Real>& batch, int lanes,
                                           SimulatorScratch<Real>& scratch) const {
  check(twin_ != nullptr && batch.next_state.data != nullptr, "a twin is pulled back from the engine's own next state");
  AdjointBatch<Real> of_twin = batch;
  of_twin.inner = {};  // the engine has shown none
  twin_->pull_back(of_twin, lanes, scratch);
  const TaskSpec& spec = this->spec();
  for (int k = 0; k < this->signals(); ++k) {
    const Rows<Real> state = batch.state_adjoint.from_row(k * spec.states);
    const Rows<Real> action = batch.action_adjoint.from_row(k * spec.actions);
    for (int lane = 0; lane < lanes; ++lane) {
      Real zero(0);  // stays so if all of them are finite
      for (int i = 0; i < spec.states; ++i) zero += state.row(i)[lane] * Real(0);
      for (int i = 0; i < spec.actions; ++i) zero += action.row(i)[lane] * Real(0);
      if (zero == Real(0)) continue;
      for (int i = 0; i < spec.states; ++i) state.row(i)[lane] = Real(0);
      for (int i = 0; i < spec.actions; ++i) action.row(i)[lane] = Real(0);
    }
  }
}

template class OutsideStepSimulator<float>;
template class OutsideStepSimulator<double>;

}  // namespace cgpo
