// Walker2d: two legs in the plane, with a bound on their speed.
#pragma once

#include "cgpo/tasks/registry.hpp"

namespace cgpo {

TaskEntry walker2d_entry();

}  // namespace cgpo
