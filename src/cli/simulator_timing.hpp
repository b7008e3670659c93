// How long a simulator's step takes, and its derivative.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "cgpo/nn/row_store.hpp"
#include "cgpo/tasks/simulators/simulator.hpp"

namespace cgpo {

using TimingClock = std::chrono::steady_clock;

inline double seconds_since(TimingClock::time_point start) {
  return std::chrono::duration<double>(TimingClock::now() - start).count();
}

// Seconds of a call: the fastest of many, because whatever else runs here only ever slows it down.
template <class Call>
double fastest(Call call, double enough = 0.15) {
  call();
  double best = INFINITY;
  const auto start = TimingClock::now();
  for (int n = 0; n < 5 || seconds_since(start) < enough; ++n) {
    const auto begin = TimingClock::now();
    call();
    best = std::min(best, seconds_since(begin));
  }
  return best;
}

// One block of environments as training has it, after a few random steps, so that feet are on the floor.
class SimulatorTiming {
 public:
  SimulatorTiming(const Task& task, std::unique_ptr<Simulator<float>> simulator)
      : simulator_(std::move(simulator)), spec_(simulator_->spec()) {
    RandomStream random(1, Purpose::kTest);
    std::vector<double> start(static_cast<std::size_t>(spec_.states));
    for (int lane = 0; lane < kLanes; ++lane) {
      task.reset(random, start);
      for (int i = 0; i < spec_.states; ++i)
        state_.row(i)[lane] = static_cast<float>(start[static_cast<std::size_t>(i)]);
    }
    const auto draw = [&](Block& block, int rows) {
      for (int i = 0; i < rows; ++i) {
        for (int lane = 0; lane < kLanes; ++lane) block.row(i)[lane] = static_cast<float>(random.uniform(-1.0, 1.0));
      }
    };
    for (int t = 0; t < 10; ++t) {
      draw(action_, spec_.actions);
      step();
      std::swap(state_, next_);
    }
    step();
    draw(next_adjoint_, simulator_->signals() * spec_.states);
    draw(observation_adjoint_, simulator_->signals() * spec_.observations);
    draw(weight_, simulator_->signals());
  }

  // Nanoseconds of an environment step.
  double step_ns() {
    return 1e9 * fastest([this] { step(); }) / kLanes;
  }
  double pull_back_ns() {
    return 1e9 * fastest([this] { pull_back(); }) / kLanes;
  }
  const Simulator<float>& simulator() const { return *simulator_; }

 private:
  static constexpr int kLanes = 32;  // kernel.block
  struct Block : RowStore<float> {
    explicit Block(int rows) : RowStore<float>(rows, kLanes) {}
    float* row(int i) { return view().row(i); }
  };
  void step() {
    simulator_->step({state_.view(), action_.view(), next_.view(), observation_.view(), signals_.view(), paper_.row(0),
                      ended_.row(0), inner_.view()},
                     kLanes, scratch_);
  }
  void pull_back() {
    simulator_->pull_back({state_.view(), action_.view(), next_adjoint_.view(), observation_adjoint_.view(),
                           weight_.view(), state_adjoint_.view(), action_adjoint_.view(), next_.view(), inner_.view()},
                          kLanes, scratch_);
  }

  std::unique_ptr<Simulator<float>> simulator_;
  TaskSpec spec_;
  SimulatorScratch<float> scratch_;
  Block state_{spec_.states}, action_{spec_.actions}, next_{spec_.states}, observation_{spec_.observations};
  Block signals_{simulator_->signals()}, paper_{1}, ended_{1}, inner_{simulator_->inner_rows() + 1};
  Block next_adjoint_{simulator_->signals() * spec_.states};
  Block observation_adjoint_{simulator_->signals() * spec_.observations}, weight_{simulator_->signals()};
  Block state_adjoint_{simulator_->signals() * spec_.states}, action_adjoint_{simulator_->signals() * spec_.actions};
};

}  // namespace cgpo
