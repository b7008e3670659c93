#include "cgpo/run/run_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <map>

#include "cgpo/base/cpu.hpp"
#include "cgpo/base/error.hpp"
#include "cgpo/base/file.hpp"
#include "cgpo/base/version.hpp"
#include "cgpo/physics/mujoco/version.hpp"

#include "scratch_folder.hpp"

namespace cgpo {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
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

// A run as Run::start leaves it, whose checkpoint, log and snapshot say which one it is.
void make_run(const fs::path& path, FolderMode mode, const std::string& name, bool fails = false) {
  const RunFolder folder(path, mode);
  Configuration configuration = function_configuration();
  configuration.seed = name.size();
  const RunPaths& paths = folder.paths();
  folder.begin(configuration, [&] {
    create_folder(paths.snapshots());
    write_file_atomically(paths.snapshot(0), name);
    if (fails) throw UserError("the disk is full");
    write_file_atomically(paths.checkpoint(), name);
  });
  AppendedFile(paths.log()).append(name);
  create_folder(paths.data());
  write_file_atomically(paths.data_file(3), name);
}

// Every file with its content, the lock left out.
std::map<std::string, std::string> content_of(const fs::path& folder) {
  std::map<std::string, std::string> content;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_directory() || entry.path().filename() == ".lock") continue;
    content[entry.path().lexically_relative(folder).string()] = read_file(entry.path());
  }
  return content;
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
  make_run(scratch / "run", FolderMode::kNew, "first");
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

TEST(RunFolder, ForceThatFailsLeavesTheOldRun) {
  const ScratchFolder scratch;
  make_run(scratch / "run", FolderMode::kNew, "first");
  write_file_atomically(scratch / "run/notes.txt", "mine");
  const auto before = content_of(scratch / "run");
  EXPECT_THAT(message_of([&] { make_run(scratch / "run", FolderMode::kForce, "second", /*fails=*/true); }),
              HasSubstr("the disk is full"));
  EXPECT_EQ(content_of(scratch / "run"), before);
  make_run(scratch / "run", FolderMode::kForce, "second");
  EXPECT_EQ(read_file(scratch / "run/checkpoint.safetensors"), "second");
  EXPECT_EQ(read_file(scratch / "run/log.jsonl"), "second");
  EXPECT_EQ(content_of(scratch / "run").size(), before.size());
}

TEST(RunFolder, BeginThatFailsLeavesAnEmptyFolder) {
  const ScratchFolder scratch;
  EXPECT_THROW(make_run(scratch / "run", FolderMode::kNew, "first", /*fails=*/true), UserError);
  EXPECT_TRUE(content_of(scratch / "run").empty());
  EXPECT_FALSE(fs::exists(scratch / "run/snapshots"));
}

// Moves files of a whole run and of one that is to replace it as a process does that dies between two of its steps.
class EndedWhileReplacing : public ::testing::Test {
 protected:
  static constexpr const char* kFirstWrites[] = {
      "version", "config.toml", "log.jsonl", "timing.jsonl", "snapshots/000000.safetensors", "checkpoint.safetensors"};
  void SetUp() override {
    make_run(scratch_ / "old", FolderMode::kNew, "old");
    make_run(scratch_ / "new", FolderMode::kNew, "newer");
    fs::remove_all(scratch_ / "new/data");
    write_file_atomically(scratch_ / "new/log.jsonl", "");
    write_file_atomically(scratch_ / "old/notes.txt", "mine");
    old_ = content_of(scratch_ / "old");
  }

