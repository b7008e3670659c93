// Private to this folder: a place for files that nobody needs afterwards.
#pragma once

#include <filesystem>
#include <stdlib.h>
#include <string>

#include "cgpo/base/error.hpp"

namespace cgpo {

// Goes with all that is in it.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const std::string& name) {
    std::string pattern = (std::filesystem::temp_directory_path() / (name + "-XXXXXX")).string();
    if (::mkdtemp(pattern.data()) == nullptr) throw UserError("cannot make a folder '{}'", pattern);
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
