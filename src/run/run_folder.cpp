#include "cgpo/run/run_folder.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include "cgpo/base/error.hpp"
#include "cgpo/base/file.hpp"
#include "cgpo/base/version.hpp"

namespace cgpo {
namespace fs = std::filesystem;

fs::path RunPaths::snapshot(int iteration) const { return snapshots() / fmt::format("{:06}.safetensors", iteration); }

std::vector<int> find_snapshots(const RunPaths& run) {
  std::vector<int> found;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(run.snapshots(), ignored)) {
    const std::string name = entry.path().stem().string();
    int iteration = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), iteration);
    if (error == std::errc() && end == name.data() + name.size() && entry.path() == run.snapshot(iteration)) {
      found.push_back(iteration);
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

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
  if (!fs::exists(paths.config(), ignored))
    throw UserError("'{}' is not a run: it has no config.toml", folder.string());
  return paths;
}

fs::path default_folder(const Configuration& configuration) {
  return fs::path("runs") / fmt::format("{}-{}-s{}", configuration.task, configuration.algorithm, configuration.seed);
}

void RunFolder::check_usable(const fs::path& folder, FolderMode mode) {
  std::error_code ignored;
  if (mode == FolderMode::kResume) {
    find_run(folder);
    return;
  }
  if (!fs::exists(folder, ignored)) return;
  if (!fs::is_directory(folder, ignored)) throw UserError("'{}' is a file, not a folder for a run", folder.string());
  const RunPaths paths{folder};
  if (fs::exists(paths.config(), ignored)) {
    if (mode == FolderMode::kForce) return;
    throw UserError("'{}' holds a run already; --resume continues it, --force replaces it, --out takes another folder",
                    folder.string());
  }
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.path() == paths.lock()) continue;
    throw UserError("'{}' holds other files and no run; give --out a folder that is empty or new", folder.string());
  }
}

FolderLock::FolderLock(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw UserError("cannot create the folder '{}': {}", folder.string(), error.message());
  file_ = ::open(RunPaths{folder}.lock().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (file_ < 0) throw UserError("cannot write in '{}': {}", folder.string(), std::strerror(errno));
  if (::flock(file_, LOCK_EX | LOCK_NB) != 0) {
    ::close(file_);
    throw UserError("another process is writing '{}'; wait for it, or give --out another folder", folder.string());
  }
}

FolderLock::~FolderLock() { ::close(file_); }

bool FolderLock::is_held(const fs::path& folder) {
  const int file = ::open(RunPaths{folder}.lock().c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool held = ::flock(file, LOCK_EX | LOCK_NB) != 0;
  ::close(file);
  return held;
}

RunFolder::RunFolder(const fs::path& folder, FolderMode mode)
    : paths_{folder}, lock_((check_usable(folder, mode), folder)) {
  check_usable(folder, mode);  // between the look at the folder and the lock another process may have filled it
}

void RunFolder::begin(const Configuration& configuration) const {
  // Checkpoints first: a configuration must never stand beside those of another run.
  for (const fs::path& path : {paths_.checkpoint(), paths_.best(), paths_.log(), paths_.timing()}) fs::remove(path);
  fs::remove_all(paths_.data());
  for (const int iteration : find_snapshots(paths_)) fs::remove(paths_.snapshot(iteration));
  std::error_code ignored;
  fs::remove(paths_.snapshots(), ignored);  // unless there are files that are not ours
  write_configuration(configuration);
  write_file_atomically(paths_.version(), fmt::format("{}\n", kVersion));
  for (const fs::path& path : {paths_.log(), paths_.timing()}) write_file_atomically(path, "");
}

void RunFolder::write_configuration(const Configuration& configuration) const {
  write_file_atomically(paths_.config(), cgpo::write_configuration(configuration));
}

void describe_checkpoint(Tensors& tensors, const Configuration& configuration, int iteration) {
  tensors.metadata["program"] = kVersion;
  tensors.metadata["task"] = configuration.task;
  tensors.metadata["algorithm"] = configuration.algorithm;
  tensors.metadata["seed"] = fmt::format("{}", configuration.seed);
  tensors.metadata["iteration"] = fmt::format("{}", iteration);
}

Tensors read_checkpoint(const fs::path& path, const Configuration& configuration, bool algorithm) {
  Tensors tensors = read_tensors(path);
  const auto expect = [&](const std::string& what, const std::string& wanted) {
    const auto found = tensors.metadata.find(what);
    if (found == tensors.metadata.end()) {
      throw UserError("'{}' was not written by cgpo: it does not name its {}", path.string(), what);
    }
    if (found->second != wanted) {
      throw UserError("'{}' is a checkpoint of {} {}, not {}", path.string(), what, found->second, wanted);
    }
  };
  expect("task", configuration.task);
  if (algorithm) expect("algorithm", configuration.algorithm);
  return tensors;
}

}  // namespace cgpo
