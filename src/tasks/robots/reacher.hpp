// Reacher: a two-link arm whose tip goes to a target.
#pragma once

#include "cgpo/tasks/registry.hpp"

namespace cgpo {

TaskEntry reacher_entry();

}  // namespace cgpo
