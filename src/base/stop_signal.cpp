#include "cgpo/base/stop_signal.hpp"

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
  sigaction(SIGINT, &action, &interrupt_before_);
  sigaction(SIGTERM, &action, &terminate_before_);
}

StopSignal::~StopSignal() {
  sigaction(SIGINT, &interrupt_before_, nullptr);
  sigaction(SIGTERM, &terminate_before_, nullptr);
}

const std::atomic<int>& StopSignal::flag() { return caught; }

}  // namespace cgpo
