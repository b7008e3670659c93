// MB-CGPO: CGPO with gradients through a learned model of the task.
#pragma once

#include <memory>

#include "cgpo/algorithms/algorithm.hpp"

namespace cgpo {

std::unique_ptr<Algorithm> make_mb_cgpo(const AlgorithmContext& context);

}  // namespace cgpo
