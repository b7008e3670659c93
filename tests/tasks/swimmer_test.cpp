#include <gtest/gtest.h>

#include "episodes.hpp"

namespace cgpo {
namespace {

TEST(Swimmer, IsSteppedOutsideUnlessAsked) {
  EXPECT_TRUE(std::holds_alternative<OutsideStep>(standard_task("swimmer")->dynamics()));
  EXPECT_FALSE(standard_task("swimmer")->spec().differentiable);
  EXPECT_TRUE(task_with("swimmer", {{"engine", std::string("own")}})->spec().differentiable);
}

// Nothing collides, so the two engines differ in joint limits only.
TEST(Swimmer, IdleAndRandomSpeeds) {
  for (const char* engine : {"mujoco", "own"}) {
    SCOPED_TRACE(engine);
    const auto task = task_with("swimmer", {{"engine", std::string(engine)}});
    EXPECT_NEAR(estimate(run_episodes(task, 32, idle()).costs[0]).mean, 11.0, 2.5);
    EXPECT_NEAR(estimate(run_episodes(task, 32, uniform_actions()).costs[0]).mean, 198.0, 12.0);
  }
}

}  // namespace
}  // namespace cgpo
