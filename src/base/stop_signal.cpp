#include "cgpo/base/stop_signal.hpp"

namespace cgpo {
namespace {

std::atomic<int> caught{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may only touch lock-free atomics");

}  // namespace

StopSignal::StopSignal() {
  caught = 0;
  struct sigaction stop = {};
  stop.sa_handler = [](int signal) { caught = signal; };
  // One-shot, so that the second signal is the system's; restarting, so that no write is cut short by the first.
  stop.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  struct sigaction nothing = {};
  nothing.sa_handler = [](int) {};  // not SIG_IGN, which programs that are started from here would inherit
  nothing.sa_flags = SA_RESTART;
  for (std::size_t i = 0; i < kCaught.size(); ++i) {
    sigaction(kCaught[i], nullptr, &before_[i]);
    if (before_[i].sa_handler != SIG_IGN) sigaction(kCaught[i], kCaught[i] == SIGPIPE ? &nothing : &stop, nullptr);
  }
}

StopSignal::~StopSignal() {
  for (std::size_t i = 0; i < kCaught.size(); ++i) sigaction(kCaught[i], &before_[i], nullptr);
}

const std::atomic<int>& StopSignal::flag() { return caught; }

}  // namespace cgpo
