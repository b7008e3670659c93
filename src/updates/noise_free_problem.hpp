// The surrogate sub-problem without the sampling noise of its gradients.
//
// Sampled gradients V = [g Q] are longer than the true ones: noise adds to every product VᵀH⁻¹V = G, and a step along V
// seems to bring what it cannot. With Ĝ, an unbiased estimate of the same products, δ = H⁻¹V·x has length xᵀGx, as
// before, but brings Ĝx. In y with x = G⁻¹Ĝy that is a problem of the same kind with the Gram matrix ĜG⁻¹Ĝ: the length
// is yᵀĜG⁻¹Ĝy, and what the step brings is ĜG⁻¹Ĝy. Without noise Ĝ = G, and x = y.
#pragma once

#include <vector>

#include "cgpo/subproblem/trust_region.hpp"

namespace cgpo {

struct NoiseFreeProblem {
  // A diagonal entry of Ĝ below a tenth of G's is raised to it: a gradient that is all noise is not taken for none.
  NoiseFreeProblem(const TrustRegionProblem& noisy, const std::vector<double>& unbiased_gram);

  // From the coefficients of a step of `problem` to those of δ = H⁻¹V·x.
  std::vector<double> coefficients(const std::vector<double>& y) const;

  TrustRegionProblem problem;
  std::vector<double> turn;  // G⁻¹Ĝ; empty: there is no noise to take out
};

}  // namespace cgpo
