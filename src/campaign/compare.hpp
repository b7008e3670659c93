// Several algorithms, several seeds, one table: trains what is missing, each run in a process of its own, and gathers
// the results in a folder.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cgpo/base/listener.hpp"
#include "cgpo/campaign/comparison.hpp"
#include "cgpo/config/configuration.hpp"

namespace cgpo {

struct CompareRequest {
  std::string task;
  std::string algorithms;             // "a,b@preset,c:key=value"
  std::vector<std::string> vary;      // KEY=VALUE,VALUE,…: each algorithm once for each value of each key
  std::optional<std::string> preset;  // of those that name none
  std::vector<std::string> sets;      // KEY=VALUE, for all
  int seeds = 5;                      // first_seed, first_seed + 1, …
  std::uint64_t first_seed = 0;
  std::map<std::string, int> seeds_of = {};  // of entries that have another number of them, by label
  int evaluate = 0;                          // fresh episodes for each run's last policy; 0: none
  int jobs = 1;
  std::optional<int> threads;      // of each run; the cores shared out among the jobs
  std::optional<std::string> out;  // runs/compare-TASK
};

// What came of it. The folder holds the tables and curves already.
struct CompareResult {
  Comparison comparison;
  std::string table;  // Markdown
  std::string json;
  bool failed = false;  // some run did
  int stopped = 0;      // the signal that ended it early; then there is nothing else here
};
// Throws UserError, before anything is moved or started, for what is wrong with the request or the folder.
CompareResult run_comparison(const CompareRequest& request, const Listener& listener = {});

// The runs that it would start or continue; reads only.
struct PendingRun {
  std::string label;
  Configuration configuration;
  int iterations = 0;  // left
};
std::vector<PendingRun> pending_runs(const CompareRequest& request);

// How many threads each run gets if the request does not say.
int threads_of_each(int jobs, int runs);

}  // namespace cgpo
