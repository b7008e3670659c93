#include "cgpo/run/run_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cgpo/base/error.hpp"
#include "cgpo/base/file.hpp"

#include "scratch_folder.hpp"

namespace cgpo {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const UserError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

Configuration function_configuration() {
  ConfigurationRequest request;
  request.task = "function";
  return resolve_configuration(request);
}

std::string open_message(const fs::path& path, FolderMode mode) {
  return message_of([&] { const RunFolder folder(path, mode); });
}

TEST(RunFolder, DefaultNameTellsTheRun) {
  EXPECT_EQ(default_folder(function_configuration()), fs::path("runs/function-cgpo-s0"));
}

TEST(RunFolder, NewRunIsReadBack) {
  const ScratchFolder scratch;
  const fs::path path = scratch / "deep/er";
  {
    const RunFolder folder(path, FolderMode::kNew);
    folder.begin(function_configuration());
  }
  const RunPaths run = find_run(path);
  EXPECT_EQ(write_configuration(read_configuration(run.config())), write_configuration(function_configuration()));
  EXPECT_THAT(read_file(run.version()), HasSubstr("cgpo "));
}

TEST(RunFolder, IsNotOverwritten) {
  const ScratchFolder scratch;
  { RunFolder(scratch / "run", FolderMode::kNew).begin(function_configuration()); }
  EXPECT_THAT(open_message(scratch / "run", FolderMode::kNew), HasSubstr("--resume continues it, --force replaces it"));
  EXPECT_NO_THROW(RunFolder(scratch / "run", FolderMode::kForce));
  EXPECT_NO_THROW(RunFolder(scratch / "run", FolderMode::kResume));
}

TEST(RunFolder, ForceClearsAnOlderRunAndNothingElse) {
  const ScratchFolder scratch;
  const RunFolder folder(scratch / "run", FolderMode::kNew);
  folder.begin(function_configuration());
  write_file_atomically(folder.paths().best(), "old");
  write_file_atomically(folder.paths().log(), "old");
  write_file_atomically(scratch / "run/notes.txt", "mine");
  folder.begin(function_configuration());
  EXPECT_FALSE(fs::exists(folder.paths().best()));
  EXPECT_EQ(read_file(folder.paths().log()), "");
  EXPECT_EQ(read_file(scratch / "run/notes.txt"), "mine");
}

TEST(RunFolder, SnapshotsAreKeptEvenlyFromFirstToLast) {
  const auto kept = [](int iterations, int count) {
    std::vector<int> found;
    for (int i = 0; i <= iterations; ++i) {
      if (keeps_snapshot(i, iterations, count)) found.push_back(i);
    }
    return found;
  };
  EXPECT_EQ(kept(100, 5), (std::vector<int>{0, 25, 50, 75, 100}));
  EXPECT_EQ(kept(150, 3), (std::vector<int>{0, 75, 150}));
  EXPECT_EQ(kept(2, 5), (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(kept(7, 2), (std::vector<int>{0, 7}));
  EXPECT_EQ(kept(7, 1), std::vector<int>{7});
  EXPECT_TRUE(kept(7, 0).empty());
}

TEST(RunFolder, ForceClearsSnapshotsAndNothingElse) {
  const ScratchFolder scratch;
  const RunFolder folder(scratch / "run", FolderMode::kNew);
  fs::create_directories(folder.paths().snapshots());
  for (const int iteration : {0, 50, 1234567}) write_file_atomically(folder.paths().snapshot(iteration), "old");
  for (const char* name : {"notes.txt", "12.safetensors", "000012.txt"}) {
    write_file_atomically(folder.paths().snapshots() / name, "mine");
  }
  EXPECT_EQ(find_snapshots(folder.paths()), (std::vector<int>{0, 50, 1234567}));
  folder.begin(function_configuration());
  EXPECT_TRUE(find_snapshots(folder.paths()).empty());
  EXPECT_EQ(read_file(folder.paths().snapshots() / "notes.txt"), "mine");
  EXPECT_EQ(read_file(folder.paths().snapshots() / "12.safetensors"), "mine");
}

TEST(RunFolder, StaysOutOfForeignPlaces) {
  const ScratchFolder scratch;
  write_file_atomically(scratch / "file", "x");
  fs::create_directory(scratch / "full");
  write_file_atomically(scratch / "full/thesis.tex", "x");
  fs::create_directory(scratch / "empty");
  for (const FolderMode mode : {FolderMode::kNew, FolderMode::kForce}) {
    EXPECT_THAT(open_message(scratch / "file", mode), HasSubstr("is a file"));
    EXPECT_THAT(open_message(scratch / "file/run", mode), HasSubstr("cannot create the folder"));
    EXPECT_THAT(open_message(scratch / "full", mode), HasSubstr("holds other files"));
  }
  EXPECT_THAT(open_message(scratch / "none", FolderMode::kResume), HasSubstr("there is no run"));
  EXPECT_THAT(open_message(scratch / "full", FolderMode::kResume), HasSubstr("no config.toml"));
  EXPECT_FALSE(fs::exists(scratch / "none"));
  EXPECT_NO_THROW(RunFolder(scratch / "empty", FolderMode::kNew));
}

TEST(RunFolder, HasOneWriter) {
  const ScratchFolder scratch;
  {
    const RunFolder first(scratch / "run", FolderMode::kNew);
    first.begin(function_configuration());
    EXPECT_THAT(open_message(scratch / "run", FolderMode::kResume), HasSubstr("another process is writing"));
    EXPECT_THAT(open_message(scratch / "run", FolderMode::kForce), HasSubstr("another process is writing"));
  }
  EXPECT_NO_THROW(RunFolder(scratch / "run", FolderMode::kResume));
}

TEST(Checkpoint, OfAnotherTaskOrProgramIsRefused) {
  const ScratchFolder scratch;
  Configuration configuration = function_configuration();
  Tensors tensors;
  write_tensors(scratch / "c", tensors);
  EXPECT_THAT(message_of([&] { read_checkpoint(scratch / "c", configuration); }), HasSubstr("was not written by cgpo"));
  describe_checkpoint(tensors, configuration, 3);
  write_tensors(scratch / "c", tensors);
  EXPECT_NO_THROW(read_checkpoint(scratch / "c", configuration));
  configuration.algorithm = "ppo";
  EXPECT_THAT(message_of([&] { read_checkpoint(scratch / "c", configuration); }), HasSubstr("algorithm cgpo, not ppo"));
  EXPECT_NO_THROW(read_checkpoint(scratch / "c", configuration, /*algorithm=*/false));
  configuration.task = "ant";
  EXPECT_THAT(message_of([&] { read_checkpoint(scratch / "c", configuration); }), HasSubstr("task function, not ant"));
}

}  // namespace
}  // namespace cgpo
