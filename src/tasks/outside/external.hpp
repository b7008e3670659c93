// The task that is a program outside.
#pragma once

#include "cgpo/tasks/registry.hpp"

namespace cgpo {

TaskEntry external_entry();

}  // namespace cgpo
