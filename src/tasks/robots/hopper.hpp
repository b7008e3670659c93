// Hopper: one leg, with a bound on its speed.
#pragma once

#include "cgpo/tasks/registry.hpp"

namespace cgpo {

TaskEntry hopper_entry();

}  // namespace cgpo
