#include "cgpo/base/random.hpp"

#include <array>
#include <cmath>
#include <gtest/gtest.h>
#include <set>

namespace cgpo {
namespace {

// Any one field of the key changes the stream; the same key repeats it.
TEST(Random, EveryFieldNamesAStream) {
  const auto first = [](RandomStream stream) {
    return std::array{stream.bits(), stream.bits(), stream.bits(), stream.bits()};
  };
  std::set<std::array<std::uint32_t, 4>> seen;
  int streams = 0;
  for (const std::uint64_t seed : {0ULL, 1ULL, 1ULL << 32, (1ULL << 32) + 1}) {
    for (const Purpose purpose : {Purpose::kReset, Purpose::kNoise}) {
      for (const std::uint32_t iteration : {0U, 1U, 2U}) {
        for (const std::uint32_t environment : {0U, 1U, 2U}) {
          for (const std::uint32_t step : {0U, 1U, 2U}) {
            seen.insert(first({seed, purpose, iteration, environment, step}));
            ++streams;
          }
        }
      }
    }
  }
  EXPECT_EQ(static_cast<int>(seen.size()), streams);
  EXPECT_EQ(first({5, Purpose::kReset, 1, 2, 3}), first({5, Purpose::kReset, 1, 2, 3}));
}

// A long stream does not run into its neighbours: the position within the stream is a field of the counter too.
TEST(Random, LongStreamsDoNotOverlap) {
  std::set<std::uint64_t> seen;
  for (std::uint32_t step = 0; step < 8; ++step) {
    RandomStream stream(1, Purpose::kNoise, 0, 0, step);
    for (int i = 0; i < 5000; ++i) {
      const std::uint64_t high = stream.bits();
      seen.insert((high << 32) | stream.bits());
    }
  }
  EXPECT_EQ(seen.size(), 8U * 5000U);
}

TEST(Random, UniformAndNormalHaveTheirMoments) {
  RandomStream stream(3, Purpose::kTest);
  const int count = 200000;
  double sum = 0.0;
  double squares = 0.0;
  double fourth = 0.0;
  double uniform_sum = 0.0;
  double uniform_squares = 0.0;
  for (int i = 0; i < count; ++i) {
    const double u = stream.uniform();
    ASSERT_GT(u, 0.0);
    ASSERT_LT(u, 1.0);
    uniform_sum += u;
    uniform_squares += u * u;
    const double n = stream.normal();
    sum += n;
    squares += n * n;
    fourth += n * n * n * n;
  }
  EXPECT_NEAR(uniform_sum / count, 0.5, 4.0 * std::sqrt(1.0 / 12.0 / count));
  EXPECT_NEAR(uniform_squares / count, 1.0 / 3.0, 4.0 * std::sqrt(4.0 / 45.0 / count));
  EXPECT_NEAR(sum / count, 0.0, 4.0 / std::sqrt(count));
  EXPECT_NEAR(squares / count, 1.0, 4.0 * std::sqrt(2.0 / count));
  EXPECT_NEAR(fourth / count, 3.0, 4.0 * std::sqrt(96.0 / count));
}

TEST(Random, BelowReachesEveryValue) {
  RandomStream stream(4, Purpose::kTest);
  std::array<int, 7> hits{};
  for (int i = 0; i < 7000; ++i) ++hits.at(stream.below(7));
  for (const int hit : hits) EXPECT_NEAR(hit, 1000, 150);
}

}  // namespace
}  // namespace cgpo
