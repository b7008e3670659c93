// Follows a file of lines as it grows: only what is new is read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace cgpo {

class LineTail {
 public:
  struct News {
    bool from_the_start = false;     // the file has begun anew: what was read before is not in it any more
    std::vector<std::string> lines;  // without their ends; a line that has no end yet is left for later
  };

  explicit LineTail(std::filesystem::path path) : path_(std::move(path)) {}

  // What has come since the last call. Lines may also be taken back: a run that is resumed cuts its log to the
  // checkpoint, one that is replaced takes it away for a moment. A file that is not there is an empty one.
  News read();

 private:
  std::filesystem::path path_;
  std::uint64_t read_ = 0;  // bytes
  std::string last_;        // line that ends there, with its end
};

}  // namespace cgpo
