// `cgpo compare`: several algorithms, several seeds, one table.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cgpo/run/value.hpp"

namespace cgpo {

struct CompareRequest {
  std::string task;
  std::string algorithms;             // "a,b@preset,c:key=value"
  std::optional<std::string> preset;  // of those that name none
  std::vector<std::string> sets;      // KEY=VALUE, for all
  int seeds = 5;                      // 0, 1, …
  int jobs = 1;
  std::optional<std::string> out;  // runs/compare-TASK
  bool json = false;
};

// Exit code: 0 when all runs are done, 1 if one of them failed, 128 + the signal's number if one ended it early.
int compare_command(const CompareRequest& request);

}  // namespace cgpo
