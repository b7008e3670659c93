// Ctrl-C and SIGTERM as a wish that a loop looks at now and then.
#pragma once

#include <atomic>
#include <csignal>

namespace cgpo {

// While it lives, the first SIGINT or SIGTERM only sets flag(); a second one ends the program at once, as usual. When
// it goes, signals are handled as they were before it came. For programs; a library leaves signals alone.
class StopSignal {
 public:
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  static const std::atomic<int>& flag();  // 0, or the signal's number

 private:
  struct sigaction interrupt_before_ = {};
  struct sigaction terminate_before_ = {};
};

}  // namespace cgpo
