#include "cgpo/run/folder_life.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fmt/format.h>
#include <sys/stat.h>

#include "cgpo/base/error.hpp"
#include "cgpo/base/file.hpp"

namespace cgpo {
namespace {

namespace fs = std::filesystem;

// What is in a folder; in none, nothing.
std::vector<fs::path> list(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    found.push_back(entry->path());
  }
  if (error && error != std::errc::no_such_file_or_directory && error != std::errc::not_a_directory) {
    throw UserError("cannot read the folder '{}': {}", folder.string(), error.message());
  }
  std::sort(found.begin(), found.end());
  return found;
}

bool is_empty_file(const fs::path& path) {
  std::error_code error;
  return !is_there(path) || (fs::file_size(path, error) == 0 && !error);
}

bool is_own_version(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && read_file(path).starts_with("cgpo ");
}

// log.jsonl.damaged-1 and the like: see set_aside().
bool is_damaged_copy(const std::string& name) {
  for (const char* kept : {"log.jsonl", "timing.jsonl", "best.safetensors"}) {
    if (name.starts_with(std::string(kept) + ".damaged-")) return true;
  }
  return false;
}

// In the order in which a new run writes them: what is left of one that was ended is always a beginning of this list.
constexpr const char* kFirstFiles[] = {"version", kDefinitionName, "config.toml", "log.jsonl", "timing.jsonl"};

bool is_numbered(const std::string& name) {
  return name.ends_with(".safetensors") && name.find_first_not_of("0123456789") == name.size() - 12;
}

bool is_run_file(const std::string& name) {
  return std::find(std::begin(kFirstFiles), std::end(kFirstFiles), name) != std::end(kFirstFiles) ||
         name == "checkpoint.safetensors" || name == "best.safetensors" || is_damaged_copy(name);
}

// All that belongs to a run, relative to its folder, in the order in which it was written: config.toml is among the
// first and the checkpoint is the last.
std::vector<fs::path> run_entries(const RunPaths& run) {
  std::vector<fs::path> entries;
  for (const char* name : kFirstFiles) {
    if (is_there(run.folder / name)) entries.emplace_back(name);
  }
  for (const fs::path& path : list(run.folder)) {
    if (is_damaged_copy(path.filename().string())) entries.push_back(path.filename());
  }
  for (const int number : find_snapshots(run)) {
    entries.push_back(run.snapshot(number).lexically_relative(run.folder));
  }
  for (const int number : find_numbered(run.data(), kDataDigits)) {
    entries.push_back(run.data_file(number).lexically_relative(run.folder));
  }
  if (is_there(run.best())) entries.push_back(run.best().filename());
  if (is_there(run.checkpoint())) entries.push_back(run.checkpoint().filename());
  return entries;
}

void sync_all(const RunPaths& run) {
  for (const fs::path& folder : {run.snapshots(), run.data(), run.folder}) {
    if (is_there(folder)) sync_folder(folder);
  }
}

void remove_empty_folders(const RunPaths& run) {
  std::error_code ignored;  // there are files in it that are not ours
  for (const fs::path& folder : {run.snapshots(), run.data()}) fs::remove(folder, ignored);
}

// The last first, so that what is left is a beginning.
void remove_entries(const RunPaths& run) {
  std::vector<fs::path> entries = run_entries(run);
  std::reverse(entries.begin(), entries.end());
  for (const fs::path& entry : entries) remove_entry(run.folder / entry);
  remove_empty_folders(run);
  sync_all(run);
}

// All but the configuration, which is moved before (from a run) or after (to a run) the rest: it never stands beside
// files that are not its own.
void move_entries(const RunPaths& from, const RunPaths& to) {
  for (const fs::path& entry : run_entries(from)) {
    if (from.folder / entry == from.config()) continue;
    if (entry.has_parent_path()) create_folder(to.folder / entry.parent_path());
    rename_entry(from.folder / entry, to.folder / entry);
  }
}

void move_config(const RunPaths& from, const RunPaths& to) {
  if (is_there(from.config())) rename_entry(from.config(), to.config());
}

bool is_whole(const RunPaths& run) { return is_there(run.config()) && is_there(run.checkpoint()); }

bool has_begun_only(const RunPaths& run) {
  const std::vector<int> snapshots = find_snapshots(run);
  return !is_there(run.checkpoint()) && !is_there(run.best()) && is_empty_file(run.log()) &&
         is_empty_file(run.timing()) && find_numbered(run.data(), kDataDigits).empty() &&
         (snapshots.empty() || snapshots == std::vector<int>{0}) && is_own_version(run.version());
}

void put_back(const RunPaths& run) {
  const RunPaths aside{run.replacing()};
  move_entries(aside, run);
  sync_all(run);
  move_config(aside, run);
  sync_all(run);
  remove_empty_folders(aside);
  remove_entry(aside.folder);
  sync_folder(run.folder);
}

}  // namespace

