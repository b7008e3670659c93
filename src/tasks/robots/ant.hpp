// Ant: a four-legged runner with a bound on its speed.
#pragma once

#include "cgpo/tasks/registry.hpp"

namespace cgpo {

TaskEntry ant_entry();

}  // namespace cgpo