  void move(const std::string& file, const std::string& folder) {
    fs::create_directories((scratch_ / "run" / folder / file).parent_path());
    fs::rename(scratch_ / "run" / file, scratch_ / "run" / folder / file);
  }
  // The old run, all of it aside, and as many files of the new one.
  void replaced_with(int files) {
    fs::remove_all(scratch_ / "run");
    fs::create_directory(scratch_ / "run");
    fs::copy(scratch_ / "old", scratch_ / "run/.replaced", fs::copy_options::recursive);
    fs::rename(scratch_ / "run/.replaced/notes.txt", scratch_ / "run/notes.txt");
    fs::remove(scratch_ / "run/.replaced/.lock");
    for (int i = 0; i < files; ++i) {
      fs::create_directories((scratch_ / "run" / kFirstWrites[i]).parent_path());
      fs::copy(scratch_ / "new" / kFirstWrites[i], scratch_ / "run" / kFirstWrites[i]);
    }
  }
  void expect_old_run_is_back(const std::string& where) {
    EXPECT_THAT(open_message(scratch_ / "run", FolderMode::kNew), HasSubstr("holds a run already")) << where;
    fs::copy(scratch_ / "run", scratch_ / "forced", fs::copy_options::recursive);
    {
      const RunFolder folder(scratch_ / "run", FolderMode::kResume);
      EXPECT_EQ(content_of(scratch_ / "run"), old_) << where;
      ASSERT_EQ(folder.notes().size(), 1U) << where;
      EXPECT_THAT(folder.notes()[0], HasSubstr("that run is back as it was"));
      EXPECT_FALSE(folder.has_only_begun());
    }
    EXPECT_TRUE(RunFolder(scratch_ / "run", FolderMode::kResume).notes().empty()) << where;
    make_run(scratch_ / "forced", FolderMode::kForce, "newest");
    EXPECT_EQ(read_file(scratch_ / "forced/checkpoint.safetensors"), "newest") << where;
    EXPECT_EQ(content_of(scratch_ / "forced").size(), old_.size()) << where;
    fs::remove_all(scratch_ / "forced");
  }

  ScratchFolder scratch_;
  std::map<std::string, std::string> old_;
};

TEST_F(EndedWhileReplacing, InTheMiddleOfTheMoves) {
  std::vector<std::string> files = {"config.toml"};
  for (const auto& [name, content] : old_) {
    if (name != "config.toml" && name != "notes.txt") files.push_back(name);
  }
  for (std::size_t moved = 0; moved <= files.size(); ++moved) {
    fs::remove_all(scratch_ / "run");
    fs::copy(scratch_ / "old", scratch_ / "run", fs::copy_options::recursive);
    fs::create_directory(scratch_ / "run/.replacing");
    for (std::size_t i = 0; i < moved; ++i) move(files[i], ".replacing");
    expect_old_run_is_back("after " + std::to_string(moved) + " moves");
  }
}

TEST_F(EndedWhileReplacing, BeforeTheNewRunIsWhole) {
  for (int files = 0; files < static_cast<int>(std::size(kFirstWrites)); ++files) {
    replaced_with(files);
    expect_old_run_is_back("with " + std::to_string(files) + " new files");
  }
}

TEST_F(EndedWhileReplacing, WhenTheNewRunIsWholeTheOldOneGoes) {
  replaced_with(static_cast<int>(std::size(kFirstWrites)));
  EXPECT_THAT(open_message(scratch_ / "run", FolderMode::kNew), HasSubstr("holds a run already"));
  { const RunFolder folder(scratch_ / "run", FolderMode::kResume); }
  EXPECT_EQ(read_file(scratch_ / "run/checkpoint.safetensors"), "newer");
  EXPECT_FALSE(fs::exists(scratch_ / "run/.replaced"));
  EXPECT_EQ(read_file(scratch_ / "run/notes.txt"), "mine");
}

TEST_F(EndedWhileReplacing, ReadersAreToldWhatToDo) {
  replaced_with(0);
  EXPECT_THAT(message_of([&] { find_run(scratch_ / "run"); }), HasSubstr("train --resume --out"));
  EXPECT_EQ(mend_run(scratch_ / "run").size(), 1U);
  EXPECT_NO_THROW(find_run(scratch_ / "run"));
}

// Ended in the middle of a first begin: with each of its files that is there, every way to open it works.
TEST_F(EndedWhileReplacing, WhatHasOnlyBegunIsBegunAnew) {
  for (int files = 0; files < static_cast<int>(std::size(kFirstWrites)); ++files) {
    for (const FolderMode mode : {FolderMode::kNew, FolderMode::kForce, FolderMode::kResume}) {
      replaced_with(files);
      fs::remove_all(scratch_ / "run/.replaced");
      fs::remove(scratch_ / "run/notes.txt");
      write_file_atomically(scratch_ / "run/.checkpoint.safetensors.abc123.tmp", "half of it");
      if (mode == FolderMode::kResume && files < 2) {  // without a configuration there is nothing to go on with
        EXPECT_THAT(open_message(scratch_ / "run", mode), HasSubstr("no config.toml"));
        continue;
      }
      make_run(scratch_ / "run", mode, "old");
      auto found = content_of(scratch_ / "run");
      found["notes.txt"] = "mine";
      EXPECT_EQ(found, old_) << files;
    }
  }
}

