// A run's configuration and its last policy.
#pragma once

#include <filesystem>

#include "cgpo/base/tensors.hpp"
#include "cgpo/config/configuration.hpp"

namespace cgpo {

struct FinishedRun {
  Configuration configuration;
  Tensors checkpoint;
};

// Throws UserError if there is no run at this place, or it cannot be read.
FinishedRun read_finished_run(const std::filesystem::path& folder);

}  // namespace cgpo
