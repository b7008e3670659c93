#include "cgpo/rollout/environments.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "cgpo/base/error.hpp"

namespace cgpo {
namespace {

constexpr int kLanes = 32;  // of a block, which is what a thread takes

std::ptrdiff_t row_of(int environment, int size) { return std::ptrdiff_t{environment} * size; }

}  // namespace

Environments::Environments(std::shared_ptr<const Task> task, std::vector<int> costs, int count, int horizon,
                           Autoreset autoreset, int threads)
    : task_(std::move(task)),
      simulator_(make_simulator<float>(task_, std::move(costs))),
      outside_(task_->has_environments_outside()),
      count_(count),
      horizon_(horizon),
      autoreset_(autoreset),
      pool_(std::max(1, std::min(threads, (count + kLanes - 1) / kLanes))),
      blocks_(fixed_blocks(count, kLanes)),
      memories_(blocks_.size()),
      lives_(static_cast<std::size_t>(count)),
      states_(spec().states, count),
      observations_(spec().observations, count),
      next_states_(spec().states, count),
      next_observations_(spec().observations, count) {
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    const int lanes = blocks_[b].size;
    Memory& memory = memories_[b];
    memory.start.resize(static_cast<std::size_t>(spec().states));
    memory.states.resize(spec().states, lanes);
    memory.observed.resize(spec().observations, lanes);
    memory.actions.resize(spec().actions, lanes);
    memory.signals.resize(simulator_->signals(), lanes);
    memory.outcome.resize(2, lanes);
    memory.stray.resize(static_cast<std::size_t>(lanes));
  }
}

void Environments::seed(int environment, std::uint64_t seed) {
  Life& own = life(environment);
  own.seed = seed;
  own.episode = 0;
}

void Environments::begin(int environment, Memory& memory, int column) {
  Life& own = life(environment);
  if (outside_) {
    // By its number, which is where its simulator keeps it.
    simulator_->start({.seed = own.seed,
                       .purpose = Purpose::kReset,
                       .iteration = own.episode,
                       .environment = environment,
                       .every = 0,
                       .environments = count_},
                      memory.states.view().from_column(column), 1, memory.simulator);
  } else {
    RandomStream random(own.seed, Purpose::kReset, own.episode);
    task_->reset(random, memory.start);
    for (int i = 0; i < spec().states; ++i)
      memory.states.view().row(i)[column] = static_cast<float>(memory.start[static_cast<std::size_t>(i)]);
  }
  ++own.episode;
  own.steps = 0;
  own.over = false;
}

void Environments::begin_fresh(const Block& block, Memory& memory, Rows<float> states, Rows<float> observations) {
  const auto fresh = static_cast<int>(memory.fresh.size());
  if (fresh == 0) return;
  for (int j = 0; j < fresh; ++j) begin(block.begin + memory.fresh[static_cast<std::size_t>(j)], memory, j);
  simulator_->observe(memory.states.view(), memory.observed.view(), fresh, memory.simulator);
  const auto scatter = [&](const RowStore<float>& from, Rows<float> to) {
    for (int i = 0; i < from.rows(); ++i) {
      for (int j = 0; j < fresh; ++j)
        to.row(i)[block.begin + memory.fresh[static_cast<std::size_t>(j)]] = from.view().row(i)[j];
    }
  };
  scatter(memory.states, states);
  scatter(memory.observed, observations);
}

void Environments::show(const Block& block, Rows<const float> rows, int size, float* out) const {
  for (int lane = block.begin; lane < block.begin + block.size; ++lane) {
    float* const own = out + row_of(lane, size);
    for (int i = 0; i < size; ++i) own[i] = rows.row(i)[lane];
  }
}

void Environments::reset(const bool* which, float* observations) {
  pool_.run(static_cast<int>(blocks_.size()), [&](int b) {
    Memory& memory = memories_[static_cast<std::size_t>(b)];
    memory.fresh.clear();
    for (int lane = 0; lane < block(b).size; ++lane) {
      if (which == nullptr || which[block(b).begin + lane]) memory.fresh.push_back(lane);
    }
    begin_fresh(block(b), memory, states_.view(), observations_.view());
    show(block(b), std::as_const(observations_).view(), spec().observations, observations);
  });
}

void Environments::step(const float* actions, const SteppedEnvironments& results) {
  for (int i = 0; autoreset_ == Autoreset::kDisabled && i < count_; ++i) {
    if (life(i).over) throw UserError("the episode of environment {} is over: reset it before the next step", i);
  }
  pool_.run(static_cast<int>(blocks_.size()),
            [&](int b) { step_block(block(b), memories_[static_cast<std::size_t>(b)], actions, results); });
  std::swap(states_, next_states_);
  std::swap(observations_, next_observations_);
}

