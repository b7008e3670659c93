#include "cgpo/rollout/collect.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cgpo/base/interruption.hpp"

namespace cgpo {
namespace {

template <class Real>
class BlockRollout {
 public:
  BlockRollout(const Simulator<Real>& simulator, const Actor<Real>& actor, const EpisodeKey& key, int environments,
               bool deterministic, TrajectoryBlock<Real>& block)
      : simulator_(simulator),
        actor_(actor),
        key_(key),
        environments_(environments),
        deterministic_(deterministic),
        block_(block),
        memory_(block.memory),
        spec_(simulator.spec()) {}

  void run() {
    reset();
    for (int t = 0; begins(t); ++t) {
      look_for_interruption();
      act(t);
      step(t, {0, lanes()}, memory_.simulator);
      close(t);
    }
    finish();
  }

  int lanes() const { return block_.lanes(); }
  bool keeps_inner() const { return block_.keep == Keep::kInner; }
  std::uint32_t stream_of(int lane) const {
    return key_.first_environment + static_cast<std::uint32_t>((block_.environments.begin + lane) * key_.every);
  }

  void reset() {
    std::fill(block_.length.begin(), block_.length.end(), block_.horizon);
    std::fill(block_.ended.begin(), block_.ended.end(), std::uint8_t{0});
    std::fill(block_.diverged.begin(), block_.diverged.end(), std::uint8_t{0});
    std::fill(block_.sums.begin(), block_.sums.end(), 0.0);
    std::fill(block_.paper_sums.begin(), block_.paper_sums.end(), 0.0);
    block_.moments.clear();
    block_.simulated = 0;
    memory_.keep.assign(static_cast<std::size_t>(lanes()), 1);
    memory_.stray.resize(static_cast<std::size_t>(lanes()));
    memory_.whole = true;
    memory_.reward_paper.resize(static_cast<std::size_t>(lanes()));
    memory_.ended.resize(static_cast<std::size_t>(lanes()));
    const std::ptrdiff_t columns = keeps_inner() ? block_.column(block_.horizon) : lanes();
    if (block_.units.rows() != actor_.policy.unit_count() || block_.units.columns() < columns)
      block_.units.resize(actor_.policy.unit_count(), columns);
    simulator_.start({.seed = key_.seed,
                      .purpose = key_.reset,
                      .iteration = key_.iteration,
                      .first_stream = key_.first_environment,
                      .environment = block_.environments.begin,
                      .every = key_.every,
                      .environments = environments_},
                     block_.states.view(), lanes(), memory_.simulator);
    simulator_.observe(block_.states.view(), block_.observations.view(), lanes(), memory_.simulator);
  }

  // Whether there is a step t: not after one that left no environment that counts for any signal.
  bool begins(int t) const {
    return t < block_.horizon && block_.simulated == t &&
           std::any_of(memory_.keep.begin(), memory_.keep.end(), [](std::uint8_t flag) { return flag != 0; });
  }

  void normalise(int t) {
    const std::ptrdiff_t column = block_.column(t);
    actor_.normaliser.normalise(std::as_const(block_.observations).view().from_column(column),
                                block_.inputs.view().from_column(column), lanes());
  }

  void act(int t) {
    const std::ptrdiff_t column = block_.column(t);
    normalise(t);
    block_.moments.add(std::as_const(block_.observations).view().from_column(column), lanes(), memory_.keep.data());
    Rows<Real> noise = block_.noise.view().from_column(column);
    for (int lane = 0; lane < lanes(); ++lane) {
      RandomStream random(key_.seed, key_.noise, key_.iteration, stream_of(lane), static_cast<std::uint32_t>(t));
      for (int a = 0; a < spec_.actions; ++a)
        noise.row(a)[lane] = deterministic_ ? Real(0) : static_cast<Real>(random.normal());
    }
    actor_.policy.forward(actor_.parameters, std::as_const(block_.inputs).view().from_column(column), noise,
                          block_.units.view().from_column(keeps_inner() ? column : 0),
                          block_.actions.view().from_column(column), lanes());
  }

  // Of some of the lanes.
  void step(int t, const Block& some, SimulatorScratch<Real>& scratch) {
    const std::ptrdiff_t column = block_.column(t) + some.begin;
    const std::ptrdiff_t next = block_.column(t + 1) + some.begin;
    simulator_.step({.state = std::as_const(block_.states).view().from_column(column),
                     .action = std::as_const(block_.actions).view().from_column(column),
                     .next_state = block_.states.view().from_column(next),
                     .observation = block_.observations.view().from_column(next),
                     .signals = block_.signals.view().from_column(column),
                     .reward_paper = memory_.reward_paper.data() + some.begin,
                     .ended = memory_.ended.data() + some.begin,
                     .inner = block_.inner.rows() > 0 ? block_.inner.view().from_column(column) : Rows<Real>(),
                     .environment = block_.environments.begin + some.begin,
                     .keep = memory_.keep.data() + some.begin},
                    some.size, scratch);
  }

