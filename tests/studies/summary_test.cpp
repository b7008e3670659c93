#include "cgpo/studies/summary.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <vector>

namespace cgpo {
namespace {

TEST(SummaryOf, LeavesOutWhatIsNotFinite) {
  const std::vector<double> values = {4.0, std::nan(""), 1.0, 2.0, std::numeric_limits<double>::infinity(), 3.0};
  const Summary summary = summary_of(values);
  EXPECT_EQ(summary.count, 4);
  EXPECT_DOUBLE_EQ(summary.mean, 2.5);
  EXPECT_DOUBLE_EQ(summary.median, 2.5);
  EXPECT_DOUBLE_EQ(summary.deviation, std::sqrt(5.0 / 3.0));
  EXPECT_DOUBLE_EQ(summary.low, 1.3);
  EXPECT_DOUBLE_EQ(summary.high, 3.7);
  EXPECT_TRUE(std::isnan(summary_of({}).mean));
}

}  // namespace
}  // namespace cgpo
