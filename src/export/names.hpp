// Private to this folder: what the numbers that go in and come out are called.
#pragma once

#include "cgpo/base/json.hpp"
#include "cgpo/tasks/task.hpp"

namespace cgpo {

// One entry an observation, as a task file would write it (knee.position, root.velocity[2], sin(hinge.position)); null
// where it is nothing so short.
Json observation_names(const Task& task);

// One entry an action; null where there is no name.
struct ActionNames {
  Json actuators;
  Json joints;  // that they drive
};
ActionNames action_names(const Task& task);

}  // namespace cgpo
