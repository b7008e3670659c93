#include "cgpo/base/file.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include "cgpo/base/error.hpp"

#include "scratch_folder.hpp"

namespace cgpo {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const UserError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

TEST(File, FoldersAndMissingFilesAreRefused) {
  const ScratchFolder scratch;
  EXPECT_THAT(refusal([&] { read_file(scratch.path()); }), HasSubstr("is a folder, not a file"));
  EXPECT_THAT(refusal([&] { read_file(scratch / "none"); }), HasSubstr("cannot read"));
}

// The memory of this process is a file; its first page is mapped by no one, and reading it is EIO.
TEST(File, AReadThatFailsIsNotAnEnd) {
  EXPECT_THAT(refusal([] { read_file("/proc/self/mem"); }), HasSubstr("cannot read '/proc/self/mem': Input/output"));
}

TEST(File, PipesAndFilesWithoutASizeAreReadToTheirEnd) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const std::string text(50'000, 'x');
  std::thread writer([&] {
    EXPECT_EQ(::write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
    ::close(ends[1]);
  });
  EXPECT_EQ(read_file("/dev/fd/" + std::to_string(ends[0])), text);
  writer.join();
  ::close(ends[0]);
}

TEST(File, TwoWritersOfOnePathBothSucceed) {
  const ScratchFolder scratch;
  const fs::path path = scratch / "page.html";
  const std::string contents[2] = {std::string(200'000, 'a'), std::string(300'000, 'b')};
  std::vector<std::thread> writers;
  for (const std::string& content : contents) {
    writers.emplace_back([&] {
      for (int i = 0; i < 15; ++i) EXPECT_NO_THROW(write_file_atomically(path, content));
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_THAT(read_file(path), ::testing::AnyOf(contents[0], contents[1]));
  EXPECT_EQ(names_in(scratch.path()), std::vector<std::string>{"page.html"});
}

TEST(File, LinksAreReplacedAndNotFollowed) {
  const ScratchFolder scratch;
  write_file_atomically(scratch / "precious", "precious");
  fs::create_symlink(scratch / "precious", scratch / "link");
  fs::create_symlink(scratch / "precious", scratch / "link.tmp");  // a name that could be guessed
  write_file_atomically(scratch / "link", "new");
  EXPECT_FALSE(fs::is_symlink(scratch / "link"));
  EXPECT_EQ(read_file(scratch / "link"), "new");
  EXPECT_EQ(read_file(scratch / "precious"), "precious");
  fs::create_symlink(scratch / "precious", scratch / "log");
  EXPECT_THAT(refusal([&] { AppendedFile(scratch / "log").append("x"); }), HasSubstr("symbolic link"));
  EXPECT_EQ(read_file(scratch / "precious"), "precious");
}

TEST(File, AFullDiskLeavesTheOldFileAndNoOther) {
  const ScratchFolder scratch;
  write_file_atomically(scratch / "file", "old");
  AppendedFile log(scratch / "log");
  log.append("line\n");
  rlimit before = {};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small = {1000, before.rlim_max};
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);  // then writing more is an error like any other
  ::setrlimit(RLIMIT_FSIZE, &small);
  const std::string file = refusal([&] { write_file_atomically(scratch / "file", std::string(5000, 'x')); });
  const std::string line = refusal([&] { log.append(std::string(5000, 'x')); });
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, handler);
  EXPECT_THAT(file, HasSubstr("cannot write"));
  EXPECT_THAT(line, HasSubstr("cannot write"));
  EXPECT_EQ(read_file(scratch / "file"), "old");
  EXPECT_EQ(read_file(scratch / "log"), "line\n");
  EXPECT_EQ(names_in(scratch.path()), (std::vector<std::string>{"file", "log"}));
}

TEST(File, LeftoversAreKnownByTheirName) {
  EXPECT_EQ(name_behind_temporary(".log.jsonl.a1b2c3.tmp"), "log.jsonl");
  for (const char* other : {"log.jsonl.a1b2c3.tmp", ".log.jsonl.tmp", ".a1b2c3.tmp", ".log.jsonl.A1b2c3.tmp",
                            ".log.jsonl.a1b2c3", "..a1b2c3.tmp", ".log.jsonl-a1b2c3.tmp"}) {
    EXPECT_EQ(name_behind_temporary(other), "") << other;
  }
  const ScratchFolder scratch;
  for (const char* name : {".mine.a1b2c3.tmp", ".yours.a1b2c3.tmp", ".mine.tmp", "mine"}) {
    write_file_atomically(scratch / name, "x");
  }
  remove_leftovers(scratch.path(), [](const std::string& name) { return name == "mine"; });
  EXPECT_EQ(names_in(scratch.path()), (std::vector<std::string>{".mine.tmp", ".yours.a1b2c3.tmp", "mine"}));
}

TEST(File, LongNamesCanBeWritten) {
  const ScratchFolder scratch;
  const std::string name(255, 'n');
  write_file_atomically(scratch / name, "x");
  EXPECT_EQ(names_in(scratch.path()), std::vector<std::string>{name});
}

TEST(File, FoldersAreNotMadeThroughALinkOfTheirName) {
  const ScratchFolder scratch;
  create_folder(scratch / "real/deep/");
  EXPECT_TRUE(fs::is_directory(scratch / "real/deep"));
  fs::create_directory_symlink(scratch / "real", scratch / "link");
  create_folder(scratch / "link/below");
  EXPECT_TRUE(fs::is_directory(scratch / "real/below"));
  for (const char* name : {"link", "link/"}) {
    EXPECT_TRUE(is_link(scratch / name));
    EXPECT_THAT(refusal([&] { create_folder(scratch / name); }), HasSubstr("is a symbolic link"));
  }
}

}  // namespace
}  // namespace cgpo
