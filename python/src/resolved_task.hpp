// A task with its settings, as a training would have it.
#pragma once

#include <string>
#include <vector>

#include "cgpo/config/configuration.hpp"

#include "values.hpp"

namespace cgpo::python {

// `made` is there.
Configuration resolve_task(const std::string& task, const Settings& settings);

// Indices of the costs that have limits.
std::vector<int> chosen_costs(const Configuration& configuration);

}  // namespace cgpo::python
