// An iteration works in memory that was made before it.
#include <cstdlib>
#include <gtest/gtest.h>

#include "cgpo/algorithms/registry.hpp"
#include "cgpo/tasks/registry.hpp"

#include "counted_memory.hpp"

namespace cgpo {
namespace {

long long bytes_of_an_iteration(int blocks, int horizon) {
  Settings settings;
  settings.environments = 32 * blocks;
  settings.horizon = horizon;
  settings.critic.steps = 4;
  settings.radius.retreat = 0.0;  // an iteration that retreats does less than others
  ThreadPool pool(2);
  const auto algorithm = find_algorithm("cgpo").make({standard_task("cartpole"), settings, 1, &pool});
  for (int i = 0; i < 3; ++i) algorithm->iterate();
  const long long before = counted::asked;
  algorithm->iterate();
  return counted::asked - before;
}

TEST(Allocation, DoesNotGrowWithTheBatch) {
  const long long small = bytes_of_an_iteration(2, 20);
  EXPECT_GT(small, 0);                                                    // the counter counts: the step's own vectors
  EXPECT_LT(std::abs(bytes_of_an_iteration(2, 80) - small), small / 20);  // longer episodes
  EXPECT_LT(bytes_of_an_iteration(4, 20), 2 * small);  // more environments: one more vector a block in the update
  EXPECT_LT(small, 256 << 10);
}

}  // namespace
}  // namespace cgpo
