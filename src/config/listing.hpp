// What there is, as the listing commands print it with --json: tasks, algorithms, settings.
#pragma once

#include <vector>

#include "cgpo/base/json.hpp"
#include "cgpo/config/setting_list.hpp"

namespace cgpo {

// Whether it can be trained with analytic gradients. A twin's derivative is one, too.
bool has_derivative(const Task& task);

Json list_of_tasks();
Json list_of_algorithms();
Json list_of_settings(const std::vector<ListedSetting>& settings);

}  // namespace cgpo
