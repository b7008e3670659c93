// Constrained Gradient-based Policy Optimization.
#pragma once

#include <functional>
#include <memory>

#include "cgpo/updates/algorithm.hpp"
#include "cgpo/updates/gradient_source.hpp"

namespace cgpo {

std::unique_ptr<Algorithm> make_cgpo(const AlgorithmContext& context);

// The same with gradients from elsewhere.
using GradientSourceMaker = std::function<std::unique_ptr<PolicyGradientSource>(const ActorCritic<float>& parts)>;
std::unique_ptr<Algorithm> make_cgpo_with(const AlgorithmContext& context, const GradientSourceMaker& make_source);

}  // namespace cgpo
