// One environment step of a batch, forwards and backwards: all that a rollout knows of a task.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "cgpo/base/rows.hpp"
#include "cgpo/kernel/kernel.hpp"
#include "cgpo/tasks/task.hpp"

namespace cgpo {

// Working memory of a thread.
template <class Real>
struct SimulatorScratch {
  KernelScratch kernel;
  std::vector<const Real*> inputs;
  std::vector<Real*> outputs;
};

// Signals are the reward (0) and the chosen costs (1 … m). Rows are indexed as written; columns are environments.
template <class Real>
struct StepBatch {
  Rows<const Real> state;   // [states]
  Rows<const Real> action;  // [actions]
  Rows<Real> next_state;    // [states]
  Rows<Real> observation;   // [observations], of the next state
  Rows<Real> signals;       // [signals]
  Real* reward_paper;       // one row
  Real* ended;              // one row, 1 or 0
};

// For every signal k the adjoint of L_k with respect to the step's results goes in, with respect to its inputs comes
// out.
template <class Real>
struct AdjointBatch {
  Rows<const Real> state;                // [states]
  Rows<const Real> action;               // [actions]
  Rows<const Real> next_state_adjoint;   // [signals · states], signal by signal
  Rows<const Real> observation_adjoint;  // [signals · observations]
  Rows<const Real> weight;               // [signals], ∂L_k / ∂signal_k of this step
  Rows<Real> state_adjoint;              // [signals · states]
  Rows<Real> action_adjoint;             // [signals · actions]
};

template <class Real>
class Simulator {
 public:
  virtual ~Simulator() = default;
  virtual void observe(Rows<const Real> state, Rows<Real> observation, int lanes,
                       SimulatorScratch<Real>& scratch) const = 0;
  virtual void step(const StepBatch<Real>& batch, int lanes, SimulatorScratch<Real>& scratch) const = 0;
  virtual bool differentiable() const = 0;
  // Only if differentiable().
  virtual void pull_back(const AdjointBatch<Real>& batch, int lanes, SimulatorScratch<Real>& scratch) const = 0;
  // With O = ∂observation/∂state: from [observations] to Oᵀ adjoint [states], and from [states] to O tangent.
  virtual void observe_pull_back(Rows<const Real> state, Rows<const Real> adjoint, Rows<Real> result, int lanes,
                                 SimulatorScratch<Real>& scratch) const = 0;
  virtual void observe_push(Rows<const Real> state, Rows<const Real> tangent, Rows<Real> result, int lanes,
                            SimulatorScratch<Real>& scratch) const = 0;

  const Task& task() const { return *task_; }
  int signals() const { return 1 + static_cast<int>(costs_.size()); }
  const std::vector<int>& costs() const { return costs_; }  // which of the task's costs, in order
  // Whether signal k stops counting when an episode ends early.
  bool stops_at_end(int k) const;

 protected:
  Simulator(std::shared_ptr<const Task> task, std::vector<int> costs)
      : task_(std::move(task)), costs_(std::move(costs)) {}

 private:
  std::shared_ptr<const Task> task_;
  std::vector<int> costs_;
};

// A task's own graph, compiled.
template <class Real>
class KernelSimulator final : public Simulator<Real> {
 public:
  KernelSimulator(std::shared_ptr<const Task> task, std::vector<int> costs, Backend backend = Backend::kBest);

  void observe(Rows<const Real> state, Rows<Real> observation, int lanes,
               SimulatorScratch<Real>& scratch) const override;
  void step(const StepBatch<Real>& batch, int lanes, SimulatorScratch<Real>& scratch) const override;
  bool differentiable() const override { return this->task().spec().differentiable; }
  void pull_back(const AdjointBatch<Real>& batch, int lanes, SimulatorScratch<Real>& scratch) const override;
  void observe_pull_back(Rows<const Real> state, Rows<const Real> adjoint, Rows<Real> result, int lanes,
                         SimulatorScratch<Real>& scratch) const override;
  void observe_push(Rows<const Real> state, Rows<const Real> tangent, Rows<Real> result, int lanes,
                    SimulatorScratch<Real>& scratch) const override;

  const Kernel<Real>& step_kernel() const { return *step_; }
  const Kernel<Real>* adjoint_kernel() const { return adjoint_.get(); }

 private:
  std::unique_ptr<Kernel<Real>> observe_;
  std::unique_ptr<Kernel<Real>> step_;
  std::unique_ptr<Kernel<Real>> adjoint_;
  std::unique_ptr<Kernel<Real>> observe_adjoint_;
  std::unique_ptr<Kernel<Real>> observe_tangent_;
};

// A task that is a black box: its simulator steps lane after lane, a compiled graph does the rest. A lane whose
// simulator found a bad state gets NaN there.
template <class Real>
class BlackBoxSimulator final : public Simulator<Real> {
 public:
  BlackBoxSimulator(std::shared_ptr<const Task> task, std::vector<int> costs, Backend backend = Backend::kBest);

  void observe(Rows<const Real> state, Rows<Real> observation, int lanes,
               SimulatorScratch<Real>& scratch) const override;
  void step(const StepBatch<Real>& batch, int lanes, SimulatorScratch<Real>& scratch) const override;
  bool differentiable() const override { return false; }
  void pull_back(const AdjointBatch<Real>& batch, int lanes, SimulatorScratch<Real>& scratch) const override;
  void observe_pull_back(Rows<const Real> state, Rows<const Real> adjoint, Rows<Real> result, int lanes,
                         SimulatorScratch<Real>& scratch) const override;
  void observe_push(Rows<const Real> state, Rows<const Real> tangent, Rows<Real> result, int lanes,
                    SimulatorScratch<Real>& scratch) const override;

 private:
  struct Worker {
    std::unique_ptr<BlackBox> box;
    std::vector<double> state, action, next;
  };
  void move(const StepBatch<Real>& batch, int lanes) const;
  std::unique_ptr<Worker> take() const;
  void put_back(std::unique_ptr<Worker> worker) const;

  std::unique_ptr<Kernel<Real>> observe_;
  std::unique_ptr<Kernel<Real>> outcome_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Worker>> idle_;  // as many as threads have stepped at once
};

// The simulator that suits the task.
template <class Real>
std::unique_ptr<Simulator<Real>> make_simulator(std::shared_ptr<const Task> task, std::vector<int> costs,
                                                Backend backend = Backend::kBest);

// The step with outputs state, observation, signals, reward_paper, ended; and its derivative with one seed a signal.
Graph step_graph(const Task& task, const std::vector<int>& costs);
Graph step_adjoint_graph(const Task& task, const std::vector<int>& costs);
// Of a black box: from (state, action, next state) to the same outputs without the state.
Graph outcome_graph(const Task& task, const std::vector<int>& costs);

}  // namespace cgpo
