#include "cgpo/rollout/trajectory.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "cgpo/base/error.hpp"
#include "cgpo/base/numbers.hpp"
#include "cgpo/base/statistics.hpp"

namespace cgpo {
namespace {

std::ptrdiff_t columns_of(int steps, const Block& environments) { return std::ptrdiff_t{steps} * environments.size; }

}  // namespace

template <class Real>
TrajectoryBlock<Real>::TrajectoryBlock(const Simulator<Real>& simulator, Block environments_in, int horizon_in,
                                       Keep keep_in)
    : environments(environments_in),
      horizon(horizon_in),
      keep(keep_in),
      states(simulator.spec().states, columns_of(horizon_in + 1, environments_in)),
      observations(simulator.spec().observations, columns_of(horizon_in + 1, environments_in)),
      inputs(simulator.spec().observations, columns_of(horizon_in + 1, environments_in)),
      noise(simulator.spec().actions, columns_of(horizon_in, environments_in)),
      actions(simulator.spec().actions, columns_of(horizon_in, environments_in)),
      signals(simulator.signals(), columns_of(horizon_in, environments_in)),
      inner(keep == Keep::kInner ? simulator.inner_rows() : 0, columns_of(horizon_in, environments_in)),
      length(static_cast<std::size_t>(environments_in.size), horizon_in),
      ended(static_cast<std::size_t>(environments_in.size), 0),
      diverged(static_cast<std::size_t>(environments_in.size), 0),
      strayed(static_cast<std::size_t>(environments_in.size), 0),
      sums(static_cast<std::size_t>(columns_of(simulator.signals(), environments_in)), 0.0),
      paper_sums(static_cast<std::size_t>(environments_in.size), 0.0),
      moments(simulator.spec().observations) {}

template <class Real>
std::int64_t TrajectoryBlock<Real>::bytes(const BatchRows& rows, int lanes, int horizon, Keep keep, int windows) {
  const Block block{0, lanes};
  const auto of = [](int count, std::ptrdiff_t columns) {
    return static_cast<std::int64_t>(RowStore<Real>::bytes(count, columns));
  };
  const std::ptrdiff_t steps = columns_of(horizon, block);
  const bool inner = keep == Keep::kInner;
  const int each = 3 * static_cast<int>(sizeof(int)) + (rows.signals + 1) * static_cast<int>(sizeof(double)) +
                   2 * static_cast<int>(sizeof(Real));  // length, flags, sums, and what a step leaves
  return of(rows.states + 2 * rows.observations, columns_of(horizon + 1, block)) +
         of(2 * rows.actions + rows.signals, steps) + of(rows.inner, inner ? steps : lanes) +
         of(rows.units, inner ? steps : lanes) + of(2 * rows.observations, columns_of(windows, block)) +
         std::int64_t{each} * lanes;
}

template <class Real>
bool TrajectoryBlock<Real>::intact() const {
  return std::all_of(length.begin(), length.end(), [this](int steps) { return steps == horizon; }) &&
         std::all_of(diverged.begin(), diverged.end(), [](std::uint8_t flag) { return flag == 0; });
}

template <class Real>
void TrajectoryBlock<Real>::set_lanes(int lanes_in) {
  environments.size = lanes_in;
  const auto count = static_cast<std::size_t>(lanes_in);
  length.assign(count, horizon);
  ended.assign(count, 0);
  diverged.assign(count, 0);
  strayed.assign(count, 0);
  sums.assign(static_cast<std::size_t>(signals.rows()) * count, 0.0);
  paper_sums.assign(count, 0.0);
  simulated = 0;
}

template <class Real>
Batch<Real>::Batch(const Simulator<Real>& simulator, int environments_in, int horizon_in, int block_size, Keep keep)
    : environments(environments_in),
      horizon(horizon_in),
      signals(simulator.signals()),
      lattice_starts(simulator.spec().lattice_starts),
      block_size_(block_size) {
  for (const Block& block : fixed_blocks(environments_in, block_size))
    blocks.emplace_back(simulator, block, horizon_in, keep);
  last_block_lanes_ = blocks.back().lanes();
}

template <class Real>
int Batch<Real>::capacity() const {
  return (static_cast<int>(blocks.size() + spare_.size()) - 1) * block_size_ + last_block_lanes_;
}

template <class Real>
void Batch<Real>::use(int environments_in) {
  check(environments_in >= 1 && environments_in <= capacity(), "a batch of at most as many as there is memory for");
  if (environments_in == environments) return;
  const auto needed = static_cast<std::size_t>((environments_in + block_size_ - 1) / block_size_);
  while (blocks.size() > needed) {
    spare_.push_back(std::move(blocks.back()));
    blocks.pop_back();
  }
  while (blocks.size() < needed) {
    blocks.push_back(std::move(spare_.back()));
    spare_.pop_back();
  }
  for (auto& block : blocks) block.set_lanes(std::min(block_size_, environments_in - block.environments.begin));
  environments = environments_in;
}

template <class Real>
int Batch<Real>::intact_environments() const {
  int count = environments;
  for (const auto& block : blocks) {
    for (const std::uint8_t flag : block.diverged) count -= flag;
  }
  return count;
}

template <class Real>
Moments Batch<Real>::moments() const {
  Moments all = blocks.front().moments;
  for (std::size_t b = 1; b < blocks.size(); ++b) all.merge(blocks[b].moments);
  return all;
}

template <class Real>
BatchStatistics summarise(const Batch<Real>& batch) {
  BatchStatistics result;
  const int episodes = batch.intact_environments();
  result.diverged = batch.environments - episodes;
  const auto mean_of = [episodes](double sum) { return episodes > 0 ? sum / episodes : kNan; };
  const auto mean = [&](auto value) {
    double sum = 0.0;
    for_each_episode(batch, [&](const auto& block, int lane) { sum += value(block, lane); });
    return mean_of(sum);
  };
  for (int k = 0; k < batch.signals; ++k) {
    const std::vector<double> values = episode_sums(batch, k);
    result.mean.push_back(mean_of(std::accumulate(values.begin(), values.end(), 0.0)));
    result.standard_error.push_back(batch.lattice_starts ? standard_error_of_lattice(values, batch.environments)
                                                         : standard_error(values));
  }
  result.return_paper =
      mean([](const auto& block, int lane) { return block.paper_sums[static_cast<std::size_t>(lane)]; });
  result.episode_length =
      mean([](const auto& block, int lane) { return block.length[static_cast<std::size_t>(lane)]; });
  return result;
}

template <class Real>
std::vector<double> episode_sums(const Batch<Real>& batch, int signal) {
  std::vector<double> sums;
  sums.reserve(static_cast<std::size_t>(batch.environments));
  for_each_episode(batch,
                   [&](const auto& block, int lane) { sums.push_back(block.sums[block.sum_index(signal, lane)]); });
  return sums;
}

namespace {

std::vector<double> differences(const PairedSums& sums) {
  std::vector<double> result;
  for (std::size_t i = 0; i < sums.first.size(); ++i) result.push_back(sums.second[i] - sums.first[i]);
  return result;
}

}  // namespace

double PairedSums::mean_difference() const {
  const std::vector<double> values = differences(*this);
  return values.empty() ? kNan
                        : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double PairedSums::standard_error_of_difference() const { return standard_error(differences(*this)); }

template <class Real>
PairedSums pair_episodes(const Batch<Real>& first, const Batch<Real>& second, int every, int signal) {
  const auto sums_of = [signal](const Batch<Real>& batch) {
    std::vector<double> values;
    for (const auto& block : batch.blocks) {
      for (int lane = 0; lane < block.lanes(); ++lane) {
        const bool diverged = block.diverged[static_cast<std::size_t>(lane)] != 0;
        values.push_back(diverged ? kNan : block.sums[block.sum_index(signal, lane)]);
      }
    }
    return values;
  };
  const std::vector<double> x = sums_of(first);
  const std::vector<double> y = sums_of(second);
  PairedSums result;
  for (std::size_t j = 0; j < y.size(); ++j) {
    const std::size_t i = j * static_cast<std::size_t>(every);
    if (i >= x.size() || std::isnan(x[i]) || std::isnan(y[j])) continue;
    result.first.push_back(x[i]);
    result.second.push_back(y[j]);
    result.environments.push_back(static_cast<int>(i));
  }
  return result;
}

template struct TrajectoryBlock<float>;
template struct TrajectoryBlock<double>;
template struct Batch<float>;
template struct Batch<double>;
template BatchStatistics summarise(const Batch<float>&);
template BatchStatistics summarise(const Batch<double>&);
template PairedSums pair_episodes(const Batch<float>&, const Batch<float>&, int, int);
template PairedSums pair_episodes(const Batch<double>&, const Batch<double>&, int, int);
template std::vector<double> episode_sums(const Batch<float>&, int);
template std::vector<double> episode_sums(const Batch<double>&, int);

}  // namespace cgpo
