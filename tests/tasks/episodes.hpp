// Whole episodes of a task under a given way of acting, through the simulator that training uses.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cgpo/tasks/registry.hpp"
#include "cgpo/tasks/simulators/simulator.hpp"

namespace cgpo {

// One value an episode; what stops at its end is counted up to then, as a rollout does.
struct Episodes {
  std::vector<double> rewards, paper, lengths;
  std::vector<std::vector<double>> costs;  // by cost of the task
  int diverged = 0;
};

// Writes an action for the given state.
using Act = std::function<void(RandomStream& random, std::span<const double> state, std::span<double> action)>;
Act idle();
Act uniform_actions();

// `steps`: 0 for the task's horizon.
Episodes run_episodes(const std::shared_ptr<const Task>& task, int environments, const Act& act, int steps = 0);

struct Estimate {
  double mean = 0.0;
  double error = 0.0;  // standard error
};
Estimate estimate(const std::vector<double>& values);

std::shared_ptr<const Task> task_with(const std::string& name,
                                      const std::vector<std::pair<std::string, OptionValue>>& options);

// A start state.
std::vector<double> reset_state(const Task& task, std::uint32_t environment);

}  // namespace cgpo
