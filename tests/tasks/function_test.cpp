// The Function tasks against the numbers of the task sheet.
#include <cmath>
#include <functional>
#include <gtest/gtest.h>

#include "cgpo/graph/evaluate.hpp"
#include "cgpo/tasks/registry.hpp"

namespace cgpo {
namespace {

// Σ reward of an episode from x₀ under a ∈ (−1, 1) chosen from the state and a random stream.
double episode(const Task& task, double x, const std::function<double(double)>& act) {
  const Graph step = task.trace_step();
  const StepLayout layout = task.layout();
  double sum = 0.0;
  for (int t = 0; t < task.spec().horizon; ++t) {
    const std::vector<double> result = evaluate(step, std::vector{x, act(x)});
    const double reward = result[static_cast<std::size_t>(layout.reward())];
    EXPECT_EQ(reward, result[static_cast<std::size_t>(layout.cost(0))]);
    EXPECT_EQ(reward, result[static_cast<std::size_t>(layout.reward_paper())]);
    EXPECT_EQ(result[static_cast<std::size_t>(layout.ended())], 0.0);
    x = result[static_cast<std::size_t>(layout.state())];
    EXPECT_EQ(x, result[static_cast<std::size_t>(layout.observation())]);
    sum += reward;
  }
  return sum;
}

double random_policy(const Task& task) {
  RandomStream random(1, Purpose::kTest);
  double sum = 0.0;
  for (int i = 0; i < 2000; ++i) sum += episode(task, 0.0, [&](double) { return random.uniform(-1.0, 1.0); });
  return sum / 2000;
}

TEST(Function, SmoothNumbers) {
  const auto task = standard_task("function");
  EXPECT_TRUE(task->spec().differentiable);
  EXPECT_EQ(task->spec().costs.at(0).limit, 8.0);
  EXPECT_NEAR(episode(*task, 0.0, [](double) { return 0.0; }), 10.00, 0.005);
  EXPECT_NEAR(episode(*task, 0.0, [](double) { return 1.0; }), 141.35, 0.005);
  EXPECT_NEAR(episode(*task, 0.0, [](double) { return -1.0; }), 141.33, 0.005);
  for (const double hold : {-1.115, -0.081, 1.423}) {
    const auto go_and_hold = [hold](double x) { return std::clamp((hold - x) / 0.2, -1.0, 1.0); };
    EXPECT_NEAR(episode(*task, 0.0, go_and_hold), 8.0, 0.03) << hold;
  }
  EXPECT_NEAR(episode(*task, 0.0, [](double x) { return std::clamp(5.0 * (-0.598 - x), -1.0, 1.0); }), 0.53, 0.02);
  EXPECT_NEAR(random_policy(*task), 10.68, 4.0 * 4.1 / std::sqrt(2000.0));
}

TEST(Function, FloorNumbers) {
  const auto task = standard_task("function-floor");
  EXPECT_FALSE(task->spec().differentiable);
  EXPECT_NEAR(episode(*task, 0.0, [](double) { return 0.0; }), 10.00, 0.005);
  EXPECT_NEAR(episode(*task, 0.0, [](double) { return 1.0; }), 130.68, 0.5);  // 0.2·a lands next to an integer
  EXPECT_NEAR(episode(*task, 0.0, [](double) { return -1.0; }), 150.21, 0.5);
  EXPECT_NEAR(random_policy(*task), 11.02, 4.0 * 3.8 / std::sqrt(2000.0));
  EXPECT_NEAR((episode(*task, -1e-9, [](double) { return 0.0; }) + episode(*task, 0.0, [](double) { return 0.0; })) / 2,
              10.5, 0.01);
}

TEST(Function, StartsWhereItIsToldTo) {
  const TaskEntry& entry = find_task("function");
  TaskOptions options(entry.options);
  double low = 1.0;
  double high = -1.0;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    RandomStream random(3, Purpose::kReset, 0, i);
    double state = 5.0;
    entry.make(options)->reset(random, std::span(&state, 1));
    low = std::min(low, state);
    high = std::max(high, state);
  }
  EXPECT_NEAR(low, -0.1, 0.002);
  EXPECT_NEAR(high, 0.1, 0.002);
  options.set("start_width", 0.0);
  RandomStream random(3, Purpose::kReset);
  double state = 5.0;
  entry.make(options)->reset(random, std::span(&state, 1));
  EXPECT_EQ(state, 0.0);
}

TEST(Function, MeasuresBeforeOrAfterTheStep) {
  const TaskEntry& entry = find_task("function");
  TaskOptions options(entry.options);
  const auto reward = [&] {
    const std::shared_ptr<const Task> task = entry.make(options);
    const std::vector<double> result = evaluate(task->trace_step(), std::vector{2.0, 0.5});
    EXPECT_NEAR(result[static_cast<std::size_t>(task->layout().state())], 2.1, 1e-15);
    return result[static_cast<std::size_t>(task->layout().reward())];
  };
  const auto f = [](double x) { return x * x / 100.0 + 0.1 + 0.1 * std::sin(8.0 * x / 3.14159265358979323846); };
  EXPECT_NEAR(reward(), f(2.0), 1e-14);
  options.set("measured", std::string("after"));
  EXPECT_NEAR(reward(), f(2.1), 1e-14);
}

}  // namespace
}  // namespace cgpo
