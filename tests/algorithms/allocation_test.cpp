// An iteration works in memory that was made before it.
#include <atomic>
#include <cstdlib>
#include <gtest/gtest.h>
#include <new>

#include "cgpo/algorithms/registry.hpp"
#include "cgpo/tasks/registry.hpp"

namespace {

std::atomic<long long> g_bytes{0};  // asked for since the program began

}  // namespace

void* operator new(std::size_t size) {
  g_bytes += static_cast<long long>(size);
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  g_bytes += static_cast<long long>(size);
  const auto step = static_cast<std::size_t>(alignment);
  if (void* memory = std::aligned_alloc(step, (size + step - 1) / step * step)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

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
  const long long before = g_bytes;
  algorithm->iterate();
  return g_bytes - before;
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
