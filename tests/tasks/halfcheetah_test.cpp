#include <cmath>
#include <gtest/gtest.h>

#include "cgpo/graph/evaluate.hpp"
#include "cgpo/tasks/robots/models.hpp"
#include "cgpo/tasks/robots/robot.hpp"

#include "episodes.hpp"

namespace cgpo {
namespace {

TEST(HalfCheetah, IdleAndRandomSpeeds) {
  const auto own = standard_task("halfcheetah");
  const auto mujoco = task_with("halfcheetah", {{"engine", std::string("mujoco")}});
  // MuJoCo: 1.5 and 105. Ours: 1.4 and 114 (docs/physics/contact.md).
  EXPECT_NEAR(estimate(run_episodes(own, 256, idle()).costs[0]).mean, 1.4, 0.3);
  EXPECT_NEAR(estimate(run_episodes(own, 256, uniform_actions()).costs[0]).mean, 114.0, 8.0);
  EXPECT_NEAR(estimate(run_episodes(mujoco, 16, idle()).costs[0]).mean, 1.5, 0.4);
  EXPECT_NEAR(estimate(run_episodes(mujoco, 16, uniform_actions()).costs[0]).mean, 105.0, 12.0);
}

TEST(HalfCheetah, FeetHangAboveTheFloorAtTheStart) {
  const Model model = load_model_from_text(std::string(model_text("halfcheetah")), "halfcheetah");
  const std::vector<double> state(18);
  const RobotState<double> robot(model, state);
  double rear = 1.0;
  double front = 1.0;
  for (const ContactPoint& point : model.contacts) {
    const double height = robot.position(point.body, point.body_position)[2] - point.radius;
    if (point.body == model.body_id("bfoot")) rear = std::min(rear, height);
    if (point.body == model.body_id("ffoot")) front = std::min(front, height);
  }
  EXPECT_NEAR(rear, 0.076, 5e-4);
  EXPECT_NEAR(front, 0.106, 5e-4);
}

TEST(HalfCheetah, ObservationsAndReward) {
  std::vector<double> state(18);
  for (std::size_t i = 0; i < 18; ++i) state[i] = 0.01 * static_cast<double>(i + 1);
  const std::vector<double> wide = evaluate(standard_task("halfcheetah")->trace_observation(), state);
  ASSERT_EQ(wide.size(), 18U);
  EXPECT_NEAR(wide[0], 0.72, 1e-12);
  EXPECT_NEAR(wide[1], std::cos(0.015), 1e-12);
  EXPECT_NEAR(wide[2], std::sin(0.015), 1e-12);
  for (std::size_t i = 3; i < 18; ++i) EXPECT_EQ(wide[i], state[i]);
  const auto narrow_task = task_with("halfcheetah", {{"observation", std::string("17")}});
  const std::vector<double> narrow = evaluate(narrow_task->trace_observation(), state);
  ASSERT_EQ(narrow.size(), 17U);
  for (std::size_t i = 0; i < 17; ++i) EXPECT_EQ(narrow[i], state[i + 1]);

  const auto task = standard_task("halfcheetah");
  std::vector<double> input = state;
  for (int i = 0; i < 6; ++i) input.push_back(0.5);
  const std::vector<double> result = evaluate(task->trace_step(), input);
  const StepLayout layout = task->layout();
  const double speed = (result[0] - state[0]) / 0.05;
  EXPECT_NEAR(result[static_cast<std::size_t>(layout.reward())], speed - 0.1 * 1.5, 1e-12);
  EXPECT_NEAR(result[static_cast<std::size_t>(layout.cost(0))], std::abs(speed), 1.1e-3);
  EXPECT_NEAR(result[static_cast<std::size_t>(layout.cost(1))], 1.5, 1e-12);
  EXPECT_NEAR(result[static_cast<std::size_t>(layout.cost(2))], 0.7 + result[1], 1e-12);
}

}  // namespace
}  // namespace cgpo
