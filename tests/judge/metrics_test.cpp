// Curves small enough that every metric can be read off by hand.
#include "cgpo/judge/metrics.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

#include "cgpo/base/numbers.hpp"

namespace cgpo {
namespace {

// A point an iteration, 100 steps each.
std::vector<LogEntry> curve(const std::vector<double>& returns, const std::vector<double>& costs, double limit) {
  std::vector<LogEntry> log;
  for (std::size_t i = 0; i < returns.size(); ++i) {
    LogEntry entry;
    entry.report.iteration = static_cast<int>(i);
    entry.report.steps = 100 * (static_cast<std::int64_t>(i) + 1);
    entry.report.return_mean = returns[i];
    entry.report.costs = {costs[i]};
    entry.report.limits = {limit};
    log.push_back(entry);
  }
  return log;
}

std::vector<double> all(std::size_t count, double value) { return std::vector<double>(count, value); }

// Ten points: a window of 1; a range of 100, so a tolerance of 5.
TEST(Convergence, FlatStartSatisfiesThePaperAndNotTheStrictForm) {
  const auto log = curve({0, 1, 30, 60, 90, 97, 100, 99, 98, 100}, all(10, 1.0), 2.0);
  const RunMetrics metrics = measure(log);
  EXPECT_EQ(metrics.convergence_paper, 100);   // 0 → 1 is flat
  EXPECT_EQ(metrics.convergence_strict, 600);  // 97, and 100 behind it: within 5 of the best, 100
}

TEST(Convergence, WindowIsAShareOfTheIterationsAndMayBeCutOnlyForThePaper) {
  const auto log = curve({0, 20, 40, 60, 80, 99, 60, 100, 100, 100}, all(10, 1.0), 2.0);
  EXPECT_EQ(measure(log).convergence_paper, 800);
  EXPECT_EQ(measure(log).convergence_strict, 800);
  MetricSettings wide;
  wide.window = 0.3;  // three points: of the three at the end, none has as many behind it
  EXPECT_EQ(measure(log, wide).convergence_paper, 800);
  EXPECT_EQ(measure(log, wide).convergence_strict, std::nullopt);
  wide.window = 0.2;
  EXPECT_EQ(measure(log, wide).convergence_strict, 800);
}

TEST(Convergence, ThresholdAndDistanceFromTheBest) {
  const auto log = curve({0, 50, 80, 84, 92, 94, 100, 100, 100, 100}, all(10, 1.0), 2.0);
  MetricSettings settings;
  EXPECT_EQ(measure(log).convergence_paper, 300);   // 80 → 84
  EXPECT_EQ(measure(log).convergence_strict, 700);  // 92 and 94 are more than 5 below 100
  settings.near_best = 0.1;
  EXPECT_EQ(measure(log, settings).convergence_strict, 500);  // 92 → 94
  settings.threshold = 0.01;
  EXPECT_EQ(measure(log, settings).convergence_paper, 700);
  EXPECT_EQ(measure(log, settings).convergence_strict, 500);  // which asks how far the best is, not the successor
  settings.near_best = 1.0;
  EXPECT_EQ(measure(log, settings).convergence_strict, 100);
}

TEST(Convergence, PointMustBeFeasibleAndStrictlyAllOfItsStretch) {
  const std::vector<double> returns = {0, 100, 100, 100, 100, 100, 50, 50, 50, 0};
  const auto log = curve(returns, {0, 3, 3, 2, 3, 2, 1, 1, 1, 1}, 2.0);
  EXPECT_EQ(measure(log).convergence_paper, 400);            // a cost equal to its limit is within it
  EXPECT_EQ(measure(log).convergence_strict, std::nullopt);  // of the two at 100 one has 3 behind it, the other 50
  EXPECT_EQ(measure(curve(returns, {0, 3, 3, 2, 2, 2, 1, 1, 1, 1}, 2.0)).convergence_strict, 400);
  EXPECT_EQ(measure(curve(returns, {0, 3, 3, 3, 3, 3, 1, 1, 1, 1}, 2.0)).convergence_strict,
            700);  // 100 was never feasible, so 50 is the best
}

// A window of two: one violation, in the last iteration of the stretch, moves the point behind it.
TEST(Convergence, OneViolationInTheStretchIsOneTooMany) {
  std::vector<double> returns(20, 100.0);
  returns[0] = 0.0;
  std::vector<double> costs(20, 1.0);
  EXPECT_EQ(measure(curve(returns, costs, 2.0)).convergence_strict, 200);
  costs[3] = 2.01;
  EXPECT_EQ(measure(curve(returns, costs, 2.0)).convergence_strict, 500);
  EXPECT_EQ(measure(curve(returns, costs, 2.0)).convergence_paper, 200);
  // What lies behind the stretch is the run's own affair.
  costs[3] = 1.0;
  costs[4] = 2.01;
  EXPECT_EQ(measure(curve(returns, costs, 2.0)).convergence_strict, 200);
  // The costs of the batches count, not what a filter or the mean action has.
  auto log = curve(returns, costs, 2.0);
  for (LogEntry& entry : log) entry.report.costs_filtered = entry.report.costs_deployed = {3.0};
  EXPECT_EQ(measure(log).convergence_strict, 200);
}

// Iterations of 8, 16, 32, … episodes: the window is two of twenty iterations, the point is where its steps are.
TEST(Convergence, PointIsAtItsStepsHoweverLongIterationsAre) {
  std::vector<double> returns(20, 100.0);
  returns[0] = returns[1] = 0.0;
  auto log = curve(returns, all(20, 1.0), 2.0);
  std::int64_t steps = 0;
  for (std::size_t i = 0; i < log.size(); ++i) log[i].report.steps = steps += 8LL << i;
  EXPECT_EQ(measure(log).convergence_strict, 8 + 16 + 32);
}

// Eight iterations on another engine, which count as iterations and steps; then 90 on the task's own, where it needs
// two.
TEST(Convergence, OfARunInStages) {
  std::vector<double> returns = {0, 20, 40, 60, 80, 100, 120, 140, 90, 95};
  returns.resize(20, 96.0);
  std::vector<double> costs = all(20, 1.0);
  costs[7] = 9.0;
  auto log = curve(returns, costs, 2.0);
  for (std::size_t i = 0; i < log.size(); ++i) log[i].report.stage = i < 8 ? "own" : "task";
  // The range is from 0, where the run began, to 96, the best where the task is: 95 is near enough, and 90 is not.
  EXPECT_EQ(measure(log).convergence_strict, 1000);
  EXPECT_EQ(measure(log).convergence_paper, 1000);
  EXPECT_EQ(measure(log).violations_whole, 0.0) << "of another engine";
  log[9].report.costs = {2.5};
  EXPECT_EQ(measure(log).convergence_strict, 1100);
  EXPECT_DOUBLE_EQ(measure(log).violations_whole.value(), 1.0 / 12.0) << "of the updates where the task is";
}

TEST(Convergence, NeverFeasible) {
  const RunMetrics metrics = measure(curve(all(10, 1.0), all(10, 3.0), 2.0));
  EXPECT_EQ(metrics.convergence_paper, std::nullopt);
  EXPECT_EQ(metrics.convergence_strict, std::nullopt);
  EXPECT_EQ(metrics.violations_critical, 1.0);
  EXPECT_EQ(metrics.violations_whole, 1.0);
}

TEST(Convergence, SinglePointAndNone) {
  EXPECT_EQ(measure(curve({1}, {1}, 2.0)).convergence_paper, 100);  // nothing follows, nothing contradicts
  EXPECT_EQ(measure(curve({1}, {1}, 2.0)).convergence_strict, std::nullopt);
  EXPECT_EQ(measure(curve({1}, {3}, 2.0)).convergence_paper, std::nullopt);
  const RunMetrics none = measure({});
  EXPECT_EQ(none.convergence_paper, std::nullopt);
  EXPECT_EQ(none.violations_whole, std::nullopt);
}

TEST(Convergence, ConstantCurve) {
  const RunMetrics metrics = measure(curve(all(20, 7.0), all(20, 1.0), 2.0));
  EXPECT_EQ(metrics.convergence_paper, 100);
  EXPECT_EQ(metrics.convergence_strict, 100);
  EXPECT_EQ(metrics.violations_critical, std::nullopt);  // 1 is not above 2 − 0.2
  EXPECT_EQ(metrics.violations_whole, 0.0);
}

TEST(Convergence, NotANumberIsNeitherFeasibleNorNear) {
  EXPECT_EQ(measure(curve({kNan, kNan}, {1, 1}, 2.0)).convergence_paper, std::nullopt);
  EXPECT_EQ(measure(curve({5, kNan, 5, 5}, {1, 1, 1, 1}, 2.0)).convergence_paper, 300);
  EXPECT_EQ(measure(curve({5, 5, 5, 5}, {kNan, 1, 1, 1}, 2.0)).convergence_strict, 200);
}

// Limit 200: critical above 180, a violation above 202.
TEST(Violations, CriticalAreaAndWholeRun) {
  const auto log = curve(all(8, 0.0), {0, 180, 181, 200, 202, 203, 300, 100}, 200.0);
  const RunMetrics metrics = measure(log);
  EXPECT_DOUBLE_EQ(*metrics.violations_critical, 2.0 / 5.0);
  EXPECT_DOUBLE_EQ(*metrics.violations_whole, 2.0 / 8.0);
  MetricSettings settings;
  settings.margin = 0.0;
  settings.radius = 0.2;
  EXPECT_DOUBLE_EQ(*measure(log, settings).violations_critical, 3.0 / 6.0);
}

TEST(Violations, NegativeAndSmallLimits) {
  // −50: critical above −55, a violation above −49.5.
  EXPECT_DOUBLE_EQ(*measure(curve(all(4, 0.0), {-60, -54, -49.6, -49.4}, -50.0)).violations_critical, 1.0 / 3.0);
  // 0 is measured in units of 1: critical above −0.1, a violation above 0.01.
  EXPECT_DOUBLE_EQ(*measure(curve(all(4, 0.0), {-0.2, -0.05, 0.005, 0.02}, 0.0)).violations_critical, 1.0 / 3.0);
}

TEST(Violations, NotANumberIsAViolation) {
  EXPECT_DOUBLE_EQ(*measure(curve(all(2, 0.0), {kNan, 1}, 200.0)).violations_whole, 0.5);
}

// An iteration with too many diverged episodes: no point of convergence, nothing near it, over its limit.
TEST(Metrics, NothingIsKnownWhereTooManyEpisodesDiverged) {
  auto log = curve({5, 5, 5, 5}, {1, 1, 1, 1}, 200.0);
  for (LogEntry& entry : log) entry.report.episodes = 8;
  EXPECT_EQ(measure(log).convergence_paper, 100);
  log[1].report.diverged = 1;
  EXPECT_EQ(measure(log).violations_whole, 0.0);
  log[1].report.diverged = 2;
  EXPECT_EQ(measure(log).convergence_paper, 300);
  EXPECT_EQ(measure(log).convergence_strict, 300);
  EXPECT_EQ(measure(log).violations_whole, 0.25);
  EXPECT_EQ(measure(log).violations_critical, 1.0);
  // Nor does what is left count for the range of returns: 95 is far from 100 if that range is 10.
  auto wide = curve({-900, 90, 95, 100, 100}, {1, 1, 1, 1, 1}, 200.0);
  for (LogEntry& entry : wide) entry.report.episodes = 8;
  EXPECT_EQ(measure(wide).convergence_paper, 200);
  wide[0].report.diverged = 8;
  EXPECT_EQ(measure(wide).convergence_paper, 400);
  for (LogEntry& entry : log) entry.report.diverged = 8;
  EXPECT_EQ(measure(log).convergence_paper, std::nullopt);
  EXPECT_EQ(measure(log).violations_whole, 1.0);
}

TEST(Violations, WithoutALimitThereAreNone) {
  const RunMetrics metrics = measure(curve(all(3, 0.0), {1, 2, 3}, kInfinity));
  EXPECT_EQ(metrics.violations_whole, std::nullopt);
  EXPECT_EQ(metrics.convergence_paper, 100);
}

TEST(Violations, AnyOfSeveralCostsCounts) {
  auto log = curve(all(3, 0.0), {1, 3, 1}, 2.0);
  const std::vector<double> second = {1, 1, 30};
  for (std::size_t i = 0; i < 3; ++i) {
    log[i].report.costs.push_back(second[i]);
    log[i].report.limits.push_back(20.0);
  }
  EXPECT_DOUBLE_EQ(*measure(log).violations_whole, 2.0 / 3.0);
  EXPECT_DOUBLE_EQ(*measure(log).violations_critical, 1.0);
}

TEST(SeedMeans, StudentsInterval) {
  const SeedMean two = mean_over_seeds(std::vector<double>{1.0, 3.0});
  EXPECT_DOUBLE_EQ(two.mean, 2.0);
  EXPECT_NEAR(*two.half_width, 12.7062, 1e-9);  // standard error 1
  const SeedMean one = mean_over_seeds(std::vector<double>{4.0, kNan});
  EXPECT_EQ(one.count, 1);
  EXPECT_DOUBLE_EQ(one.mean, 4.0);
  EXPECT_FALSE(one.half_width.has_value());
  EXPECT_TRUE(std::isnan(mean_over_seeds({}).mean));
  // 41 values with standard error 1: t's quantile for 40 degrees of freedom, which tables give as 2.0211.
  std::vector<double> many = {0.0};
  for (int i = 0; i < 20; ++i) many.insert(many.end(), {-std::sqrt(41.0), std::sqrt(41.0)});
  EXPECT_NEAR(*mean_over_seeds(many).half_width, 2.0211, 2e-4);
}

TEST(MetricSettings, AreNamedInOneSentence) {
  EXPECT_EQ(describe(MetricSettings()),
            "window = 10 % of the iterations, threshold = 5 % of the run's range of returns, near_best = 5 % of the "
            "run's range of returns, radius = 10 % of max(|b|, 1), margin = 1 % of max(|b|, 1)");
}

}  // namespace
}  // namespace cgpo
