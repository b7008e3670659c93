// What a policy's update makes grow: sums over signals of an advantage times a probability ratio, clipped or not.
#pragma once

#include <vector>

#include "cgpo/updates/policy_samples.hpp"

namespace cgpo {

// A value and its ∂/∂log ρ.
struct Clipped {
  float value;
  float slope;
};

// min(ρA, clip(ρ, 1−ε, 1+ε)A): a gain counts no further than the clip, a loss in full. For a cost, max(ρA, clip(ρ)A)
// is −clipped_gain(ρ, −A, ε).
Clipped clipped_gain(float ratio, float advantage, float clip);

// coefficients: one a signal, negative for costs. One clip of the sum Σ_k coefficient_k A_k,
Objective clipped_sum(const std::vector<double>& coefficients, double clip);
// a clip of each term, pessimistic for rewards and for costs,
Objective sum_of_clipped(const std::vector<double>& coefficients, double clip);
// or none: Σ_k coefficient_k ρA_k.
Objective weighted_sum(const std::vector<double>& coefficients);

}  // namespace cgpo
