#include "cgpo/studies/lanczos.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "cgpo/base/numbers.hpp"
#include "cgpo/base/random.hpp"

namespace cgpo {
namespace {

// How many eigenvalues are below x.
int count_below(std::span<const double> diagonal, std::span<const double> beside, double x) {
  int count = 0;
  double pivot = 1.0;
  for (std::size_t i = 0; i < diagonal.size(); ++i) {
    const double off = i == 0 ? 0.0 : beside[i - 1];
    pivot = diagonal[i] - x - (i == 0 ? 0.0 : off * off / pivot);
    if (pivot == 0.0) pivot = -std::numeric_limits<double>::min();
    if (pivot < 0.0) ++count;
  }
  return count;
}

}  // namespace

double tridiagonal_norm(std::span<const double> diagonal, std::span<const double> beside) {
  const auto size = static_cast<int>(diagonal.size());
  if (size == 0) return 0.0;
  double bound = 0.0;  // Gershgorin's
  for (std::size_t i = 0; i < diagonal.size(); ++i) {
    const double left = i > 0 ? std::abs(beside[i - 1]) : 0.0;
    const double right = i + 1 < diagonal.size() ? std::abs(beside[i]) : 0.0;
    bound = std::max(bound, std::abs(diagonal[i]) + left + right);
  }
  // The smallest r with all eigenvalues in [−r, r].
  double low = 0.0;
  double high = bound;
  for (int i = 0; i < 200 && high - low > 1e-14 * bound; ++i) {
    const double middle = 0.5 * (low + high);
    const bool holds = count_below(diagonal, beside, -middle) == 0 && count_below(diagonal, beside, middle) == size;
    (holds ? high : low) = middle;
  }
  return high;
}

double spectral_norm(const SymmetricProduct& product, int size, int iterations, std::uint64_t seed) {
  RandomStream random(seed, Purpose::kCheck);
  std::vector<std::vector<double>> basis(1, std::vector<double>(static_cast<std::size_t>(size)));
  for (double& value : basis[0]) value = random.normal();
  const double start = std::sqrt(dot(basis[0], basis[0]));
  for (double& value : basis[0]) value /= start;
  std::vector<double> diagonal;
  std::vector<double> beside;
  std::vector<double> next(static_cast<std::size_t>(size));
  for (int i = 0; i < std::min(iterations, size); ++i) {
    product(basis.back(), next);
    diagonal.push_back(dot(basis.back(), next));
    if (!std::isfinite(diagonal.back())) return std::numeric_limits<double>::infinity();
    const double scale = std::sqrt(dot(next, next));
    for (int pass = 0; pass < 2; ++pass) {  // the second removes what rounding left of the first
      for (const std::vector<double>& vector : basis) {
        const double part = dot(vector, next);
        for (std::size_t j = 0; j < next.size(); ++j) next[j] -= part * vector[j];
      }
    }
    const double rest = std::sqrt(dot(next, next));
    if (!(rest > 1e-12 * scale)) break;
    beside.push_back(rest);
    basis.push_back(next);
    for (double& value : basis.back()) value /= rest;
  }
  return tridiagonal_norm(diagonal, beside);
}

}  // namespace cgpo
