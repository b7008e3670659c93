// Training runs as child processes of the program itself: what one of them does to itself, it does not do to the
// others.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cgpo/base/listener.hpp"

namespace cgpo {

struct ChildRun {
  std::string name;                    // for people
  std::vector<std::string> arguments;  // of the program
  std::filesystem::path output;        // takes what it prints
  std::filesystem::path log;           // log.jsonl of the run, to see how far it is
  int environments = 0;                // of each iteration
  int iterations = 0;                  // that it will have when it is done
  int done = 0;                        // that it has already
};

struct ChildOutcome {
  std::string problem;  // empty: it did all its iterations
};

struct ChildRunsResult {
  std::vector<ChildOutcome> outcomes;  // in the order of the runs
  int stopped = 0;                     // the signal that ended it all early, 0: none
};

// Runs them, `jobs` at a time, and tells the listener how far they are. When it asks to stop, every child stops after
// its iteration, with a checkpoint, and no further one is started. Should this process die, its children get a SIGTERM.
ChildRunsResult run_children(const std::vector<ChildRun>& runs, int jobs, int finished_before,
                             const Listener& listener);

}  // namespace cgpo
