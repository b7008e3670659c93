#include "cgpo/gradient/targets.hpp"

#include <cmath>
#include <gtest/gtest.h>

#include "fixture.hpp"

namespace cgpo {
namespace {

using testing::Fixture;
using testing::ProbeTask;

// The explicit mixture of n-step returns, as it is written down:
//   G^λ_t = (1−λ) Σ_{n=1}^{e−t−1} λ^{n−1} G_{t:t+n} + λ^{e−t−1} G_{t:e},   G_{t:u} = Σ_{s<u} γ^{s−t} f_s + γ^{u−t} V_u
double mixture(const TrajectoryBlock<double>& block, int k, bool stops, int lane, int t, const ReturnOptions& options,
               const std::vector<double>& values) {
  const auto [window, lambda, horizon] = options;
  const double discount = horizon.discount;
  const bool truncated =
      !horizon.ends_at_horizon && !(stops && block.ended[static_cast<std::size_t>(lane)] != 0);  // at T
  const int length = stops ? block.length[static_cast<std::size_t>(lane)] : block.horizon;
  const int window_end = window > 0 ? std::min((t / window + 1) * window, block.horizon) : block.horizon;
  const int end = std::min(window_end, length);
  const auto n_step = [&](int until) {
    double sum = 0.0;
    for (int s = t; s < until; ++s)
      sum += std::pow(discount, s - t) * block.signals.view().row(k)[block.column(s) + lane];
    const bool followed = until < length || truncated;
    return followed ? sum + std::pow(discount, until - t) * values[static_cast<std::size_t>(block.column(until) + lane)]
                    : sum;
  };
  double target = 0.0;
  for (int n = 1; n <= end - t - 1; ++n) target += (1.0 - lambda) * std::pow(lambda, n - 1) * n_step(t + n);
  return target + std::pow(lambda, end - t - 1) * n_step(end);
}

// Step by step the critic's own value; the memory's columns are no multiple of the lanes, so that pieces end within
// steps.
TEST(FindValues, AreTheCriticsAtEachStep) {
  Fixture f;
  const Batch<double> batch = f.collect_batch();
  const auto& block = batch.blocks[0];
  CriticWorkspace<double> pieces(f.critics[1].mlp(), 7);
  CriticWorkspace<double> single(f.critics[1].mlp(), 4);
  for (const HorizonRule& horizon : {HorizonRule{}, HorizonRule{0.9, false}}) {
    std::vector<double> values(13 * 4, -77.0);
    find_values<double>(f.critics[1], block, 2, 11, horizon, values, pieces);
    for (int t = 0; t <= 12; ++t) {
      std::vector<double> expected(4, -77.0);
      if (t >= 2 && t <= 11)
        f.critics[1].value(block.inputs.view().from_column(block.column(t)), horizon.ends_at_horizon ? t : 0,
                           expected.data(), 4, single);
      for (int lane = 0; lane < 4; ++lane)
        EXPECT_EQ(values[static_cast<std::size_t>(block.column(t) + lane)], expected[static_cast<std::size_t>(lane)]);
    }
  }
}

TEST(LambdaReturns, EqualTheExplicitMixture) {
  Fixture f(ProbeTask{.end_at = 1.6}, 8);
  const Batch<double> batch = f.collect_batch(0, 8);
  const auto& block = batch.blocks[0];
  ASSERT_FALSE(block.intact());
  RandomStream random(2, Purpose::kTest);
  std::vector<double> values(13 * 8);
  for (double& value : values) value = random.uniform(-2.0, 2.0);
  std::vector<double> finite_values = values;
  std::fill(finite_values.begin() + 12 * 8, finite_values.end(), NAN);  // V(·, T) must not be read
  std::vector<double> targets(12 * 8);
  for (const HorizonRule& horizon : {HorizonRule{}, HorizonRule{0.9, false}, HorizonRule{0.9, true}}) {
    const std::vector<double>& known = horizon.ends_at_horizon ? finite_values : values;
    for (const int window : {0, 1, 4, 5, 12}) {
      for (const double lambda : {0.0, 0.7, 0.95, 1.0}) {
        const ReturnOptions options{window, lambda, horizon};
        for (int k = 0; k < 3; ++k) {
          const bool stops = f.simulator.stops_at_end(k);
          lambda_returns<double>(block, k, stops, options, known, targets);
          for (int lane = 0; lane < 8; ++lane) {
            for (int t = 0; t < 12; ++t) {
              if (!counts(block, stops, t, lane)) continue;
              EXPECT_NEAR(targets[static_cast<std::size_t>(block.column(t) + lane)],
                          mixture(block, k, stops, lane, t, options, known), 1e-12)
                  << "window " << window << " lambda " << lambda << " signal " << k << " t " << t << " discount "
                  << horizon.discount;
            }
          }
        }
      }
    }
  }
}

// Three steps by hand: f = 1, 2, 3 and V = 10 … 40, γ = ½, λ = ½.
TEST(LambdaReturns, NumbersByHand) {
  Fixture f(ProbeTask{.horizon = 3}, 1);
  Batch<double> batch = f.collect_batch(0, 1);
  TrajectoryBlock<double>& block = batch.blocks[0];
  const double signals[3] = {1.0, 2.0, 3.0};
  std::copy_n(signals, 3, block.signals.view().row(0));
  const std::vector<double> values = {10.0, 20.0, 30.0, 40.0};
  const auto targets = [&](int window, bool stops, bool ends) {
    std::vector<double> result(3);
    lambda_returns<double>(block, 0, stops, {window, 0.5, {0.5, ends}}, values, result);
    return result;
  };
  EXPECT_EQ(targets(0, true, true), (std::vector<double>{8.5625, 10.25, 3.0}));
  EXPECT_EQ(targets(0, true, false), (std::vector<double>{9.8125, 15.25, 23.0}));
  EXPECT_EQ(targets(2, true, false), (std::vector<double>{10.25, 17.0, 23.0}));
  block.ended[0] = 1;  // with its last step: nothing follows, but for a signal that goes on
  EXPECT_EQ(targets(0, true, false), (std::vector<double>{8.5625, 10.25, 3.0}));
  EXPECT_EQ(targets(0, false, false), (std::vector<double>{9.8125, 15.25, 23.0}));
}

// λ = 1 over the whole episode is the plain sum of what is left.
TEST(LambdaReturns, MonteCarlo) {
  Fixture f;
  const Batch<double> batch = f.collect_batch(0, 6);
  std::vector<double> values(13 * 6, NAN);
  std::vector<double> targets(12 * 6);
  lambda_returns<double>(batch.blocks[0], 0, true, {}, std::vector<double>(13 * 6, 5.0), targets);
  for (int lane = 0; lane < 6; ++lane)
    EXPECT_NEAR(targets[static_cast<std::size_t>(lane)], batch.blocks[0].sums[static_cast<std::size_t>(lane)], 1e-12);
}

}  // namespace
}  // namespace cgpo
