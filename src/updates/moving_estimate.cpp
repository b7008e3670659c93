#include "cgpo/updates/moving_estimate.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

namespace cgpo {
namespace {

constexpr double kFirstBend = 0.01;   // variance of β before anything is known of it
constexpr double kBendDrift = 0.001;  // that it gains with a move
constexpr double kGapDrift = 0.0025;  // g²
constexpr double kMemory = 0.9;       // of m², a measurement
constexpr double kLeastScatter = 0.01;
constexpr double kMostScatter = 0.5;  // more would make steps so short that nothing could be learned of it any more
constexpr double kSurprise = 2.0;     // standard deviations
constexpr double kMostSeen = 16.0;    // of m², by one measurement

}  // namespace

double MovingEstimate::variance_after(double reach) const {
  return p_[0][0] + 2.0 * reach * p_[0][2] + reach * reach * (p_[2][2] + scatter_);
}

double MovingEstimate::deployed_variance_after(double reach) const {
  return variance_after(reach) + 2.0 * (p_[0][1] + reach * p_[1][2]) + p_[1][1] + kGapDrift * reach * reach;
}

// x ← Fx, P ← FPFᵀ + Q with F = [1 0 reach; 0 f² 0; 0 0 1].
void MovingEstimate::move(double change, double reach, double noise_factor) {
  if (!known_) return;
  const double shrink = noise_factor * noise_factor;
  const double lost = x_[1] * (1.0 - shrink);  // of the gap: J comes nearer to the deployed one
  x_ = {x_[0] + change + x_[2] * reach + lost, x_[1] - lost, x_[2]};
  const double j = variance_after(reach) + 0.25 * lost * lost;
  const double across = shrink * (p_[0][1] + reach * p_[1][2]);
  const double with_bend = p_[0][2] + reach * p_[2][2];
  const double gap = shrink * shrink * p_[1][1] + kGapDrift * reach * reach + 0.25 * lost * lost;
  p_[0] = {j, across - 0.25 * lost * lost, with_bend};
  p_[1] = {p_[0][1], gap, shrink * p_[1][2]};
  p_[2] = {with_bend, p_[1][2], p_[2][2] + kBendDrift};
  reach_ = std::hypot(reach_, reach);
}

void MovingEstimate::measure(double value, double standard_error) {
  if (!std::isfinite(value)) return;
  const double noise = standard_error * standard_error;
  if (!known_) {
    known_ = true;
    x_[0] = value;
    p_[0] = {std::isfinite(noise) ? noise : 0.0, 0.0, 0.0};
    p_[2] = {0.0, 0.0, kFirstBend};
    return;
  }
  if (!std::isfinite(noise)) return;
  const double miss = value - x_[0];
  const double expected = p_[0][0] + noise;
  if (reach_ > 0.0) follow_scatter(miss, expected);
  reach_ = 0.0;
  correct({1.0, 0.0, 0.0}, miss, noise);
}

void MovingEstimate::measure_deployed(double value, double standard_error) {
  if (!std::isfinite(value) || !known_) return;
  const double noise = standard_error * standard_error;
  if (!knows_deployed_) {
    knows_deployed_ = true;
    x_[1] = value - x_[0];
    const double own = p_[0][0];
    p_[1] = {-own, own + (std::isfinite(noise) ? noise : 0.0), -p_[0][2]};
    p_[0][1] = p_[1][0];
    p_[2][1] = p_[1][2];
    return;
  }
  if (!std::isfinite(noise)) return;
  correct({1.0, 1.0, 0.0}, value - deployed(), noise);
}

// Of a measurement `seen`ᵀx + noise.
void MovingEstimate::correct(const Vector& seen, double miss, double noise) {
  Vector across = {};  // P·seen
  double expected = noise;
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) across[i] += p_[i][j] * seen[j];
    expected += seen[i] * across[i];
  }
  if (!(expected > 0.0)) {  // it was certain, and the episodes do not vary
    x_[0] += seen[1] == 0.0 ? miss : 0.0;
    x_[1] += seen[1] == 0.0 ? 0.0 : miss;
    return;
  }
  // A miss that what is known cannot explain: it was not known so well. The gap, of an episode without noise, else J.
  const double excess = miss * miss / (kSurprise * kSurprise) - expected;
  if (excess > 0.0) {
    const std::size_t wrong = seen[1] != 0.0 ? 1 : 0;
    p_[wrong][wrong] += excess;
    across[wrong] += excess;
    expected += excess;
  }
  for (std::size_t i = 0; i < 3; ++i) {
    x_[i] += across[i] / expected * miss;
    for (std::size_t j = 0; j < 3; ++j) p_[i][j] -= across[i] * across[j] / expected;
    p_[i][i] = std::max(p_[i][i], 0.0);
  }
  x_[2] = std::clamp(x_[2], -1.0, 1.0);
}

// (miss² − what else explains it) / reach² is m² in the mean, and scatters by about expected / reach².
void MovingEstimate::follow_scatter(double miss, double expected) {
  const double unit = reach_ * reach_;
  const double other = std::max(expected - scatter_ * unit, 0.0);
  const double weight = 1.0 / (1.0 + (expected / unit) * (expected / unit));
  const double seen = std::min((miss * miss - other) / unit, kMostSeen);
  if (!std::isfinite(seen)) return;
  weight_ = kMemory * weight_ + weight;
  scatter_ = std::clamp(scatter_ + weight / weight_ * (seen - scatter_), kLeastScatter, kMostScatter);
}

void MovingEstimate::go_back_to(const MovingEstimate& before) {
  const double bend = x_[2];
  const double of_bend = p_[2][2];
  const double scatter = scatter_;
  const double weight = weight_;
  *this = before;
  x_[2] = bend;
  p_[0][2] = p_[2][0] = p_[1][2] = p_[2][1] = 0.0;
  p_[2][2] = of_bend;
  scatter_ = scatter;
  weight_ = weight;
}

void MovingEstimate::save(Tensors& tensors, const std::string& name) const {
  std::vector<double> numbers = {known_ ? 1.0 : 0.0, knows_deployed_ ? 1.0 : 0.0, reach_, scatter_, weight_};
  numbers.insert(numbers.end(), x_.begin(), x_.end());
  for (const Vector& row : p_) numbers.insert(numbers.end(), row.begin(), row.end());
  tensors.put(name, std::span<const double>(numbers));
}

void MovingEstimate::load(const Tensors& tensors, const std::string& name) {
  std::array<double, 17> n{};
  tensors.get(name, std::span<double>(n));
  known_ = n[0] != 0.0;
  knows_deployed_ = n[1] != 0.0;
  reach_ = n[2];
  scatter_ = n[3];
  weight_ = n[4];
  std::copy_n(n.begin() + 5, 3, x_.begin());
  for (std::size_t i = 0; i < 3; ++i) std::copy_n(n.begin() + 8 + static_cast<std::ptrdiff_t>(3 * i), 3, p_[i].begin());
}

}  // namespace cgpo
