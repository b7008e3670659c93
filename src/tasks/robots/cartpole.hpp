// CartPole: keep a pole upright on a cart, away from the middle of the rail.
#pragma once

#include "cgpo/tasks/registry.hpp"

namespace cgpo {

TaskEntry cartpole_entry();

}  // namespace cgpo
