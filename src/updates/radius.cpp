#include "cgpo/updates/radius.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace cgpo {
namespace {

// Below this share of the numbers that were subtracted, a difference is rounding.
constexpr double kNothing = 1e-12;
constexpr double kLongestAccount = 30.0;  // updates
constexpr double kMostGrowths = 6.0;      // at once

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
  result.rho_sure = result.rho;
  result.zeta = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < limits.size(); ++i) {
    if (std::isinf(limits[i])) continue;  // no constraint
    const double size = std::max({std::abs(limits[i]), std::abs(costs_now[i]), std::abs(predicted.costs_after[i])});
    result.zeta = std::min(result.zeta, ratio(std::abs(limits[i] - costs_now[i]),
                                              std::abs(costs_now[i] - predicted.costs_after[i]), size));
  }
  return result;
}

RadiusTestResult test_radius_one_sided(const Account& account, const Prediction& predicted, const Outcome& outcome,
                                       const std::vector<double>& limits, const RadiusSettings& settings) {
  RadiusTestResult result;
  const double missing = account.return_before + account.promised - outcome.return_now;
  const double scale = std::max(std::abs(account.return_before), std::abs(outcome.return_now));
  const auto kept = [&](double lost) {  // a NaN stays
    return lost <= 0.0 ? 1.0 : 1.0 - ratio(lost, account.promised_size, scale);
  };
  result.rho = kept(missing - settings.certainty * outcome.return_se);
  result.rho_sure = kept(missing + settings.certainty * outcome.return_se);
  for (std::size_t i = 0; i < limits.size(); ++i) {
    if (std::isinf(limits[i])) continue;  // no constraint
    const double margin = predicted.margins[i];
    const double excess = outcome.costs_now[i] - std::max(predicted.costs_after[i], limits[i] - margin);
    if (excess > 0.0) {
      result.zeta = std::min(result.zeta, 1.0 - excess / std::max(margin, 0.01 * std::abs(limits[i])));
    }
  }
  return result;
}

std::optional<RadiusTestResult> AdaptiveRadius::observe(const Outcome& outcome, const std::vector<double>& limits) {
  if (!expected_) return std::nullopt;
  const bool one_sided = settings_.test == RadiusTest::kOneSided || settings_.test == RadiusTest::kPaired;
  const double promised = expected_->return_after - expected_->return_before;
  if (!account_) account_ = Account{.return_before = expected_->return_before};
  account_->promised += promised;
  account_->promised_size += std::abs(promised);
  account_->updates += 1.0;
  const RadiusTestResult result = one_sided ? test_radius_one_sided(*account_, *expected_, outcome, limits, settings_)
                                            : test_radius(*expected_, outcome.return_now, outcome.costs_now, limits);
  expected_.reset();
  if (settings_.test == RadiusTest::kFixed) return result;
  if (!(result.rho >= settings_.eta_low && result.zeta >= settings_.eta_low)) {  // NaN shrinks too
    shrink();
    // Safety first: a step that used up its margin counts three times.
    if (one_sided && !(result.zeta >= settings_.eta_low)) {
      shrink();
      shrink();
    }
    account_.reset();
  } else if (result.rho_sure >= settings_.eta_high && result.zeta >= settings_.eta_high) {
    // It may take several updates to tell that all was well; each of them would have let it grow.
    const double times = one_sided ? std::min(account_->updates, kMostGrowths) : 1.0;
    value_ = std::min(std::pow(settings_.grow, times) * value_, settings_.upper);
    account_.reset();
  } else if (account_->updates >= kLongestAccount) {
    account_.reset();  // as it should be; what comes now is judged by itself
  }
  return result;
}

bool far_off(const Prediction& predicted, const Outcome& outcome, const std::vector<double>& limits, double factor) {
  constexpr double kChance = 2.0;  // standard errors
  const auto beyond = [factor](double miss, double change, double se) {
    return !(miss <= factor * std::abs(change) + kChance * se);  // a NaN is, too: nobody knows what came
  };
  if (beyond(predicted.return_after - outcome.return_now, predicted.return_after - predicted.return_before,
             outcome.return_se)) {
    return true;
  }
  for (std::size_t i = 0; i < limits.size(); ++i) {
    if (std::isinf(limits[i])) continue;
    if (beyond(outcome.costs_now[i] - std::max(predicted.costs_after[i], limits[i]),
               predicted.costs_after[i] - predicted.costs_before[i], outcome.costs_se[i])) {
      return true;
    }
  }
  return false;
}

std::optional<double> AdaptiveRadius::retreat(const Outcome& outcome, const std::vector<double>& limits) {
  if (!expected_ || settings_.retreat == 0.0) return std::nullopt;
  if (taken_ <= settings_.lower) return std::nullopt;  // no smaller step to try
  if (!far_off(*expected_, outcome, limits, settings_.retreat)) return std::nullopt;
  expected_.reset();
  account_.reset();
  constexpr double kRetreat = 0.25;
  const double shorter = std::max(kRetreat * taken_, settings_.lower);
  if (settings_.test != RadiusTest::kFixed) value_ = shorter;
  return shorter;
}

void AdaptiveRadius::refuse() {
  expected_.reset();
  account_.reset();
  if (settings_.test != RadiusTest::kFixed) shrink();
}

void AdaptiveRadius::shrink() { value_ = std::max(settings_.shrink * value_, settings_.lower); }

void AdaptiveRadius::save(Tensors& tensors) const {
  tensors.put("radius.value", value_);
  tensors.put("radius.taken", taken_);
  if (account_) {
    tensors.put("radius.account", std::span<const double>(std::array{account_->return_before, account_->promised,
                                                                     account_->promised_size, account_->updates}));
  }
  if (!expected_) return;
  std::vector<double> numbers = {expected_->return_before, expected_->return_after};
  numbers.insert(numbers.end(), expected_->costs_before.begin(), expected_->costs_before.end());
  numbers.insert(numbers.end(), expected_->costs_after.begin(), expected_->costs_after.end());
  numbers.insert(numbers.end(), expected_->margins.begin(), expected_->margins.end());
  tensors.put("radius.expected", std::span<const double>(numbers));
}

void AdaptiveRadius::load(const Tensors& tensors) {
  value_ = tensors.number("radius.value");
  taken_ = tensors.contains("radius.taken") ? tensors.number("radius.taken") : value_;  // older versions have none
  account_.reset();
  if (tensors.contains("radius.account")) {
    const std::vector<double> numbers = tensors.numbers("radius.account");
    account_ = Account{numbers.at(0), numbers.at(1), numbers.at(2), numbers.at(3)};
  }
  expected_.reset();
  if (!tensors.contains("radius.expected")) return;
  const std::vector<double> numbers = tensors.numbers("radius.expected");
  const auto costs = static_cast<std::ptrdiff_t>((numbers.size() - 2) / 3);
  const auto part = [&](int which) {
    const auto begin = numbers.begin() + 2 + which * costs;
    return std::vector<double>(begin, begin + costs);
  };
  expected_ = Prediction{numbers.at(0), numbers.at(1), part(0), part(1), part(2)};
}

}  // namespace cgpo
