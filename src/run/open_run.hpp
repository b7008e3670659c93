// A run as a program uses it: open, train, ask. Nothing here prints, handles signals or changes what others see, so
// a process may have several runs, one after another or side by side.
//
//   Run run = open_run(resolve_configuration({.task = "function"}), {.folder = "runs/mine"});
//   run.train([](const LogEntry& entry, double) { … });
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cgpo/run/run.hpp"

namespace cgpo {

struct RunOptions {
  std::filesystem::path folder = {};  // empty: default_folder()
  FolderMode mode = FolderMode::kNew;
  bool allow_unsupported = false;  // train a robot without those of its elements that the own engine does not know
  int threads = 1;                 // results do not depend on it
};

// A robot has elements that the own engine does not know: it is trained without them only when told so, never silently.
class UnsupportedElements : public UserError {
 public:
  UnsupportedElements(std::string task, std::vector<std::string> elements);
  const std::string& task() const { return task_; }
  const std::vector<std::string>& elements() const { return elements_; }

 private:
  std::string task_;
  std::vector<std::string> elements_;
};

// Where a run with these options is.
std::filesystem::path folder_of(const Configuration& configuration, const RunOptions& options);

// Where the run is that a request to go on means, if it names no folder: where a new one would have been put. UserError
// if it names no task either.
std::filesystem::path folder_to_resume(const ConfigurationRequest& request);

// The algorithm of a new run, ready to iterate, and what is to be known of how it begins. Refuses all that can be
// refused of one, and writes nothing. The noise of a policy from another run becomes part of `configuration`.
struct PreparedRun {
  std::unique_ptr<Algorithm> algorithm;
  std::vector<std::string> notes;
};
PreparedRun prepare_new_run(Configuration& configuration, const RunOptions& options, ThreadPool& pool);

// A new run, or with FolderMode::kResume the one in the folder, whose configuration must be the same but for
// `iterations`. All that can be refused is refused before anything is written. What the folder's configuration says is
// compared and starts nothing; what this one may start was settled when it was resolved (see Consent). Throws
// UserError, among them UnsupportedElements.
Run open_run(Configuration configuration, const RunOptions& options = {});

}  // namespace cgpo