TEST(RunFolder, ConfigurationsOfPeopleAreNotTakenForOurs) {
  const ScratchFolder scratch;
  fs::create_directory(scratch / "run");
  write_file_atomically(scratch / "run/config.toml", "iterations = 3");
  EXPECT_THAT(open_message(scratch / "run", FolderMode::kNew), HasSubstr("holds a run already"));
}

TEST(RunFolder, LinksAndFilesInItsPlacesAreRefused) {
  const ScratchFolder scratch;
  make_run(scratch / "real", FolderMode::kNew, "first");
  fs::create_directory_symlink(scratch / "real", scratch / "link");
  fs::create_directory(scratch / "runs");
  fs::create_directory_symlink(scratch / "runs", scratch / "linked");
  EXPECT_NO_THROW(make_run(scratch / "linked/run", FolderMode::kNew, "first"));
  for (const FolderMode mode : {FolderMode::kNew, FolderMode::kForce, FolderMode::kResume}) {
    EXPECT_THAT(open_message(scratch / "link", mode), HasSubstr("is a symbolic link"));
    EXPECT_THAT(open_message(scratch / "link/", mode), HasSubstr("is a symbolic link"));
  }
  EXPECT_THAT(message_of([&] { FolderLock(scratch / "link"); }), HasSubstr("is a symbolic link"));
  fs::remove(scratch / "real/.lock");
  fs::create_symlink(scratch / "runs/stolen", scratch / "real/.lock");
  EXPECT_THAT(open_message(scratch / "real", FolderMode::kResume), HasSubstr("is a symbolic link"));
  EXPECT_FALSE(fs::exists(scratch / "runs/stolen"));
  fs::remove(scratch / "real/.lock");
  fs::remove_all(scratch / "real/snapshots");
  write_file_atomically(scratch / "real/snapshots", "a file");
  const auto before = content_of(scratch / "real");
  for (const FolderMode mode : {FolderMode::kForce, FolderMode::kResume}) {
    EXPECT_THAT(open_message(scratch / "real", mode), HasSubstr("real/snapshots' must be a folder, and is a file"));
  }
  EXPECT_EQ(content_of(scratch / "real"), before);
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
  EXPECT_NO_THROW(read_checkpoint(scratch / "c", configuration, /*own=*/false));
  configuration.task = "ant";
  EXPECT_THAT(message_of([&] { read_checkpoint(scratch / "c", configuration); }), HasSubstr("task function, not ant"));
}

class CheckpointFile : public ::testing::Test {
 protected:
  void SetUp() override {
    tensors_.put("policy.0.weight", std::vector<float>{1.0F, 2.0F});
    tensors_.put("normaliser.mean", std::vector<double>{0.5});
    tensors_.put("steps", std::int64_t{30});
    tensors_.put("iteration", std::int64_t{3});
    describe_checkpoint(tensors_, configuration_, 3);
  }
  std::string refusal(const Tensors& tensors, bool own = true) const {
    write_tensors(scratch_ / "c", tensors);
    return message_of([&] { read_checkpoint(scratch_ / "c", configuration_, own); });
  }

  ScratchFolder scratch_;
  Configuration configuration_ = function_configuration();
  Tensors tensors_;
};

TEST_F(CheckpointFile, TellsWhoWroteIt) {
  EXPECT_EQ(refusal(tensors_), "nothing was thrown");
  const Tensors read = read_checkpoint(scratch_ / "c", configuration_);
  EXPECT_EQ(iteration_of(read), 3);
  EXPECT_EQ(read.file_format, kFileFormat);
  EXPECT_EQ(read.metadata.at("instruction_set"), isa_name(best_isa()));
  EXPECT_EQ(read.metadata.at("program"), kVersion);
  EXPECT_EQ(read.metadata.at("mujoco"), mujoco_version());
  EXPECT_EQ(read.metadata.at("configuration").size(), 16U);
}

