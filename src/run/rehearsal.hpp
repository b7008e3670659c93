// What a run would take, found out without one: nothing is written.
#pragma once

#include <filesystem>
#include <optional>

#include "cgpo/algorithms/memory.hpp"
#include "cgpo/config/configuration.hpp"
#include "cgpo/run/open_run.hpp"

namespace cgpo {

struct Rehearsal {
  std::filesystem::path folder;  // where it would be
  MemoryEstimate memory;
  std::optional<MemoryLimit> available;  // none: it cannot be found out
  double seconds_per_iteration = 0.0;    // measured
  int iterations = 0;
  double seconds() const { return seconds_per_iteration * iterations; }
};

// Refuses what open_run() would refuse of a new run, and tries some iterations.
Rehearsal rehearse(Configuration configuration, const RunOptions& options);

}  // namespace cgpo
