// Many environments side by side under actions that depend on nothing but seed, environment and step, so that two
// engines get the same ones.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cgpo/tasks/registry.hpp"
#include "cgpo/tasks/simulators/simulator.hpp"

namespace cgpo::contact {

using Options = std::vector<std::pair<std::string, OptionValue>>;

inline std::shared_ptr<const Task> task_with(const std::string& name, const Options& options) {
  const TaskEntry& entry = find_task(name);
  TaskOptions chosen(entry.options);
  for (const auto& [key, value] : options) chosen.set(key, value);
  return entry.make(chosen);
}

template <class Real>
class Swarm {
 public:
  Swarm(const std::shared_ptr<const Task>& task, const std::vector<int>& costs, int lanes, std::uint64_t seed = 7)
      : simulator_(make_simulator<Real>(task, costs)), seed_(seed), lanes_(lanes) {
    const TaskSpec& spec = task->spec();
    const auto size = [lanes](int rows) { return std::vector<Real>(static_cast<std::size_t>(rows * lanes)); };
    state_ = size(spec.states);
    next_ = size(spec.states);
    action_ = size(spec.actions);
    observation_ = size(spec.observations);
    signals_ = size(simulator_->signals());
    paper_ = size(1);
    ended_ = size(1);
    std::vector<double> start(static_cast<std::size_t>(spec.states));
    for (int lane = 0; lane < lanes; ++lane) {
      RandomStream random(seed, Purpose::kReset, 0, static_cast<std::uint32_t>(lane));
      task->reset(random, start);
      set_state(lane, start);
    }
  }

  // Actions uniform in ±amplitude.
  void step(double amplitude) {
    const TaskSpec& spec = simulator_->spec();
    for (int lane = 0; lane < lanes_; ++lane) {
      RandomStream random(seed_, Purpose::kNoise, 0, static_cast<std::uint32_t>(lane), steps_);
      for (int i = 0; i < spec.actions; ++i) {
        action_[index(i, lane)] = static_cast<Real>(amplitude * random.uniform(-1.0, 1.0));
      }
    }
    simulator_->step(
        {rows(state_), rows(action_), rows(next_), rows(observation_), rows(signals_), paper_.data(), ended_.data()},
        lanes_, scratch_);
    std::swap(state_, next_);
    ++steps_;
  }

  std::vector<double> state(int lane) const {
    std::vector<double> result(static_cast<std::size_t>(simulator_->spec().states));
    for (std::size_t i = 0; i < result.size(); ++i) {
      result[i] = static_cast<double>(state_[index(static_cast<int>(i), lane)]);
    }
    return result;
  }
  void set_states(const std::vector<Real>& all) { state_ = all; }
  void set_state(int lane, const std::vector<double>& values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      state_[index(static_cast<int>(i), lane)] = static_cast<Real>(values[i]);
    }
  }
  double signal(int k, int lane) const { return static_cast<double>(signals_[index(k, lane)]); }
  bool ended(int lane) const { return ended_[static_cast<std::size_t>(lane)] != Real(0); }

  const std::vector<Real>& states() const { return state_; }
  const std::vector<Real>& actions() const { return action_; }  // of the last step
  const Simulator<Real>& simulator() const { return *simulator_; }
  int lanes() const { return lanes_; }

 private:
  std::size_t index(int row, int lane) const { return static_cast<std::size_t>(row * lanes_ + lane); }
  Rows<Real> rows(std::vector<Real>& values) const { return {values.data(), lanes_}; }

  std::unique_ptr<Simulator<Real>> simulator_;
  std::uint64_t seed_;
  int lanes_;
  std::uint32_t steps_ = 0;
  SimulatorScratch<Real> scratch_;
  std::vector<Real> state_, next_, action_, observation_, signals_, paper_, ended_;
};

}  // namespace cgpo::contact
