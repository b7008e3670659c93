#include "cgpo/algorithms/registry.hpp"

#include <fmt/ranges.h>

#include "cgpo/algorithms/baselines.hpp"
#include "cgpo/algorithms/cgpo.hpp"
#include "cgpo/algorithms/memory.hpp"
#include "cgpo/algorithms/model_based.hpp"
#include "cgpo/base/error.hpp"
#include "cgpo/base/text.hpp"

namespace cgpo {

const std::vector<AlgorithmEntry>& algorithm_registry() {
  static const std::vector<AlgorithmEntry> entries = {
      {"cgpo", "constrained policy optimisation with gradients through the simulator, in a trust region", make_cgpo,
       add_cgpo_memory},
      {"mb-cgpo", "cgpo with gradients through a model that it learns of the task; needs no derivatives", make_mb_cgpo,
       add_model_based_memory, /*keeps_data=*/true},
      {"bptt-lag", "Lagrangian and Adam, with gradients through whole episodes", make_bptt_lag, add_first_order_memory},
      {"shac-lag", "Lagrangian and Adam, with gradients through windows that critics close", make_shac_lag,
       add_first_order_memory},
      {"ppo", "clipped policy gradient; knows no constraints", make_ppo},
      {"ppo-lag", "PPO on the Lagrangian's advantage", make_ppo_lag},
      {"ppo-pid", "ppo-lag whose multipliers a PID controller sets", make_ppo_pid},
      {"trpo-lag", "natural policy gradient on the Lagrangian's advantage, in a trust region", make_trpo_lag,
       add_natural_memory},
      {"pdo", "primal-dual optimisation: reward and costs clipped separately", make_pdo, add_pdo_memory},
      {"appo", "augmented PPO: the Lagrangian with a penalty on squared violations", make_appo},
      {"cpo", "constrained policy optimisation: linearised constraints in a trust region", make_cpo,
       add_natural_memory},
      {"focops", "first-order constrained optimisation in policy space: the best policy near, then its projection",
       make_focops},
      {"cup", "constrained update projection: PPO, then a projection to lower costs", make_cup},
  };
  return entries;
}

const AlgorithmEntry& find_algorithm(const std::string& name) {
  std::vector<std::string> names;
  for (const AlgorithmEntry& entry : algorithm_registry()) {
    if (entry.name == name) return entry;
    names.push_back(entry.name);
  }
  throw UserError("unknown algorithm '{}'{}; there are: {}", name, did_you_mean(name, names), fmt::join(names, ", "));
}

}  // namespace cgpo
