// Ctrl-C, SIGTERM and SIGHUP as a wish that a loop looks at now and then.
#pragma once

#include <array>
#include <atomic>
#include <csignal>

namespace cgpo {

// While it lives, the first SIGINT, SIGTERM or SIGHUP only sets flag(); a second one of them ends the program at once,
// as usual. One that was ignored when it came (nohup) stays so. SIGPIPE does nothing at all: whoever writes to a pipe
// that nobody reads any more learns it from the error, and a training goes on without its output. When it goes, signals
// are handled as they were before it came. For programs; a library leaves signals alone.
class StopSignal {
 public:
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  static const std::atomic<int>& flag();  // 0, or the signal's number

 private:
  static constexpr std::array kCaught = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
  std::array<struct sigaction, kCaught.size()> before_ = {};
};

}  // namespace cgpo
