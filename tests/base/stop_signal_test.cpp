#include "cgpo/base/stop_signal.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace cgpo
