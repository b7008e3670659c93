#include "cgpo/gradient/targets.hpp"

#include <cmath>
#include <gtest/gtest.h>

#include "fixture.hpp"

namespace cgpo {
namespace {

using testing::Fixture;
using testing::ProbeTask;

// The explicit mixture of n-step returns, as it is written down:
//   G^λ_t = (1−λ) Σ_{n=1}^{e−t−1} λ^{n−1} G_{t:t+n} + λ^{e−t−1} G_{t:e}
double mixture(const TrajectoryBlock<double>& block, int k, bool stops, int lane, int t, int window, double lambda,
               const std::vector<double>& values) {
  const int length = stops ? block.length[static_cast<std::size_t>(lane)] : block.horizon;
  const int window_end = window > 0 ? std::min((t / window + 1) * window, block.horizon) : block.horizon;
  const int end = std::min(window_end, length);
  const auto n_step = [&](int until) {
    double sum = 0.0;
    for (int s = t; s < until; ++s) sum += block.signals.view().row(k)[block.column(s) + lane];
    return until < length ? sum + values[static_cast<std::size_t>(block.column(until) + lane)] : sum;
  };
  double target = 0.0;
  for (int n = 1; n <= end - t - 1; ++n) target += (1.0 - lambda) * std::pow(lambda, n - 1) * n_step(t + n);
  return target + std::pow(lambda, end - t - 1) * n_step(end);
}

TEST(LambdaReturns, EqualTheExplicitMixture) {
  Fixture f(ProbeTask{.end_at = 1.6}, 8);
  const Batch<double> batch = f.collect_batch(0, 8);
  const auto& block = batch.blocks[0];
  ASSERT_FALSE(block.intact());
  RandomStream random(2, Purpose::kTest);
  std::vector<double> values(13 * 8);
  for (double& value : values) value = random.uniform(-2.0, 2.0);
  std::fill(values.begin() + 12 * 8, values.end(), NAN);  // V(·, T) must not be read
  std::vector<double> targets(12 * 8);
  for (const int window : {0, 1, 4, 5, 12}) {
    for (const double lambda : {0.0, 0.7, 0.95, 1.0}) {
      for (int k = 0; k < 3; ++k) {
        const bool stops = f.simulator.stops_at_end(k);
        lambda_returns<double>(block, k, stops, window, lambda, values, targets);
        for (int lane = 0; lane < 8; ++lane) {
          for (int t = 0; t < 12; ++t) {
            if (!counts(block, stops, t, lane)) continue;
            EXPECT_NEAR(targets[static_cast<std::size_t>(block.column(t) + lane)],
                        mixture(block, k, stops, lane, t, window, lambda, values), 1e-12)
                << "window " << window << " lambda " << lambda << " signal " << k << " t " << t;
          }
        }
      }
    }
  }
}

// λ = 1 over the whole episode is the plain sum of what is left.
TEST(LambdaReturns, MonteCarlo) {
  Fixture f;
  const Batch<double> batch = f.collect_batch(0, 6);
  std::vector<double> values(13 * 6, NAN);
  std::vector<double> targets(12 * 6);
  lambda_returns<double>(batch.blocks[0], 0, true, 0, 1.0, std::vector<double>(13 * 6, 5.0), targets);
  for (int lane = 0; lane < 6; ++lane)
    EXPECT_NEAR(targets[static_cast<std::size_t>(lane)], batch.blocks[0].sums[static_cast<std::size_t>(lane)], 1e-12);
}

}  // namespace
}  // namespace cgpo
