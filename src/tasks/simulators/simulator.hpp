// One environment step of a batch, forwards and backwards: all that a rollout knows of a task.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "cgpo/base/aligned.hpp"
#include "cgpo/base/random.hpp"
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
  AlignedVector<Real> values;      // what lives within one call
  AlignedVector<Real> parameters;  // of substeps, a row each
  std::vector<double> start;       // one start state
};

// Rows that live within one call of a simulator, cut from the thread's memory.
template <class Real>
class ScratchRows {
 public:
  ScratchRows(SimulatorScratch<Real>& scratch, int rows, int lanes) : stride_(padded_stride<Real>(lanes)) {
    const auto size = static_cast<std::size_t>(rows * stride_);
    if (scratch.values.size() < size) scratch.values.resize(size);
    next_ = scratch.values.data();
  }
  Rows<Real> take(int rows) {
    const Rows<Real> taken(next_, stride_);
    next_ += rows * stride_;
    return taken;
  }

 private:
  std::ptrdiff_t stride_;
  Real* next_;
};

// Which episodes the lanes of a block begin. Environment i of the batch draws from stream first_stream + i·every, and
// is environment i·every of the whole batch.
struct EpisodeStarts {
  std::uint64_t seed = 0;
  Purpose purpose = Purpose::kReset;
  std::uint32_t iteration = 0;
  std::uint32_t first_stream = 0;
  int environment = 0;  // of the batch, that lane 0 is
  int every = 1;
  int environments = 1;  // of the whole batch
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
  Rows<Real> inner = {};    // [inner_rows()], the states between substeps, for pull_back; none: they are not kept
  int environment = 0;      // of the batch, that lane 0 is: for simulators that keep the state of each to themselves
  // One row: 0 where nobody looks at what a lane does any more, so that an engine outside may leave it where it is; no
  // row: somebody looks at all of them.
  const std::uint8_t* keep = nullptr;
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
  // As the step left them. What is not there is computed again, if it is needed; a next state that is there may be
  // another engine's, and what follows from the step is then taken at that one.
  Rows<const Real> next_state = {};  // [states]
  Rows<const Real> inner = {};       // [inner_rows()]
};

// The map from states to observations, compiled, with its derivatives if they are asked for.
template <class Real>
class ObservationKernels {
 public:
  ObservationKernels(const Task& task, bool derivatives, Backend backend);
  explicit ObservationKernels(int states);  // all of the state is observed, as it is
  bool shows_state() const { return observe_ == nullptr; }
  void observe(Rows<const Real> state, Rows<Real> observation, int lanes, SimulatorScratch<Real>& scratch) const;
  void pull_back(Rows<const Real> state, Rows<const Real> adjoint, Rows<Real> result, int lanes,
                 SimulatorScratch<Real>& scratch) const;
  void push(Rows<const Real> state, Rows<const Real> tangent, Rows<Real> result, int lanes,
            SimulatorScratch<Real>& scratch) const;

 private:
  int states_;
  int observations_;
  std::unique_ptr<Kernel<Real>> observe_;  // null, as are the others: states are observed as they are
  std::unique_ptr<Kernel<Real>> adjoint_;
  std::unique_ptr<Kernel<Real>> tangent_;
};

template <class Real>
class Simulator {
 public:
  virtual ~Simulator() = default;
  void observe(Rows<const Real> state, Rows<Real> observation, int lanes, SimulatorScratch<Real>& scratch) const {
    observation_.observe(state, observation, lanes, scratch);
  }
  // Begins an episode in every lane: its start state, by the task's own reset unless the simulator has another way.
  virtual void start(const EpisodeStarts& starts, Rows<Real> state, int lanes, SimulatorScratch<Real>& scratch) const;
  virtual void step(const StepBatch<Real>& batch, int lanes, SimulatorScratch<Real>& scratch) const = 0;
  virtual bool differentiable() const { return false; }
  // Whether its lanes take long, one after the other: then threads had better share a block's, with the same bits.
  virtual bool steps_lane_by_lane() const { return false; }
  // Spent in an engine outside since this was last asked, the sum over all threads; none: there is no such engine.
  virtual std::optional<double> take_seconds_outside() const { return std::nullopt; }
  virtual int inner_rows() const { return 0; }
  // Arithmetic operations of a lane, as far as kernels do them.
  virtual std::int64_t step_operations() const = 0;
  virtual std::int64_t pull_back_operations() const { return 0; }
  // Only if differentiable().
  virtual void pull_back(const AdjointBatch<Real>& batch, int lanes, SimulatorScratch<Real>& scratch) const;
  // Of the substeps that are differentiated: what their parameters (Task::parameters) are from now on.
  virtual void set_parameters(std::span<const double>) {}
  // With O = ∂observation/∂state: from [observations] to Oᵀ adjoint [states], and from [states] to O tangent.
  void observe_pull_back(Rows<const Real> state, Rows<const Real> adjoint, Rows<Real> result, int lanes,
                         SimulatorScratch<Real>& scratch) const {
    observation_.pull_back(state, adjoint, result, lanes, scratch);
  }
  void observe_push(Rows<const Real> state, Rows<const Real> tangent, Rows<Real> result, int lanes,
                    SimulatorScratch<Real>& scratch) const {
    observation_.push(state, tangent, result, lanes, scratch);
  }

