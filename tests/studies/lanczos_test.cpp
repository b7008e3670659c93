// Against matrices whose eigenvalues are known.
#include "cgpo/studies/lanczos.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <numbers>

#include "cgpo/base/random.hpp"

namespace cgpo {
namespace {

// The discrete second derivative of size n: 2 − 2 cos(πk/(n+1)), k = 1 … n.
TEST(Lanczos, TridiagonalNormOfTheSecondDifference) {
  for (const int n : {1, 2, 7, 40}) {
    const std::vector<double> diagonal(static_cast<std::size_t>(n), 2.0);
    const std::vector<double> beside(static_cast<std::size_t>(n - 1), -1.0);
    const double exact = 2.0 + 2.0 * std::cos(std::numbers::pi / (n + 1));
    EXPECT_NEAR(tridiagonal_norm(diagonal, beside), exact, 1e-12);
    const std::vector<double> turned(static_cast<std::size_t>(n), -2.0);  // the largest may be negative
    EXPECT_NEAR(tridiagonal_norm(turned, beside), exact, 1e-12);
  }
}

// A = Q D Qᵀ with a Householder reflection Q: eigenvalues are those of D.
TEST(Lanczos, SpectralNormOfAFullMatrixWithKnownEigenvalues) {
  constexpr int kSize = 60;
  RandomStream random(1, Purpose::kTest);
  std::vector<double> axis(kSize);
  double norm = 0.0;
  for (double& value : axis) {
    value = random.normal();
    norm += value * value;
  }
  std::vector<double> eigenvalues(kSize);
  for (double& value : eigenvalues) value = random.uniform(-1.0, 1.0);
  eigenvalues[3] = -7.5;
  const auto reflect = [&](std::vector<double> v) {
    double part = 0.0;
    for (std::size_t i = 0; i < v.size(); ++i) part += axis[i] * v[i];
    for (std::size_t i = 0; i < v.size(); ++i) v[i] -= 2.0 * part / norm * axis[i];
    return v;
  };
  int products = 0;
  const SymmetricProduct product = [&](std::span<const double> v, std::span<double> result) {
    ++products;
    std::vector<double> turned = reflect({v.begin(), v.end()});
    for (std::size_t i = 0; i < turned.size(); ++i) turned[i] *= eigenvalues[i];
    turned = reflect(turned);
    std::copy(turned.begin(), turned.end(), result.begin());
  };
  EXPECT_NEAR(spectral_norm(product, kSize, 12, 0), 7.5, 1e-6);
  EXPECT_EQ(products, 12);
  EXPECT_NEAR(spectral_norm(product, kSize, kSize, 5), 7.5, 1e-9);
  EXPECT_LE(spectral_norm(product, kSize, 2, 0), 7.5 + 1e-9);  // from below
}

TEST(Lanczos, EndsWhereTheKrylovSpaceDoes) {
  const SymmetricProduct three = [](std::span<const double> v, std::span<double> result) {
    for (std::size_t i = 0; i < v.size(); ++i) result[i] = 3.0 * v[i];
  };
  EXPECT_NEAR(spectral_norm(three, 10, 10, 0), 3.0, 1e-12);
  const SymmetricProduct zero = [](std::span<const double>, std::span<double> result) {
    std::fill(result.begin(), result.end(), 0.0);
  };
  EXPECT_EQ(spectral_norm(zero, 10, 10, 0), 0.0);
}

}  // namespace
}  // namespace cgpo
