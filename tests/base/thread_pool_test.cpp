#include "cgpo/base/thread_pool.hpp"

#include <atomic>
#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <sys/wait.h>
#include <system_error>
#include <thread>
#include <unistd.h>

#include "cgpo/base/error.hpp"
#include "cgpo/base/interruption.hpp"

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

// A maker that the system lets down at the third thread: those that were made are ended, and nobody waits for ever.
TEST(ThreadPool, AThreadThatCannotBeMadeIsASentence) {
  std::atomic<int> ended = 0;
  int made = 0;
  const ThreadPool::MakeThread make_thread = [&](std::function<void()> body) {
    if (made == 2) throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
    ++made;
    return std::thread([&ended, body = std::move(body)] {
      body();
      ++ended;
    });
  };
  try {
    const ThreadPool pool(8, make_thread);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("only 3 of 8 threads"));
    EXPECT_THAT(error.what(), ::testing::HasSubstr("--threads 3"));
  }
  EXPECT_EQ(ended, 2);
}

// A fork copies the caller alone. Without threads of its own the child would wait for the parent's; the alarm ends it
// then.
TEST(ThreadPool, WorksOnInAForkedChildAndInItsOwnChild) {
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
  GTEST_SKIP() << "its sanitizer lets no thread begin after a fork";
#endif
#endif
  ThreadPool pool(3);
  const auto sum = [&] {
    std::vector<int> done(100, 0);
    pool.run(100, [&](int i) { done[static_cast<std::size_t>(i)] = i; });
    return std::accumulate(done.begin(), done.end(), 0);
  };
  ASSERT_EQ(sum(), 4950);
  const auto in_child = [](const auto& body) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      _exit(body() ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  };
  EXPECT_TRUE(in_child([&] { return sum() == 4950 && sum() == 4950 && in_child([&] { return sum() == 4950; }); }));
  auto left = std::make_unique<ThreadPool>(2);
  EXPECT_TRUE(in_child([&] {
    left.reset();  // waits for nobody
    return true;
  }));
  EXPECT_EQ(sum(), 4950);
}

TEST(Interruption, EndsAPoolEarlyWithWhatIsThrown) {
  struct Enough {};
  for (const int threads : {1, 3}) {
    ThreadPool pool(threads);
    std::atomic<int> done = 0;
    auto work = [&](int i) {
      ++done;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (i == 0) throw std::runtime_error("of less weight");
    };
    {
      int asked = 0;
      const Interruption interruption([&] {
        if (++asked == 2) throw Enough();
      });
      EXPECT_THROW(pool.run(100000, work), Enough);
      EXPECT_THROW(pool.run(3, [](int) { FAIL() << "nothing begins after that"; }), Enough);
    }
    EXPECT_LT(done, 20000);
    done = 0;
    EXPECT_THROW(pool.run(10, work), std::runtime_error);
    EXPECT_EQ(done, 10);
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

TEST(FixedBlocks, DoNotRunOverTheLargestInt) {
  constexpr int kMost = std::numeric_limits<int>::max();
  const std::vector<Block> blocks = fixed_blocks(kMost, kMost - 1);
  ASSERT_EQ(blocks.size(), 2U);
  EXPECT_EQ(blocks[1].begin, kMost - 1);
  EXPECT_EQ(blocks[1].size, 1);
}

}  // namespace
}  // namespace cgpo
