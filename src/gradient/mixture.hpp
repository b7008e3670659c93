// Two estimates of the same gradients mixed: one that is steady but may be wrong, and one that is right in the mean.
//
// Of a signal's gradient ḡ we have F, with a bias, and U, without one, but noisier. With D = U − F, the mean of which
// is what F misses, g = F + βD errs least, in the mean of |g − ḡ|², for
//   β = (|D̄|² − tr cov(D, F)) / E|D|²,
// the share of D that is no noise, or more where F is the noisier one. Environments come in independent groups, so both
// parts can be had from the batch: |D̄|² is the unbiased product of D with itself, tr cov(D, F) the product of D and F
// less the unbiased one (products.hpp). One batch tells little of them; numerator and denominator are exponential means
// over iterations. β is kept in [0, 1], and is 0 as long as there was no batch of two groups.
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

  const std::vector<double>& weights() const { return weights_; }  // [1+m], β of the last mix()

  void save(Tensors& tensors, const std::string& prefix) const;
  void load(const Tensors& tensors, const std::string& prefix);

 private:
  void learn_weight(std::size_t signal);

  std::vector<double> numerators_, denominators_;  // [1+m], exponential means
  std::vector<double> weights_;
  GradientEstimate steady_, difference_;  // F and D
};

}  // namespace cgpo
