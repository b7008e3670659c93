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

// A smooth function of the start plus noise: the mean of a lattice varies as the estimate says.
TEST(StandardError, OfALatticeIsWhatItsMeansVaryBy) {
  RandomStream random(2, Purpose::kTest);
  for (const int size : {128, 1000}) {
    double sum = 0.0, squares = 0.0, estimated = 0.0, independent = 0.0;
    const int batches = 400;
    for (int batch = 0; batch < batches; ++batch) {
      const double shift = random.uniform(), turn = random.uniform();
      std::vector<double> samples;
      double mean = 0.0;
      for (int i = 0; i < size; ++i) {
        double whole = 0.0;
        const double x = std::abs(2.0 * std::modf(double(i) / size + shift, &whole) - 1.0);
        const double y = 2.0 * std::numbers::pi * (i / std::numbers::phi + turn);
        samples.push_back(400.0 * x * x + 100.0 * x * std::cos(y) + 10.0 * random.normal());
        mean += samples.back() / size;
      }
      sum += mean;
      squares += mean * mean;
      estimated += std::pow(standard_error_of_lattice(samples, size), 2) / batches;
      independent += std::pow(standard_error(samples), 2) / batches;
    }
    const double variance = squares / batches - std::pow(sum / batches, 2);
    EXPECT_GT(estimated, 0.8 * variance) << size;  // 7 % is the standard error of a variance from 400 means
    EXPECT_LT(estimated, 8.0 * variance) << size;
    EXPECT_GT(independent, 50.0 * variance) << size;
  }
}

}  // namespace
}  // namespace cgpo