  bool shows_state() const { return observation_.shows_state(); }  // what is observed is the state, as it is

  const TaskSpec& spec() const { return spec_; }  // its sizes are those of the rows above
  int signals() const { return 1 + static_cast<int>(costs_.size()); }
  const std::vector<int>& costs() const { return costs_; }  // which of the task's costs, in order
  // Whether signal k stops counting when an episode ends early.
  bool stops_at_end(int k) const;

 protected:
  Simulator(std::shared_ptr<const Task> task, std::vector<int> costs, bool differentiable, Backend backend)
      : spec_(task->spec()),
        costs_(std::move(costs)),
        task_(std::move(task)),
        observation_(*task_, differentiable, backend) {}
  // Of one that shows all of its state, and begins episodes in its own way or not at all.
  Simulator(const TaskSpec& spec, std::vector<int> costs)
      : spec_(spec), costs_(std::move(costs)), observation_(spec.states) {}

 private:
  TaskSpec spec_;
  std::vector<int> costs_;
  std::shared_ptr<const Task> task_;  // for its starts
  ObservationKernels<Real> observation_;
};

// WholeStep; Substeps, too, unrolled into one graph.
template <class Real>
class KernelSimulator final : public Simulator<Real> {
 public:
  KernelSimulator(std::shared_ptr<const Task> task, std::vector<int> costs, Backend backend = Backend::kBest);

  void step(const StepBatch<Real>& batch, int lanes, SimulatorScratch<Real>& scratch) const override;
  bool differentiable() const override { return this->spec().differentiable; }
  std::int64_t step_operations() const override { return step_->operations(); }
  std::int64_t pull_back_operations() const override { return adjoint_ ? adjoint_->operations() : 0; }
  void pull_back(const AdjointBatch<Real>& batch, int lanes, SimulatorScratch<Real>& scratch) const override;

 private:
  std::unique_ptr<Kernel<Real>> step_;
  std::unique_ptr<Kernel<Real>> adjoint_;
};

// Substeps: three small kernels instead of one large, so that
// a robot is ready in milliseconds and its code stays near the instruction cache.
template <class Real>
class SubstepSimulator final : public Simulator<Real> {
 public:
  SubstepSimulator(std::shared_ptr<const Task> task, std::vector<int> costs, Backend backend = Backend::kBest);

  void step(const StepBatch<Real>& batch, int lanes, SimulatorScratch<Real>& scratch) const override;
  bool differentiable() const override { return this->spec().differentiable; }
  int inner_rows() const override;
  std::int64_t step_operations() const override;
  std::int64_t pull_back_operations() const override;
  void pull_back(const AdjointBatch<Real>& batch, int lanes, SimulatorScratch<Real>& scratch) const override;
  void set_parameters(std::span<const double> parameters) override;

 private:
  Rows<const Real> parameter_rows(int lanes, SimulatorScratch<Real>& scratch) const;
  // All substeps. State i between is row block i − 1 of `inner`, the last one goes to `last`.
  void move(Rows<const Real> state, Rows<const Real> action, Rows<Real> inner, Rows<Real> last, int lanes,
            SimulatorScratch<Real>& scratch) const;

