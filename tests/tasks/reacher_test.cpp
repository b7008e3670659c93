#include <cmath>
#include <gtest/gtest.h>

#include "cgpo/graph/evaluate.hpp"

#include "episodes.hpp"

namespace cgpo {
namespace {

std::shared_ptr<const Task> reacher(const char* cost, const char* velocity = "tip") {
  return task_with("reacher", {{"cost", std::string(cost)}, {"velocity", std::string(velocity)}});
}

TEST(Reacher, IdleAndRandomSums) {
  const Episodes still = run_episodes(reacher("literal"), 512, idle());
  EXPECT_NEAR(estimate(still.costs[0]).mean / 100, 17.2, 3 * 0.46);
  EXPECT_NEAR(estimate(run_episodes(reacher("literal"), 512, uniform_actions()).costs[0]).mean / 100, 9.1, 0.4);
  EXPECT_NEAR(estimate(run_episodes(reacher("tip_base"), 512, idle()).costs[0]).mean, 1322, 5);
  EXPECT_NEAR(estimate(run_episodes(reacher("tip_base"), 512, uniform_actions()).costs[0]).mean, 537, 20);
  const Episodes close = run_episodes(reacher("not_too_close"), 512, idle());
  EXPECT_NEAR(estimate(close.costs[0]).mean, -estimate(still.costs[0]).mean, 1e-3);
}

TEST(Reacher, LimitsFollowTheReading) {
  EXPECT_EQ(reacher("tip_base")->spec().costs[0].limit, 400.0);
  EXPECT_EQ(reacher("not_too_close")->spec().costs[0].limit, -400.0);
  EXPECT_EQ(reacher("literal")->spec().costs[0].limit, 400.0);
}

TEST(Reacher, StartsWithTheTabledDistance) {
  const auto task = reacher("tip_base");
  const Graph observe = task->trace_observation();
  double sum = 0.0;
  const int count = 20000;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::vector<double> o = evaluate(observe, reset_state(*task, i));
    sum += o[8] * o[8] + o[9] * o[9];
  }
  EXPECT_NEAR(sum / count, 0.0572, 0.001);
}

TEST(Reacher, ObservationIsWhatItSays) {
  const std::vector<double> state = {0.3, -0.7, 1.5, -2.5, 0.05, -0.1};
  const std::vector<double> o = evaluate(reacher("tip_base")->trace_observation(), state);
  const double first = 0.3;
  const double both = 0.3 - 0.7;
  const double x = 0.1 * std::cos(first) + 0.11 * std::cos(both);
  const double y = 0.1 * std::sin(first) + 0.11 * std::sin(both);
  const double expected[] = {std::cos(0.3),
                             std::cos(-0.7),
                             std::sin(0.3),
                             std::sin(-0.7),
                             0.05,
                             -0.1,
                             -0.1 * std::sin(first) * 1.5 - 0.11 * std::sin(both) * (1.5 - 2.5),
                             0.1 * std::cos(first) * 1.5 + 0.11 * std::cos(both) * (1.5 - 2.5),
                             x - 0.05,
                             y + 0.1,
                             0.0};
  for (std::size_t i = 0; i < 11; ++i) EXPECT_NEAR(o[i], expected[i], 1e-12) << i;
  const std::vector<double> rates = evaluate(reacher("tip_base", "qd")->trace_observation(), state);
  EXPECT_EQ(rates[6], 1.5);
  EXPECT_EQ(rates[7], -2.5);
}

}  // namespace
}  // namespace cgpo
