#include "cgpo/campaign/finished_run.hpp"

#include "cgpo/run/run_folder.hpp"

namespace cgpo {

FinishedRun read_finished_run(const std::filesystem::path& folder) {
  const RunPaths paths = find_run(folder);
  Configuration configuration = read_configuration(paths.config());
  Tensors checkpoint = read_checkpoint(paths.checkpoint(), configuration);
  return {std::move(configuration), std::move(checkpoint)};
}

}  // namespace cgpo
