#include "cgpo/updates/noise_free_problem.hpp"

#include <algorithm>
#include <cmath>

#include "cgpo/nn/cholesky.hpp"

namespace cgpo {

NoiseFreeProblem::NoiseFreeProblem(const TrustRegionProblem& noisy, const std::vector<double>& unbiased_gram)
    : problem(noisy) {
  if (unbiased_gram == noisy.gram) return;
  const std::size_t size = noisy.slack.size() + 1;
  constexpr double kLeastSignal = 0.1;
  constexpr double kRidge = 1e-9;  // parallel gradients make G singular
  std::vector<double> unbiased = unbiased_gram;
  std::vector<double> factor = noisy.gram;
  for (std::size_t i = 0; i < size; ++i) {
    double& own = unbiased[i * size + i];
    own = std::max(own, kLeastSignal * noisy.gram[i * size + i]);
    factor[i * size + i] *= 1.0 + kRidge;
  }
  // A gradient that is zero, or not finite, leaves the problem as it is: the solver knows what to do.
  if (!cholesky_factor(factor, static_cast<int>(size))) return;
  turn.assign(size * size, 0.0);
  std::vector<double> column(size);
  for (std::size_t j = 0; j < size; ++j) {
    for (std::size_t i = 0; i < size; ++i) column[i] = unbiased[i * size + j];
    cholesky_solve(factor, static_cast<int>(size), column);
    for (std::size_t i = 0; i < size; ++i) turn[i * size + j] = column[i];
  }
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double product = 0.0;
      for (std::size_t k = 0; k < size; ++k) product += unbiased[i * size + k] * turn[k * size + j];
      problem.gram[i * size + j] = product;
      problem.gram[j * size + i] = product;
    }
  }
}

std::vector<double> NoiseFreeProblem::coefficients(const std::vector<double>& y) const {
  if (turn.empty()) return y;
  std::vector<double> x(y.size(), 0.0);
  for (std::size_t i = 0; i < y.size(); ++i) {
    for (std::size_t j = 0; j < y.size(); ++j) x[i] += turn[i * y.size() + j] * y[j];
  }
  return x;
}

}  // namespace cgpo
