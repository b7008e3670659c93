// Files that are either whole or not there, and folders whose entries have reached the disk.
//
// A symbolic link is never followed as the last component of what is written: a file that is replaced takes the link's
// place, one that is appended to is refused. Folders above it may be links.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace cgpo {

// Whether there is something of this name. Throws UserError if the system cannot tell: what a failing disk hides is not
// missing, and must not be replaced as if it were.
bool is_there(const std::filesystem::path& path);

// Throws UserError, naming the file, if it cannot be read, to its end.
std::string read_file(const std::filesystem::path& path);

// Writes to a name of its own in the same folder (.NAME.XXXXXX.tmp), flushes to the disk, renames, and flushes the
// folder. Whoever else writes the same path at the same time, one of the two contents is there afterwards. Throws
// UserError if it fails; what was there before is then as it was.
void write_file_atomically(const std::filesystem::path& path, std::string_view content);

// Removes what writers that were killed left in a folder: temporary files of the names for which `is_ours` holds. For
// someone who is the only writer of these names.
void remove_leftovers(const std::filesystem::path& folder, const std::function<bool(const std::string&)>& is_ours);

// The NAME whose temporary file this would be; empty: it is none.
std::string name_behind_temporary(const std::string& file_name);

// What was created, renamed or removed in the folder has reached the disk. Throws UserError.
void sync_folder(const std::filesystem::path& folder);

// Makes a folder, and those above it that are missing. Throws UserError, also if something else has its name, or a
// link.
void create_folder(const std::filesystem::path& folder);

// Whether there is a symbolic link of this name, wherever it leads. A slash at its end does not hide it.
bool is_link(const std::filesystem::path& path);

// A file, or a link itself, or an empty folder; whatever is not there is removed already. Throws UserError.
void remove_entry(const std::filesystem::path& path);

// Throws UserError; the folders of both must be flushed by the caller.
void rename_entry(const std::filesystem::path& from, const std::filesystem::path& to);

// A file that only grows. What was appended has reached the disk; if that fails, the file is cut back to what it was.
class AppendedFile {
 public:
  explicit AppendedFile(const std::filesystem::path& path);  // throws UserError, as append does
  ~AppendedFile();
  AppendedFile(AppendedFile&& other) noexcept;
  AppendedFile& operator=(AppendedFile&&) = delete;
  AppendedFile(const AppendedFile&) = delete;
  AppendedFile& operator=(const AppendedFile&) = delete;

  void append(std::string_view text);

 private:
  std::string name_;
  int file_ = -1;
};

}  // namespace cgpo
