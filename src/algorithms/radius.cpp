#include "cgpo/algorithms/radius.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace cgpo {
namespace {

// Below this share of the numbers that were subtracted, a difference is rounding.
constexpr double kNothing = 1e-12;

double ratio(double numerator, double denominator, double scale) {
  const double small = kNothing * std::max(scale, 1e-300);
  if (std::abs(denominator) > small) return numerator / denominator;
  if (std::abs(numerator) <= small) return 1.0;
  return std::copysign(std::numeric_limits<double>::infinity(), numerator);
}

}  // namespace

RadiusTestResult test_radius(const Prediction& predicted, double return_now, const std::vector<double>& costs_now,
                             const std::vector<double>& limits) {
  RadiusTestResult result;
  const double scale =
      std::max({std::abs(predicted.return_before), std::abs(predicted.return_after), std::abs(return_now)});
  result.rho = ratio(return_now - predicted.return_before, predicted.return_after - predicted.return_before, scale);
  result.zeta = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < limits.size(); ++i) {
    if (std::isinf(limits[i])) continue;  // no constraint
    const double size = std::max({std::abs(limits[i]), std::abs(costs_now[i]), std::abs(predicted.costs_after[i])});
    result.zeta = std::min(result.zeta, ratio(std::abs(limits[i] - costs_now[i]),
                                              std::abs(costs_now[i] - predicted.costs_after[i]), size));
  }
  return result;
}

std::optional<RadiusTestResult> AdaptiveRadius::observe(double return_now, const std::vector<double>& costs_now,
                                                        const std::vector<double>& limits) {
  if (!expected_) return std::nullopt;
  const RadiusTestResult result = test_radius(*expected_, return_now, costs_now, limits);
  expected_.reset();
  if (settings_.test == RadiusTest::kFixed) return result;
  if (!(result.rho >= settings_.eta_low && result.zeta >= settings_.eta_low)) {  // NaN shrinks too
    shrink();
  } else if (result.rho >= settings_.eta_high && result.zeta >= settings_.eta_high) {
    value_ = std::min(settings_.grow * value_, settings_.upper);
  }
  return result;
}

void AdaptiveRadius::refuse() {
  expected_.reset();
  if (settings_.test != RadiusTest::kFixed) shrink();
}

void AdaptiveRadius::shrink() { value_ = std::max(settings_.shrink * value_, settings_.lower); }

void AdaptiveRadius::save(Tensors& tensors) const {
  tensors.put("radius.value", value_);
  if (!expected_) return;
  std::vector<double> numbers = {expected_->return_before, expected_->return_after};
  numbers.insert(numbers.end(), expected_->costs_after.begin(), expected_->costs_after.end());
  tensors.put("radius.expected", std::span<const double>(numbers));
}

void AdaptiveRadius::load(const Tensors& tensors) {
  value_ = tensors.number("radius.value");
  expected_.reset();
  if (!tensors.contains("radius.expected")) return;
  std::vector<double> numbers(tensors.entries.at("radius.expected").bytes.size() / sizeof(double));
  tensors.get("radius.expected", std::span<double>(numbers));
  expected_ = Prediction{numbers.at(0), numbers.at(1), {numbers.begin() + 2, numbers.end()}};
}

}  // namespace cgpo
