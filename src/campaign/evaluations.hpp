// Private to this folder: how good the last policies of runs are on fresh episodes. A result is kept in the run's
// folder and holds for as long as the run has not been trained further.
#pragma once

#include "cgpo/campaign/comparison.hpp"
#include "cgpo/config/configuration.hpp"

namespace cgpo {

// As `eval` has it in JSON, with as many episodes. The configuration is that of the comparison: of programs it is those
// that may be started, whatever the folder says. Throws UserError if the policy cannot be read.
Json evaluate_run(const ComparedRun& run, const Configuration& configuration, int episodes, int threads);

}  // namespace cgpo
