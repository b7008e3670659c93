// The folder of a run: who may write it, and what lies where.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cgpo/base/tensors.hpp"
#include "cgpo/config/configuration.hpp"

namespace cgpo {

struct RunPaths {
  std::filesystem::path folder;

  std::filesystem::path config() const { return folder / "config.toml"; }
  std::filesystem::path version() const { return folder / "version"; }
  std::filesystem::path log() const { return folder / "log.jsonl"; }
  std::filesystem::path timing() const { return folder / "timing.jsonl"; }
  std::filesystem::path checkpoint() const { return folder / "checkpoint.safetensors"; }  // after the last iteration
  std::filesystem::path best() const { return folder / "best.safetensors"; }              // best feasible policy so far
  std::filesystem::path data() const { return folder / "data"; }  // a folder: what some algorithms learned from
  std::filesystem::path snapshots() const { return folder / "snapshots"; }  // a file for each policy that was kept
  std::filesystem::path snapshot(int iteration) const;                      // the policy after so many iterations
  std::filesystem::path lock() const { return folder / ".lock"; }
};

// After how many iterations a run has a snapshot, in order; files of other names are not ours.
std::vector<int> find_snapshots(const RunPaths& run);

// Whether a run of so many iterations keeps the policy that it has after `iteration` of them: `count` policies, evenly
// from the untrained one to the last.
bool keeps_snapshot(int iteration, int iterations, int count);

// Throws UserError if there is no run at this place.
RunPaths find_run(const std::filesystem::path& folder);

std::filesystem::path default_folder(const Configuration& configuration);  // runs/TASK-ALGO-sSEED

enum class FolderMode { kNew, kResume, kForce };

// Of all processes only this one may write the folder, until the object goes. A folder that is new is created. Throws
// UserError if another process holds it.
class FolderLock {
 public:
  explicit FolderLock(const std::filesystem::path& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

  static bool is_held(const std::filesystem::path& folder);  // by anyone; reads only

 private:
  int file_ = -1;
};

// A run's folder that this process, and no other, may write.
class RunFolder {
 public:
  // Whether a folder may be opened in this way; reads only. Throws UserError if not.
  static void check_usable(const std::filesystem::path& folder, FolderMode mode);

  // Creates the folder if it is new, and locks it until the object goes. Throws UserError if another process holds it.
  RunFolder(const std::filesystem::path& folder, FolderMode mode);

  const RunPaths& paths() const { return paths_; }

  // Begins a run: removes what is left of one that is replaced, and writes configuration and version.
  void begin(const Configuration& configuration) const;
  void write_configuration(const Configuration& configuration) const;

 private:
  RunPaths paths_;
  FolderLock lock_;
};

// Who wrote a checkpoint and for what, beside the numbers.
void describe_checkpoint(Tensors& tensors, const Configuration& configuration, int iteration);

// Reads a checkpoint of this configuration's task; throws UserError, naming the file, if it is broken or another
// task's. `algorithm`: it must be the configuration's, too.
Tensors read_checkpoint(const std::filesystem::path& path, const Configuration& configuration, bool algorithm = true);

}  // namespace cgpo
