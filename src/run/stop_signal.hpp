// Ctrl-C and SIGTERM as a wish that the loop looks at between iterations.
#pragma once

#include <atomic>

namespace cgpo {

// While it lives, the first SIGINT or SIGTERM only sets flag(); a second one ends the program at once, as usual.
class StopSignal {
 public:
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  static const std::atomic<int>& flag();  // 0, or the signal's number
};

}  // namespace cgpo
