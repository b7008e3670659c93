// N environments of a task for somebody else's algorithm, which steps them: actions in, what follows from them out.
//
// Outside of it a batch is what the field is used to, one row an environment; inside it is rows of quantities.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "cgpo/base/thread_pool.hpp"
#include "cgpo/nn/row_store.hpp"
#include "cgpo/tasks/simulators/simulator.hpp"

namespace cgpo {

// When an environment whose episode is over begins the next one: with the next step, whose action is then not looked
// at; within the step that ended it; or when it is told to.
enum class Autoreset : std::uint8_t { kNextStep, kSameStep, kDisabled };

// What a step brought, row by row of environments; the caller's memory. Where an episode diverged the observation is
// the last one that was finite, and the episode is over.
struct SteppedEnvironments {
  float* observations;        // [N × observations]; kSameStep: of the new episode where one began
  float* final_observations;  // [N × observations], kSameStep: of episodes that ended with this step; other rows stay
  double* rewards;            // [N]
  double* costs;              // [costs × N]
  bool* terminated;           // [N], by itself, or diverged
  bool* truncated;            // [N], at the horizon, and not terminated
  bool* diverged;             // [N]
  bool* stepped;              // [N], false where kNextStep began an episode instead
};

class Environments {
 public:
  // An episode is truncated after so many steps; 0: never. `costs` are indices of the task's.
  Environments(std::shared_ptr<const Task> task, std::vector<int> costs, int count, int horizon, Autoreset autoreset,
               int threads);

  const TaskSpec& spec() const { return task_->spec(); }
  const std::vector<int>& costs() const { return simulator_->costs(); }
  int count() const { return count_; }

  // Environment i begins the episodes of seeds[i] from their first on. It is the same episode for the same seed,
  // wherever the environment stands in the batch.
  void seed(int environment, std::uint64_t seed);
  // Where `which` says so (null: everywhere) the next episode begins. Fills all observations.
  void reset(const bool* which, float* observations);
  // UserError if an episode is over that kDisabled leaves to the caller. Actions [N × actions] are clipped to ±1.
  void step(const float* actions, const SteppedEnvironments& results);

  // [N × states]; who sets a state goes on with the episode from there.
  void read_states(float* states) const;
  void write_states(const float* states, float* observations);

 private:
  struct Memory {  // of a block
    SimulatorScratch<float> simulator;
    std::vector<double> start;
    std::vector<int> fresh;            // lanes that begin an episode
    RowStore<float> states, observed;  // of these, one after the other
    RowStore<float> actions, signals, outcome;
    std::vector<std::uint8_t> stray;
  };
  struct Life {  // of an environment
    std::uint64_t seed = 0;
    std::uint32_t episode = 0;  // the next one
    std::int64_t steps = 0;     // of this one
    bool over = false;
  };

  Block block(int b) const { return blocks_[static_cast<std::size_t>(b)]; }
  Life& life(int environment) { return lives_[static_cast<std::size_t>(environment)]; }
  void begin(int environment, Memory& memory, int column);
  // The lanes in memory.fresh begin episodes, in the rows of `states` and `observations`.
  void begin_fresh(const Block& block, Memory& memory, Rows<float> states, Rows<float> observations);
  void step_block(const Block& block, Memory& memory, const float* actions, const SteppedEnvironments& results);
  void take_actions(const Block& block, Memory& memory, const float* actions) const;
  void find_strays(const Block& block, Memory& memory);
  void close(const Block& block, Memory& memory, const SteppedEnvironments& results);
  void show(const Block& block, Rows<const float> rows, int size, float* out) const;

  std::shared_ptr<const Task> task_;
  std::unique_ptr<Simulator<float>> simulator_;
  bool outside_;  // the environments are a simulator's, which begins and steps each by its number
  int count_;
  int horizon_;
  Autoreset autoreset_;
  ThreadPool pool_;
  std::vector<Block> blocks_;
  std::vector<Memory> memories_;
  std::vector<Life> lives_;
  RowStore<float> states_, observations_;            // now
  RowStore<float> next_states_, next_observations_;  // after the step
};

}  // namespace cgpo