TEST_F(CheckpointFile, SaysWhatMayNotBeBitForBit) {
  EXPECT_THAT(doubts_about(tensors_, "c"), IsEmpty());
  Tensors other = tensors_;
  other.metadata["arithmetic"] = "0123456789abcdef";
  EXPECT_THAT(doubts_about(other, "c"), ElementsAre(HasSubstr("other last bits")));
  other = tensors_;
  other.metadata["mujoco"] = "3.9.0";
  EXPECT_THAT(doubts_about(other, "c"),
              ElementsAre(HasSubstr("written with MuJoCo 3.9.0, and this is " + std::string(mujoco_version()))));
  other.metadata.erase("mujoco");
  EXPECT_THAT(doubts_about(other, "c"), ElementsAre(HasSubstr("written with MuJoCo 2.2.2")));
  other.metadata["program"] = "cgpo 0.1.0";
  EXPECT_THAT(doubts_about(other, "c"), ElementsAre(HasSubstr("written by cgpo 0.1.0, and this is")));
  other.file_format = 1;
  other.metadata.erase("arithmetic");
  EXPECT_THAT(doubts_about(other, "c"), ElementsAre(HasSubstr("without checksums"), HasSubstr("not bit for bit")));
}

TEST_F(CheckpointFile, OfAnotherRunIsRefused) {
  Tensors other = tensors_;
  Configuration configuration = configuration_;
  configuration.seed = 5;
  describe_checkpoint(other, configuration, 3);
  EXPECT_THAT(refusal(other), HasSubstr("seed 5, not 0"));
  EXPECT_EQ(refusal(other, /*own=*/false), "nothing was thrown");

  configuration = configuration_;
  configuration.settings.window += 1;
  describe_checkpoint(other, configuration, 3);
  EXPECT_THAT(refusal(other), HasSubstr("with other settings"));
  EXPECT_EQ(refusal(other, /*own=*/false), "nothing was thrown");
  other.metadata["keys"] = "0123456789abcdef";  // of this version while it was made
  EXPECT_EQ(refusal(other), "nothing was thrown");
  describe_checkpoint(other, configuration, 3);
  other.metadata["program"] = "cgpo 0.1.9";  // which may have had other settings, with the same values as ours
  EXPECT_EQ(refusal(other), "nothing was thrown");

  configuration = configuration_;
  configuration.settings.iterations += 1;  // which may change
  describe_checkpoint(other, configuration, 3);
  EXPECT_EQ(refusal(other), "nothing was thrown");
}

TEST_F(CheckpointFile, NumbersThatCannotBeAreRefused) {
  for (const char* text : {"-5", "1000001", "3x", "", "4"}) {
    Tensors other = tensors_;
    other.metadata["iteration"] = text;
    EXPECT_THAT(refusal(other), HasSubstr("iteration")) << text;
  }
  Tensors other = tensors_;
  other.put("iteration", std::int64_t{-5});
  EXPECT_THAT(refusal(other), HasSubstr("its 'iteration' is -5"));
  other = tensors_;
  other.put("steps", std::int64_t{-1});
  EXPECT_THAT(refusal(other), HasSubstr("its 'steps' is -1"));
}

TEST_F(CheckpointFile, PoliciesThatAreNotFiniteAreRefused) {
  Tensors other = tensors_;
  other.put("policy.0.weight", std::vector<float>{1.0F, std::numeric_limits<float>::quiet_NaN()});
  EXPECT_THAT(refusal(other), HasSubstr("'policy.0.weight' is not finite"));
  EXPECT_THAT(refusal(other, /*own=*/false), HasSubstr("is not finite"));
  other = tensors_;
  other.put("normaliser.mean", std::vector<double>{std::numeric_limits<double>::infinity()});
  EXPECT_THAT(refusal(other), HasSubstr("'normaliser.mean' is not finite"));
  other = tensors_;
  other.put("radius.expected", std::vector<double>{std::numeric_limits<double>::quiet_NaN()});  // may be unknown
  EXPECT_EQ(refusal(other), "nothing was thrown");
}

}  // namespace
}  // namespace cgpo
