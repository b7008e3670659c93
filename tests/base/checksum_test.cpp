#include "cgpo/base/checksum.hpp"

#include <gtest/gtest.h>

namespace cgpo {
namespace {

// Published values of XXH64 with seed 0, of every length class.
TEST(Checksum, IsXxh64) {
  EXPECT_EQ(checksum_text(""), "ef46db3751d8e999");
  EXPECT_EQ(checksum_text("a"), "d24ec4f1a98c6e5b");
  EXPECT_EQ(checksum_text("abc"), "44bc2cf5ad770999");
  EXPECT_EQ(checksum_text("Nobody inspects the spammish repetition"), "fbcea83c8a378bf1");
}

TEST(Checksum, EveryBitCounts) {
  const std::string text(75, 'x');
  for (std::size_t bit = 0; bit < 8 * text.size(); ++bit) {
    std::string flipped = text;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    EXPECT_NE(checksum_text(flipped), checksum_text(text)) << bit;
  }
}

}  // namespace
}  // namespace cgpo
