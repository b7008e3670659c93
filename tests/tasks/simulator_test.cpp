// The compiled step and its adjoint against plain evaluation of the traced task.
#include "cgpo/tasks/simulators/simulator.hpp"

#include <cmath>
#include <gtest/gtest.h>

#include "cgpo/graph/evaluate.hpp"
#include "cgpo/tasks/registry.hpp"

#include "tasks.hpp"

namespace cgpo {
namespace {

// Two costs, an early end, a non-linear step: all parts of the interface differ from one another.
struct Probe {
  TaskSpec spec() const {
    return testing::toy_spec(
        "probe", {.states = 2, .observations = 3, .actions = 2, .horizon = 8},
        {{.name = "first", .limit = 1.0}, {.name = "second", .limit = 2.0, .stops_at_end = false, .standard = false}});
  }
  void reset(RandomStream& random, std::span<double> state) const { testing::uniform_start(random, state); }
  template <class S>
  void observe(std::span<const S> s, std::span<S> o) const {
    o[0] = sin(s[0]);
    o[1] = cos(s[0]);
    o[2] = s[1] * s[0];
  }
  template <class S>
  StepResult<S> step(std::span<const S> s, std::span<const S> a) const {
    const S next = s[0] + 0.1 * tanh(s[1] + a[0]);
    return {.state = {next, s[1] * 0.9 + 0.2 * a[1]},
            .reward = next * a[1] - s[1],
            .reward_paper = next,
            .costs = {s[0] * s[0], a[0] * next},
            .ended = next > 0.9};
  }
};

TEST(Simulator, StepAndAdjointEqualTheGraph) {
  const auto task = make_task(Probe{});
  const std::vector<int> costs = {1, 0};  // chosen in another order
  const KernelSimulator<double> simulator(task, costs);
  EXPECT_EQ(simulator.signals(), 3);
  EXPECT_TRUE(simulator.stops_at_end(0));
  EXPECT_FALSE(simulator.stops_at_end(1));
  EXPECT_TRUE(simulator.stops_at_end(2));

  const int lanes = 5;
  RandomStream random(1, Purpose::kTest);
  const auto fill = [&](int rows) {
    std::vector<double> values(static_cast<std::size_t>(rows * lanes));
    for (double& value : values) value = random.uniform(-1.0, 1.0);
    return values;
  };
  const auto rows = [](std::vector<double>& values) { return Rows<double>(values.data(), lanes); };
  std::vector<double> state = fill(2), action = fill(2), next(2 * lanes), observation(3 * lanes), signals(3 * lanes),
                      paper(lanes), ended(lanes);
  SimulatorScratch<double> scratch;
  simulator.step({rows(state), rows(action), rows(next), rows(observation), rows(signals), paper.data(), ended.data()},
                 lanes, scratch);
  std::vector<double> next_adjoint = fill(6), observation_adjoint = fill(9), weight = fill(3), state_adjoint(6 * lanes),
                      action_adjoint(6 * lanes);
  simulator.pull_back({rows(state), rows(action), rows(next_adjoint), rows(observation_adjoint), rows(weight),
                       rows(state_adjoint), rows(action_adjoint)},
                      lanes, scratch);

  const Graph graph = task->trace_step();
  const StepLayout layout = task->layout();
  const auto at = [](const std::vector<double>& values, int row, int lane) {
    return values[static_cast<std::size_t>(row * lanes + lane)];
  };
  for (int lane = 0; lane < lanes; ++lane) {
    const std::vector<double> x = {at(state, 0, lane), at(state, 1, lane), at(action, 0, lane), at(action, 1, lane)};
    const std::vector<double> y = evaluate(graph, x);
    const auto near = [&](double value, int output) { EXPECT_NEAR(value, y[static_cast<std::size_t>(output)], 1e-14); };
    for (int i = 0; i < 2; ++i) near(at(next, i, lane), layout.state() + i);
    for (int i = 0; i < 3; ++i) near(at(observation, i, lane), layout.observation() + i);
    near(at(signals, 0, lane), layout.reward());
    near(at(signals, 1, lane), layout.cost(1));
    near(at(signals, 2, lane), layout.cost(0));
    near(paper[static_cast<std::size_t>(lane)], layout.reward_paper());
    near(ended[static_cast<std::size_t>(lane)], layout.ended());
    // Adjoints by central differences of the weighted sum of results.
    for (int k = 0; k < 3; ++k) {
      const int signal = k == 0 ? layout.reward() : layout.cost(k == 1 ? 1 : 0);
      const auto loss = [&](const std::vector<double>& input) {
        const std::vector<double> result = evaluate(graph, input);
        double sum = at(weight, k, lane) * result[static_cast<std::size_t>(signal)];
        for (int i = 0; i < 2; ++i) sum += at(next_adjoint, 2 * k + i, lane) * result[static_cast<std::size_t>(i)];
        for (int i = 0; i < 3; ++i)
          sum += at(observation_adjoint, 3 * k + i, lane) * result[static_cast<std::size_t>(2 + i)];
        return sum;
      };
      for (std::size_t i = 0; i < 4; ++i) {
        std::vector<double> up = x;
        std::vector<double> down = x;
        up[i] += 1e-5;
        down[i] -= 1e-5;
        const int row = 2 * k + static_cast<int>(i % 2);
        EXPECT_NEAR(i < 2 ? at(state_adjoint, row, lane) : at(action_adjoint, row, lane),
                    (loss(up) - loss(down)) / 2e-5, 1e-8);
      }
    }
  }
}

}  // namespace
}  // namespace cgpo
