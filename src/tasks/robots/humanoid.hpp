// Humanoid: a body with two legs and two arms, with a bound on its speed.
#pragma once

#include "cgpo/tasks/registry.hpp"

namespace cgpo {

TaskEntry humanoid_entry();

}  // namespace cgpo
