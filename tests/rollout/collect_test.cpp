#include "cgpo/rollout/collect.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

#include "cgpo/graph/evaluate.hpp"
#include "cgpo/rollout/divergence.hpp"
#include "cgpo/tasks/outside/environment.hpp"
#include "cgpo/tasks/registry.hpp"

#include "probe_task.hpp"

namespace cgpo {
namespace {

using testing::ProbeTask;

template <class Real>
struct Rollouts {
  explicit Rollouts(ProbeTask task_in)
      : task(make_task(task_in)),
        simulator(task, {0, 1}),
        policy(3, {8}, 2, false),
        parameters(static_cast<std::size_t>(policy.parameter_count())),
        normaliser(3) {
    policy.initialise(parameters, 1, 0.5, 1.0);
    Moments moments(3);
    const Real samples[3][4] = {{0, 1, 2, Real(0.5)}, {-1, 1, 0, 2}, {0, Real(0.1), Real(0.2), Real(0.4)}};
    moments.add(Rows<const Real>(&samples[0][0], 4), 4);
    normaliser.update(moments);
  }
  Batch<Real> run(int environments, int block, int threads, std::uint32_t first = 0, bool deterministic = false) {
    Batch<Real> batch(simulator, environments, task->spec().horizon, block);
    ThreadPool pool(threads);
    collect(simulator, Actor<Real>{policy, parameters, normaliser},
            {.seed = 3, .iteration = 2, .first_environment = first}, deterministic, pool, batch);
    return batch;
  }
  std::shared_ptr<const Task> task;
  KernelSimulator<Real> simulator;
  Policy<Real> policy;
  AlignedVector<Real> parameters;
  Normaliser<Real> normaliser;
};

double sum_of(const Batch<double>& batch, int k, int environment) {
  for (const auto& block : batch.blocks) {
    const int lane = environment - block.environments.begin;
    if (lane < block.lanes()) return block.sums[static_cast<std::size_t>(k * block.lanes() + lane)];
  }
  return NAN;
}

// Every number of an episode once more, one environment at a time, with plain evaluation of the task's graph.
TEST(Collect, EpisodesFollowTheTask) {
  Rollouts<double> setup(ProbeTask{.end_at = 1.6});
  const Batch<double> batch = setup.run(10, 4, 1);
  const Graph step = setup.task->trace_step();
  int ended_early = 0;
  for (const auto& block : batch.blocks) {
    for (int lane = 0; lane < block.lanes(); ++lane) {
      std::vector<double> state(2);
      RandomStream reset(3, Purpose::kReset, 2, static_cast<std::uint32_t>(block.environments.begin + lane));
      setup.task->reset(reset, state);
      double sums[3] = {0, 0, 0};
      double paper = 0.0;
      int length = 12;
      for (int t = 0; t < 12; ++t) {
        const std::ptrdiff_t column = block.column(t) + lane;
        RandomStream noise(3, Purpose::kNoise, 2, static_cast<std::uint32_t>(block.environments.begin + lane),
                           static_cast<std::uint32_t>(t));
        for (int a = 0; a < 2; ++a) EXPECT_EQ(block.noise.view().row(a)[column], noise.normal());
        for (int i = 0; i < 2; ++i)
          EXPECT_NEAR(block.states.view().row(i)[column], state[static_cast<std::size_t>(i)], 1e-12);
        const std::vector<double> result = evaluate(
            step,
            std::vector{state[0], state[1], block.actions.view().row(0)[column], block.actions.view().row(1)[column]});
        state = {result[0], result[1]};
        const StepLayout layout = setup.task->layout();
        const bool running = t < length;
        if (running) {
          sums[0] += result[static_cast<std::size_t>(layout.reward())];
          paper += result[static_cast<std::size_t>(layout.reward_paper())];
          sums[1] += result[static_cast<std::size_t>(layout.cost(0))];
        }
        sums[2] += result[static_cast<std::size_t>(layout.cost(1))];
        if (running && result[static_cast<std::size_t>(layout.ended())] != 0.0) length = t + 1;
      }
      for (int k = 0; k < 3; ++k)
        EXPECT_NEAR(block.sums[static_cast<std::size_t>(k * block.lanes() + lane)], sums[k], 1e-11);
      EXPECT_NEAR(block.paper_sums[static_cast<std::size_t>(lane)], paper, 1e-11);
      EXPECT_EQ(block.length[static_cast<std::size_t>(lane)], length);
      ended_early += length < 12 ? 1 : 0;
    }
  }
  EXPECT_GT(ended_early, 2);
  EXPECT_LT(ended_early, 10);
}

// A counter that is pushed, and ends where its seed says: an environment that keeps its state to itself.
class Counter final : public Environment {
 public:
  void reset(std::uint64_t seed, std::span<double> observation) override {
    end_ = 2 + static_cast<int>(seed % 9);
    observation[0] = value_ = 0.0;
  }
  Step step(std::span<const double> action, std::span<double> observation, std::span<double> /*costs*/) override {
    observation[0] = value_ += action[0];
    --end_;
    return {.reward = value_, .ended = end_ == 0};
  }

