#include "episodes.hpp"

#include <cmath>
#include <numeric>

namespace cgpo {

Act idle() {
  return [](RandomStream&, std::span<const double>, std::span<double> action) {
    std::fill(action.begin(), action.end(), 0.0);
  };
}

Act uniform_actions() {
  return [](RandomStream& random, std::span<const double>, std::span<double> action) {
    for (double& a : action) a = random.uniform(-1.0, 1.0);
  };
}

Episodes run_episodes(const std::shared_ptr<const Task>& task, int environments, const Act& act, int steps) {
  const TaskSpec& spec = task->spec();
  const int horizon = steps > 0 ? steps : spec.horizon;
  std::vector<int> costs(spec.costs.size());
  std::iota(costs.begin(), costs.end(), 0);
  const std::unique_ptr<Simulator<float>> simulator = make_simulator<float>(task, costs);
  const auto lanes = static_cast<std::size_t>(environments);
  const auto rows = [environments](std::vector<float>& values) { return Rows<float>(values.data(), environments); };
  const auto size = [lanes](int count) { return std::vector<float>(static_cast<std::size_t>(count) * lanes); };
  std::vector<float> state = size(spec.states), next = size(spec.states), action = size(spec.actions),
                     observation = size(spec.observations), signals = size(simulator->signals()), paper = size(1),
                     ended = size(1);
  std::vector<double> x(static_cast<std::size_t>(spec.states)), a(static_cast<std::size_t>(spec.actions));
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    RandomStream random(7, Purpose::kReset, 0, static_cast<std::uint32_t>(lane));
    task->reset(random, x);
    for (std::size_t i = 0; i < x.size(); ++i) state[i * lanes + lane] = static_cast<float>(x[i]);
  }
  Episodes result;
  result.rewards.assign(lanes, 0.0);
  result.paper.assign(lanes, 0.0);
  result.lengths.assign(lanes, horizon);
  result.costs.assign(costs.size(), std::vector<double>(lanes, 0.0));
  std::vector<bool> over(lanes), bad(lanes);
  SimulatorScratch<float> scratch;
  for (int t = 0; t < horizon; ++t) {
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      RandomStream random(7, Purpose::kNoise, 0, static_cast<std::uint32_t>(lane), static_cast<std::uint32_t>(t));
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(state[i * lanes + lane]);
      act(random, x, a);
      for (std::size_t i = 0; i < a.size(); ++i) action[i * lanes + lane] = static_cast<float>(a[i]);
    }
    simulator->step(
        {rows(state), rows(action), rows(next), rows(observation), rows(signals), paper.data(), ended.data()},
        environments, scratch);
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      for (std::size_t i = 0; i < x.size(); ++i) {
        if (!(std::abs(next[i * lanes + lane]) <= static_cast<float>(spec.divergence_bound))) bad[lane] = true;
      }
      if (!over[lane] || !spec.reward_stops_at_end) {
        result.rewards[lane] += static_cast<double>(signals[lane]);
        result.paper[lane] += static_cast<double>(paper[lane]);
      }
      for (std::size_t k = 0; k < costs.size(); ++k) {
        if (over[lane] && spec.costs[k].stops_at_end) continue;
        result.costs[k][lane] += static_cast<double>(signals[(k + 1) * lanes + lane]);
      }
      if (ended[lane] != 0.0F && !over[lane]) {
        over[lane] = true;
        result.lengths[lane] = t + 1;
      }
    }
    std::swap(state, next);
  }
  result.diverged = static_cast<int>(std::count(bad.begin(), bad.end(), true));
  return result;
}

Estimate estimate(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0.0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {mean, std::sqrt(squares / (n - 1.0) / n)};
}

std::shared_ptr<const Task> task_with(const std::string& name,
                                      const std::vector<std::pair<std::string, OptionValue>>& options) {
  const TaskEntry& entry = find_task(name);
  TaskOptions chosen(entry.options);
  for (const auto& [key, value] : options) chosen.set(key, value);
  return entry.make(chosen);
}

std::vector<double> reset_state(const Task& task, std::uint32_t environment) {
  std::vector<double> state(static_cast<std::size_t>(task.spec().states));
  RandomStream random(7, Purpose::kReset, 0, environment);
  task.reset(random, state);
  return state;
}

}  // namespace cgpo
