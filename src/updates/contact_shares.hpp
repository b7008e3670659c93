// How much of its time a robot touches something.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cgpo/rollout/trajectory.hpp"
#include "cgpo/tasks/task.hpp"

namespace cgpo {

// Share of states in which a robot touches: anything, and each geom that can.
struct ContactShares {
  struct Geom {
    std::string name;
    double share = 0.0;
  };
  double any = 0.0;
  std::vector<Geom> geoms;
  int states = 0;  // looked at
};
// Looks at about `samples` states of running episodes, evenly over environments and steps. Nothing for a task whose
// robot cannot touch anything, or that has none.
std::optional<ContactShares> sample_contact(const Task& task, const Batch<float>& batch, int samples);

}  // namespace cgpo