 private:
  int end_ = 0;
  double value_ = 0.0;
};

// Where a step takes long, threads share the lanes of a block: episodes that end at different times, and blocks that
// do.
TEST(Collect, ThreadsThatShareLanesDoNotMatter) {
  TaskSpec counter;
  counter.name = "counter";
  counter.observations = counter.actions = 1;
  counter.horizon = 12;
  TaskOptions of_hopper(find_task("hopper").options);
  of_hopper.set("engine", std::string("mujoco"));
  for (const std::shared_ptr<const Task>& task :
       {find_task("hopper").make(of_hopper),
        make_environment_task(counter, [] { return std::make_unique<Counter>(); })}) {
    const TaskSpec& spec = task->spec();
    const auto simulator = make_simulator<float>(task, {});
    ASSERT_TRUE(simulator->steps_lane_by_lane());
    const Policy<float> policy(spec.observations, {8}, spec.actions, false);
    AlignedVector<float> parameters(static_cast<std::size_t>(policy.parameter_count()));
    policy.initialise(parameters, 1, 0.5, 1.0);
    const Normaliser<float> normaliser(spec.observations);
    const auto collected = [&](int threads) {
      Batch<float> batch(*simulator, 10, std::min(spec.horizon, 60), 8);
      ThreadPool pool(threads);
      for (int again = 0; again < 2; ++again)  // in the same memory
        collect(*simulator, Actor<float>{policy, parameters, normaliser}, {.seed = 3, .iteration = 2}, false, pool,
                batch);
      return batch;
    };
    const auto same = [](const RowStore<float>& a, const RowStore<float>& b, int rows, std::ptrdiff_t columns) {
      for (int i = 0; i < rows; ++i) {
        if (std::memcmp(a.view().row(i), b.view().row(i), static_cast<std::size_t>(columns) * sizeof(float)) != 0)
          return false;
      }
      return true;
    };
    const Batch<float> reference = collected(1);
    int shortest = reference.horizon, longest = 0;
    for (const auto& block : reference.blocks) {
      shortest = std::min(shortest, *std::min_element(block.length.begin(), block.length.end()));
      longest = std::max(longest, *std::max_element(block.length.begin(), block.length.end()));
    }
    EXPECT_LT(shortest, longest);
    for (const int threads : {2, 3, 7}) {
      const Batch<float> batch = collected(threads);
      for (std::size_t b = 0; b < batch.blocks.size(); ++b) {
        const auto& ours = batch.blocks[b];
        const auto& theirs = reference.blocks[b];
        EXPECT_EQ(ours.sums, theirs.sums);
        EXPECT_EQ(ours.length, theirs.length);
        EXPECT_EQ(ours.ended, theirs.ended);
        EXPECT_EQ(ours.moments.mean, theirs.moments.mean);
        ASSERT_EQ(ours.simulated, theirs.simulated);
        const std::ptrdiff_t columns = ours.column(ours.simulated);
        EXPECT_TRUE(same(ours.states, theirs.states, spec.states, columns + ours.lanes()));
        EXPECT_TRUE(same(ours.inputs, theirs.inputs, spec.observations, columns + ours.lanes()));
        EXPECT_TRUE(same(ours.actions, theirs.actions, spec.actions, columns));
        EXPECT_TRUE(same(ours.signals, theirs.signals, 1, columns));
      }
    }
  }
}

TEST(Collect, ThreadsAndBlocksDoNotMatter) {
  Rollouts<float> setup(ProbeTask{.end_at = 1.6});
  const Batch<float> reference = setup.run(37, 8, 1);
  for (const int threads : {2, 4}) {
    const Batch<float> batch = setup.run(37, 8, threads);
    for (std::size_t b = 0; b < batch.blocks.size(); ++b) {
      EXPECT_EQ(batch.blocks[b].sums, reference.blocks[b].sums);
      EXPECT_EQ(batch.blocks[b].moments.mean, reference.blocks[b].moments.mean);
    }
  }
  Rollouts<double> exact(ProbeTask{.end_at = 1.6});
  const Batch<double> whole = exact.run(10, 10, 1);
  const Batch<double> cut = exact.run(10, 3, 1);
  const Batch<double> late = exact.run(4, 4, 1, /*first=*/6);
  for (int i = 0; i < 10; ++i) {
    for (int k = 0; k < 3; ++k) {
      EXPECT_EQ(sum_of(whole, k, i), sum_of(cut, k, i));
      EXPECT_TRUE(i < 6 || sum_of(whole, k, i) == sum_of(late, k, i - 6));
    }
  }
}

// Of the episodes that are left: no mean of none, no standard error of fewer than two.
TEST(Collect, StatisticsOfTooFewEpisodesAreNoNumbers) {
  Rollouts<double> setup(ProbeTask{});
  const BatchStatistics one = summarise(setup.run(1, 16, 1));
  EXPECT_TRUE(std::isfinite(one.mean[0]));
  for (const double error : one.standard_error) EXPECT_TRUE(std::isnan(error));

  Batch<double> batch = setup.run(2, 16, 1);
  const double second = batch.blocks[0].sums[1];
  EXPECT_TRUE(std::isfinite(summarise(batch).standard_error[2]));
  batch.blocks[0].diverged[0] = 1;
  EXPECT_EQ(summarise(batch).mean[0], second);
  EXPECT_TRUE(std::isnan(summarise(batch).standard_error[0]));
  batch.blocks[0].diverged[1] = 1;
  const BatchStatistics none = summarise(batch);
  EXPECT_EQ(none.diverged, 2);
  for (const auto& values : {none.mean, none.standard_error, {none.return_paper, none.episode_length}}) {
    for (const double value : values) EXPECT_TRUE(std::isnan(value));
  }
}

// 1 %, or one of fewer than a hundred; never all.
TEST(Divergence, TooManyForAVerdict) {
  EXPECT_FALSE(too_many_diverged(0, 0));
  EXPECT_FALSE(too_many_diverged(0, 1));
  EXPECT_TRUE(too_many_diverged(1, 1));
  EXPECT_FALSE(too_many_diverged(1, 2));
  EXPECT_TRUE(too_many_diverged(2, 2));
  EXPECT_FALSE(too_many_diverged(1, 99));
  EXPECT_TRUE(too_many_diverged(2, 99));
  EXPECT_FALSE(too_many_diverged(1, 100));
  EXPECT_TRUE(too_many_diverged(2, 199));
  EXPECT_FALSE(too_many_diverged(2, 200));
  EXPECT_FALSE(too_many_diverged(40, 4096));
  EXPECT_TRUE(too_many_diverged(41, 4096));
  EXPECT_FALSE(too_many_diverged(30'000'000, 3'000'000'000));
  EXPECT_TRUE(too_many_diverged(30'000'001, 3'000'000'000));
  // Of how many is not known: as if they were few.
  EXPECT_FALSE(too_many_diverged(1, 0));
  EXPECT_TRUE(too_many_diverged(2, 0));
}

TEST(Divergence, TooManyForAnUpdate) {
  EXPECT_FALSE(refuses_update(0, 8));
  EXPECT_TRUE(refuses_update(1, 8));
  EXPECT_TRUE(refuses_update(1, 99));
  EXPECT_FALSE(refuses_update(1, 100));
  EXPECT_TRUE(refuses_update(2, 100));
}

// An environment that diverges is frozen, flagged and left out; the others keep every bit.
TEST(Collect, DivergenceStaysAlone) {
  Rollouts<double> clean(ProbeTask{});
  Rollouts<double> broken(ProbeTask{.diverge_at = 2.4});
  const Batch<double> expected = clean.run(40, 16, 1);
  const Batch<double> batch = broken.run(40, 16, 2);
  int diverged = 0;
  for (std::size_t b = 0; b < batch.blocks.size(); ++b) {
    const auto& block = batch.blocks[b];
    for (int lane = 0; lane < block.lanes(); ++lane) {
      for (int column = lane; column < block.column(12) + block.lanes(); column += block.lanes()) {
        EXPECT_TRUE(std::isfinite(block.states.view().row(1)[column]));
        EXPECT_TRUE(std::isfinite(block.inputs.view().row(2)[column]));
      }
      if (block.diverged[static_cast<std::size_t>(lane)] != 0) {
        ++diverged;
        continue;
      }
      for (int k = 0; k < 3; ++k) {
        const auto i = static_cast<std::size_t>(k * block.lanes() + lane);
        EXPECT_EQ(block.sums[i], expected.blocks[b].sums[i]);
      }
    }
  }
  EXPECT_GT(diverged, 3);
  EXPECT_LT(diverged, 37);
  const BatchStatistics statistics = summarise(batch);
  EXPECT_EQ(statistics.diverged, diverged);
  EXPECT_EQ(batch.intact_environments(), 40 - diverged);
  double sum = 0.0;
  for (const auto& block : batch.blocks) {
    for (int lane = 0; lane < block.lanes(); ++lane) {
      if (block.diverged[static_cast<std::size_t>(lane)] == 0) sum += block.sums[static_cast<std::size_t>(lane)];
    }
  }
  EXPECT_NEAR(statistics.mean[0], sum / (40 - diverged), 1e-12);
}

TEST(Collect, DeterministicMeansNoNoise) {
  Rollouts<double> setup(ProbeTask{});
  const Batch<double> batch = setup.run(4, 4, 1, 0, /*deterministic=*/true);
  for (int column = 0; column < 48; ++column) EXPECT_EQ(batch.blocks[0].noise.view().row(0)[column], 0.0);
}

TEST(Collect, StandardErrorsAndMoments) {
  Rollouts<double> setup(ProbeTask{});
  const Batch<double> batch = setup.run(500, 64, 2);
  const BatchStatistics statistics = summarise(batch);
  double mean = 0.0;
  double square = 0.0;
  for (int i = 0; i < 500; ++i) mean += sum_of(batch, 1, i) / 500;
  for (int i = 0; i < 500; ++i) square += std::pow(sum_of(batch, 1, i) - mean, 2);
  EXPECT_NEAR(statistics.mean[1], mean, 1e-12);
  EXPECT_NEAR(statistics.standard_error[1], std::sqrt(square / 499 / 500), 1e-12);
  EXPECT_EQ(batch.moments().count, 500 * 12);
}

void expect_same_rows(const RowStore<float>& a, const RowStore<float>& b, std::ptrdiff_t columns) {
  ASSERT_EQ(a.rows(), b.rows());
  for (int i = 0; i < a.rows(); ++i)
    EXPECT_EQ(std::memcmp(a.view().row(i), b.view().row(i), static_cast<std::size_t>(columns) * sizeof(float)), 0) << i;
}

// Fewer environments than there is memory for, and more again: what a batch made for so many has, bit for bit.
TEST(Collect, BatchesOfAnySizeWithinTheirMemory) {
  Rollouts<float> setup(ProbeTask{.end_at = 1.6});
  constexpr int kMost = 21;
  ThreadPool pool(2);
  Batch<float> batch(setup.simulator, kMost, setup.task->spec().horizon, 8);
  EXPECT_EQ(batch.capacity(), kMost);
  for (const int count : {21, 5, 8, 3, 16, 17, 21, 1, 20}) {
    batch.use(count);
    EXPECT_EQ(batch.capacity(), kMost);
    EXPECT_EQ(batch.environments, count);
    collect(setup.simulator, Actor<float>{setup.policy, setup.parameters, setup.normaliser},
            {.seed = 3, .iteration = 2}, /*deterministic=*/false, pool, batch);
    const Batch<float> made = setup.run(count, 8, 1);
    ASSERT_EQ(batch.blocks.size(), made.blocks.size());
    for (std::size_t b = 0; b < made.blocks.size(); ++b) {
      const auto& x = batch.blocks[b];
      const auto& y = made.blocks[b];
      EXPECT_EQ(x.environments.begin, y.environments.begin);
      ASSERT_EQ(x.lanes(), y.lanes());
      EXPECT_EQ(x.simulated, y.simulated);
      EXPECT_EQ(x.length, y.length);
      EXPECT_EQ(x.ended, y.ended);
      EXPECT_EQ(x.diverged, y.diverged);
      EXPECT_EQ(x.sums, y.sums);
      EXPECT_EQ(x.paper_sums, y.paper_sums);
      expect_same_rows(x.states, y.states, y.column(y.simulated + 1));
      expect_same_rows(x.inputs, y.inputs, y.column(y.simulated + 1));
      expect_same_rows(x.noise, y.noise, y.column(y.simulated));
      expect_same_rows(x.actions, y.actions, y.column(y.simulated));
      expect_same_rows(x.signals, y.signals, y.column(y.simulated));
      expect_same_rows(x.units, y.units, y.column(y.simulated));
    }
    EXPECT_EQ(summarise(batch).mean, summarise(made).mean);
    if (count > 1) {
      EXPECT_EQ(summarise(batch).standard_error, summarise(made).standard_error);
    }
  }
  EXPECT_ANY_THROW(batch.use(kMost + 1));
  EXPECT_ANY_THROW(batch.use(0));
}

}  // namespace
}  // namespace cgpo