  // Marks the lanes that left the finite numbers or the task's bound; whether there are any.
  bool find_strays(int t) {
    std::uint8_t* const stray = memory_.stray.data();
    std::fill_n(stray, lanes(), std::uint8_t{0});
    const auto bound = static_cast<Real>(spec_.divergence_bound);
    const auto check_rows = [&](const RowStore<Real>& rows, std::ptrdiff_t column, Real largest) {
      for (int i = 0; i < rows.rows(); ++i) {
        const Real* const row = rows.view().row(i) + column;
        for (int lane = 0; lane < lanes(); ++lane) {
          stray[lane] |=
              static_cast<std::uint8_t>(!(std::abs(row[lane]) <= largest));  // written so that NaN strays too
        }
      }
    };
    check_rows(block_.states, block_.column(t + 1), bound);
    check_rows(block_.observations, block_.column(t + 1), std::numeric_limits<Real>::max());
    check_rows(block_.signals, block_.column(t), std::numeric_limits<Real>::max());
    return std::any_of(stray, stray + lanes(), [](std::uint8_t flag) { return flag != 0; });
  }

  // What TrajectoryBlock::strayed says of a lane that has just strayed.
  int first_stray(int t, int lane) const {
    const auto all_within = [lane](const RowStore<Real>& rows, std::ptrdiff_t column, Real largest) {
      for (int i = 0; i < rows.rows(); ++i) {
        if (!(std::abs(rows.view().row(i)[column + lane]) <= largest)) return false;
      }
      return true;
    };
    const Real finite = std::numeric_limits<Real>::max();
    if (!all_within(block_.states, block_.column(t + 1), static_cast<Real>(spec_.divergence_bound))) return 0;
    if (!all_within(block_.observations, block_.column(t + 1), finite)) return 1;
    int k = 0;
    while (k + 1 < simulator_.signals() && std::abs(block_.signals.view().row(k)[block_.column(t) + lane]) <= finite)
      ++k;
    return 2 + k;
  }

  void freeze(int t, int lane) {
    const std::ptrdiff_t column = block_.column(t) + lane;
    const std::ptrdiff_t next = block_.column(t + 1) + lane;
    for (int i = 0; i < spec_.states; ++i) block_.states.view().row(i)[next] = block_.states.view().row(i)[column];
    for (int i = 0; i < spec_.observations; ++i)
      block_.observations.view().row(i)[next] = block_.observations.view().row(i)[column];
    for (int k = 0; k < simulator_.signals(); ++k) block_.signals.view().row(k)[column] = Real(0);
  }

  // Books what the step brought: divergence, sums, the episode's end.
  void close(int t) {
    const bool strays = find_strays(t);
    const bool ends =
        std::any_of(memory_.ended.begin(), memory_.ended.end(), [](Real flag) { return flag != Real(0); });
    memory_.whole = memory_.whole && !strays && !ends;
    if (memory_.whole) {
      add_signals(t);
    } else {
      for (int lane = 0; lane < lanes(); ++lane) close_lane(t, lane);
    }
    block_.simulated = t + 1;
  }

  void finish() { normalise(block_.simulated); }

  // Every lane counts for every signal.
  void add_signals(int t) {
    for (int k = 0; k < simulator_.signals(); ++k) {
      const Real* const signal = block_.signals.view().row(k) + block_.column(t);
      double* const sum = block_.sums.data() + std::ptrdiff_t{k} * lanes();
      for (int lane = 0; lane < lanes(); ++lane) sum[lane] += static_cast<double>(signal[lane]);
    }
    for (int lane = 0; lane < lanes(); ++lane) {
      const auto l = static_cast<std::size_t>(lane);
      block_.paper_sums[l] += static_cast<double>(memory_.reward_paper[l]);
    }
  }

  void close_lane(int t, int lane) {
    const auto l = static_cast<std::size_t>(lane);
    if (memory_.stray[l] != 0 && block_.diverged[l] == 0) {
      block_.diverged[l] = 1;
      block_.strayed[l] = first_stray(t, lane);
    }
    if (block_.diverged[l] != 0) {
      freeze(t, lane);
      memory_.keep[l] = 0;
      return;
    }
    for (int k = 0; k < simulator_.signals(); ++k) {
      Real& signal = block_.signals.view().row(k)[block_.column(t) + lane];
      if (!counts(block_, simulator_.stops_at_end(k), t, lane)) signal = Real(0);
      block_.sums[block_.sum_index(k, lane)] += static_cast<double>(signal);
    }
    if (counts(block_, simulator_.stops_at_end(0), t, lane))
      block_.paper_sums[l] += static_cast<double>(memory_.reward_paper[l]);
    if (memory_.ended[l] != Real(0)) {
      block_.ended[l] = 1;
      block_.length[l] = std::min(block_.length[l], t + 1);
    }
    bool any = false;
    for (int k = 0; k < simulator_.signals(); ++k) any = any || counts(block_, simulator_.stops_at_end(k), t + 1, lane);
    memory_.keep[l] = any ? 1 : 0;
  }

