// Private to this folder: a place for files that nobody needs afterwards.
#pragma once

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <stdlib.h>
#include <string>
#include <system_error>

#include "cgpo/base/error.hpp"

namespace cgpo {

// Goes with all that is in it.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const std::string& name) {
    // Not temp_directory_path(): what is wrong with the place shows when the folder is made.
    const char* const given = std::getenv("TMPDIR");
    const bool usual = given == nullptr || *given == '\0';
    const std::filesystem::path place = usual ? "/tmp" : given;
    std::string pattern = (place / (name + "-XXXXXX")).string();
    if (::mkdtemp(pattern.data()) == nullptr) {
      throw UserError("no temporary folder can be made in '{}'{}: {}; let TMPDIR name a folder that can be written",
                      place.string(), usual ? "" : " (TMPDIR)", std::generic_category().message(errno));
    }
    path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace cgpo
