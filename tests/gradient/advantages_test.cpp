#include "cgpo/gradient/advantages.hpp"

#include <cmath>
#include <gtest/gtest.h>

#include "fixture.hpp"

namespace cgpo {
namespace {

using testing::Fixture;
using testing::ProbeTask;

// Three steps of one environment, with numbers of our own.
struct ThreeSteps {
  ThreeSteps() : f(ProbeTask{.horizon = 3}, 1), batch(f.collect_batch(0, 1)) {
    const double signals[3] = {1.0, 2.0, 3.0};
    std::copy_n(signals, 3, block().signals.view().row(0));
  }
  TrajectoryBlock<double>& block() { return batch.blocks[0]; }
  std::vector<double> run(double discount, double lambda, bool ends_at_horizon) {
    const std::vector<double> values = {0.5, 0.4, 0.3, 0.2};
    std::vector<double> result(3);
    generalised_advantages<double>(block(), 0, true, {discount, lambda, ends_at_horizon}, values, result);
    return result;
  }
  Fixture f;
  Batch<double> batch;
};

void expect_near(const std::vector<double>& found, const std::vector<double>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-9) << i;
}

TEST(Advantages, NumbersByHand) {
  ThreeSteps three;
  expect_near(three.run(0.99, 0.95, false), {5.243526145, 4.622569, 2.898});
  expect_near(three.run(0.99, 0.95, true), {5.068387175, 4.43635, 2.7});
  expect_near(three.run(1.0, 1.0, true), {5.5, 4.6, 2.7});
}

// An end of the episode's own is an end also when it falls on the last step; for signals that go on it is none.
TEST(Advantages, AnEndWithTheLastStepIsNoTruncation) {
  ThreeSteps three;
  three.block().ended[0] = 1;
  expect_near(three.run(0.99, 0.95, false), {5.068387175, 4.43635, 2.7});
  std::vector<double> result(3);
  const std::vector<double> values = {0.5, 0.4, 0.3, 0.2};
  generalised_advantages<double>(three.block(), 0, false, {0.99, 0.95, false}, values, result);
  expect_near(result, {5.243526145, 4.622569, 2.898});
}

// Σ_l (γλ)^l δ_{t+l} as it is written down, with early ends, a signal that outlives them, and both meanings of T.
TEST(Advantages, EqualTheExplicitSum) {
  Fixture f(ProbeTask{.end_at = 1.6}, 8);
  const Batch<double> batch = f.collect_batch(0, 8);
  const auto& block = batch.blocks[0];
  ASSERT_FALSE(block.intact());
  RandomStream random(2, Purpose::kTest);
  std::vector<double> values(13 * 8);
  for (double& value : values) value = random.uniform(-2.0, 2.0);
  std::vector<double> advantages(12 * 8);
  for (const bool ends : {false, true}) {
    for (const double lambda : {0.0, 0.7, 1.0}) {
      for (int k = 0; k < 3; ++k) {
        const bool stops = f.simulator.stops_at_end(k);
        generalised_advantages<double>(block, k, stops, {0.9, lambda, ends}, values, advantages);
        for (int lane = 0; lane < 8; ++lane) {
          const auto l = static_cast<std::size_t>(lane);
          const int length = stops ? block.length[l] : block.horizon;
          const bool really_ends = stops && block.ended[l] != 0;
          const auto value = [&](int t) { return values[static_cast<std::size_t>(block.column(t) + lane)]; };
          for (int t = 0; t < block.horizon; ++t) {
            double expected = 0.0;
            for (int s = t; s < length; ++s) {
              const bool last = s + 1 == length;
              const double next = last && (really_ends || ends) ? 0.0 : value(s + 1);
              const double error = block.signals.view().row(k)[block.column(s) + lane] + 0.9 * next - value(s);
              expected += std::pow(0.9 * lambda, s - t) * error;
            }
            EXPECT_NEAR(advantages[static_cast<std::size_t>(block.column(t) + lane)], expected, 1e-12)
                << "signal " << k << " lane " << lane << " t " << t;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace cgpo
