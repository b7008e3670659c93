// The vector–Jacobian product of a step as other people's reverse sweeps ask for it: one seed for all that a step
// gives, where Simulator::pull_back has one for each signal.
#pragma once

#include <memory>
#include <vector>

#include "cgpo/tasks/simulators/simulator.hpp"

namespace cgpo {

template <class Real>
struct AdjointStepBatch {
  Rows<const Real> state;                // [states]
  Rows<const Real> action;               // [actions]
  Rows<const Real> next_state;           // [states], as the step left it
  Rows<const Real> inner;                // [inner_rows() of the simulator], same
  Rows<const Real> next_state_adjoint;   // [states]
  Rows<const Real> observation_adjoint;  // [observations]
  Rows<const Real> signal_adjoint;       // [signals]
  Rows<Real> state_adjoint;              // [states], comes out
  Rows<Real> action_adjoint;             // [actions], same
};

template <class Real>
class AdjointStep {
 public:
  // UserError if the task's steps are not differentiable graphs of ours.
  AdjointStep(const Task& task, const std::vector<int>& costs, Backend backend = Backend::kBest);

  // A lane whose seed is 0 has adjoint 0, whatever its step was like: so whoever leaves out what diverged by selecting,
  // and not by multiplying with 0, gets no NaN from it.
  void pull_back(const AdjointStepBatch<Real>& batch, int lanes, SimulatorScratch<Real>& scratch) const;

 private:
  void pull_back_substeps(const AdjointStepBatch<Real>& batch, int lanes, SimulatorScratch<Real>& scratch) const;

  TaskSpec spec_;
  int signals_;
  std::unique_ptr<Kernel<Real>> result_;   // of the step, or of what follows from its substeps
  std::unique_ptr<Kernel<Real>> substep_;  // null: there are none
};

}  // namespace cgpo
