// Simulators of which only reset and step are known: each keeps the states of its environments to itself and shows
// observations. The task's state is then the observation, and there are no derivatives.
//
// A simulator in C++ derives Environment, and make_environment_task() makes a task of it (docs/your-own-simulator.md).
// One that is a program of its own speaks over pipes: external_process.hpp.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "cgpo/tasks/simulators/simulator.hpp"

namespace cgpo {

// One environment. Everything random in it follows from the seed, so that a run can be repeated.
class Environment {
 public:
  struct Step {
    double reward = 0.0;
    bool ended = false;  // the episode ends with this step, by itself; the horizon is not its affair
  };
  virtual ~Environment() = default;
  virtual void reset(std::uint64_t seed, std::span<double> observation) = 0;
  // Actions are in (−1, 1). Fills the observation after the step, and one number for each of the task's costs.
  virtual Step step(std::span<const double> action, std::span<double> observation, std::span<double> costs) = 0;
};

// As many environments as are asked for, by number. Numbers of one environment follow each other: threads may call for
// different environments at once.
class OutsideEnvironments {
 public:
  virtual ~OutsideEnvironments() = default;
  // Environments first, first + 1, … begin new episodes. observations: [count × observations], one after the other.
  virtual void reset(int first, std::span<const std::uint64_t> seeds, std::span<double> observations) = 0;
  // actions: [count × actions]; results: [count × (observations, reward, costs, ended)]. An environment whose episode
  // has ended is stepped on until the next reset; its results are not looked at, unless a signal goes on after the end.
  virtual void step(int first, int count, std::span<const double> actions, std::span<double> results) = 0;
};

// A task that is simulated outside; `spec.states` follows from its observations.
class OutsideTask final : public Task {
 public:
  OutsideTask(TaskSpec spec, std::shared_ptr<OutsideEnvironments> environments);

  void reset(RandomStream& random, std::span<double> state) const override;
  void reset_in_batch(RandomStream& random, const BatchPlace& place, std::span<double> state) const override;
  Graph trace_step() const override;
  Graph trace_observation() const override;
  OutsideEnvironments* find_outside() const override { return environments_.get(); }

 private:
  std::shared_ptr<OutsideEnvironments> environments_;
};

// `make` gives a new environment; one is made for each that trains at the same time.
std::shared_ptr<const Task> make_environment_task(TaskSpec spec, std::function<std::unique_ptr<Environment>()> make);

template <class Real>
class OutsideSimulator final : public Simulator<Real> {
 public:
  OutsideSimulator(std::shared_ptr<const Task> task, std::vector<int> costs, Backend backend = Backend::kBest);

  void start(const EpisodeStarts& starts, Rows<Real> state, int lanes, SimulatorScratch<Real>& scratch) const override;
  void step(const StepBatch<Real>& batch, int lanes, SimulatorScratch<Real>& scratch) const override;
  bool differentiable() const override { return false; }
  int step_operations() const override { return 0; }
  void pull_back(const AdjointBatch<Real>& batch, int lanes, SimulatorScratch<Real>& scratch) const override;
};

extern template class OutsideSimulator<float>;
extern template class OutsideSimulator<double>;

}  // namespace cgpo
