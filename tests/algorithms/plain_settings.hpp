// Trainings as plain as they can be: N episodes an iteration and nothing beside them.
#pragma once

#include "cgpo/updates/settings.hpp"

namespace cgpo::testing {

// As many episodes as there are environments, no deployed policy beside them, J the mean of the batch, no margin, σ as
// it is, and critics that learn from this batch alone.
inline void make_plain(Settings& settings) {
  settings.batch.adaptive = false;
  settings.batch.deployed = 0.0;
  settings.policy.settle = 1.0;
  settings.radius.confidence = 0.0;
  settings.critic.passes = 1e6;
  settings.critic.memory = 0;
}

}  // namespace cgpo::testing
