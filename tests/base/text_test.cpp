#include "cgpo/base/text.hpp"

#include <gtest/gtest.h>

namespace cgpo {
namespace {

TEST(DidYouMean, FindsTheNearAndOnlyTheNear) {
  const std::vector<std::string> known = {"iterations", "environments", "window"};
  EXPECT_EQ(did_you_mean("iteration", known), " (did you mean 'iterations'?)");
  EXPECT_EQ(did_you_mean("Enviroments", known), " (did you mean 'environments'?)");
  EXPECT_EQ(did_you_mean("zzz", known), "");
}

}  // namespace
}  // namespace cgpo
