#include "cgpo/base/file.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sstream>
#include <unistd.h>

#include "cgpo/base/error.hpp"

namespace cgpo {

std::string read_file(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) throw UserError("'{}' is a folder, not a file", path.string());
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw UserError("cannot read '{}': {}", path.string(), std::strerror(errno));
  std::ostringstream content;
  content << stream.rdbuf();
  return std::move(content).str();
}

void write_file_atomically(const std::filesystem::path& path, std::string_view content) {
  const std::filesystem::path temporary = path.string() + ".tmp";
  const auto fail = [&] {
    const int error = errno;
    ::unlink(temporary.c_str());
    return UserError("cannot write '{}': {}", path.string(), std::strerror(error));
  };
  const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) throw UserError("cannot write '{}': {}", path.string(), std::strerror(errno));
  for (std::size_t written = 0; written < content.size();) {
    const ssize_t count = ::write(file, content.data() + written, content.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      const UserError error = fail();
      ::close(file);
      throw error;
    }
    written += static_cast<std::size_t>(count);
  }
  const bool flushed = ::fsync(file) == 0;
  const bool closed = ::close(file) == 0;
  if (!flushed || !closed) throw fail();
  if (::rename(temporary.c_str(), path.c_str()) != 0) throw fail();
}

}  // namespace cgpo
