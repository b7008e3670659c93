// The score-function estimate is noisy but unbiased: over many episodes it must meet the exact gradient.
#include "cgpo/gradient/zeroth_order.hpp"

#include <cmath>
#include <gtest/gtest.h>

#include "fixture.hpp"

namespace cgpo {
namespace {

using testing::Fixture;
using testing::ProbeTask;

void expect_mean(Fixture& f, bool baseline, double& spread) {
  const int repeats = 60;
  const auto parameters = f.parameters.size();
  // bptt of the same episodes is the control: it has the same expectation where no episode ends early.
  std::vector<std::vector<double>> difference(3, std::vector<double>(parameters, 0.0));
  std::vector<std::vector<double>> squares = difference;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    const Batch<double> batch = f.collect_batch(static_cast<std::uint32_t>(repeat), 64);
    ZerothOrderGradient<double> zeroth(f.simulator, f.policy, batch, baseline);
    FirstOrderGradient<double> first(f.simulator, f.policy, batch, 0);
    const GradientEstimate& z = zeroth.estimate(batch, f.actor(), f.pool);
    const GradientEstimate& g = first.estimate(batch, f.actor(), {}, f.pool);
    for (std::size_t k = 0; k < 3; ++k) {
      for (std::size_t p = 0; p < parameters; ++p) {
        const double d = z.gradients[k][p] - g.gradients[k][p];
        difference[k][p] += d / repeats;
        squares[k][p] += d * d / repeats;
      }
    }
  }
  spread = 0.0;
  int outside = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    for (std::size_t p = 0; p < parameters; ++p) {
      const double error = std::sqrt(squares[k][p] / repeats);
      spread += squares[k][p];
      if (std::abs(difference[k][p]) > 4.5 * error + 1e-12) ++outside;
    }
  }
  EXPECT_EQ(outside, 0);
}

TEST(ZerothOrder, IsUnbiasedAndTheBaselineCutsItsNoise) {
  Fixture f(ProbeTask{.horizon = 6}, 200, {3});
  double plain = 0.0;
  double with_baseline = 0.0;
  expect_mean(f, false, plain);
  expect_mean(f, true, with_baseline);
  EXPECT_LT(with_baseline, 0.7 * plain);
}

// By hand for one environment and one step: ∇ log π · R.
TEST(ZerothOrder, OneStepByHand) {
  Fixture f(ProbeTask{.horizon = 1}, 1, {});
  const Batch<double> batch = f.collect_batch(0, 1);
  const auto& block = batch.blocks[0];
  ZerothOrderGradient<double> zeroth(f.simulator, f.policy, batch, false);
  const GradientEstimate& z = zeroth.estimate(batch, f.actor(), f.pool);
  const double std = std::exp(f.parameters[static_cast<std::size_t>(f.policy.log_std_offset())]);
  const double noise = block.noise.view().row(0)[0];
  const double reward = block.sums[0];
  const double x = block.inputs.view().row(1)[0];
  EXPECT_NEAR(z.gradients[0][1], reward * noise / std * x, 1e-12);  // weight from input 1 to action 0
  EXPECT_NEAR(z.gradients[0][static_cast<std::size_t>(f.policy.log_std_offset())], reward * (noise * noise - 1.0),
              1e-12);
}

}  // namespace
}  // namespace cgpo
