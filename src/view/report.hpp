// One page about one or several runs of a task: curves, verdicts, the robot, the configuration.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cgpo/base/thread_pool.hpp"
#include "cgpo/config/configuration.hpp"
#include "cgpo/run/run_folder.hpp"
#include "cgpo/run/run_log.hpp"

namespace cgpo {

// A run as a page shows it.
struct ReportedRun {
  RunPaths paths;
  Configuration configuration;
  std::vector<LogEntry> log;
  std::vector<std::string> notes;  // what a reader should know, a sentence each
};

// Throws UserError if there is no run at this place, or it would start a program without consent.
ReportedRun read_run(const std::filesystem::path& folder, const Consent& consent = {});

// Those of one page; the folder of a comparison stands for its runs. Throws UserError if they are not of one task.
std::vector<ReportedRun> read_runs(const std::vector<std::string>& names, const Consent& consent = {});

// Runs that differ in nothing but the seed.
struct RunGroup {
  std::string label;
  std::vector<std::size_t> runs;  // indices, in the order in which they were given
};
std::vector<RunGroup> group_runs(const std::vector<ReportedRun>& runs);

struct PageOptions {
  int episodes = 1024;                    // of the evaluation; 0: none
  bool curves = true;                     // false: the replay alone
  int replays = 1;                        // episodes of each policy that are shown; 0: none
  bool noise = false;                     // let the policy act as in training
  std::optional<std::int64_t> seed = {};  // of evaluation and replay; the run's own unless given
  bool live = false;                      // the page asks the program that serves it for more
};

// All that the page shows. Left out are options of the task that are secret; of a live page, which anyone on this
// machine may read, also the command line, folders and other free texts.
Json page_data(const std::vector<ReportedRun>& runs, const PageOptions& options, ThreadPool& pool);
std::string page_from(const Json& data);

}  // namespace cgpo