void Environments::take_actions(const Block& block, Memory& memory, const float* actions) const {
  for (int lane = 0; lane < block.size; ++lane) {
    const float* const own = actions + row_of(block.begin + lane, spec().actions);
    // NaN stays, and the environment diverges.
    for (int i = 0; i < spec().actions; ++i)
      memory.actions.view().row(i)[lane] = own[i] < -1.0F ? -1.0F : (own[i] > 1.0F ? 1.0F : own[i]);
  }
}

// Lanes that left the finite numbers or the task's bound.
void Environments::find_strays(const Block& block, Memory& memory) {
  std::fill(memory.stray.begin(), memory.stray.end(), std::uint8_t{0});
  const auto look = [&](Rows<const float> rows, int size, float largest) {
    for (int i = 0; i < size; ++i) {
      const float* const row = rows.row(i);
      for (int lane = 0; lane < block.size; ++lane)
        memory.stray[static_cast<std::size_t>(lane)] |= static_cast<std::uint8_t>(!(std::abs(row[lane]) <= largest));
    }
  };
  constexpr float kFinite = std::numeric_limits<float>::max();
  look(next_states_.view().from_column(block.begin), spec().states, static_cast<float>(spec().divergence_bound));
  look(next_observations_.view().from_column(block.begin), spec().observations, kFinite);
  look(memory.signals.view(), simulator_->signals(), kFinite);
}

void Environments::step_block(const Block& block, Memory& memory, const float* actions,
                              const SteppedEnvironments& results) {
  take_actions(block, memory, actions);
  simulator_->step({.state = std::as_const(states_).view().from_column(block.begin),
                    .action = std::as_const(memory.actions).view(),
                    .next_state = next_states_.view().from_column(block.begin),
                    .observation = next_observations_.view().from_column(block.begin),
                    .signals = memory.signals.view(),
                    .reward_paper = memory.outcome.view().row(0),
                    .ended = memory.outcome.view().row(1),
                    .environment = block.begin},
                   block.size, memory.simulator);
  find_strays(block, memory);
  close(block, memory, results);
}

// Books what the step brought, and begins the episodes that are due.
void Environments::close(const Block& block, Memory& memory, const SteppedEnvironments& results) {
  memory.fresh.clear();
  for (int lane = 0; lane < block.size; ++lane) {
    const int i = block.begin + lane;
    Life& own = life(i);
    const bool began = own.over;  // only kNextStep steps an episode that is over
    const bool stray = !began && memory.stray[static_cast<std::size_t>(lane)] != 0;
    if (stray) {
      for (int s = 0; s < spec().states; ++s) next_states_.view().row(s)[i] = states_.view().row(s)[i];
      for (int o = 0; o < spec().observations; ++o)
        next_observations_.view().row(o)[i] = observations_.view().row(o)[i];
    }
    const bool counts = !began && !stray;
    results.rewards[i] = counts ? static_cast<double>(memory.signals.view().row(0)[lane]) : 0.0;
    for (int k = 1; k < simulator_->signals(); ++k)
      results.costs[row_of(k - 1, count_) + i] = counts ? static_cast<double>(memory.signals.view().row(k)[lane]) : 0.0;
    own.steps += began ? 0 : 1;
    results.stepped[i] = !began;
    results.diverged[i] = stray;
    results.terminated[i] = stray || (counts && memory.outcome.view().row(1)[lane] != 0.0F);
    results.truncated[i] = counts && !results.terminated[i] && horizon_ > 0 && own.steps >= horizon_;
    own.over = results.terminated[i] || results.truncated[i];
    if (began || (own.over && autoreset_ == Autoreset::kSameStep)) memory.fresh.push_back(lane);
    if (own.over && autoreset_ == Autoreset::kSameStep) {
      show({i, 1}, std::as_const(next_observations_).view(), spec().observations, results.final_observations);
    }
  }
  begin_fresh(block, memory, next_states_.view(), next_observations_.view());
  show(block, std::as_const(next_observations_).view(), spec().observations, results.observations);
}

void Environments::read_states(float* states) const {
  for (const Block& block : blocks_) show(block, states_.view(), spec().states, states);
}

void Environments::write_states(const float* states, float* observations) {
  if (outside_) throw UserError("task {}: its simulator cannot be set to a state", spec().name);
  for (int i = 0; i < count_; ++i) {
    for (int s = 0; s < spec().states; ++s) states_.view().row(s)[i] = states[row_of(i, spec().states) + s];
  }
  pool_.run(static_cast<int>(blocks_.size()), [&](int b) {
    simulator_->observe(std::as_const(states_).view().from_column(block(b).begin),
                        observations_.view().from_column(block(b).begin), block(b).size,
                        memories_[static_cast<std::size_t>(b)].simulator);
    show(block(b), std::as_const(observations_).view(), spec().observations, observations);
  });
}

}  // namespace cgpo
