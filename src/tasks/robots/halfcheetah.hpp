// HalfCheetah: a planar runner with a bound on its speed.
#pragma once

#include "cgpo/tasks/registry.hpp"

namespace cgpo {

TaskEntry halfcheetah_entry();

}  // namespace cgpo
