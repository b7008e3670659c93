#include "cgpo/base/file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "cgpo/base/error.hpp"

namespace cgpo {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kSuffixLength = 6;
constexpr std::string_view kSuffixLetters = "abcdefghijklmnopqrstuvwxyz0123456789";
constexpr std::string_view kTemporaryEnd = ".tmp";

// A descriptor that is closed whatever happens.
class Descriptor {
 public:
  Descriptor(const fs::path& path, int flags, mode_t mode = 0)
      : number_(::open(path.c_str(), flags | O_CLOEXEC, mode)), error_(number_ < 0 ? errno : 0) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int number() const { return number_; }
  int error() const { return error_; }  // of opening it
  bool close() {
    const bool good = number_ < 0 || ::close(number_) == 0;
    number_ = -1;
    return good;
  }

 private:
  int number_;
  int error_;
};

bool write_all(int file, std::string_view content) {
  while (!content.empty()) {
    const ssize_t count = ::write(file, content.data(), content.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    content.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

fs::path folder_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

fs::path temporary_beside(const fs::path& path) {
  std::uint8_t bytes[kSuffixLength];
  std::size_t filled = 0;
  while (filled < sizeof bytes) {
    const ssize_t count = ::getrandom(bytes + filled, sizeof bytes - filled, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw UserError("the system has no random numbers: {}", std::strerror(errno));
    filled += static_cast<std::size_t>(count);
  }
  // A name may have 255 bytes, and this one is longer than its file's.
  std::string name = fmt::format(".{}.", path.filename().string().substr(0, 240));
  for (const std::uint8_t byte : bytes) name += kSuffixLetters[byte % kSuffixLetters.size()];
  return folder_of(path) / name.append(kTemporaryEnd);
}

[[noreturn]] void refuse_to_write(const fs::path& path, int error) {
  throw UserError("cannot write '{}': {}", path.string(), std::strerror(error));
}

}  // namespace

bool is_there(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(path, error);
  if (!fs::status_known(status)) throw UserError("cannot look at '{}': {}", path.string(), error.message());
  return fs::exists(status);
}

std::string read_file(const fs::path& path) {
  const Descriptor file(path, O_RDONLY);
  const auto fail = [&](int error) {
    if (error == EISDIR) return UserError("'{}' is a folder, not a file", path.string());
    return UserError("cannot read '{}': {}", path.string(), std::strerror(error));
  };
  if (file.error() != 0) throw fail(file.error());
  struct stat status = {};
  if (::fstat(file.number(), &status) != 0) throw fail(errno);
  if (S_ISDIR(status.st_mode)) throw fail(EISDIR);
  // The size is a guess: pipes have none, and a log may grow while it is read.
  constexpr std::size_t kLeast = 4096;
  std::string content(std::max(kLeast, static_cast<std::size_t>(status.st_size) + 1), '\0');
  std::size_t length = 0;
  while (true) {
    if (length == content.size()) content.resize(2 * content.size());
    const ssize_t count = ::read(file.number(), content.data() + length, content.size() - length);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw fail(errno);
    if (count == 0) break;
    length += static_cast<std::size_t>(count);
  }
  content.resize(length);
  return content;
}

void write_file_atomically(const fs::path& path, std::string_view content) {
  fs::path temporary;
  constexpr int kTries = 100;  // names are taken by accident only
  for (int i = 0;; ++i) {
    temporary = temporary_beside(path);
    Descriptor file(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0644);
    if (file.error() == EEXIST && i < kTries) continue;
    if (file.error() != 0) refuse_to_write(path, file.error());
    errno = 0;
    const bool flushed = write_all(file.number(), content) && ::fsync(file.number()) == 0;
    int error = flushed ? 0 : errno;
    if (!file.close() && flushed) error = errno;
    if (error == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
    if (error == 0) break;
    ::unlink(temporary.c_str());
    refuse_to_write(path, error);
  }
  sync_folder(folder_of(path));
}

std::string name_behind_temporary(const std::string& file_name) {
  const std::size_t around = 2 + kSuffixLength + kTemporaryEnd.size();  // two dots, suffix, end
  if (file_name.size() <= around || file_name.front() != '.' || !file_name.ends_with(kTemporaryEnd)) return "";
  const std::size_t dot = file_name.size() - kTemporaryEnd.size() - kSuffixLength - 1;
  const std::string suffix = file_name.substr(dot + 1, kSuffixLength);
  if (file_name[dot] != '.' || suffix.find_first_not_of(kSuffixLetters) != std::string::npos) return "";
  return file_name.substr(1, dot - 1);
}

void remove_leftovers(const fs::path& folder, const std::function<bool(const std::string&)>& is_ours) {
  std::error_code ignored;  // no folder, no leftovers
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = name_behind_temporary(entry.path().filename().string());
    if (!name.empty() && is_ours(name)) ::unlink(entry.path().c_str());  // one that stays does no harm
  }
}

void sync_folder(const fs::path& folder) {
  const Descriptor file(folder, O_RDONLY | O_DIRECTORY);
  if (file.error() != 0) refuse_to_write(folder, file.error());
  // Some file systems cannot flush a folder; they say EINVAL, and there is nothing to be done about it.
  if (::fsync(file.number()) != 0 && errno != EINVAL) refuse_to_write(folder, errno);
}

void create_folder(const fs::path& folder) {
  const auto fail = [&](int error) {
    return UserError("cannot create the folder '{}': {}", folder.string(), std::strerror(error));
  };
  const fs::path path = folder.has_filename() ? folder : folder.parent_path();
  struct stat status = {};
  if (::lstat(path.c_str(), &status) == 0) {
    if (S_ISLNK(status.st_mode))
      throw UserError("'{}' is a symbolic link; give the folder that it leads to", path.string());
    if (!S_ISDIR(status.st_mode)) throw UserError("'{}' is a file, not a folder", path.string());
    return;
  }
  if (errno != ENOENT) throw fail(errno);
  const fs::path parent = folder_of(path);
  std::error_code error;
  if (!fs::is_directory(parent, error)) {  // which may be a link
    if (error && error != std::errc::no_such_file_or_directory) throw fail(error.value());
    create_folder(parent);
  }
  if (::mkdir(path.c_str(), 0777) != 0 && errno != EEXIST) throw fail(errno);
  sync_folder(parent);
}

bool is_link(const fs::path& path) {
  std::error_code ignored;
  return fs::is_symlink(path.has_filename() ? path : path.parent_path(), ignored);
}

void remove_entry(const fs::path& path) {
  std::error_code error;
  fs::remove(path, error);
  if (error) throw UserError("cannot remove '{}': {}", path.string(), error.message());
}

void rename_entry(const fs::path& from, const fs::path& to) {
  if (::rename(from.c_str(), to.c_str()) == 0) return;
  throw UserError("cannot move '{}' to '{}': {}", from.string(), to.string(), std::strerror(errno));
}

AppendedFile::AppendedFile(const fs::path& path) : name_(path.string()) {
  file_ = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
  if (file_ < 0 && errno == ELOOP) {
    throw UserError("'{}' is a symbolic link, which is not written through; put the file itself there", name_);
  }
  if (file_ < 0) refuse_to_write(path, errno);
  try {
    sync_folder(folder_of(path));
  } catch (...) {
    ::close(file_);
    throw;
  }
}

AppendedFile::~AppendedFile() {
  if (file_ >= 0) ::close(file_);
}

AppendedFile::AppendedFile(AppendedFile&& other) noexcept
    : name_(std::move(other.name_)), file_(std::exchange(other.file_, -1)) {}

void AppendedFile::append(std::string_view text) {
  struct stat before = {};
  if (::fstat(file_, &before) != 0) refuse_to_write(name_, errno);
  if (write_all(file_, text) && ::fdatasync(file_) == 0) return;
  const int error = errno;
  // Best effort: what is left of a line is cut off by whoever goes on with the file.
  [[maybe_unused]] const int cut = ::ftruncate(file_, before.st_size);
  refuse_to_write(name_, error);
}

}  // namespace cgpo
