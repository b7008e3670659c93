// Hopper, Walker2d, Humanoid and the quadruped: start, reward, costs and ends against formulas of their own.
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

#include "cgpo/graph/evaluate.hpp"
#include "cgpo/tasks/robots/models.hpp"
#include "cgpo/tasks/robots/robot.hpp"

#include "episodes.hpp"

namespace cgpo {
namespace {

struct Case {
  const char* name;
  std::size_t height;     // its place in q
  double start;           // and its value where nothing is random
  double fallen, thrown;  // fallen far enough for a floor that throws it up by 20 cm in a step
  double weight, bonus;
};

constexpr Case kCases[] = {{"hopper", 1, 1.168, 0.3, 2.1, 0.001, 1.0},
                           {"walker2d", 1, 1.191, 0.3, 2.1, 0.001, 1.0},
                           {"humanoid", 2, 1.305, 0.5, 2.1, 0.01, 1.0},
                           {"quadruped", 2, 0.304, 0.1, 0.7, 0.01, 0.2}};

double at(const std::vector<double>& values, int i) { return values[static_cast<std::size_t>(i)]; }

std::vector<double> step(const Task& task, std::vector<double> state, double action) {
  for (int i = 0; i < task.spec().actions; ++i) state.push_back(i % 2 == 0 ? action : -action);
  return evaluate(task.trace_step(), state);
}

TEST(Legged, StartsOnTheFloor) {
  for (const Case& robot : kCases) {
    SCOPED_TRACE(robot.name);
    const Model model = load_model_from_text(std::string(model_text(robot.name)), robot.name);
    EXPECT_NEAR(reset_state(*task_with(robot.name, {{"reset_width", 0.0}}), 0)[robot.height], robot.start, 2e-3);
    const auto task = standard_task(robot.name);
    for (std::uint32_t i = 0; i < 100; ++i) {
      const std::vector<double> state = reset_state(*task, i);
      const RobotState<double> start(model, state);
      double lowest = 1e9;
      for (const ContactPoint& point : model.contacts) {
        lowest = std::min(lowest, start.position(point.body, point.body_position)[2] - point.radius);
      }
      EXPECT_NEAR(lowest, 0.0, 1e-12);
      EXPECT_NEAR(state[robot.height], robot.start, 0.03);
    }
  }
}

// A motor's torque is its action's share of the largest.
TEST(Legged, RewardAndSpeed) {
  for (const Case& robot : kCases) {
    SCOPED_TRACE(robot.name);
    const auto task = standard_task(robot.name);
    const StepLayout layout = task->layout();
    std::vector<double> state = reset_state(*task, 3);
    for (std::size_t i = static_cast<std::size_t>(task->spec().states) / 2; i < state.size(); ++i) state[i] += 0.1;
    const std::vector<double> y = step(*task, state, 0.3);
    const double vx = (y[0] - state[0]) / 0.02;
    const double vy = robot.height == 2 ? (y[1] - state[1]) / 0.02 : 0.0;
    EXPECT_NEAR(at(y, layout.cost(0)), std::hypot(vx, vy), 1.1e-3);
    if (robot.height == 2) {
      EXPECT_NEAR(at(y, layout.cost(4)), std::abs(vy), 1.1e-3);
    }
    if (robot.name != std::string("quadruped")) {
      EXPECT_NEAR(at(y, layout.cost(1)), 0.09 * task->spec().actions, 1e-12);
    }
    EXPECT_NEAR(at(y, layout.reward_paper()), vx - robot.weight * at(y, layout.cost(1)), 1e-12);
    const double bonus = at(y, layout.reward()) - at(y, layout.reward_paper());
    EXPECT_LE(bonus, robot.bonus);
    EXPECT_GT(bonus, 0.9 * robot.bonus);
    EXPECT_EQ(at(y, layout.ended()), 0.0);
    for (int i = static_cast<int>(robot.height); i < task->spec().states; ++i) {
      EXPECT_EQ(at(y, layout.observation() + i - static_cast<int>(robot.height)), at(y, i));
    }
  }
}

// τ = 40 N·m/rad · (half the action − q), at most 24 N·m, calves 36.
TEST(Legged, TorqueAndPowerOfPositionActuators) {
  const auto task = standard_task("quadruped");
  const StepLayout layout = task->layout();
  const std::vector<double> y = step(*task, reset_state(*task, 1), 0.9);
  double squares = 0.0;
  double power = 0.0;
  double rates = 0.0;
  for (std::size_t i = 0; i < 12; ++i) {
    const double most = i % 3 == 2 ? 36.0 : 24.0;
    const double torque = std::clamp(40.0 * ((i % 2 == 0 ? 0.45 : -0.45) - y[7 + i]), -most, most);
    squares += std::pow(torque / most, 2);
    power += std::abs(torque * y[19 + 6 + i]);
    rates += std::pow(y[19 + 6 + i], 2);
  }
  EXPECT_NEAR(at(y, layout.cost(1)), squares, 1e-10);
  EXPECT_NEAR(at(y, layout.cost(2)), power, 1.2);  // each is smoothed by 0.1 W
  EXPECT_GT(power, 50.0);
  EXPECT_NEAR(at(y, layout.cost(3)), std::sqrt(rates / 12.0), 1.1e-3);
}

TEST(Legged, EndsWhereItFalls) {
  for (const Case& robot : kCases) {
    SCOPED_TRACE(robot.name);
    const auto task = standard_task(robot.name);
    const auto endless = task_with(robot.name, {{"ending", std::string("none")}});
    const auto ended = [&](const std::vector<double>& state) {
      return at(step(*task, state, 0.0), task->layout().ended());
    };
    const std::vector<double> start = reset_state(*task, 2);
    for (const double height : {robot.fallen, robot.thrown}) {
      std::vector<double> state = start;
      state[robot.height] = height;
      EXPECT_EQ(ended(state), 1.0);
      const std::vector<double> y = step(*endless, state, 0.0);
      EXPECT_EQ(at(y, endless->layout().ended()), 0.0);
    }
    std::vector<double> leaning = start;
    leaning[robot.height] += 0.2;  // in the air, so that nothing throws it back
    EXPECT_EQ(ended(leaning), 0.0);
    if (robot.height == 1) {
      leaning[2] = 1.1;
    } else {
      leaning[3] = std::cos(0.6);
      leaning[4] = std::sin(0.6);
      leaning[5] = leaning[6] = 0.0;
    }
    EXPECT_EQ(ended(leaning), 1.0);
  }
}

// Springs hold the quadruped up; the others have motors, and fall.
TEST(Legged, WhoStandsWithoutAPolicy) {
  for (const Case& robot : kCases) {
    SCOPED_TRACE(robot.name);
    const Episodes still = run_episodes(standard_task(robot.name), 32, idle());
    EXPECT_EQ(still.diverged, 0);
    if (robot.name == std::string("quadruped")) {
      for (const double length : still.lengths) EXPECT_EQ(length, 250.0);
      EXPECT_LT(estimate(still.costs[0]).mean, 10.0);
    } else {
      EXPECT_LT(estimate(still.lengths).mean, 125.0);
    }
  }
}

}  // namespace
}  // namespace cgpo
