// Private to this folder: the rows of one kernel call, in the order of the graph's inputs and outputs.
#pragma once

#include "cgpo/tasks/simulators/simulator.hpp"

namespace cgpo {

template <class Real>
class KernelCall {
 public:
  explicit KernelCall(SimulatorScratch<Real>& scratch) : scratch_(scratch) {
    scratch_.inputs.clear();
    scratch_.outputs.clear();
  }

  void read(Rows<const Real> rows, int count) {
    for (int i = 0; i < count; ++i) scratch_.inputs.push_back(rows.row(i));
  }
  void write(Rows<Real> rows, int count) {
    for (int i = 0; i < count; ++i) scratch_.outputs.push_back(rows.row(i));
  }
  // What follows from a step: all of it but the next state.
  void write_outcome(const StepBatch<Real>& batch, int observations, int signals) {
    write(batch.observation, observations);
    write(batch.signals, signals);
    scratch_.outputs.push_back(batch.reward_paper);
    scratch_.outputs.push_back(batch.ended);
  }
  void run(const Kernel<Real>& kernel, int lanes) const {
    kernel.run(scratch_.inputs.data(), scratch_.outputs.data(), lanes, scratch_.kernel);
  }

 private:
  SimulatorScratch<Real>& scratch_;
};

// What follows from a step, by the kernel of outcome_graph().
template <class Real>
void run_outcome(const Kernel<Real>& outcome, const TaskSpec& spec, int signals, const StepBatch<Real>& batch,
                 int lanes, SimulatorScratch<Real>& scratch) {
  KernelCall<Real> call(scratch);
  call.read(batch.state, spec.states);
  call.read(batch.action, spec.actions);
  call.read(batch.next_state, spec.states);
  call.write_outcome(batch, spec.observations, signals);
  call.run(outcome, lanes);
}

}  // namespace cgpo
