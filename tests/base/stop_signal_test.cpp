#include "cgpo/base/stop_signal.hpp"

#include <cerrno>
#include <gtest/gtest.h>
#include <unistd.h>

namespace cgpo {
namespace {

volatile std::sig_atomic_t heard = 0;

TEST(StopSignal, TakesTheFirstAndGivesTheHandlersBack) {
  struct sigaction own = {};
  own.sa_handler = [](int signal) { heard = signal; };
  struct sigaction before = {};
  sigaction(SIGINT, &own, &before);
  {
    const StopSignal stop;
    EXPECT_EQ(StopSignal::flag(), 0);
    std::raise(SIGINT);
    EXPECT_EQ(StopSignal::flag(), SIGINT);
    EXPECT_EQ(heard, 0);
  }
  std::raise(SIGINT);
  EXPECT_EQ(heard, SIGINT);
  sigaction(SIGINT, &before, nullptr);
}

TEST(StopSignal, TakesAHangupUnlessItWasIgnored) {
  struct sigaction ignored = {};
  ignored.sa_handler = SIG_IGN;
  for (const int signal : {SIGHUP, SIGTERM}) {
    {
      const StopSignal stop;
      std::raise(signal);
      EXPECT_EQ(StopSignal::flag(), signal);
    }
    struct sigaction before = {};
    sigaction(signal, &ignored, &before);  // as nohup does
    {
      const StopSignal stop;
      std::raise(signal);
      EXPECT_EQ(StopSignal::flag(), 0);
    }
    sigaction(signal, &before, nullptr);
  }
}

TEST(StopSignal, BrokenPipesAreErrorsAndNoEnd) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[0]);
  const StopSignal stop;
  EXPECT_EQ(::write(ends[1], "x", 1), -1);
  EXPECT_EQ(errno, EPIPE);
  EXPECT_EQ(StopSignal::flag(), 0);
  ::close(ends[1]);
}

TEST(StopSignal, TheSecondEndsTheProgram) {
  EXPECT_EXIT(
      {
        const StopSignal stop;
        std::raise(SIGTERM);
        std::raise(SIGTERM);
      },
      ::testing::KilledBySignal(SIGTERM), "");
}

}  // namespace
}  // namespace cgpo
