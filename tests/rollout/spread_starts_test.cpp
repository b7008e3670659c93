// The Reacher's targets, spread over the batch: each has the task's distribution, the batch's mean varies much less,
// and nothing depends on blocks and threads.
#include <cmath>
#include <gtest/gtest.h>
#include <numbers>
#include <utility>
#include <vector>

#include "cgpo/rollout/collect.hpp"
#include "cgpo/tasks/registry.hpp"

namespace cgpo {
namespace {

struct Reaching {
  explicit Reaching(const char* targets)
      : task(make(targets)), simulator(task, {0}), policy(11, {4}, 2, false), normaliser(11) {
    parameters.resize(static_cast<std::size_t>(policy.parameter_count()));
    policy.initialise(parameters, 1, 0.5, 1.0);
  }
  static std::shared_ptr<const Task> make(const char* targets) {
    const TaskEntry& entry = find_task("reacher");
    TaskOptions options(entry.options);
    options.set("targets", std::string(targets));
    return entry.make(options);
  }
  Batch<double> run(int environments, std::uint32_t iteration, int block = 16, int threads = 1,
                    std::uint32_t first = 0) const {
    return run(environments, {.seed = 3, .iteration = iteration, .first_environment = first}, true, block, threads);
  }
  Batch<double> run(int environments, const EpisodeKey& key, bool deterministic, int block = 16,
                    int threads = 1) const {
    Batch<double> batch(simulator, environments, /*horizon_in=*/1, block);
    ThreadPool pool(threads);
    collect(simulator, Actor<double>{policy, parameters, normaliser}, key, deterministic, pool, batch);
    return batch;
  }
  std::shared_ptr<const Task> task;
  KernelSimulator<double> simulator;
  Policy<double> policy;
  AlignedVector<double> parameters;
  Normaliser<double> normaliser;
};

struct Start {
  double angle, x, y;
  double radius() const { return std::hypot(x, y); }
  // of the target from the tip of an arm that lies straight along x
  double squared_distance() const { return (0.21 - x) * (0.21 - x) + y * y; }
};

std::vector<Start> starts(const Batch<double>& batch) {
  std::vector<Start> result;
  for (const auto& block : batch.blocks) {
    for (int lane = 0; lane < block.lanes(); ++lane) {
      const auto at = [&](int row) { return block.states.view().row(row)[lane]; };
      result.push_back({at(0), at(4), at(5)});
    }
  }
  return result;
}

struct Moments2 {
  double sum = 0.0, squares = 0.0;
  int count = 0;
  void add(double x) {
    sum += x;
    squares += x * x;
    ++count;
  }
  double mean() const { return sum / count; }
  double variance() const { return squares / count - mean() * mean(); }
};

TEST(SpreadStarts, NoGapBetweenRadiiIsWide) {
  for (const int environments : {1, 7, 128}) {
    std::vector<double> radii;
    for (const Start& start : starts(Reaching("stratified").run(environments, 5)))
      radii.push_back(start.radius() / 0.2);
    std::sort(radii.begin(), radii.end());
    for (std::size_t i = 1; i < radii.size(); ++i) EXPECT_LE(radii[i] - radii[i - 1], 2.0 / environments + 1e-12);
  }
}

// Over many batches, any one environment sees the distribution of the task.
TEST(SpreadStarts, EachEnvironmentHasTheTasksDistribution) {
  const Reaching reaching("stratified");
  const int batches = 4000;
  for (const std::size_t environment : {std::size_t{0}, std::size_t{5}}) {
    Moments2 radius, squared, x, y, product;
    for (std::uint32_t iteration = 0; iteration < batches; ++iteration) {
      const Start start = starts(reaching.run(7, iteration))[environment];
      radius.add(start.radius());
      squared.add(start.radius() * start.radius());
      x.add(start.x / start.radius());
      y.add(start.y / start.radius());
      product.add(start.x * start.y / (start.radius() * start.radius()));
    }
    const double se = 1.0 / std::sqrt(batches);
    EXPECT_NEAR(radius.mean(), 0.1, 4 * se * 0.2 / std::sqrt(12.0));
    EXPECT_NEAR(radius.variance(), 0.04 / 12.0, 4 * se * 0.04 / 12.0);
    EXPECT_NEAR(squared.mean(), 0.04 / 3.0, 4 * se * 0.04 * std::sqrt(4.0 / 45.0));
    EXPECT_NEAR(x.mean(), 0.0, 4 * se * std::sqrt(0.5));
    EXPECT_NEAR(y.mean(), 0.0, 4 * se * std::sqrt(0.5));
    EXPECT_NEAR(x.variance(), 0.5, 4 * se * std::sqrt(0.125));
    EXPECT_NEAR(product.mean(), 0.0, 4 * se * std::sqrt(0.125));
  }
}

// The mean square distance of tip and target, which is an idle arm's cost in two of its readings.
TEST(SpreadStarts, TheBatchsMeanVariesMuchLess) {
  Moments2 spread, independent;
  const Reaching even("stratified"), free("independent");
  const auto mean = [](const Batch<double>& batch) {
    double sum = 0.0;
    for (const Start& start : starts(batch)) sum += start.squared_distance();
    return sum / batch.environments;
  };
  for (std::uint32_t iteration = 0; iteration < 300; ++iteration) {
    spread.add(mean(even.run(128, iteration)));
    independent.add(mean(free.run(128, iteration)));
  }
  const double theory = 0.21 * 0.21 + 0.04 / 3.0;
  EXPECT_NEAR(spread.mean(), theory, 1e-4);
  EXPECT_NEAR(independent.mean(), theory, 1e-3);
  std::printf("standard deviation of the batch's mean: spread %.2e, independent %.2e m2\n",
              std::sqrt(spread.variance()), std::sqrt(independent.variance()));
  EXPECT_LT(spread.variance(), 0.02 * independent.variance());
}

TEST(SpreadStarts, BlocksAndThreadsChangeNothing) {
  const Reaching reaching("stratified");
  const std::vector<Start> one = starts(reaching.run(50, 2, 50, 1));
  for (const int block : {3, 16}) {
    const std::vector<Start> other = starts(reaching.run(50, 2, block, 3));
    ASSERT_EQ(other.size(), one.size());
    for (std::size_t i = 0; i < one.size(); ++i) {
      EXPECT_EQ(other[i].x, one[i].x);
      EXPECT_EQ(other[i].y, one[i].y);
      EXPECT_EQ(other[i].angle, one[i].angle);
    }
  }
  EXPECT_NE(starts(reaching.run(50, 3))[0].x, one[0].x);             // another iteration,
  EXPECT_NE(starts(reaching.run(50, 2, 50, 1, 50))[0].x, one[0].x);  // or another part of an evaluation
}

// Some episodes of a batch once more: every eighth of 32, with its start and its noise, so that all radii are there.
TEST(SpreadStarts, SomeOfABatchAreSpreadOverIt) {
  const Reaching setup("stratified");
  const EpisodeKey key{.seed = 5, .iteration = 7};
  const Batch<double> all = setup.run(32, key, false);
  EpisodeKey some = key;
  some.of = 32;
  some.every = 8;
  const Batch<double> repeated = setup.run(4, some, false, /*block=*/3);
  const PairedSums pairs = pair_episodes(all, repeated, 8, 0);
  EXPECT_EQ(pairs.environments, (std::vector<int>{0, 8, 16, 24}));
  EXPECT_EQ(pairs.first, pairs.second);
  double least = 1.0;
  double most = 0.0;
  for (const Start& start : starts(repeated)) {
    least = std::min(least, start.radius());
    most = std::max(most, start.radius());
  }
  EXPECT_GT(most - least, 0.04);  // radii are 0 … 0.2; four neighbours differ by 0.0375
}

// Episodes that share their start and noise differ by less than strangers: their differences' own mean and deviation.
TEST(PairedSums, ErrIndependentlyOfWhatPairsShare) {
  const auto paired = [](std::vector<double> first, std::vector<double> second) {
    return PairedSums{std::move(first), std::move(second), {}};
  };
  const PairedSums pairs = paired({1.0, 2.0, 3.0}, {2.0, 4.0, 6.0});  // differences 1, 2, 3
  EXPECT_DOUBLE_EQ(pairs.mean_difference(), 2.0);
  EXPECT_NEAR(pairs.standard_error_of_difference(), 1.0 / std::sqrt(3.0), 1e-15);
  const PairedSums far = paired({1001.0, 2.0, -997.0}, {1002.0, 4.0, -994.0});
  EXPECT_NEAR(far.standard_error_of_difference(), pairs.standard_error_of_difference(), 1e-12);
  EXPECT_TRUE(std::isnan(paired({1.0}, {2.0}).standard_error_of_difference()));
}

}  // namespace
}  // namespace cgpo
