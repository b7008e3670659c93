#include "cgpo/studies/spectrum.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <numbers>
#include <vector>

#include "cgpo/base/random.hpp"

namespace cgpo {
namespace {

// `periods` of them over the whole series.
std::vector<double> sine(int length, int periods, double amplitude) {
  std::vector<double> series;
  for (int t = 0; t < length; ++t)
    series.push_back(0.3 + amplitude * std::sin(2.0 * std::numbers::pi * periods * t / length + 0.4));
  return series;
}

TEST(Spectrum, ASineHasItsPowerInOneQuarter) {
  // Of 200 samples the highest frequency is 100; a quarter's own upper end belongs to it.
  for (const auto& [periods, quarter] :
       {std::pair(1, 0), {25, 0}, {26, 1}, {50, 1}, {60, 2}, {75, 2}, {76, 3}, {99, 3}}) {
    const Spectrum spectrum = spectrum_of(sine(200, periods, 0.5));
    EXPECT_NEAR(spectrum.quarters.at(static_cast<std::size_t>(quarter)), 0.125, 1e-12) << periods;
    EXPECT_NEAR(spectrum.share(quarter), 1.0, 1e-12) << periods;
  }
}

TEST(Spectrum, AlternationIsAsHighAsItGets) {
  std::vector<double> series;
  for (int t = 0; t < 50; ++t) series.push_back(t % 2 == 0 ? 0.25 : -0.25);
  EXPECT_NEAR(spectrum_of(series).quarters[3], 0.0625, 1e-14);
  EXPECT_NEAR(spectrum_of(series).share(3), 1.0, 1e-12);
}

// Parseval: nothing is lost, whatever the length; and white noise has a quarter in each.
TEST(Spectrum, PowersAddUpToTheVariance) {
  for (const int length : {2, 3, 16, 301, 2048}) {
    std::vector<double> series;
    RandomStream random(1, Purpose::kTest);
    for (int t = 0; t < length; ++t) series.push_back(random.normal());
    double mean = 0.0;
    for (const double value : series) mean += value / length;
    double variance = 0.0;
    for (const double value : series) variance += (value - mean) * (value - mean) / length;
    const Spectrum spectrum = spectrum_of(series);
    EXPECT_NEAR(spectrum.total(), variance, 1e-12 * length) << length;
    for (int quarter = 0; length == 2048 && quarter < 4; ++quarter) EXPECT_NEAR(spectrum.share(quarter), 0.25, 0.05);
  }
}

TEST(Spectrum, WhatDoesNotMoveHasNone) {
  EXPECT_EQ(spectrum_of(std::vector<double>(10, 0.7)).share(3), 0.0);
  EXPECT_EQ(spectrum_of({}).total(), 0.0);
}

}  // namespace
}  // namespace cgpo
