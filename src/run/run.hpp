// A run and its training loop: iterate, log, keep. Nothing here knows which algorithm it runs.
//
// After every iteration, in this order: best.safetensors if the iteration showed a better feasible policy, one line of
// log.jsonl, a snapshot of the policy if it is one of the few to be kept, and, once a second and at the end, what the
// algorithm learned from (run_data.hpp) and checkpoint.safetensors. Whenever the process dies, the folder holds a whole
// checkpoint, a best policy that is at least as new and a log that is at least as long; resuming cuts the log and
// repeats the rest bit for bit. A log, or a best policy, that was damaged by something else does not end the run: it
// goes on from its checkpoint, says so (notes()), and what was damaged is kept beside as NAME.damaged-N.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "cgpo/base/error.hpp"
#include "cgpo/run/run_data.hpp"
#include "cgpo/run/run_folder.hpp"
#include "cgpo/run/run_log.hpp"
#include "cgpo/updates/algorithm.hpp"

namespace cgpo {

// Hears of every iteration when its line is in the log: the line, and environment steps a second of this session. What
// it throws ends the session, after a checkpoint.
using ProgressCallback = std::function<void(const LogEntry& entry, double steps_per_second)>;

// Asked before every iteration: true ends the session, after a checkpoint. None: never.
using StopTest = std::function<bool()>;

struct TrainingResult {
  int iterations = 0;             // done, over all sessions
  bool finished = false;          // false: it was asked to stop
  std::optional<LogEntry> last;   // of the last iteration
  double steps_per_second = 0.0;  // of this session; 0: it did nothing
};

// An iteration failed by the user's simulator. The run is kept as it was before it; opened again, it goes on from
// there.
class IterationFailed : public UserError {
 public:
  IterationFailed(const std::string& cause, int iterations);
  int iterations() const { return iterations_; }  // that are kept

 private:
  int iterations_;
};

// What a run is made of.
struct RunParts {
  Configuration configuration;        // with its task
  std::unique_ptr<RunFolder> folder;  // locked as long as the run is open
  std::unique_ptr<ThreadPool> pool;   // that the algorithm uses
  std::unique_ptr<Algorithm> algorithm;
  std::vector<std::string> notes = {};  // what is to be known of how it begins
};

// An open run. open_run.hpp makes them; start() and resume() are for algorithms that no registry knows.
class Run {
 public:
  // A new run: replaces what is left of another in the folder, and writes the checkpoint of the untrained policy.
  static Run start(RunParts parts);
  // One that goes on from its checkpoint, or begins if it was ended before it had one. Throws UserError if the
  // checkpoint, or the data that it needs, is not usable.
  static Run resume(RunParts parts);

  const Configuration& configuration() const { return parts_.configuration; }
  const Task& task() const { return *parts_.configuration.made; }
  const RunPaths& paths() const { return paths_; }
  int iteration() const { return parts_.algorithm->iteration(); }  // done so far, over all sessions
  // What is to be known of how the run began, or was odd about its folder, and what was done about it, in sentences.
  const std::vector<std::string>& notes() const { return notes_; }
  bool is_finished() const { return iteration() >= parts_.configuration.settings.iterations; }

  // A session: cuts the logs back to the checkpoint, then iterates until the configuration's iterations are done or
  // `stop` says so. Another may follow it. If an iteration fails by the user's simulator, a checkpoint of the
  // iterations before it is written and IterationFailed thrown.
  TrainingResult train(const ProgressCallback& progress = {}, const StopTest& stop = {});

 private:
  struct Session;
  explicit Run(RunParts parts);
  void look_at_lines();                                   // of log and timing; reads only
  void look_at_best();                                    // the same
  void cut_back();                                        // what the checkpoint does not know of
  void record(IterationReport report, Session& session);  // all that is written after an iteration
  void tell(const ProgressCallback& progress, Session& session);
  void take_state();  // the algorithm's, into state_
  void keep_if_best(const IterationReport& report);
  void write_state();                       // and the data that it needs
  void write_checkpoint(Session& session);  // removes data that is no longer needed, too
  void keep_snapshot() const;               // of the policy in state_, if it is one of those to be kept

  RunParts parts_;
  RunPaths paths_;
  RunData data_;
  std::map<std::string, std::string> identity_;  // what every checkpoint of the run says of itself
  Tensors state_;                                // as it was before the iteration that runs
  std::optional<LogEntry> last_;
  std::optional<double> best_return_;
  bool best_is_damaged_ = false;  // and still at its place
  std::vector<std::string> notes_;
};

// Hands a checkpoint to the algorithm; what it throws gets the file's name.
void load_into(Algorithm& algorithm, const Tensors& tensors, const std::filesystem::path& path);

// The policy of another run of this task, configuration.init: its best one, or its last if none was feasible. Its noise
// is policy.initial_std if that was given; else it stays, and policy.initial_std becomes what it is, on average over
// the actions. So this comes before the algorithm is made.
struct FirstPolicy {
  std::filesystem::path path;
  Tensors tensors;
  std::string note;  // what it keeps, as a sentence; empty: nothing that was not asked for
};
FirstPolicy read_first_policy(Configuration& configuration);
void start_from(Algorithm& algorithm, const FirstPolicy& first);

}  // namespace cgpo
