#include "cgpo/updates/lagrange.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "cgpo/nn/adam.hpp"

namespace cgpo {

DualVariables::DualVariables(const DualSettings& settings, const std::vector<double>& limits, int horizon)
    : settings_(settings), limits_(limits), horizon_(horizon), first_(limits.size(), 0.0), second_(limits.size(), 0.0) {
  for (const double limit : limits)
    values_.push_back(std::isfinite(limit) ? std::min(settings.initial, settings.upper) : 0.0);
}

std::vector<double> DualVariables::violations(const std::vector<double>& costs) const {
  std::vector<double> result;
  for (std::size_t i = 0; i < limits_.size(); ++i) {
    result.push_back(std::isfinite(limits_[i]) ? (costs[i] - limits_[i]) / horizon_
                                               : -std::numeric_limits<double>::infinity());
  }
  return result;
}

void DualVariables::ascend(const std::vector<double>& costs) {
  const std::vector<double> along = violations(costs);
  power1_ *= Adam<float>::kBeta1;
  power2_ *= Adam<float>::kBeta2;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (!std::isfinite(along[i])) continue;
    double step = along[i];
    if (settings_.optimiser == DualOptimiser::kAdam) {
      first_[i] = Adam<float>::kBeta1 * first_[i] + (1.0 - Adam<float>::kBeta1) * along[i];
      second_[i] = Adam<float>::kBeta2 * second_[i] + (1.0 - Adam<float>::kBeta2) * along[i] * along[i];
      step = first_[i] / (1.0 - power1_) / (std::sqrt(second_[i] / (1.0 - power2_)) + Adam<float>::kEpsilon);
    }
    values_[i] = std::clamp(values_[i] + settings_.learning_rate * step, 0.0, settings_.upper);
  }
}

bool DualVariables::any() const {
  return std::any_of(values_.begin(), values_.end(), [](double value) { return value > 0.0; });
}

void DualVariables::save(Tensors& tensors) const {
  tensors.put("dual.values", std::span<const double>(values_));
  tensors.put("dual.adam.m", std::span<const double>(first_));
  tensors.put("dual.adam.v", std::span<const double>(second_));
  tensors.put("dual.adam.beta_powers", std::span<const double>(std::array{power1_, power2_}));
}

void DualVariables::load(const Tensors& tensors) {
  tensors.get("dual.values", std::span<double>(values_));
  tensors.get("dual.adam.m", std::span<double>(first_));
  tensors.get("dual.adam.v", std::span<double>(second_));
  std::array<double, 2> powers{};
  tensors.get("dual.adam.beta_powers", std::span<double>(powers));
  power1_ = powers[0];
  power2_ = powers[1];
}

std::vector<double> penalised_coefficients(const std::vector<double>& multipliers) {
  std::vector<double> result = {1.0};
  for (const double value : multipliers) result.push_back(-value);
  return result;
}

std::vector<double> lagrangian_coefficients(const std::vector<double>& multipliers) {
  double sum = 1.0;
  for (const double value : multipliers) sum += value;
  std::vector<double> result = penalised_coefficients(multipliers);
  for (double& value : result) value /= sum;
  return result;
}

std::vector<double> augmented_multipliers(const std::vector<double>& multipliers, double penalty,
                                          const std::vector<double>& violations) {
  std::vector<double> result;
  for (std::size_t i = 0; i < multipliers.size(); ++i) {
    const double factor = std::isfinite(violations[i]) ? multipliers[i] + penalty * violations[i] : 0.0;
    result.push_back(std::max(0.0, factor));
  }
  return result;
}

}  // namespace cgpo
