// How many threads a call takes.
#pragma once

#include <algorithm>
#include <thread>

namespace cgpo::python {

// 0: all cores, as on the command line.
inline int threads_or_all(int threads) {
  return threads > 0 ? threads : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace cgpo::python
