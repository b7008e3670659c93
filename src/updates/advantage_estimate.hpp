// What J of the next policy will be, estimated from a batch of the present one in two ways, for the reward (0) and
// every cost.
#pragma once

#include <span>
#include <vector>

#include "cgpo/gradient/estimate.hpp"
#include "cgpo/rollout/trajectory.hpp"
#include "cgpo/updates/policy_samples.hpp"

namespace cgpo {

// ABE, the advantage-based estimate (paper, Eq. 2): Ĵ_f(θ') = J_f(θ) + κ (E[ρA_f] − E[A_f]), means over the batch's
// steps. E[A_f] is 0 but for the critic's error, which thereby cancels. κ is 1/(1−γ) for discounted advantages, as the
// paper has it, and the number of an episode's steps for undiscounted ones. The advantages are the samples' own.
std::vector<double> advantage_based_estimate(const BatchStatistics& now, PolicySamples& samples,
                                             std::span<const float> next_parameters, double kappa, ThreadPool& pool);

// GBE, the gradient-based estimate (paper, Eqs. 4 and 5): Ĵ_f(θ + δ) = J_f(θ) + δᵀ∇J_f(θ).
std::vector<double> gradient_based_estimate(const BatchStatistics& now, const GradientEstimate& gradient,
                                            std::span<const double> step);

}  // namespace cgpo