std::vector<int> find_numbered(const fs::path& folder, int digits) {
  std::vector<int> found;
  for (const fs::path& path : list(folder)) {
    const std::string name = path.stem().string();
    int number = 0;
    const auto [end, wrong] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (wrong != std::errc() || end != name.data() + name.size() || number < 0) continue;
    if (path.filename() == fmt::format("{:0{}}.safetensors", number, digits)) found.push_back(number);
  }
  std::sort(found.begin(), found.end());
  return found;
}

FolderState look_at(const RunPaths& run) {
  if (is_there(run.replacing()) || is_there(run.replaced())) return FolderState::kBeingReplaced;
  if (is_there(run.config())) return has_begun_only(run) ? FolderState::kBegun : FolderState::kRun;
  FolderState state = FolderState::kEmpty;
  const bool began = is_own_version(run.version());
  for (const fs::path& path : list(run.folder)) {
    // A task file that somebody has in this folder is not a copy that a run made.
    if (path == run.definition() && !began) return FolderState::kForeign;
    if (path == run.lock() || is_run_file(name_behind_temporary(path.filename().string()))) continue;
    if (path != run.version() || !began) return FolderState::kForeign;
    state = FolderState::kBegun;
  }
  return state;
}

std::vector<std::string> mend(const RunPaths& run) {
  remove_leftovers(run.folder, is_run_file);
  for (const fs::path& folder : {run.snapshots(), run.data()}) remove_leftovers(folder, is_numbered);
  for (const fs::path& folder : {run.replacing(), run.replaced()}) {
    std::error_code ignored;
    if (is_there(folder) && !fs::is_directory(fs::symlink_status(folder, ignored))) {
      throw UserError("'{}' is not a folder; move it away", folder.string());
    }
  }
  if (is_there(run.replaced()) && is_whole(run)) {
    drop_replaced(run);
  } else if (is_there(run.replaced()) || is_there(run.replacing())) {
    take_back(run);
    return {fmt::format("the program was ended while it replaced the run in '{}'; that run is back as it was",
                        run.folder.string())};
  }
  return {};
}

void move_aside(const RunPaths& run) {
  const RunPaths aside{run.replacing()};
  if (::mkdir(aside.folder.c_str(), 0777) != 0) {
    throw UserError("cannot create the folder '{}': {}", aside.folder.string(), std::strerror(errno));
  }
  sync_folder(run.folder);
  try {
    move_config(run, aside);
    sync_all(aside);
    move_entries(run, aside);
    remove_empty_folders(run);
    sync_all(aside);
    sync_all(run);
    rename_entry(run.replacing(), run.replaced());
  } catch (...) {
    put_back(run);
    throw;
  }
  sync_folder(run.folder);
}

void remove_begun(const RunPaths& run) { remove_entries(run); }

void take_back(const RunPaths& run) {
  if (is_there(run.replaced())) {
    remove_entries(run);
    rename_entry(run.replaced(), run.replacing());
    sync_folder(run.folder);
  }
  if (is_there(run.replacing())) {
    put_back(run);
  } else {
    remove_entries(run);
  }
}

void drop_replaced(const RunPaths& run) {
  if (!is_there(run.replaced())) return;
  std::error_code error;
  fs::remove_all(run.replaced(), error);
  if (error) throw UserError("cannot remove '{}': {}", run.replaced().string(), error.message());
  sync_folder(run.folder);
}

}  // namespace cgpo
