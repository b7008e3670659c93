// The folder of a run: who may write it, what lies where, and how it lives so that a process may die at any moment.
//
// All files are written whole (base/file.hpp); the log grows by whole lines. A new run writes, each flushed before the
// next: version, definition.toml if the task is one of a file, config.toml, log.jsonl, timing.jsonl,
// snapshots/000000.safetensors, checkpoint.safetensors. The checkpoint is what makes it a run. So a folder is in one of
// these states, whatever the moment of a death:
//
//   empty           nothing but our lock and temporary files
//   begun           a beginning of that list, no checkpoint: nothing has been trained
//   run             config.toml and a checkpoint; after it, see run.hpp
//   being replaced  there is .replacing/ or .replaced/
//
// To replace a run, it is moved to .replacing/, config.toml first; when all of it is there, .replacing/ becomes
// .replaced/; the new run is begun; .replaced/ is deleted. If any of it fails, the old run is put back. Who opens the
// folder next for writing, first of all
//   - removes temporary files of our names (.NAME.XXXXXX.tmp),
//   - if .replaced/ stands beside a config.toml and a checkpoint, deletes it: the new run is whole,
//   - if it stands alone or beside a new run that is not whole, removes that one and puts the old run back,
//   - if there is .replacing/, puts back what is in it: what is outside is of the same run.
//
//   opened as    empty     begun                   run         being replaced
//   new          begins    begins anew             refused     refused, and nothing is touched
//   --force      begins    begins anew             replaces    puts the old run back, then replaces it
//   --resume     refused   begins, as configured   goes on     puts the old run back, then goes on with it
//
// A run is never lost: from the first checkpoint on there is at every moment one that is whole, in the folder or (in
// the middle of --force) in .replacing/ and .replaced/ of it. Files of other names are never touched.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cgpo/base/tensors.hpp"
#include "cgpo/config/configuration.hpp"

namespace cgpo {

struct RunPaths {
  std::filesystem::path folder;

  std::filesystem::path config() const { return folder / "config.toml"; }
  std::filesystem::path definition() const { return folder / kDefinitionName; }  // the task file, if there is one
  std::filesystem::path version() const { return folder / "version"; }
  std::filesystem::path log() const { return folder / "log.jsonl"; }
  std::filesystem::path timing() const { return folder / "timing.jsonl"; }
  std::filesystem::path checkpoint() const { return folder / "checkpoint.safetensors"; }  // after the last iteration
  std::filesystem::path best() const { return folder / "best.safetensors"; }              // best feasible policy so far
  std::filesystem::path data() const { return folder / "data"; }  // a folder: what some algorithms learned from
  std::filesystem::path snapshots() const { return folder / "snapshots"; }  // a file for each policy that was kept
  std::filesystem::path snapshot(int iteration) const;                      // the policy after so many iterations
  std::filesystem::path data_file(int last) const;
  std::filesystem::path lock() const { return folder / ".lock"; }
  std::filesystem::path replacing() const { return folder / ".replacing"; }  // a run on its way out or back,
  std::filesystem::path replaced() const { return folder / ".replaced"; }    // and one that has given way
};

inline constexpr int kSnapshotDigits = 6;
inline constexpr int kDataDigits = 8;

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
// UserError if another process holds it, or it is a symbolic link.
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

  // Creates the folder if it is new, locks it until the object goes, and mends what a process that died left behind.
  // Throws UserError if another process holds it.
  RunFolder(const std::filesystem::path& folder, FolderMode mode);

  const RunPaths& paths() const { return paths_; }
  const std::vector<std::string>& notes() const { return notes_; }  // what was found and done, in sentences
  bool has_only_begun() const;                                      // there is no checkpoint yet, and no need of one

  // Begins a run, in place of what is there: configuration and version, then what `write_state` writes, which is to end
  // with the checkpoint. A run that was there goes last of all; if anything fails before, it is put back.
  void begin(const Configuration& configuration, const std::function<void()>& write_state = {}) const;
  void write_configuration(const Configuration& configuration) const;

 private:
  RunPaths paths_;
  FolderLock lock_;
  std::vector<std::string> notes_;
};

// Before the configuration of a run is read that is to be resumed: if its replacement was cut short, puts it back.
// Returns what was found, in sentences.
std::vector<std::string> mend_run(const std::filesystem::path& folder);

// Who wrote a checkpoint and for what, beside the numbers: program, instruction set and MuJoCo, task, algorithm, seed,
// a checksum of the configuration as far as a run keeps it for life, and after how many iterations.
void describe_checkpoint(Tensors& tensors, const Configuration& configuration, int iteration);

// Reads a checkpoint, a best policy or a snapshot of this configuration. Throws UserError, naming the file, if it is
// damaged, is another task's or run's, has a count that cannot be, or a policy that is not finite. `own` false: it may
// be of another run of this task, with another algorithm. What cgpo 0.1.0 wrote is read, too: it has no checksums, and
// Tensors::file_format says so.
Tensors read_checkpoint(const std::filesystem::path& path, const Configuration& configuration, bool own = true);

// After how many iterations it was written; read_checkpoint has looked at it.
int iteration_of(const Tensors& checkpoint);

// Why a run that goes on from it is not sure to be what it would have become, in sentences: no checksums, another
// version of the program or of MuJoCo, another arithmetic.
std::vector<std::string> doubts_about(const Tensors& checkpoint, const std::filesystem::path& path);

// Whether an entry is of what acts, policy and normaliser, and not of what trains.
bool is_of_policy(std::string_view name);

// Whether those are made of numbers: one that is not must not take a good one's place.
bool is_policy_finite(const Tensors& state);

// Throws UserError, naming the file, if an entry whose name begins so is not finite.
void check_finite(const Tensors& checkpoint, std::string_view prefix, const std::filesystem::path& path);

}  // namespace cgpo
