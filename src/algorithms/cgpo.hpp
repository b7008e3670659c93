// Constrained Gradient-based Policy Optimization.
#pragma once

#include <memory>

#include "cgpo/algorithms/algorithm.hpp"

namespace cgpo {

std::unique_ptr<Algorithm> make_cgpo(const AlgorithmContext& context);

}  // namespace cgpo
