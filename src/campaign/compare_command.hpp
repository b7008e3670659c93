// `cgpo compare`: several algorithms, several seeds, one table.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cgpo/campaign/comparison.hpp"
#include "cgpo/config/configuration.hpp"
#include "cgpo/config/value.hpp"

namespace cgpo {

struct CompareRequest {
  std::string task;
  std::string algorithms;             // "a,b@preset,c:key=value"
  std::optional<std::string> preset;  // of those that name none
  std::vector<std::string> sets;      // KEY=VALUE, for all
  int seeds = 5;                      // 0, 1, …
  int jobs = 1;
  std::optional<int> threads;      // of each run; the cores shared out among the jobs
  std::optional<std::string> out;  // runs/compare-TASK
  bool json = false;
};

// What came of it. The folder holds the tables and curves already.
struct CompareResult {
  Comparison comparison;
  std::string table;  // Markdown
  std::string json;
  bool failed = false;  // some run did
  int stopped = 0;      // the signal that ended it early; then there is nothing else here
};
CompareResult run_comparison(const CompareRequest& request);

// The runs that it would start or continue; reads only.
struct PendingRun {
  std::string label;
  Configuration configuration;
  int iterations = 0;  // left
};
std::vector<PendingRun> pending_runs(const CompareRequest& request);

// How many threads each run gets if the request does not say.
int threads_of_each(int jobs, int runs);

// Exit code: 0 when all runs are done, 1 if one of them failed, 128 + the signal's number if one ended it early.
int compare_command(const CompareRequest& request);

}  // namespace cgpo
