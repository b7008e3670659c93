#include "cgpo/rollout/collect.hpp"

#include <algorithm>
#include <cmath>

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
        spec_(simulator.task().spec()) {}

  void run() {
    reset();
    for (int t = 0; t < block_.horizon && running(); ++t) {
      act(t);
      step(t);
      close(t);
      block_.simulated = t + 1;
    }
    normalise(block_.simulated);
  }

 private:
  int lanes() const { return block_.lanes(); }
  std::uint32_t stream_of(int lane) const {
    return key_.first_environment + static_cast<std::uint32_t>(block_.environments.begin + lane);
  }

  void reset() {
    std::fill(block_.length.begin(), block_.length.end(), block_.horizon);
    std::fill(block_.diverged.begin(), block_.diverged.end(), std::uint8_t{0});
    std::fill(block_.sums.begin(), block_.sums.end(), 0.0);
    std::fill(block_.paper_sums.begin(), block_.paper_sums.end(), 0.0);
    block_.moments.clear();
    block_.simulated = 0;
    keep_.assign(static_cast<std::size_t>(lanes()), 1);
    reward_paper_.resize(static_cast<std::size_t>(lanes()));
    ended_.resize(static_cast<std::size_t>(lanes()));
    units_.resize(actor_.policy.unit_count(), lanes());
    std::vector<double> state(static_cast<std::size_t>(spec_.states));
    for (int lane = 0; lane < lanes(); ++lane) {
      RandomStream random(key_.seed, key_.reset, key_.iteration, stream_of(lane));
      // Step 1 of the first environment: a stream that no reset draws from, since those are step 0.
      const BatchPlace place{
          .environment = block_.environments.begin + lane,
          .environments = environments_,
          .common = RandomStream(key_.seed, key_.reset, key_.iteration, key_.first_environment, /*step=*/1)};
      simulator_.task().reset_in_batch(random, place, state);
      for (int i = 0; i < spec_.states; ++i)
        block_.states.view().row(i)[lane] = static_cast<Real>(state[static_cast<std::size_t>(i)]);
    }
    simulator_.observe(block_.states.view(), block_.observations.view(), lanes(), scratch_);
  }

  // Whether any environment still counts for any signal.
  bool running() const {
    return std::any_of(keep_.begin(), keep_.end(), [](std::uint8_t flag) { return flag != 0; });
  }

  void normalise(int t) {
    const int column = block_.column(t);
    actor_.normaliser.normalise(std::as_const(block_.observations).view().from_column(column),
                                block_.inputs.view().from_column(column), lanes());
  }

  void act(int t) {
    const int column = block_.column(t);
    normalise(t);
    block_.moments.add(std::as_const(block_.observations).view().from_column(column), lanes(), keep_.data());
    Rows<Real> noise = block_.noise.view().from_column(column);
    for (int lane = 0; lane < lanes(); ++lane) {
      RandomStream random(key_.seed, key_.noise, key_.iteration, stream_of(lane), static_cast<std::uint32_t>(t));
      for (int a = 0; a < spec_.actions; ++a)
        noise.row(a)[lane] = deterministic_ ? Real(0) : static_cast<Real>(random.normal());
    }
    actor_.policy.forward(actor_.parameters, std::as_const(block_.inputs).view().from_column(column), noise,
                          units_.view(), block_.actions.view().from_column(column), lanes());
  }

  void step(int t) {
    const int column = block_.column(t);
    const int next = block_.column(t + 1);
    simulator_.step({.state = std::as_const(block_.states).view().from_column(column),
                     .action = std::as_const(block_.actions).view().from_column(column),
                     .next_state = block_.states.view().from_column(next),
                     .observation = block_.observations.view().from_column(next),
                     .signals = block_.signals.view().from_column(column),
                     .reward_paper = reward_paper_.data(),
                     .ended = ended_.data(),
                     .inner = block_.inner.rows() > 0 ? block_.inner.view().from_column(column) : Rows<Real>()},
                    lanes(), scratch_);
  }

  bool finite(int t, int lane) const {
    const int column = block_.column(t) + lane;
    const int next = block_.column(t + 1) + lane;
    const auto bound = static_cast<Real>(spec_.divergence_bound);
    for (int i = 0; i < spec_.states; ++i) {  // written so that NaN fails too
      if (!(std::abs(block_.states.view().row(i)[next]) <= bound)) return false;
    }
    for (int i = 0; i < spec_.observations; ++i) {
      if (!std::isfinite(block_.observations.view().row(i)[next])) return false;
    }
    for (int k = 0; k < simulator_.signals(); ++k) {
      if (!std::isfinite(block_.signals.view().row(k)[column])) return false;
    }
    return true;
  }

  void freeze(int t, int lane) {
    const int column = block_.column(t) + lane;
    const int next = block_.column(t + 1) + lane;
    for (int i = 0; i < spec_.states; ++i) block_.states.view().row(i)[next] = block_.states.view().row(i)[column];
    for (int i = 0; i < spec_.observations; ++i)
      block_.observations.view().row(i)[next] = block_.observations.view().row(i)[column];
    for (int k = 0; k < simulator_.signals(); ++k) block_.signals.view().row(k)[column] = Real(0);
  }

  // Books what the step brought: divergence, sums, the episode's end.
  void close(int t) {
    for (int lane = 0; lane < lanes(); ++lane) {
      const auto l = static_cast<std::size_t>(lane);
      if (block_.diverged[l] == 0 && !finite(t, lane)) block_.diverged[l] = 1;
      if (block_.diverged[l] != 0) {
        freeze(t, lane);
        keep_[l] = 0;
        continue;
      }
      for (int k = 0; k < simulator_.signals(); ++k) {
        Real& signal = block_.signals.view().row(k)[block_.column(t) + lane];
        if (!counts(block_, simulator_.stops_at_end(k), t, lane)) signal = Real(0);
        block_.sums[static_cast<std::size_t>(k * lanes() + lane)] += static_cast<double>(signal);
      }
      if (counts(block_, simulator_.stops_at_end(0), t, lane))
        block_.paper_sums[l] += static_cast<double>(reward_paper_[l]);
      if (ended_[l] != Real(0) && t + 1 < block_.length[l]) block_.length[l] = t + 1;
      bool any = false;
      for (int k = 0; k < simulator_.signals(); ++k)
        any = any || counts(block_, simulator_.stops_at_end(k), t + 1, lane);
      keep_[l] = any ? 1 : 0;
    }
  }

  const Simulator<Real>& simulator_;
  const Actor<Real>& actor_;
  const EpisodeKey& key_;
  int environments_;  // of the whole batch
  bool deterministic_;
  TrajectoryBlock<Real>& block_;
  const TaskSpec& spec_;
  SimulatorScratch<Real> scratch_;
  RowStore<Real> units_;
  std::vector<std::uint8_t> keep_;  // environments that still count for some signal
  std::vector<Real> reward_paper_;
  std::vector<Real> ended_;
};

}  // namespace

template <class Real>
void collect(const Simulator<Real>& simulator, const Actor<Real>& actor, const EpisodeKey& key, bool deterministic,
             ThreadPool& pool, Batch<Real>& batch) {
  pool.run(static_cast<int>(batch.blocks.size()), [&](int b) {
    BlockRollout<Real>(simulator, actor, key, batch.environments, deterministic,
                       batch.blocks[static_cast<std::size_t>(b)])
        .run();
  });
}

template void collect(const Simulator<float>&, const Actor<float>&, const EpisodeKey&, bool, ThreadPool&,
                      Batch<float>&);
template void collect(const Simulator<double>&, const Actor<double>&, const EpisodeKey&, bool, ThreadPool&,
                      Batch<double>&);

}  // namespace cgpo
