// How many threads a call takes.
#pragma once

#include <algorithm>
#include <thread>

#include "cgpo/base/error.hpp"

namespace cgpo::python {

inline int threads_or_all(int threads) {
  if (threads < 0 || threads > 1024)
    throw UserError("threads must be from 1 to 1024, or 0 for all cores, not {}", threads);
  return threads > 0 ? threads : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace cgpo::python
