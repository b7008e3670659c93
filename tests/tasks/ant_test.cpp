#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

#include "cgpo/graph/evaluate.hpp"
#include "cgpo/tasks/robots/models.hpp"
#include "cgpo/tasks/robots/robot.hpp"

#include "episodes.hpp"

namespace cgpo {
namespace {

double lowest_foot(const Model& model, const std::vector<double>& state) {
  const RobotState<double> robot(model, state);
  double lowest = 1e9;
  for (const ContactPoint& foot : model.contacts) {
    lowest = std::min(lowest, robot.position(foot.body, foot.body_position)[2] - foot.radius);
  }
  return lowest;
}

Model ant_model() { return load_model_from_text(std::string(model_text("ant")), "ant"); }

TEST(Ant, StartsWhereTheSheetSays) {
  const Model model = ant_model();
  const auto exact = task_with("ant", {{"reset_width", 0.0}, {"reset_lift", false}});
  EXPECT_NEAR(lowest_foot(model, reset_state(*exact, 0)), -0.006, 5e-4);
  const auto brax = task_with("ant", {{"reset_lift", false}});
  const auto lifted = standard_task("ant");
  double sum = 0.0;
  double worst = 0.0;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    const std::vector<double> start = reset_state(*brax, i);
    EXPECT_NEAR(start[3] * start[3] + start[4] * start[4] + start[5] * start[5] + start[6] * start[6], 1.0, 1e-12);
    const double depth = std::max(0.0, -lowest_foot(model, start));
    sum += depth;
    worst = std::max(worst, depth);
    EXPECT_GT(lowest_foot(model, reset_state(*lifted, i)), -1e-12);
  }
  EXPECT_NEAR(sum / 1000, 0.12, 0.01);
  EXPECT_NEAR(worst, 0.34, 0.06);
}

// How long a random ant lives until it is thrown above 1 m: 56 steps with mj_step at 0.01 s, 93 at 0.001 s, 86 on our
// floor (docs/physics/contact.md), all with lifted starts.
TEST(Ant, IdleAndRandomLengths) {
  const auto task = standard_task("ant");
  const Episodes still = run_episodes(task, 128, idle());
  for (const double length : still.lengths) EXPECT_EQ(length, 300.0);
  EXPECT_LT(estimate(still.costs[0]).mean, 11.0);
  EXPECT_NEAR(estimate(run_episodes(task, 128, uniform_actions()).lengths).mean, 86.0, 20.0);
}

TEST(SlowAnt, MujocoLengths) {
  const auto task = task_with("ant", {{"engine", std::string("mujoco")}, {"reset_lift", false}});
  const Estimate random = estimate(run_episodes(task, 192, uniform_actions()).lengths);
  EXPECT_NEAR(random.mean, 39.5, 3.5 + 3 * random.error);
  const Estimate still = estimate(run_episodes(task, 128, idle()).lengths);
  EXPECT_NEAR(still.mean, 258.0, 3 * still.error);
  const auto lifted = task_with("ant", {{"engine", std::string("mujoco")}});
  for (const double length : run_episodes(lifted, 64, idle()).lengths) EXPECT_EQ(length, 300.0);
}

TEST(Ant, RewardBonusAndEnd) {
  const auto task = standard_task("ant");
  const auto endless = task_with("ant", {{"ending", std::string("none")}, {"alive_bonus", 2.0}});
  const StepLayout layout = task->layout();
  std::vector<double> input = reset_state(*task, 3);
  for (int i = 0; i < 8; ++i) input.push_back(0.25);
  for (const double height : {input[2], 0.1, 1.5}) {
    input[2] = height;
    const std::vector<double> y = evaluate(task->trace_step(), input);
    const std::vector<double> z = evaluate(endless->trace_step(), input);
    const auto at = [](const std::vector<double>& result, int i) { return result[static_cast<std::size_t>(i)]; };
    const double vx = (y[0] - input[0]) / 0.05;
    const double vy = (y[1] - input[1]) / 0.05;
    const bool healthy = y[2] >= 0.2 && y[2] <= 1.0;
    EXPECT_NEAR(at(y, layout.reward_paper()), vx - 0.25, 1e-12);
    EXPECT_NEAR(at(y, layout.reward()), vx - 0.25 + 1.0, 1e-12);
    EXPECT_EQ(at(y, layout.ended()), healthy ? 0.0 : 1.0);
    EXPECT_NEAR(at(y, layout.cost(0)), std::hypot(vx, vy), 1.1e-3);
    EXPECT_EQ(at(y, layout.cost(2)), y[2]);
    EXPECT_NEAR(at(y, layout.cost(3)), std::abs(y[1]), 1.1e-3);
    EXPECT_NEAR(at(z, layout.reward()), vx - 0.25 + (healthy ? 2.0 : 0.0), 1e-12);
    EXPECT_EQ(at(z, layout.ended()), 0.0);
    for (int i = 0; i < 13; ++i) EXPECT_EQ(at(y, layout.observation() + i), at(y, 2 + i));
    for (int i = 0; i < 14; ++i) EXPECT_EQ(at(y, layout.observation() + 13 + i), at(y, 15 + i));
  }
}

}  // namespace
}  // namespace cgpo
