#include "cgpo/base/thread_pool.hpp"

#include <gtest/gtest.h>
#include <numeric>
#include <stdexcept>

namespace cgpo {
namespace {

TEST(ThreadPool, EveryTaskRunsOnce) {
  for (const int threads : {1, 2, 4}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.size(), threads);
    for (const int tasks : {0, 1, 3, 100}) {
      std::vector<int> done(static_cast<std::size_t>(tasks), 0);
      for (int repeat = 0; repeat < 50; ++repeat) {
        pool.run(tasks, [&](int i) { ++done[static_cast<std::size_t>(i)]; });
      }
      for (const int count : done) EXPECT_EQ(count, 50);
    }
  }
}

TEST(ThreadPool, TheFirstFailureIsReportedAndThePoolLivesOn) {
  for (const int threads : {1, 3}) {
    ThreadPool pool(threads);
    for (int repeat = 0; repeat < 20; ++repeat) {
      try {
        pool.run(10, [](int i) {
          if (i == 3 || i == 7) throw std::runtime_error(std::to_string(i));
        });
        FAIL();
      } catch (const std::runtime_error& error) {
        EXPECT_STREQ(error.what(), "3");
      }
    }
    int sum = 0;
    pool.run(1, [&](int) { sum = 5; });
    EXPECT_EQ(sum, 5);
  }
}

TEST(FixedBlocks, CoverAllAndDoNotDependOnThreads) {
  const std::vector<Block> blocks = fixed_blocks(100, 32);
  ASSERT_EQ(blocks.size(), 4U);
  int next = 0;
  for (const Block& block : blocks) {
    EXPECT_EQ(block.begin, next);
    next += block.size;
  }
  EXPECT_EQ(next, 100);
  EXPECT_EQ(blocks.back().size, 4);
}

}  // namespace
}  // namespace cgpo
