// An algorithm whose reports are written beforehand and whose state is one number that tells its whole history.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "cgpo/updates/algorithm.hpp"

namespace cgpo {

struct Measured {
  double return_mean;
  double cost;
};

class FakeAlgorithm final : public Algorithm {
 public:
  explicit FakeAlgorithm(std::vector<Measured> script) : script_(std::move(script)) {}

  // Of 8 environments, in each iteration; those that are not named: none.
  std::vector<int> diverged;
  // J_C of the mean action in each iteration; those that are not named: not known.
  std::vector<double> deployed;
  // The policy's after the first iteration; empty: it has none.
  std::vector<float> weights;
  // Called at the end of every iteration with its number.
  std::function<void(int)> after_iteration = [](int) {};

  IterationReport iterate() override {
    const Measured& now = script_.at(static_cast<std::size_t>(iteration_));
    IterationReport report;
    report.iteration = iteration_;
    report.steps = 10 * (iteration_ + 1);
    report.return_mean = now.return_mean;
    report.costs = {now.cost};
    report.costs_se = {0.0};
    report.limits = {8.0};
    report.radius = state_;
    report.episodes = 8;
    if (static_cast<std::size_t>(iteration_) < diverged.size())
      report.diverged = diverged[static_cast<std::size_t>(iteration_)];
    if (static_cast<std::size_t>(iteration_) < deployed.size())
      report.costs_deployed = {deployed[static_cast<std::size_t>(iteration_)]};
    state_ = 3.9 * state_ * (1.0 - state_);  // chaotic: a state that was lost or repeated shows at once
    after_iteration(iteration_++);
    return report;
  }
  int iteration() const override { return iteration_; }
  void save(Tensors& tensors) const override {
    tensors.put("state", state_);
    if (iteration_ > 0 && !weights.empty()) tensors.put("policy.weight", std::span<const float>(weights));
    tensors.put("iteration", std::int64_t{iteration_});
  }
  void load(const Tensors& tensors) override {
    state_ = tensors.number("state");
    iteration_ = static_cast<int>(tensors.integer("iteration"));
  }
  void warm_start(const Tensors& tensors) override { state_ = tensors.number("state"); }

  double state() const { return state_; }

 private:
  std::vector<Measured> script_;
  int iteration_ = 0;
  double state_ = 0.3;
};

}  // namespace cgpo
