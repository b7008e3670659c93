#include "cgpo/base/statistics.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <numbers>
#include <vector>

#include "cgpo/base/random.hpp"

namespace cgpo {
namespace {

TEST(StandardError, OfKnownSamples) {
  EXPECT_DOUBLE_EQ(standard_error(std::vector{1.0, 3.0}), 1.0);  // σ = √2, two samples
  EXPECT_TRUE(std::isnan(standard_error(std::vector{1.0})));
}

TEST(StandardError, OfALatticeIsTheUsualOneForIndependentSamples) {
  RandomStream random(1, Purpose::kTest);
  std::vector<double> samples(4096);
  for (double& sample : samples) sample = 5.0 + 2.0 * random.normal();
  EXPECT_NEAR(standard_error(samples), 2.0 / 64.0, 0.002);
  EXPECT_NEAR(standard_error_of_lattice(samples, 1024), 2.0 / 64.0, 0.002);
  samples.resize(20);
  EXPECT_EQ(standard_error_of_lattice(samples, 20), standard_error(samples));
}

// A smooth function of the start plus noise of variance 100: all that the mean of a lattice varies by is the noise.
// What neighbours differ by in the smooth part is counted too, which is much with few samples: a second implementation,
// in Python, has 3.68 times the variance for 128 samples and 1.11 for 1000 (and 1.00 for the noise alone).
TEST(StandardError, OfALatticeIsWhatItsMeansVaryBy) {
  struct Case {
    int size;
    double excess;  // of the estimated variance, as a multiple of the true one
  };
  RandomStream random(2, Purpose::kTest);
  for (const auto& [size, excess] : {Case{128, 3.68}, Case{1000, 1.11}}) {
    double sum = 0.0, squares = 0.0, estimated = 0.0, independent = 0.0, noise_alone = 0.0;
    const int batches = 800;
    for (int batch = 0; batch < batches; ++batch) {
      const double shift = random.uniform(), turn = random.uniform();
      std::vector<double> samples, noises;
      double mean = 0.0;
      for (int i = 0; i < size; ++i) {
        double whole = 0.0;
        const double x = std::abs(2.0 * std::modf(double(i) / size + shift, &whole) - 1.0);
        const double y = 2.0 * std::numbers::pi * (i / std::numbers::phi + turn);
        noises.push_back(10.0 * random.normal());
        samples.push_back(400.0 * x * x + 100.0 * x * std::cos(y) + noises.back());
        mean += samples.back() / size;
      }
      sum += mean;
      squares += mean * mean;
      estimated += std::pow(standard_error_of_lattice(samples, size), 2) / batches;
      independent += std::pow(standard_error(samples), 2) / batches;
      noise_alone += std::pow(standard_error_of_lattice(noises, size), 2) / batches;
    }
    const double variance = 100.0 / size;
    const double varied = squares / batches - std::pow(sum / batches, 2);
    EXPECT_NEAR(varied / variance, 1.0, 0.2) << size;  // 5 % is the standard error of a variance from 800 means
    EXPECT_NEAR(noise_alone / variance, 1.0, 0.03) << size;
    EXPECT_NEAR(estimated / variance, excess, 0.03 * excess) << size;
    EXPECT_GT(independent, 50.0 * variance) << size;
  }
}

TEST(NormalQuantile, KnownValues) {
  EXPECT_NEAR(normal_quantile(0.95), 1.6448536269514722, 1e-12);
  EXPECT_NEAR(normal_quantile(0.5), 0.0, 1e-12);
  EXPECT_NEAR(normal_quantile(0.975), 1.959963984540054, 1e-12);
  EXPECT_NEAR(normal_quantile(0.025), -1.959963984540054, 1e-12);
  for (const double p : {0.01, 0.3, 0.9, 0.999}) {
    EXPECT_NEAR(0.5 * std::erfc(-normal_quantile(p) / std::numbers::sqrt2), p, 1e-12);
  }
}

}  // namespace
}  // namespace cgpo
