// The training loop: iterate, log, keep. Nothing here knows which algorithm it runs.
//
// After every iteration, in this order: best.safetensors if the iteration showed a better feasible policy, one line of
// log.jsonl, a snapshot of the policy if it is one of the few to be kept, and, once a second and at the end, what the
// algorithm learned from (run_data.hpp) and checkpoint.safetensors. Whenever the process dies, the folder holds a whole
// checkpoint, a best policy that is at least as new and a log that is at least as long; resuming cuts the log and
// repeats the rest bit for bit.
#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include "cgpo/run/progress.hpp"
#include "cgpo/run/run_data.hpp"
#include "cgpo/run/run_folder.hpp"
#include "cgpo/run/run_log.hpp"
#include "cgpo/updates/algorithm.hpp"

namespace cgpo {

struct TrainingResult {
  int iterations = 0;             // done, over all sessions
  bool finished = false;          // false: it was asked to stop
  std::optional<LogEntry> last;   // of the last iteration
  double steps_per_second = 0.0;  // of this session; 0: it did nothing
};

class Training {
 public:
  // A new run, in a folder that begin() has prepared: writes the checkpoint of the untrained policy.
  static Training start(std::unique_ptr<Algorithm> algorithm, const Configuration& configuration,
                        const RunFolder& folder);
  // One that goes on from its checkpoint. Throws UserError if checkpoint or log are not usable.
  static Training resume(std::unique_ptr<Algorithm> algorithm, const Configuration& configuration,
                         const RunFolder& folder);

  int iteration() const { return algorithm_->iteration(); }
  // Cuts the logs back to the checkpoint, then iterates until the configuration's iterations are done, or `stop` is not
  // 0 at the end of one. If an iteration fails by the user's simulator, a checkpoint of the iterations before it is
  // written and UserError thrown on.
  TrainingResult run(Progress& progress, const std::atomic<int>& stop);

 private:
  Training(std::unique_ptr<Algorithm> algorithm, const Configuration& configuration, const RunFolder& folder);
  void take_state();  // the algorithm's, into state_
  void keep_if_best(const IterationReport& report);
  void write_state();          // and the data that it needs
  void write_checkpoint();     // removes data that is no longer needed, too
  void keep_snapshot() const;  // of the policy in state_, if it is one of those to be kept

  std::unique_ptr<Algorithm> algorithm_;
  Configuration configuration_;
  const RunPaths paths_;
  RunData data_;
  Tensors state_;  // as it was before the iteration that runs
  std::optional<LogEntry> last_;
  std::optional<double> best_return_;
};

// Hands a checkpoint to the algorithm; what it throws gets the file's name.
void load_into(Algorithm& algorithm, const Tensors& tensors, const std::filesystem::path& path);

// Starts from the policy of another run of this task: its best one, or its last if none was feasible.
void start_from(Algorithm& algorithm, const Configuration& configuration);

}  // namespace cgpo
