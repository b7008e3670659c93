#include "cgpo/run/stop_signal.hpp"

#include <csignal>

namespace cgpo {
namespace {

std::atomic<int> caught{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may only touch lock-free atomics");

}  // namespace

StopSignal::StopSignal() {
  caught = 0;
  struct sigaction action = {};
  action.sa_handler = [](int signal) { caught = signal; };
  // One-shot, so that the second signal is the system's; restarting, so that no write is cut short by the first.
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

StopSignal::~StopSignal() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

const std::atomic<int>& StopSignal::flag() { return caught; }

}  // namespace cgpo
