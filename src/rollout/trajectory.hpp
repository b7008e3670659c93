// N episodes of T steps, as a rollout leaves them.
#pragma once

#include <cstdint>
#include <vector>

#include "cgpo/base/thread_pool.hpp"
#include "cgpo/nn/normaliser.hpp"
#include "cgpo/nn/row_store.hpp"
#include "cgpo/tasks/simulators/simulator.hpp"

namespace cgpo {

// Whether a rollout keeps what the adjoint sweep needs and could compute again at the price of a second forward pass.
enum class Keep : std::uint8_t { kInner, kOutcome };

// How many rows of each kind a batch has.
struct BatchRows {
  int states = 0;
  int observations = 0;
  int actions = 0;
  int signals = 0;
  int inner = 0;  // of the simulator
  int units = 0;  // of the policy
};

// What collecting a block's episodes works with; made once, so that collecting again allocates nothing.
template <class Real>
struct RolloutMemory {
  SimulatorScratch<Real> simulator;
  std::vector<SimulatorScratch<Real>> of_pieces;  // of the first block, where threads share the lanes of all blocks
  std::vector<std::uint8_t> keep;                 // environments that still count for some signal
  std::vector<std::uint8_t> stray;                // environments whose last step was not finite
  bool whole = true;                              // none has ended or diverged yet
  std::vector<Real> reward_paper;
  std::vector<Real> ended;
};

// The episodes of one block of environments. Rows are quantities; the column of step t and lane i is t·B + i, B lanes.
template <class Real>
struct TrajectoryBlock {
  TrajectoryBlock(const Simulator<Real>& simulator, Block environments_in, int horizon_in, Keep keep_in);

  Block environments;
  int horizon;
  Keep keep;
  RowStore<Real> states;        // [states × (T+1)B]
  RowStore<Real> observations;  // [observations × (T+1)B], as the task gives them
  RowStore<Real> inputs;        // [observations × (T+1)B], normalised: what the networks see
  RowStore<Real> noise;         // [actions × TB]
  RowStore<Real> actions;       // [actions × TB]
  RowStore<Real> signals;       // [1+m × TB], 0 where a signal has stopped
  RowStore<Real> inner;         // [inner rows × TB], states between substeps; empty if they are not kept
  RowStore<Real> units;         // [units × TB] of the policy; of the last step only, if not kept
  // Where the windows of an episode do not continue each other (imagine.hpp), what each came to: window w of lane i is
  // column w·B + i. Empty if they do: the next window's first column says it.
  RowStore<Real> end_observations;  // [observations × windows·B]
  RowStore<Real> end_inputs;        // normalised
  RowStore<Real> end_states;        // [states × windows·B], where the states are more than what is observed

  int simulated = 0;                // steps after which no environment of the block counted any more; at most T
  std::vector<int> length;          // steps until the episode's end, that step included; T if it did not end early
  std::vector<std::uint8_t> ended;  // whether it ended by itself, which it may also do with step T
  std::vector<std::uint8_t> diverged;
  std::vector<int> strayed;        // of one that diverged, what did so first: 0 state, 1 observation, 2 + k signal k
  std::vector<double> sums;        // [1+m × B], of each signal over the episode
  std::vector<double> paper_sums;  // [B]
  Moments moments;                 // of the observations in which the policy acted
  RolloutMemory<Real> memory;      // of collect()

  // What a block takes, with the units that a rollout adds and the ends of so many windows.
  static std::int64_t bytes(const BatchRows& rows, int lanes, int horizon, Keep keep, int windows = 0);

  // Takes fewer environments than it was made for, or as many again; what it held is gone.
  void set_lanes(int lanes_in);
  int lanes() const { return environments.size; }
  std::ptrdiff_t column(int t) const { return std::ptrdiff_t{t} * environments.size; }
  // Of a signal's sum over a lane's episode, in `sums`.
  std::size_t sum_index(int signal, int lane) const {
    return static_cast<std::size_t>(signal) * static_cast<std::size_t>(lanes()) + static_cast<std::size_t>(lane);
  }
  bool intact() const;  // no environment ended early or diverged: every step counts for every signal
};

// Whether step t of lane i counts for a signal that stops with the episode, or one that does not.
template <class Real>
bool counts(const TrajectoryBlock<Real>& block, bool stops, int t, int lane) {
  return block.diverged[static_cast<std::size_t>(lane)] == 0 &&
         (!stops || t < block.length[static_cast<std::size_t>(lane)]);
}

template <class Real>
struct Batch {
  Batch(const Simulator<Real>& simulator, int environments_in, int horizon_in, int block_size,
        Keep keep = Keep::kInner);

  int environments;  // of this batch; at most as many as it was made for
  int horizon;
  int signals;
  bool lattice_starts;  // as the task says
  std::vector<TrajectoryBlock<Real>> blocks;

  // Makes it a batch of so many environments, within the memory that it has; what it held is gone.
  void use(int environments_in);
  // What it was made for.
  int capacity() const;

  // The number of step t of an environment's episode, where all steps of the batch are numbered.
  std::ptrdiff_t sample(int t, int environment) const { return std::ptrdiff_t{t} * environments + environment; }
  int intact_environments() const;  // that did not diverge
  Moments moments() const;          // of all blocks, merged in their order

 private:
  int block_size_;
  std::vector<TrajectoryBlock<Real>> spare_;  // blocks that this batch does not need; the last is the next to come back
  int last_block_lanes_;                      // of the last block, when all are used
};

// visit(block, lane) of every episode that did not diverge, in the order of the environments.
template <class Real, class Visit>
void for_each_episode(const Batch<Real>& batch, Visit visit) {
  for (const auto& block : batch.blocks) {
    for (int lane = 0; lane < block.lanes(); ++lane) {
      if (block.diverged[static_cast<std::size_t>(lane)] == 0) visit(block, lane);
    }
  }
}

// J of every signal, with its standard error, over the episodes that did not diverge. What too few of them are left to
// tell is NaN: every mean if there is none, standard errors if there are fewer than two.
struct BatchStatistics {
  std::vector<double> mean;  // [1+m]
  std::vector<double> standard_error;
  double return_paper = 0.0;
  double episode_length = 0.0;
  int diverged = 0;
};

template <class Real>
BatchStatistics summarise(const Batch<Real>& batch);

// The sum of a signal over each episode that did not diverge, in the order of the environments.
template <class Real>
std::vector<double> episode_sums(const Batch<Real>& batch, int signal);

// A signal's sums over episodes of two batches from the same start states, those that diverged in neither: environments
// 0, 1, … of the second are 0, every, 2·every, … of the first.
struct PairedSums {
  std::vector<double> first, second;
  std::vector<int> environments;  // of the first batch

  double mean_difference() const;               // second less first; NaN of none
  double standard_error_of_difference() const;  // NaN of fewer than two
};
template <class Real>
PairedSums pair_episodes(const Batch<Real>& first, const Batch<Real>& second, int every, int signal);

}  // namespace cgpo
