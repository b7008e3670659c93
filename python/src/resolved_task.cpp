#include "resolved_task.hpp"

namespace cgpo::python {

Configuration resolve_task(const std::string& task, const Settings& settings) {
  ConfigurationRequest request;
  request.task = task;
  request.algorithm = "ppo-lag";  // any that takes every task; nothing is trained
  request.sets = assignments_from(settings);
  // Of training, too, but it might contradict a short episode.
  request.sets.insert(request.sets.begin(), Assignment{"window", {std::int64_t{1}}, "settings"});
  const nb::gil_scoped_release free;
  Configuration configuration = resolve_configuration(request);
  configuration.made = task_of(configuration);
  return configuration;
}

std::vector<int> chosen_costs(const Configuration& configuration) {
  std::vector<int> indices;
  for (const std::string& name : configuration.settings.costs) indices.push_back(configuration.made->cost_index(name));
  return indices;
}

}  // namespace cgpo::python
