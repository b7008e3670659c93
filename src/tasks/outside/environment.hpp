// Simulators outside, of which only reset and step are known: each keeps the states of its environments to itself and
// shows observations. The task's state is then the observation, and there are no derivatives.
//
// A simulator in C++ derives Environment, and make_environment_task() makes a task of it
// (docs/guide/your-own-simulator.md). One that is a program of its own speaks over pipes: outside/process.hpp.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "cgpo/tasks/task.hpp"

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

// The task that they are; `spec.states` follows from its observations.
std::shared_ptr<const Task> make_outside_task(TaskSpec spec, std::shared_ptr<OutsideEnvironments> environments);

// Environments of a class, by number; `make` gives a new one, and one is made for each that trains at the same time.
std::shared_ptr<OutsideEnvironments> make_environments(const TaskSpec& spec,
                                                       std::function<std::unique_ptr<Environment>()> make);
// The task that they are.
std::shared_ptr<const Task> make_environment_task(TaskSpec spec, std::function<std::unique_ptr<Environment>()> make);

}  // namespace cgpo
