// Training runs as child processes of the program itself: what one of them does to itself, it does not do to the
// others.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace cgpo {

struct ChildRun {
  std::string name;                    // for people
  std::vector<std::string> arguments;  // of the program
  std::filesystem::path output;        // takes what it prints
  std::filesystem::path log;           // log.jsonl of the run, to see how far it is
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

// Runs them, `jobs` at a time, and shows on standard error how far they are. SIGINT and SIGTERM are handed on: every
// child stops after its iteration, with a checkpoint, and no further one is started. Should this process die, its
// children get a SIGTERM.
ChildRunsResult run_children(const std::vector<ChildRun>& runs, int jobs, int finished_before);

// Runs a program that is found on the PATH, in a folder, its output going to a file. Returns its exit code; 127: there
// is no such program.
int run_program(const std::vector<std::string>& words, const std::filesystem::path& folder,
                const std::filesystem::path& output);

}  // namespace cgpo