 private:
  const Simulator<Real>& simulator_;
  const Actor<Real>& actor_;
  const EpisodeKey& key_;
  int environments_;  // of the whole batch
  bool deterministic_;
  TrajectoryBlock<Real>& block_;
  RolloutMemory<Real>& memory_;
  const TaskSpec& spec_;
};

// Lanes of a block that a thread steps at a time, where threads share the blocks.
struct Piece {
  int block;
  Block lanes;
};

// More of them than threads, so that one that takes longer does not keep the others waiting.
template <class Real>
std::vector<Piece> cut_to_pieces(const Batch<Real>& batch, int threads) {
  constexpr int kPiecesAThread = 4;
  const int lanes = std::max(1, batch.environments / (kPiecesAThread * threads));
  std::vector<Piece> pieces;
  for (int b = 0; b < static_cast<int>(batch.blocks.size()); ++b) {
    for (const Block& some : fixed_blocks(batch.blocks[static_cast<std::size_t>(b)].lanes(), lanes))
      pieces.push_back({b, some});
  }
  return pieces;
}

// Whether threads that take whole blocks would wait for the last of them for more than a tenth of the time.
template <class Real>
bool leaves_threads_idle(const Batch<Real>& batch, int threads) {
  const auto blocks = static_cast<std::int64_t>(batch.blocks.size());
  const std::int64_t rounds = (blocks + threads - 1) / threads;
  return 10 * rounds * threads * batch.blocks.front().lanes() > std::int64_t{11} * batch.environments;
}

// All blocks side by side, step by step. A lane's step depends on no other lane, so the bits are those of whole blocks.
template <class Real>
void run_in_pieces(std::vector<BlockRollout<Real>>& rollouts, ThreadPool& pool, Batch<Real>& batch) {
  const std::vector<Piece> pieces = cut_to_pieces(batch, pool.size());
  std::vector<SimulatorScratch<Real>>& scratch = batch.blocks.front().memory.of_pieces;
  if (scratch.size() < pieces.size()) scratch.resize(pieces.size());
  const int blocks = static_cast<int>(rollouts.size());
  const auto act = [&](int b, int t) {
    BlockRollout<Real>& rollout = rollouts[static_cast<std::size_t>(b)];
    if (rollout.begins(t)) rollout.act(t);
  };
  pool.run(blocks, [&](int b) {
    rollouts[static_cast<std::size_t>(b)].reset();
    act(b, 0);
  });
  const auto any_begins = [&](int t) {
    return std::any_of(rollouts.begin(), rollouts.end(), [t](const auto& rollout) { return rollout.begins(t); });
  };
  for (int t = 0; any_begins(t); ++t) {
    pool.run(static_cast<int>(pieces.size()), [&](int i) {
      const Piece& piece = pieces[static_cast<std::size_t>(i)];
      BlockRollout<Real>& rollout = rollouts[static_cast<std::size_t>(piece.block)];
      if (rollout.begins(t)) rollout.step(t, piece.lanes, scratch[static_cast<std::size_t>(i)]);
    });
    pool.run(blocks, [&](int b) {
      BlockRollout<Real>& rollout = rollouts[static_cast<std::size_t>(b)];
      if (rollout.begins(t)) rollout.close(t);
      act(b, t + 1);
    });
  }
  for (BlockRollout<Real>& rollout : rollouts) rollout.finish();
}

}  // namespace

template <class Real>
void collect(const Simulator<Real>& simulator, const Actor<Real>& actor, const EpisodeKey& key, bool deterministic,
             ThreadPool& pool, Batch<Real>& batch) {
  const auto rollout_of = [&](TrajectoryBlock<Real>& block) {
    return BlockRollout<Real>(simulator, actor, key, key.of > 0 ? key.of : batch.environments, deterministic, block);
  };
  if (simulator.steps_lane_by_lane() && pool.size() > 1 && leaves_threads_idle(batch, pool.size())) {
    std::vector<BlockRollout<Real>> rollouts;
    for (auto& block : batch.blocks) rollouts.push_back(rollout_of(block));
    run_in_pieces(rollouts, pool, batch);
    return;
  }
  pool.run(static_cast<int>(batch.blocks.size()),
           [&](int b) { rollout_of(batch.blocks[static_cast<std::size_t>(b)]).run(); });
}

template void collect(const Simulator<float>&, const Actor<float>&, const EpisodeKey&, bool, ThreadPool&,
                      Batch<float>&);
template void collect(const Simulator<double>&, const Actor<double>&, const EpisodeKey&, bool, ThreadPool&,
                      Batch<double>&);

}  // namespace cgpo
