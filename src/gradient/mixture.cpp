#include "cgpo/gradient/mixture.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "cgpo/gradient/products.hpp"

namespace cgpo {
namespace {

constexpr double kKept = 0.8;  // of the past, in a mean over iterations: some five of them count

// to += factor · from, gradients and the sums that they are made of.
void add(const GradientEstimate& from, double factor, std::size_t signal, GradientEstimate& to) {
  const auto add_vector = [&](const std::vector<double>& more, std::vector<double>& sum) {
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += factor * more[i];
  };
  add_vector(from.gradients[signal], to.gradients[signal]);
  for (std::size_t g = 0; g < to.group_sums[signal].size(); ++g)
    add_vector(from.group_sums[signal][g], to.group_sums[signal][g]);
}

}  // namespace

GradientMixture::GradientMixture(int signals)
    : numerators_(static_cast<std::size_t>(signals), 0.0), denominators_(numerators_), weights_(numerators_) {}

void GradientMixture::learn_weight(std::size_t signal) {
  const GradientProduct own = multiply_gradients(difference_, difference_, signal);
  const GradientProduct shared = multiply_gradients(difference_, steady_, signal);
  const double useful = own.unbiased - (shared.plain - shared.unbiased);
  if (std::isfinite(useful) && std::isfinite(own.plain)) {
    numerators_[signal] = kKept * numerators_[signal] + (1.0 - kKept) * useful;
    denominators_[signal] = kKept * denominators_[signal] + (1.0 - kKept) * own.plain;
  }
  weights_[signal] =
      denominators_[signal] > 0.0 ? std::clamp(numerators_[signal] / denominators_[signal], 0.0, 1.0) : 0.0;
}

const GradientEstimate& GradientMixture::mix(const GradientEstimate& steady, const GradientEstimate& unbiased) {
  steady_ = steady;
  difference_ = unbiased;
  for (std::size_t k = 0; k < weights_.size(); ++k) {
    add(steady, -1.0, k, difference_);
    learn_weight(k);
    add(difference_, weights_[k], k, steady_);
  }
  return steady_;
}

void GradientMixture::save(Tensors& tensors, const std::string& prefix) const {
  tensors.put(prefix + ".numerators", std::span<const double>(numerators_));
  tensors.put(prefix + ".denominators", std::span<const double>(denominators_));
}

void GradientMixture::load(const Tensors& tensors, const std::string& prefix) {
  if (!tensors.contains(prefix + ".numerators")) return;  // of a run from before there was such a thing
  tensors.get(prefix + ".numerators", std::span<double>(numerators_));
  tensors.get(prefix + ".denominators", std::span<double>(denominators_));
}

}  // namespace cgpo
