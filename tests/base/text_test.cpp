#include "cgpo/base/text.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace cgpo {
namespace {

TEST(DidYouMean, FindsTheNearAndOnlyTheNear) {
  const std::vector<std::string> known = {"iterations", "environments", "window"};
  EXPECT_EQ(did_you_mean("iteration", known), " (did you mean 'iterations'?)");
  EXPECT_EQ(did_you_mean("Enviroments", known), " (did you mean 'environments'?)");
  EXPECT_EQ(did_you_mean("zzz", known), "");
}

TEST(Printable, LeavesTextAsItIs) {
  for (const char* text : {"", "cgpo", "a b\\c", "naïve ± 3 ≤ 4 — 猫 🐈", "\u00a0\u00ad"}) {
    EXPECT_EQ(printable(text), text);
    EXPECT_TRUE(is_utf8(text));
  }
}

TEST(Printable, WritesOutWhatATerminalObeys) {
  EXPECT_EQ(printable("\x1b[31mred\x1b]0;title\a"), "\\x1b[31mred\\x1b]0;title\\x07");
  EXPECT_EQ(printable("two\nlines\r\tand\x7f"), "two\\nlines\\r\\tand\\x7f");
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(printable("\u009b31m"), "\\u009b31m");  // CSI as one character,
  EXPECT_EQ(printable("\x9b"
                      "31m"),
            "\\x9b31m");  // or as the byte of an old terminal
  EXPECT_EQ(printable("rm \u202ex\u2066y\u2028"), "rm \\u202ex\\u2066y\\u2028");
  EXPECT_EQ(printable_lines("two\n\tlines\r\x1b"), "two\n\tlines\\r\\x1b");
}

TEST(Printable, WritesOutWhatIsNoUtf8) {
  // A stray byte, one that continues nothing, a cut character, overlong forms of '/' and of ESC, a surrogate, a number
  // that is too large.
  for (const char* bytes :
       {"\xff", "\x80", "\xe2\x82", "\xc0\xaf", "\xe0\x80\x9b", "\xed\xa0\x80", "\xf4\x90\x80\x80"}) {
    const std::string text = std::string("a") + bytes + "b";
    EXPECT_FALSE(is_utf8(text));
    std::string expected = "a";
    for (const char* at = bytes; *at != '\0'; ++at)
      expected += fmt::format("\\x{:02x}", static_cast<unsigned char>(*at));
    EXPECT_EQ(printable(text), expected + "b");
  }
}

TEST(FirstCharacters, CutsNone) {
  EXPECT_EQ(first_characters("±2 ± 3", 3), "±2 ");
  EXPECT_EQ(first_characters("±", 0), "");
  EXPECT_EQ(first_characters("abc", 9), "abc");
  EXPECT_EQ(first_characters("a\xff\xe2", 2), "a\xff");
}

}  // namespace
}  // namespace cgpo