  std::vector<double> parameters_;
  std::unique_ptr<Kernel<Real>> substep_;
  std::unique_ptr<Kernel<Real>> outcome_;
  std::unique_ptr<Kernel<Real>> substep_adjoint_;
  std::unique_ptr<Kernel<Real>> outcome_adjoint_;
};

// OutsideStep: the engine steps lane after lane, or environments outside all lanes at once, and a compiled graph does
// the rest. A lane whose engine found a bad state gets NaN there. Backwards goes the task's twin, from each of the
// engine's states; where its derivative is not finite the step tells nothing, and has no adjoint.
template <class Real>
class OutsideStepSimulator final : public Simulator<Real> {
 public:
  OutsideStepSimulator(std::shared_ptr<const Task> task, std::vector<int> costs, Backend backend = Backend::kBest);

  void start(const EpisodeStarts& starts, Rows<Real> state, int lanes, SimulatorScratch<Real>& scratch) const override;
  void step(const StepBatch<Real>& batch, int lanes, SimulatorScratch<Real>& scratch) const override;
  bool differentiable() const override { return twin_ != nullptr; }
  bool steps_lane_by_lane() const override { return !states_ || states_->environments->in_parallel(); }
  std::optional<double> take_seconds_outside() const override;
  std::int64_t step_operations() const override { return outcome_->operations(); }
  std::int64_t pull_back_operations() const override { return twin_ ? twin_->pull_back_operations() : 0; }
  void pull_back(const AdjointBatch<Real>& batch, int lanes, SimulatorScratch<Real>& scratch) const override;
  void set_parameters(std::span<const double> parameters) override { twin_->set_parameters(parameters); }

 private:
  struct Worker {
    std::unique_ptr<OutsideEngine> engine;
    std::vector<double> state, action, next;
  };
  void move(const StepBatch<Real>& batch, int lanes) const;
  void move_outside(const StepBatch<Real>& batch, int lanes, SimulatorScratch<Real>& scratch) const;
  std::unique_ptr<Worker> take() const;
  void put_back(std::unique_ptr<Worker> worker) const;
  void count(std::chrono::steady_clock::time_point begin) const;  // that somebody outside has worked since then

  std::function<std::unique_ptr<OutsideEngine>()> make_engine_;
  std::optional<OutsideStates> states_;  // in place of engines
  std::unique_ptr<Kernel<Real>> outcome_;
  std::unique_ptr<SubstepSimulator<Real>> twin_;  // null: there is none
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Worker>> idle_;  // as many as threads have stepped at once
  mutable double seconds_outside_ = 0.0;
};

// OutsideEnvironments: nothing of the step is ours.
template <class Real>
class OutsideEnvironmentSimulator final : public Simulator<Real> {
 public:
  OutsideEnvironmentSimulator(const TaskSpec& spec, std::vector<int> costs,
                              std::shared_ptr<OutsideEnvironments> environments);

  void start(const EpisodeStarts& starts, Rows<Real> state, int lanes, SimulatorScratch<Real>& scratch) const override;
  void step(const StepBatch<Real>& batch, int lanes, SimulatorScratch<Real>& scratch) const override;
  bool steps_lane_by_lane() const override { return environments_->in_parallel(); }
  std::int64_t step_operations() const override { return 0; }

 private:
  std::shared_ptr<OutsideEnvironments> environments_;
};

// The simulator that suits the task's dynamics.
template <class Real>
std::unique_ptr<Simulator<Real>> make_simulator(std::shared_ptr<const Task> task, std::vector<int> costs,
                                                Backend backend = Backend::kBest);

// (state, action) → state, observation, signals, reward_paper, ended; and its derivative with one seed a signal.
Graph step_graph(const Task& task, const std::vector<int>& costs);
Graph step_adjoint_graph(const Task& task, const std::vector<int>& costs);
// (state, action, parameters) → state of one substep; the derivative is that of (state, action) → (state, action), with
// one seed a signal.
Graph substep_graph(const Task& task);
Graph substep_adjoint_graph(const Task& task, const std::vector<int>& costs);
// (state, action, next state) → observation, signals, reward_paper, ended. The derivative's seeds are those of a step:
// what is known of the next state's adjoint goes in, all of it comes out.
Graph outcome_graph(const Task& task, const std::vector<int>& costs);
Graph outcome_adjoint_graph(const Task& task, const std::vector<int>& costs);

}  // namespace cgpo
