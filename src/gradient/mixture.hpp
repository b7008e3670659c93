// Two estimates of the same gradients mixed: one that is steady but may be wrong, and one that is right in the mean.
//
// Of a gradient ḡ we have F, with a bias, and U, without one, but noisier. With D = U − F, the mean of which is what F
// misses, F + βD errs least, in the mean of its squared error, for
//   β = (|D̄|² − tr cov(D, F)) / E|D|²,
// the share of D that is no noise, or more where F is the noisier one. Environments come in independent groups, so both
// parts can be had from the batch: |D̄|² is the unbiased product of D with itself, tr cov(D, F) the product of D and F
// less the unbiased one (products.hpp). One batch tells little of them; numerator and denominator are exponential means
// over iterations.
//
// All signals are mixed by one β, the largest that is asked for by one of them, or by one of the residuals
//   q_i − c_i g,   c_i = gᵀq_i / gᵀg by U:
// a step along a constraint is made of these. Where reward and cost are nearly parallel a residual is the small
// difference of two large vectors, which two critics' errors swamp while each vector by itself looks right; the noise
// of scores, which both share, cancels in it, if both have as much of it. β is kept in [0, 1], and is 0 as long as
// there was no batch of two groups.
#pragma once

#include <string>
#include <vector>

#include "cgpo/base/tensors.hpp"
#include "cgpo/gradient/estimate.hpp"

namespace cgpo {

class GradientMixture {
 public:
  explicit GradientMixture(int signals);

  // F + βD, from two estimates of one batch.
  const GradientEstimate& mix(const GradientEstimate& steady, const GradientEstimate& unbiased);

  // [1+m] and [m], what each signal and each residual asked for at the last mix(); β is the largest.
  const std::vector<double>& asked() const { return asked_; }
  double weight() const;

  void save(Tensors& tensors, const std::string& prefix) const;
  void load(const Tensors& tensors, const std::string& prefix);

 private:
  void learn(std::size_t which, double useful, double all);

  std::vector<double> numerators_, denominators_;  // [1+2m], exponential means
  std::vector<double> asked_;
  GradientEstimate steady_, difference_;  // F and D
};

}  // namespace cgpo
