#include "cgpo/gradient/mixture.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "cgpo/base/numbers.hpp"
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
    : numerators_(static_cast<std::size_t>(2 * signals - 1), 0.0), denominators_(numerators_), asked_(numerators_) {}

double GradientMixture::weight() const { return *std::max_element(asked_.begin(), asked_.end()); }

void GradientMixture::learn(std::size_t which, double useful, double all) {
  if (std::isfinite(useful) && std::isfinite(all)) {
    numerators_[which] = kKept * numerators_[which] + (1.0 - kKept) * useful;
    denominators_[which] = kKept * denominators_[which] + (1.0 - kKept) * all;
  }
  asked_[which] = denominators_[which] > 0.0 ? std::clamp(numerators_[which] / denominators_[which], 0.0, 1.0) : 0.0;
}

const GradientEstimate& GradientMixture::mix(const GradientEstimate& steady, const GradientEstimate& unbiased) {
  const std::size_t signals = steady.gradients.size();
  steady_ = steady;
  difference_ = unbiased;
  for (std::size_t k = 0; k < signals; ++k) add(steady, -1.0, k, difference_);
  // |D̄|² − tr cov(D, F) and |D|², for D and F of signals i and j: bilinear, so that those of a residual follow.
  const auto products = [&](std::size_t i, std::size_t j) {
    const GradientProduct own = multiply_gradients(difference_, i, difference_, j);
    const GradientProduct across = multiply_gradients(difference_, i, steady_, j);
    return std::array{own.unbiased - (across.plain - across.unbiased), own.plain};
  };
  const auto [useful_reward, all_reward] = products(0, 0);
  learn(0, useful_reward, all_reward);
  const double length = dot(unbiased.gradients[0], unbiased.gradients[0]);
  for (std::size_t k = 1; k < signals; ++k) {
    const auto [useful, all] = products(k, k);
    learn(k, useful, all);
    const double c = length > 0.0 ? dot(unbiased.gradients[0], unbiased.gradients[k]) / length : 0.0;
    const auto [useful_one, all_one] = products(k, 0);
    const double useful_other = products(0, k)[0];
    learn(signals + k - 1, useful - c * (useful_one + useful_other) + c * c * useful_reward,
          all - 2.0 * c * all_one + c * c * all_reward);
  }
  for (std::size_t k = 0; k < signals; ++k) add(difference_, weight(), k, steady_);
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
