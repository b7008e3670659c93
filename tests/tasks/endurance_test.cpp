// Random actions for a long time: nothing diverges.
#include <gtest/gtest.h>

#include "episodes.hpp"

namespace cgpo {
namespace {

const char* const kRobots[] = {"cartpole", "reacher",  "halfcheetah", "ant",      "swimmer",
                               "hopper",   "walker2d", "humanoid",    "quadruped"};

// Episodes are not reset at their ends, so that fallen robots are simulated too.
int diverged(const std::string& name, int environments, int steps) {
  return run_episodes(task_with(name, {{"engine", std::string("own")}}), environments, uniform_actions(), steps)
      .diverged;
}

TEST(Endurance, TwentyThousandSteps) {
  for (const char* name : kRobots) EXPECT_EQ(diverged(name, 100, 200), 0) << name;
}

TEST(SlowEndurance, AMillionSteps) {
  for (const char* name : kRobots) EXPECT_EQ(diverged(name, 1000, 1000), 0) << name;
}

}  // namespace
}  // namespace cgpo
