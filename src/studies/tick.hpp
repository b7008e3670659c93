// How a long measurement tells how far it is.
#pragma once

#include <functional>

namespace cgpo {

// Called now and then with the share that is done, 0 … 1. It may throw to end the measurement.
using Tick = std::function<void(double share)>;

inline void no_tick(double) {}

}  // namespace cgpo
