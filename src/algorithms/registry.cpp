#include "cgpo/algorithms/registry.hpp"

#include <fmt/ranges.h>

#include "cgpo/algorithms/baselines.hpp"
#include "cgpo/algorithms/cgpo.hpp"
#include "cgpo/algorithms/model_based.hpp"
#include "cgpo/base/error.hpp"
#include "cgpo/base/text.hpp"

namespace cgpo {
namespace {

using Assignments = std::vector<std::pair<std::string, std::string>>;

// Score functions need noise to learn from. Their papers take tasks as infinite and discounted, whatever the horizon.
Assignments on_policy(const Assignments& own) {
  Assignments result = {{"finite_horizon", "false"},  {"gradient.discount", "1.0"},     {"policy.initial_std", "0.5"},
                        {"policy.learn_std", "true"}, {"critic.learning_rate", "1e-3"}, {"critic.steps", "128"},
                        {"critic.batch", "1024"},     {"critic.sobolev", "0.0"}};
  result.insert(result.end(), own.begin(), own.end());
  return result;
}

// Adam on gradients through the simulator, each cut to length 1 so that a bad one does no lasting harm.
Assignments first_order(const Assignments& own) {
  Assignments result = {{"update.learning_rate", "2e-3"}, {"update.max_norm", "1.0"}};
  result.insert(result.end(), own.begin(), own.end());
  return result;
}

}  // namespace

const std::vector<AlgorithmEntry>& algorithm_registry() {
  static const std::vector<AlgorithmEntry> entries = {
      {"cgpo", "constrained policy optimisation with gradients through the simulator, in a trust region", make_cgpo},
      {"mb-cgpo", "cgpo with gradients through a model that it learns of the task; needs no derivatives", make_mb_cgpo},
      {"bptt-lag", "Lagrangian and Adam, with gradients through whole episodes", make_bptt_lag, first_order({})},
      {"shac-lag", "Lagrangian and Adam, with gradients through windows that critics close", make_shac_lag,
       first_order({})},
      {"ppo", "clipped policy gradient; knows no constraints", make_ppo, on_policy({})},
      {"ppo-lag", "PPO on the Lagrangian's advantage", make_ppo_lag, on_policy({})},
      {"trpo-lag", "natural policy gradient on the Lagrangian's advantage, in a trust region", make_trpo_lag,
       on_policy({{"update.kl", "0.01"}})},
      {"pdo", "primal-dual optimisation: reward and costs clipped separately", make_pdo, on_policy({})},
      {"appo", "augmented PPO: the Lagrangian with a penalty on squared violations", make_appo, on_policy({})},
      {"cpo", "constrained policy optimisation: linearised constraints in a trust region", make_cpo,
       on_policy({{"update.kl", "0.01"}})},
      {"cup", "constrained update projection: PPO, then a projection to lower costs", make_cup,
       on_policy({{"dual.upper", "2.0"}})},
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
