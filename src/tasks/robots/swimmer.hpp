// Swimmer: three links in a fluid, without gradients unless asked for.
#pragma once

#include "cgpo/tasks/registry.hpp"

namespace cgpo {

TaskEntry swimmer_entry();

}  // namespace cgpo
