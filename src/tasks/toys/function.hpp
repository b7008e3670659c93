// The Function tasks: a point on a line, whose reward is its cost.
#pragma once

#include "cgpo/tasks/registry.hpp"

namespace cgpo {

TaskEntry function_entry();
TaskEntry function_floor_entry();

}  // namespace cgpo
