#include "cgpo/run/line_tail.hpp"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cgpo/base/file.hpp"

#include "scratch_folder.hpp"

namespace cgpo {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class LineTailTest : public ::testing::Test {
 protected:
  void append(const std::string& text) const { std::ofstream(path_, std::ios::binary | std::ios::app) << text; }

  ScratchFolder scratch_;
  std::filesystem::path path_ = scratch_ / "lines";
  LineTail tail_{path_};
};

TEST_F(LineTailTest, GivesEveryLineOnceAndWhole) {
  EXPECT_THAT(tail_.read().lines, IsEmpty());  // no file is an empty one
  append("one\ntwo\nthr");
  EXPECT_THAT(tail_.read().lines, ElementsAre("one", "two"));
  EXPECT_THAT(tail_.read().lines, IsEmpty());
  append("ee\n\n");
  const LineTail::News news = tail_.read();
  EXPECT_THAT(news.lines, ElementsAre("three", ""));
  EXPECT_FALSE(news.from_the_start);
  EXPECT_THAT(tail_.read().lines, IsEmpty());
}

// What lies before the last line is changed behind its back: who read it again would see that.
TEST_F(LineTailTest, ReadsOnlyWhatWasAppended) {
  append("one\ntwo\nthree\n");
  ASSERT_THAT(tail_.read().lines, ElementsAre("one", "two", "three"));
  std::fstream(path_, std::ios::binary | std::ios::in | std::ios::out) << "\n\n\n\n";
  append("four\n");
  const LineTail::News news = tail_.read();
  EXPECT_FALSE(news.from_the_start);
  EXPECT_THAT(news.lines, ElementsAre("four"));
}

TEST_F(LineTailTest, BeginsAnewWithAFileThatWasCutBack) {
  append("one\ntwo\nthree\n");
  ASSERT_EQ(tail_.read().lines.size(), 3U);
  write_file_atomically(path_, "one\n");
  LineTail::News news = tail_.read();
  EXPECT_TRUE(news.from_the_start);
  EXPECT_THAT(news.lines, ElementsAre("one"));
  append("zwei\n");
  news = tail_.read();
  EXPECT_FALSE(news.from_the_start);
  EXPECT_THAT(news.lines, ElementsAre("zwei"));
}

TEST_F(LineTailTest, BeginsAnewWithAFileThatWasCutBackAndIsAsLongOrLongerAlready) {
  append("one\ntwo\nthree\n");
  ASSERT_EQ(tail_.read().lines.size(), 3U);
  write_file_atomically(path_, "one\ntwo\ndrei!\n");
  LineTail::News news = tail_.read();
  EXPECT_TRUE(news.from_the_start);
  EXPECT_THAT(news.lines, ElementsAre("one", "two", "drei!"));
  write_file_atomically(path_, "one\nzwei\ndrei\nvier\n");
  news = tail_.read();
  EXPECT_TRUE(news.from_the_start);
  EXPECT_THAT(news.lines, ElementsAre("one", "zwei", "drei", "vier"));
}

TEST_F(LineTailTest, BeginsAnewWithAFileThatWasTakenAway) {
  append("one\n");
  ASSERT_EQ(tail_.read().lines.size(), 1U);
  std::filesystem::remove(path_);
  EXPECT_TRUE(tail_.read().from_the_start);
  EXPECT_FALSE(tail_.read().from_the_start);
  append("one\n");
  const LineTail::News news = tail_.read();
  EXPECT_FALSE(news.from_the_start);
  EXPECT_THAT(news.lines, ElementsAre("one"));
}

}  // namespace
}  // namespace cgpo
