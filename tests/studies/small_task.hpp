// Function with few and short episodes.
#pragma once

#include "cgpo/algorithms/registry.hpp"
#include "cgpo/studies/stages.hpp"
#include "cgpo/tasks/registry.hpp"

namespace cgpo {

inline AlgorithmContext small_function(ThreadPool& pool, int horizon, double noise) {
  TaskOptions options(find_task("function").options);
  options.set("measured", std::string("after"));
  AlgorithmContext context{find_task("function").make(options), {}, 3, &pool};
  context.settings.environments = 32;
  context.settings.horizon = horizon;
  context.settings.window = 5;
  context.settings.policy.hidden = {16, 16};
  context.settings.policy.initial_std = noise;
  context.settings.critic.hidden = {16, 16};
  context.settings.critic.steps = 32;
  context.settings.critic.batch = 128;
  context.settings.kernel.block = 8;
  context.settings.radius.metric = RadiusMetric::kEuclid;
  return context;
}

inline Tensors untrained(const AlgorithmContext& context) {
  return training_stages(context, find_algorithm("cgpo"), {0}, no_tick).front();
}

}  // namespace cgpo
