// The algorithms that CGPO is compared with; docs/algorithms/ has a page for each.
#pragma once

#include <memory>

#include "cgpo/updates/algorithm.hpp"

namespace cgpo {

// On one on-policy machine (on_policy.hpp). None needs a derivative of the simulator.
std::unique_ptr<Algorithm> make_ppo(const AlgorithmContext& context);
std::unique_ptr<Algorithm> make_ppo_lag(const AlgorithmContext& context);
std::unique_ptr<Algorithm> make_ppo_pid(const AlgorithmContext& context);
std::unique_ptr<Algorithm> make_trpo_lag(const AlgorithmContext& context);
std::unique_ptr<Algorithm> make_pdo(const AlgorithmContext& context);
std::unique_ptr<Algorithm> make_appo(const AlgorithmContext& context);
std::unique_ptr<Algorithm> make_cpo(const AlgorithmContext& context);
std::unique_ptr<Algorithm> make_focops(const AlgorithmContext& context);
std::unique_ptr<Algorithm> make_cup(const AlgorithmContext& context);

// On CGPO's gradients through the simulator. They throw UserError if the task has none.
std::unique_ptr<Algorithm> make_bptt_lag(const AlgorithmContext& context);
std::unique_ptr<Algorithm> make_shac_lag(const AlgorithmContext& context);

}  // namespace cgpo
