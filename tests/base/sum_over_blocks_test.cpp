#include "cgpo/base/sum_over_blocks.hpp"

#include <gtest/gtest.h>
#include <vector>

namespace cgpo {
namespace {

// In any other order the sums are others: 1 is lost beside 10¹⁶, but not after it has been taken away.
TEST(SumOverBlocks, IsInTheOrderOfTheBlocks) {
  const std::vector<std::vector<double>> parts = {{1.0, 1e16}, {1e16, -1e16}, {-1e16, 1.0}};
  EXPECT_EQ(sum_over_blocks(3, [&](std::size_t b) { return parts[b][0]; }), 0.0);
  EXPECT_EQ(sum_over_blocks(3, [&](std::size_t b) { return parts[b][1]; }), 1.0);
  std::vector<double> result = {5.0, 5.0};
  sum_over_blocks(
      3, [&](std::size_t b) -> const auto& { return parts[b]; }, result);
  EXPECT_EQ(result, (std::vector{0.0, 1.0}));
  sum_over_blocks(
      0, [&](std::size_t b) -> const auto& { return parts[b]; }, result);
  EXPECT_EQ(result, (std::vector{0.0, 0.0}));
}

}  // namespace
}  // namespace cgpo
