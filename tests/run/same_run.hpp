// Whether two runs left the same bits behind.
#pragma once

#include <gtest/gtest.h>
#include <sstream>
#include <string>

#include "cgpo/base/file.hpp"
#include "cgpo/run/run_folder.hpp"
#include "cgpo/run/run_log.hpp"

namespace cgpo {

// log.jsonl without the one field that depends on the clock.
inline std::string log_without_seconds(const std::filesystem::path& run) {
  std::istringstream text(read_file(RunPaths{run}.log()));
  std::string result;
  for (std::string line; std::getline(text, line);) {
    Json entry = Json::parse(line);
    entry.erase("seconds");
    result += entry.dump() + "\n";
  }
  return result;
}

inline void expect_same_run(const std::filesystem::path& a, const std::filesystem::path& b) {
  const RunPaths left{a};
  const RunPaths right{b};
  EXPECT_EQ(read_file(left.checkpoint()), read_file(right.checkpoint()));
  ASSERT_EQ(std::filesystem::exists(left.best()), std::filesystem::exists(right.best()));
  if (std::filesystem::exists(left.best())) {
    EXPECT_EQ(read_file(left.best()), read_file(right.best()));
  }
  EXPECT_EQ(log_without_seconds(a), log_without_seconds(b));
}

}  // namespace cgpo
