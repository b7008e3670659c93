// The table of the velocity tasks.
#pragma once

#include <vector>

#include "cgpo/tasks/robots/velocity.hpp"

namespace cgpo {

std::vector<VelocityPlan> velocity_plans();

}  // namespace cgpo
