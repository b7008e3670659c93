// H⁻¹ through the kernel of the states against H formed from the explicit Jacobian.
#include "cgpo/updates/action_metric.hpp"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <numeric>

#include "cgpo/base/index.hpp"
#include "cgpo/nn/cholesky.hpp"
#include "cgpo/tasks/registry.hpp"

namespace cgpo {
namespace {

TEST(ActionMetric, EqualsTheExplicitMatrix) {
  const std::shared_ptr<const Task> task = standard_task("reacher");  // two actions
  const auto simulator = make_simulator<float>(task, {0});
  const Policy<float> policy(task->spec().observations, {6, 5}, task->spec().actions, /*learn_std=*/true);
  AlignedVector<float> parameters(at(policy.parameter_count()));
  policy.initialise(parameters, 1, 0.2, 1.0);
  Normaliser<float> normaliser(task->spec().observations);
  Batch<float> batch(*simulator, 12, 20, 5);
  ThreadPool pool(1);
  const Actor<float> actor{policy, parameters, normaliser};
  collect(*simulator, actor, {.seed = 4}, false, pool, batch);

  ActionMetric metric(policy, 31, 0.3);
  metric.rebuild(batch, actor, std::vector<std::uint8_t>{1}, 9, 2);
  const int states = metric.states();
  const int rows = states * policy.actions();
  EXPECT_EQ(rows, 30);

  const int size = policy.parameter_count();
  RowStore<float> units(policy.unit_count(), states), deltas(policy.unit_count(), states);
  std::vector<float> jacobian(at(rows) * at(size));
  policy.mlp().forward(std::span<const float>(parameters).first(at(policy.mlp().parameter_count())), metric.inputs(),
                       units.view(), states);
  policy.mean_jacobian(parameters, metric.inputs(), std::as_const(units).view(), deltas.view(), states,
                       jacobian.data());
  std::vector<double> h(at(size) * at(size), 0.0);
  for (int r = 0; r < rows; ++r) {
    for (int i = 0; i < size; ++i) {
      for (int j = 0; j < size; ++j)
        h[at(i * size + j)] +=
            static_cast<double>(jacobian[at(r * size + i)]) * static_cast<double>(jacobian[at(r * size + j)]) / states;
    }
  }
  double trace = 0.0;
  for (int i = 0; i < size; ++i) trace += h[at(i * size + i)];
  EXPECT_NEAR(metric.damping(), 0.3 * trace / size, 1e-6 * trace / size);
  for (int i = 0; i < size; ++i) {
    h[at(i * size + i)] += metric.damping();
    if (i >= policy.log_std_offset()) h[at(i * size + i)] += 0.2 * 0.2;  // σ²
  }

  RandomStream random(2, Purpose::kTest);
  std::vector<double> v(at(size));
  for (double& value : v) value = random.normal();
  double length = 0.0;
  for (int i = 0; i < size; ++i) {
    for (int j = 0; j < size; ++j) length += v[at(i)] * h[at(i * size + j)] * v[at(j)];
  }
  EXPECT_NEAR(metric.length_squared(v), length, 1e-5 * length);

  std::vector<double> expected = v;
  ASSERT_TRUE(cholesky_factor(h, size));
  cholesky_solve(h, size, expected);
  const std::vector<double> solved = metric.solve(v);
  double error = 0.0, norm = 0.0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    error += (solved[i] - expected[i]) * (solved[i] - expected[i]);
    norm += expected[i] * expected[i];
  }
  EXPECT_LT(error, 1e-10 * norm);
}

// CartPole's reward stops at a fall and its cost goes on: half of H is about the steps before it, half about all steps.
TEST(ActionMetric, SamplesEveryStepThatCountsForASignal) {
  const std::shared_ptr<const Task> task = standard_task("cartpole");
  const auto simulator = make_simulator<float>(task, {0});
  const Policy<float> policy(task->spec().observations, {6}, task->spec().actions, /*learn_std=*/false);
  AlignedVector<float> parameters(at(policy.parameter_count()));
  policy.initialise(parameters, 1, 0.1, 0.01);
  const Normaliser<float> normaliser(task->spec().observations);
  Batch<float> batch(*simulator, 16, 300, 5);
  ThreadPool pool(1);
  const Actor<float> actor{policy, parameters, normaliser};
  collect(*simulator, actor, {.seed = 4}, false, pool, batch);
  ASSERT_LT(summarise(batch).episode_length, 60.0);
  const std::vector<std::uint8_t> both = stops_of(*simulator, std::vector<std::size_t>{0, 1});
  EXPECT_EQ(both, (std::vector<std::uint8_t>{1, 0}));

  // How many of the sampled states are those of a pole that has fallen, by the angle that the policy sees.
  const auto fallen = [&](const std::vector<std::uint8_t>& stops) {
    ActionMetric metric(policy, 256, 0.3);
    metric.rebuild(batch, actor, stops, 9, 2);
    const float* const angle = metric.inputs().row(1);
    return std::count_if(angle, angle + metric.states(), [](float value) { return std::abs(value) > 0.2F; });
  };
  EXPECT_EQ(fallen({1}), 0);
  EXPECT_GT(fallen({0}), 256 * 3 / 4);
  EXPECT_GT(fallen(both), 256 * 3 / 8);
  EXPECT_LT(fallen(both), 256 * 5 / 8);
}

}  // namespace
}  // namespace cgpo
