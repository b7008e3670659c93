// Quadruped: twelve joints with position actuators, and a bound on its speed.
#pragma once

#include "cgpo/tasks/registry.hpp"

namespace cgpo {

TaskEntry quadruped_entry();

}  // namespace cgpo
