#include "cgpo/run/run_folder.hpp"

#include <cerrno>
#include <cmath>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include "cgpo/base/error.hpp"
#include "cgpo/base/file.hpp"
#include "cgpo/base/program_name.hpp"
#include "cgpo/base/version.hpp"
#include "cgpo/run/folder_life.hpp"

namespace cgpo {
namespace fs = std::filesystem;

fs::path RunPaths::snapshot(int iteration) const {
  return snapshots() / fmt::format("{:0{}}.safetensors", iteration, kSnapshotDigits);
}
fs::path RunPaths::data_file(int last) const { return data() / fmt::format("{:0{}}.safetensors", last, kDataDigits); }

std::vector<int> find_snapshots(const RunPaths& run) { return find_numbered(run.snapshots(), kSnapshotDigits); }

bool keeps_snapshot(int iteration, int iterations, int count) {
  if (count == 1) return iteration == iterations;
  for (int i = 0; i < count; ++i) {
    if (iteration == std::llround(static_cast<double>(i) * iterations / (count - 1))) return true;
  }
  return false;
}

RunPaths find_run(const fs::path& folder) {
  std::error_code ignored;
  if (!fs::exists(folder, ignored)) throw UserError("there is no run '{}': no such folder", folder.string());
  if (!fs::is_directory(folder, ignored))
    throw UserError("'{}' is not a run: it is a file, not a folder", folder.string());
  RunPaths paths{folder};
  if (!fs::exists(paths.config(), ignored)) {
    if (look_at(paths) == FolderState::kBeingReplaced) {
      throw UserError(
          "the program was ended while it replaced the run in '{}'; `{} train --resume --out {}` puts it back",
          folder.string(), program_name(), folder.string());
    }
    throw UserError("'{}' is not a run: it has no config.toml", folder.string());
  }
  return paths;
}

fs::path default_folder(const Configuration& configuration) {
  return fs::path("runs") / fmt::format("{}-{}-s{}", configuration.task, configuration.algorithm, configuration.seed);
}

void RunFolder::check_usable(const fs::path& folder, FolderMode mode) {
  std::error_code ignored;
  const std::string name = folder.string();
  if (is_link(folder)) throw UserError("'{}' is a symbolic link; give --out the folder that it leads to", name);
  const bool there = fs::exists(folder, ignored);
  if (there && !fs::is_directory(folder, ignored)) throw UserError("'{}' is a file, not a folder for a run", name);
  const RunPaths paths{folder};
  const FolderState state = look_at(paths);
  for (const fs::path& part : {paths.snapshots(), paths.data()}) {
    const fs::file_status status = fs::symlink_status(part, ignored);
    if (fs::exists(status) && !fs::is_directory(status) && state != FolderState::kForeign) {
      throw UserError("'{}' must be a folder, and is {}; move it away", part.string(),
                      fs::is_symlink(status) ? "a symbolic link" : "a file");
    }
  }
  if (mode == FolderMode::kResume) {
    if (state != FolderState::kBeingReplaced) find_run(folder);
    return;
  }
  switch (state) {
    case FolderState::kEmpty:
    case FolderState::kBegun: return;
    case FolderState::kRun:
    case FolderState::kBeingReplaced:
      if (mode == FolderMode::kForce) return;
      throw UserError(
          "'{}' holds a run already; --resume continues it, --force replaces it, --out takes another folder", name);
    case FolderState::kForeign:
      throw UserError("'{}' holds other files and no run; give --out a folder that is empty or new", name);
  }
}

FolderLock::FolderLock(const fs::path& folder) {
  create_folder(folder);
  file_ = ::open(RunPaths{folder}.lock().c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (file_ < 0 && errno == ELOOP) {
    throw UserError("'{}' is a symbolic link; remove it", RunPaths{folder}.lock().string());
  }
  if (file_ < 0) throw UserError("cannot write in '{}': {}", folder.string(), std::strerror(errno));
  if (::flock(file_, LOCK_EX | LOCK_NB) != 0) {
    const int error = errno;
    ::close(file_);
    if (error != EWOULDBLOCK) throw UserError("cannot lock '{}': {}", folder.string(), std::strerror(error));
    throw UserError("another process is writing '{}'; wait for it, or give --out another folder", folder.string());
  }
}

FolderLock::~FolderLock() { ::close(file_); }

bool FolderLock::is_held(const fs::path& folder) {
  const int file = ::open(RunPaths{folder}.lock().c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) return false;
  const bool held = ::flock(file, LOCK_EX | LOCK_NB) != 0;
  ::close(file);
  return held;
}

RunFolder::RunFolder(const fs::path& folder, FolderMode mode)
    : paths_{folder}, lock_((check_usable(folder, mode), folder)) {
  check_usable(folder, mode);  // between the look at the folder and the lock another process may have filled it
  notes_ = mend(paths_);
  check_usable(folder, mode);
  if (has_only_begun()) {
    notes_.push_back(
        fmt::format("the run in '{}' was ended before its first checkpoint; it begins anew", folder.string()));
  }
}

bool RunFolder::has_only_begun() const { return look_at(paths_) == FolderState::kBegun; }

void RunFolder::begin(const Configuration& configuration, const std::function<void()>& write_state) const {
  if (look_at(paths_) == FolderState::kRun) move_aside(paths_);
  try {
    remove_begun(paths_);
    write_file_atomically(paths_.version(), fmt::format("{}\n", kVersion));
    if (configuration.definition != nullptr) {
      write_file_atomically(paths_.definition(), configuration.definition->text());
    }
    write_configuration(configuration);
    for (const fs::path& path : {paths_.log(), paths_.timing()}) write_file_atomically(path, "");
    if (write_state) write_state();
  } catch (...) {
    try {
      take_back(paths_);
    } catch (const UserError&) {
      // The disk fails altogether; whoever opens the folder next puts the run back.
    }
    throw;
  }
  drop_replaced(paths_);
}

std::vector<std::string> mend_run(const fs::path& folder) {
  if (look_at(RunPaths{folder}) != FolderState::kBeingReplaced) return {};
  return RunFolder(folder, FolderMode::kResume).notes();
}

void RunFolder::write_configuration(const Configuration& configuration) const {
  write_file_atomically(paths_.config(), cgpo::write_configuration(configuration));
}

}  // namespace cgpo
