#include "cgpo/rollout/trajectory.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

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
  const int each = 2 * static_cast<int>(sizeof(int)) + (rows.signals + 1) * static_cast<int>(sizeof(double)) +
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
Batch<Real>::Batch(const Simulator<Real>& simulator, int environments_in, int horizon_in, int block_size, Keep keep)
    : environments(environments_in),
      horizon(horizon_in),
      signals(simulator.signals()),
      lattice_starts(simulator.spec().lattice_starts) {
  for (const Block& block : fixed_blocks(environments_in, block_size))
    blocks.emplace_back(simulator, block, horizon_in, keep);
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
  const double divisor = std::max(episodes, 1);
  const auto mean = [&](auto value) {
    double sum = 0.0;
    for_each_episode(batch, [&](const auto& block, int lane) { sum += value(block, lane); });
    return sum / divisor;
  };
  for (int k = 0; k < batch.signals; ++k) {
    const std::vector<double> values = episode_sums(batch, k);
    result.mean.push_back(std::accumulate(values.begin(), values.end(), 0.0) / divisor);
    const double error =
        batch.lattice_starts ? standard_error_of_lattice(values, batch.environments) : standard_error(values);
    result.standard_error.push_back(values.size() < 2 ? 0.0 : error);
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

template struct TrajectoryBlock<float>;
template struct TrajectoryBlock<double>;
template struct Batch<float>;
template struct Batch<double>;
template BatchStatistics summarise(const Batch<float>&);
template BatchStatistics summarise(const Batch<double>&);
template std::vector<double> episode_sums(const Batch<float>&, int);
template std::vector<double> episode_sums(const Batch<double>&, int);

}  // namespace cgpo
