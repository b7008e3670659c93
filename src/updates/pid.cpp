#include "cgpo/updates/pid.hpp"

#include <algorithm>
#include <cmath>

#include "cgpo/base/index.hpp"

namespace cgpo {
namespace {

DualSettings integral_part(DualSettings dual, const PidSettings& pid) {
  dual.learning_rate *= pid.integral;
  return dual;
}

}  // namespace

PidMultipliers::PidMultipliers(const DualSettings& dual, const PidSettings& pid, const std::vector<double>& limits,
                               int horizon)
    : pid_(pid),
      rate_(dual.learning_rate),
      upper_(dual.upper),
      horizon_(horizon),
      integral_(integral_part(dual, pid), limits, horizon),
      seen_(limits.size(), 0),
      violations_(limits.size(), 0.0),
      costs_(limits.size(), 0.0),
      past_(limits.size(), std::vector<double>(at(pid.delay), 0.0)),
      values_(integral_.values()) {}

void PidMultipliers::follow(const std::vector<double>& costs) {
  integral_.ascend(costs);
  const std::vector<double> violations = integral_.violations(costs);
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (!std::isfinite(violations[i])) continue;
    if (seen_[i] == 0) {
      violations_[i] = violations[i];
      costs_[i] = costs[i] / horizon_;
      std::fill(past_[i].begin(), past_[i].end(), costs_[i]);
      seen_[i] = 1;
    }
    violations_[i] += (1.0 - pid_.proportional_memory) * (violations[i] - violations_[i]);
    const double beside = pid_.proportional * violations_[i] + pid_.derivative * rise(i, costs[i] / horizon_);
    values_[i] = std::clamp(integral_.values()[i] + rate_ * beside, 0.0, upper_);
  }
}

// Takes the cost over into c̄, and says by how much that has risen.
double PidMultipliers::rise(std::size_t i, double cost) {
  costs_[i] += (1.0 - pid_.derivative_memory) * (cost - costs_[i]);
  const double before = past_[i].front();
  std::rotate(past_[i].begin(), past_[i].begin() + 1, past_[i].end());
  past_[i].back() = costs_[i];
  return std::max(0.0, costs_[i] - before);
}

void PidMultipliers::save(Tensors& tensors) const {
  integral_.save(tensors);
  tensors.put("pid.seen", std::span<const std::int64_t>(seen_));
  tensors.put("pid.violations", std::span<const double>(violations_));
  tensors.put("pid.costs", std::span<const double>(costs_));
  tensors.put("pid.values", std::span<const double>(values_));
  std::vector<double> past;
  for (const std::vector<double>& of_one : past_) past.insert(past.end(), of_one.begin(), of_one.end());
  tensors.put("pid.past", std::span<const double>(past));
}

void PidMultipliers::load(const Tensors& tensors) {
  integral_.load(tensors);
  tensors.get("pid.seen", std::span<std::int64_t>(seen_));
  tensors.get("pid.violations", std::span<double>(violations_));
  tensors.get("pid.costs", std::span<double>(costs_));
  tensors.get("pid.values", std::span<double>(values_));
  std::vector<double> past(past_.size() * at(pid_.delay));
  tensors.get("pid.past", std::span<double>(past));
  for (std::size_t i = 0; i < past_.size(); ++i)
    std::copy_n(past.begin() + std::ssize(past_[i]) * i, past_[i].size(), past_[i].begin());
}

}  // namespace cgpo
