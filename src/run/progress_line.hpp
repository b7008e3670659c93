// An iteration in one line, for whoever waits for a training.
#pragma once

#include <string>

#include "cgpo/run/run_log.hpp"

namespace cgpo {

// iterations: of the whole run. seconds_left: until it is done, as far as anyone can tell.
std::string progress_line(const LogEntry& entry, int iterations, double steps_per_second, double seconds_left);

}  // namespace cgpo
