// Ratios, divergences and gradients of a policy's update against their definitions.
#include "cgpo/updates/policy_samples.hpp"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

#include "cgpo/base/index.hpp"
#include "cgpo/updates/surrogate.hpp"

#include "probe_task.hpp"

namespace cgpo {
namespace {

using testing::ProbeTask;

// Episodes that end early, with random advantages for three signals of which the last goes on.
struct Samples {
  explicit Samples(int threads = 1, bool learn_std = true)
      : pool(threads),
        task(make_task(ProbeTask{.end_at = 1.6})),
        simulator(make_simulator<float>(task, {0, 1})),
        policy(3, {7, 5}, 2, learn_std),
        parameters(at(policy.parameter_count())),
        normaliser(3),
        batch(*simulator, 100, 12, 16),
        samples(policy, 3) {
    policy.initialise(parameters, 1, 0.4, 1.0);
    collect(*simulator, Actor<float>{policy, parameters, normaliser}, {.seed = 3}, false, pool, batch);
    RandomStream random(5, Purpose::kTest);
    for (int k = 0; k < 3; ++k) {
      SignalAdvantages signal{.blocks = {}, .stops = simulator->stops_at_end(k), .mean = 0.1 * k, .scale = 1.0 + k};
      for (const auto& block : batch.blocks) {
        signal.blocks.emplace_back(at(12 * block.lanes()));
        for (float& value : signal.blocks.back()) value = static_cast<float>(random.normal());
      }
      advantages.push_back(std::move(signal));
    }
    samples.take(batch, {policy, parameters, normaliser}, advantages, pool);
  }

  AlignedVector<float> moved(double size) const {
    RandomStream random(6, Purpose::kTest);
    AlignedVector<float> result = parameters;
    for (float& value : result) value += static_cast<float>(size * random.normal());
    if (!policy.learns_std()) std::copy_n(parameters.end() - 2, 2, result.end() - 2);
    return result;
  }

  ThreadPool pool;
  std::shared_ptr<const Task> task;
  std::unique_ptr<Simulator<float>> simulator;
  Policy<float> policy;
  AlignedVector<float> parameters;
  Normaliser<float> normaliser;
  Batch<float> batch;
  std::vector<SignalAdvantages> advantages;
  PolicySamples samples;
};

// E[ρA] and KL, sample by sample in double, from the policy's own log-probability.
PolicySamples::Surrogates by_definition(const Samples& s, const AlignedVector<float>& parameters) {
  PolicySamples::Surrogates result{std::vector<double>(3, 0.0), 0.0};
  double count = 0.0;
  for (std::size_t b = 0; b < s.batch.blocks.size(); ++b) {
    const auto& block = s.batch.blocks[b];
    for (int t = 0; t < block.simulated; ++t) {
      for (int lane = 0; lane < block.lanes(); ++lane) {
        if (!counts(block, false, t, lane)) continue;  // the third signal always counts
        count += 1.0;
        const std::ptrdiff_t column = block.column(t) + lane;
        const auto means = [&](const AlignedVector<float>& theta) {
          RowStore<float> units(s.policy.unit_count(), 1);
          s.policy.mlp().forward(std::span<const float>(theta).first(at(s.policy.mlp().parameter_count())),
                                 block.inputs.view().from_column(column), units.view(), 1);
          return std::vector<double>{s.policy.mean(units.view()).row(0)[0], s.policy.mean(units.view()).row(1)[0]};
        };
        const std::vector<double> old_mean = means(s.parameters), mean = means(parameters);
        double log_ratio = 0.0;
        for (int a = 0; a < 2; ++a) {
          const double old_std = std::exp(s.parameters[at(s.policy.log_std_offset() + a)]);
          const double std = std::exp(parameters[at(s.policy.log_std_offset() + a)]);
          const double u = old_mean[at(a)] + old_std * block.noise.view().row(a)[column];
          log_ratio += std::log(old_std / std) + 0.5 * std::pow((u - old_mean[at(a)]) / old_std, 2) -
                       0.5 * std::pow((u - mean[at(a)]) / std, 2);
          result.kl += std::log(std / old_std) +
                       (old_std * old_std + std::pow(old_mean[at(a)] - mean[at(a)], 2)) / (2.0 * std * std) - 0.5;
        }
        for (int k = 0; k < 3; ++k) {
          const SignalAdvantages& signal = s.advantages[at(k)];
          if (!counts(block, signal.stops, t, lane)) continue;
          result.means[at(k)] += std::exp(log_ratio) * (signal.blocks[b][at(column)] - signal.mean) / signal.scale;
        }
      }
    }
  }
  for (double& mean : result.means) mean /= count;
  result.kl /= count;
  EXPECT_EQ(s.samples.count(), static_cast<int>(count));
  return result;
}

TEST(PolicySamples, SurrogatesAndDivergence) {
  Samples s;
  for (const double size : {0.0, 0.02, 0.2}) {
    const AlignedVector<float> parameters = s.moved(size);
    const auto found = s.samples.evaluate(parameters, s.pool);
    const auto expected = by_definition(s, parameters);
    EXPECT_NEAR(found.kl, expected.kl, 2e-5 * (1.0 + expected.kl));
    for (std::size_t k = 0; k < 3; ++k)
      EXPECT_NEAR(found.means[k], expected.means[k], 1e-5 * (1.0 + std::abs(expected.means[k]))) << k;
  }
  EXPECT_EQ(s.samples.evaluate(s.parameters, s.pool).kl, 0.0);
}

// baselines.md §12.1: μ 0 → (.1, .2), σ 1 → (1.1, .9). The biases alone move the means.
TEST(PolicySamples, DivergenceByHand) {
  Samples s;
  std::fill(s.parameters.begin(), s.parameters.end(), 0.0F);  // μ = 0, σ = 1
  s.samples.take(s.batch, {s.policy, s.parameters, s.normaliser}, s.advantages, s.pool);
  AlignedVector<float> next = s.parameters;
  const int bias = s.policy.mlp().bias_offset(2);
  next[at(bias)] = 0.1F;
  next[at(bias + 1)] = 0.2F;
  next[at(s.policy.log_std_offset())] = std::log(1.1F);
  next[at(s.policy.log_std_offset() + 1)] = std::log(0.9F);
  EXPECT_NEAR(s.samples.evaluate(next, s.pool).kl, 0.049280345, 1e-6);
}

double norm(const std::vector<double>& v) {
  double sum = 0.0;
  for (const double value : v) sum += value * value;
  return std::sqrt(sum);
}

// Every kind of objective, with entropy and anchor, against central differences along random directions.
TEST(PolicySamples, GradientsAreThoseOfTheObjective) {
  Samples s;
  const AlignedVector<float> anchor = s.moved(0.05);
  AlignedVector<float> parameters = s.moved(0.03);
  std::vector<double> gradient(parameters.size()), ignored(parameters.size());
  const double entropy = 0.3;
  for (const bool anchored : {false, true}) {
    for (const Objective& objective :
         {weighted_sum({1.0, -0.5, 0.2}), clipped_sum({1.0, -0.5, 0.2}, 0.2), sum_of_clipped({1.0, -0.5, -0.2}, 0.2)}) {
      const std::optional<Anchor> drawn = anchored ? std::optional(Anchor{anchor, 0.7}) : std::nullopt;
      s.samples.gradient(parameters, s.samples.all(), objective, entropy, drawn, s.pool, gradient);
      const auto value = [&](const AlignedVector<float>& theta) {
        const auto slope = s.samples.gradient(theta, s.samples.all(), objective, entropy, drawn, s.pool, ignored);
        double result = slope.objective - (anchored ? 0.7 * slope.anchor_kl : 0.0);
        for (int a = 0; a < 2; ++a) result += entropy * static_cast<double>(theta[at(s.policy.log_std_offset() + a)]);
        return result;
      };
      for (std::uint32_t trial = 0; trial < 4; ++trial) {
        RandomStream random(8, Purpose::kTest, trial);
        AlignedVector<float> up = parameters, down = parameters;
        double expected = 0.0;
        for (std::size_t p = 0; p < parameters.size(); ++p) {
          const double direction = random.normal();
          up[p] += static_cast<float>(2e-3 * direction);
          down[p] -= static_cast<float>(2e-3 * direction);
          expected += gradient[p] * (static_cast<double>(up[p]) - static_cast<double>(down[p]));
        }
        EXPECT_NEAR(value(up) - value(down), expected, 0.03 * 4e-3 * norm(gradient) + 2e-5);
      }
    }
  }
}

// The projection of CUP: at the anchor itself only the cost speaks; without a price for it nothing does.
TEST(PolicySamples, AnAnchorAtThePolicyHasNoSlope) {
  Samples s;
  std::vector<double> gradient(s.parameters.size()), cost(s.parameters.size());
  s.samples.gradient(s.parameters, s.samples.all(), weighted_sum({0.0, 0.0, 0.0}), 0.0, Anchor{s.parameters, 1.0},
                     s.pool, gradient);
  EXPECT_EQ(norm(gradient), 0.0);
  s.samples.gradient(s.parameters, s.samples.all(), weighted_sum({0.0, -2.0, 0.0}), 0.0, Anchor{s.parameters, 1.0},
                     s.pool, gradient);
  s.samples.gradient(s.parameters, s.samples.all(), weighted_sum({0.0, 1.0, 0.0}), 0.0, {}, s.pool, cost);
  for (std::size_t p = 0; p < gradient.size(); ++p) EXPECT_NEAR(gradient[p], -2.0 * cost[p], 1e-6 * norm(cost));
}

// The loss of FOCOPS as its paper has it, in double: E[1{KL ≤ δ}(KL − ρ Σ c_k A_k)], KL = KL(π_θ‖π_k) of each sample.
// `inside` is the indicator: filled if it is empty, and else as it is, since the gradient takes it as a constant.
double focops_loss(const Samples& s, const std::vector<double>& theta, const std::vector<double>& coefficients,
                   double ball, std::vector<bool>& inside) {
  const Mlp<double> mlp(s.policy.mlp().shape());
  const std::vector<double> old(s.parameters.begin(), s.parameters.end());
  RowStore<double> input(3, 1), units(mlp.unit_count(), 1);
  const bool judges = inside.empty();
  double loss = 0.0;
  std::size_t sample = 0;
  for (std::size_t b = 0; b < s.batch.blocks.size(); ++b) {
    const auto& block = s.batch.blocks[b];
    for (int t = 0; t < block.simulated; ++t) {
      for (int lane = 0; lane < block.lanes(); ++lane) {
        if (!counts(block, false, t, lane)) continue;
        const std::ptrdiff_t column = block.column(t) + lane;
        for (int i = 0; i < 3; ++i) input.view().row(i)[0] = double{block.inputs.view().row(i)[column]};
        const auto mean = [&](const std::vector<double>& parameters, int a) {
          mlp.forward(std::span(parameters).first(at(mlp.parameter_count())), std::as_const(input).view(), units.view(),
                      1);
          return units.view().row(mlp.output_offset() + a)[0];
        };
        double log_ratio = 0.0, kl = 0.0;
        for (int a = 0; a < 2; ++a) {
          const double old_std = std::exp(old[at(mlp.parameter_count() + a)]);
          const double std = std::exp(theta[at(mlp.parameter_count() + a)]);
          const double noise = double{block.noise.view().row(a)[column]};
          const double shift = mean(theta, a) - mean(old, a);
          log_ratio +=
              std::log(old_std / std) + 0.5 * noise * noise - 0.5 * std::pow((old_std * noise - shift) / std, 2);
          kl += std::log(old_std / std) + (std * std + shift * shift) / (2.0 * old_std * old_std) - 0.5;
        }
        if (judges) inside.push_back(kl <= ball);
        if (!inside[sample++]) continue;
        loss += kl;
        for (int k = 0; k < 3; ++k) {
          const SignalAdvantages& signal = s.advantages[at(k)];
          if (!counts(block, signal.stops, t, lane)) continue;
          loss -= std::exp(log_ratio) * coefficients[at(k)] * (double{signal.blocks[b][at(column)]} - signal.mean) /
                  signal.scale;
        }
      }
    }
  }
  return loss / static_cast<double>(sample);
}

// Parameter by parameter, with a third of the samples outside the ball or more, and as many inside.
TEST(PolicySamples, FocopsDescendsItsLoss) {
  Samples s;
  const std::vector<double> coefficients = {1.0 / 1.5, -0.7 / 1.5, -0.2 / 1.5};
  const AlignedVector<float> parameters = s.moved(0.05);
  for (const double ball : {0.04, 1e3}) {
    std::vector<double> gradient(parameters.size());
    const auto slope = s.samples.gradient(parameters, s.samples.all(), weighted_sum(coefficients), 0.0,
                                          Anchor{s.parameters, 1.0, ball}, s.pool, gradient);
    std::vector<double> theta(parameters.begin(), parameters.end());
    std::vector<bool> inside;
    EXPECT_NEAR(slope.anchor_kl - slope.objective, focops_loss(s, theta, coefficients, ball, inside), 1e-5);
    const auto within = static_cast<double>(std::count(inside.begin(), inside.end(), true));
    const double share = within / static_cast<double>(inside.size());
    if (ball < 1.0) {
      EXPECT_GT(share, 0.33);
      EXPECT_LT(share, 0.67);
    } else {
      EXPECT_EQ(share, 1.0);
    }
    for (std::size_t p = 0; p < theta.size(); ++p) {
      const double here = theta[p];
      theta[p] = here + 1e-5;
      const double up = focops_loss(s, theta, coefficients, ball, inside);
      theta[p] = here - 1e-5;
      const double down = focops_loss(s, theta, coefficients, ball, inside);
      theta[p] = here;
      EXPECT_NEAR(gradient[p], (down - up) / 2e-5, 1e-5 * norm(gradient)) << "parameter " << p;
    }
  }
}

// Out of reach, a sample says nothing at all, be its ratio infinite; a reach that no sample passes changes no bit.
TEST(PolicySamples, WhatIsOutOfReachDoesNotCount) {
  Samples s;
  std::vector<double> gradient(s.parameters.size()), free(s.parameters.size());
  for (const double size : {0.05, 30.0}) {
    const auto slope = s.samples.gradient(s.moved(size), s.samples.all(), weighted_sum({1.0, -1.0, -1.0}), 0.0,
                                          Anchor{s.parameters, 1.0, 1e-9}, s.pool, gradient);
    EXPECT_EQ(norm(gradient), 0.0);
    EXPECT_EQ(slope.objective, 0.0);
    EXPECT_EQ(slope.anchor_kl, 0.0);
    EXPECT_GT(slope.kl, 1e-3);
  }
  const AlignedVector<float> parameters = s.moved(0.05);
  for (const Objective& objective : {weighted_sum({1.0, -1.0, -1.0}), clipped_sum({1.0, -1.0, -1.0}, 0.2)}) {
    s.samples.gradient(parameters, s.samples.all(), objective, 0.0, Anchor{s.parameters, 1.0}, s.pool, free);
    s.samples.gradient(parameters, s.samples.all(), objective, 0.0, Anchor{s.parameters, 1.0, 1e3}, s.pool, gradient);
    EXPECT_EQ(gradient, free);
  }
}

// λ = 0 is PPO to the last bit; an overwhelming λ is cost descent.
TEST(PolicySamples, ExtremeMultipliers) {
  Samples s;
  const AlignedVector<float> parameters = s.moved(0.05);
  std::vector<double> ppo(parameters.size()), other(parameters.size());
  s.samples.gradient(parameters, s.samples.all(), clipped_sum({1.0}, 0.2), 0.0, {}, s.pool, ppo);
  for (const Objective& objective : {clipped_sum({1.0, -0.0, -0.0}, 0.2), sum_of_clipped({1.0, -0.0, -0.0}, 0.2)}) {
    s.samples.gradient(parameters, s.samples.all(), objective, 0.0, {}, s.pool, other);
    EXPECT_EQ(ppo, other);
  }
  s.samples.gradient(s.parameters, s.samples.all(), clipped_sum({1.0, -1e6, 0.0}, 0.2), 0.0, {}, s.pool, other);
  s.samples.gradient(s.parameters, s.samples.all(), weighted_sum({0.0, -1.0, 0.0}), 0.0, {}, s.pool, ppo);
  double product = 0.0;
  for (std::size_t p = 0; p < ppo.size(); ++p) product += ppo[p] * other[p];
  EXPECT_GT(product / norm(ppo) / norm(other), 0.999);
}

TEST(PolicySamples, ThreadsDoNotMatter) {
  Samples one(1), three(3);
  const AlignedVector<float> parameters = one.moved(0.05);
  std::vector<double> a(parameters.size()), b(parameters.size());
  one.samples.gradient(parameters, one.samples.all(), clipped_sum({1.0, -0.5, 0.0}, 0.2), 0.1, {}, one.pool, a);
  three.samples.gradient(parameters, three.samples.all(), clipped_sum({1.0, -0.5, 0.0}, 0.2), 0.1, {}, three.pool, b);
  EXPECT_EQ(a, b);
}

TEST(PolicySamples, AFixedDeviationHasNoGradient) {
  Samples s(1, /*learn_std=*/false);
  std::vector<double> gradient(s.parameters.size());
  s.samples.gradient(s.moved(0.05), s.samples.all(), weighted_sum({1.0, 0.0, 0.0}), 0.5, Anchor{s.parameters, 1.0},
                     s.pool, gradient);
  EXPECT_EQ(gradient[gradient.size() - 1], 0.0);
  EXPECT_EQ(gradient[gradient.size() - 2], 0.0);
}

TEST(Clipped, GainsAreCutLossesAreNot) {
  EXPECT_FLOAT_EQ(clipped_gain(1.3F, 1.0F, 0.2F).value, 1.2F);
  EXPECT_EQ(clipped_gain(1.3F, 1.0F, 0.2F).slope, 0.0F);
  EXPECT_FLOAT_EQ(clipped_gain(1.3F, -1.0F, 0.2F).value, -1.3F);
  EXPECT_FLOAT_EQ(clipped_gain(1.3F, -1.0F, 0.2F).slope, -1.3F);
  EXPECT_FLOAT_EQ(clipped_gain(0.7F, -1.0F, 0.2F).value, -0.8F);
  EXPECT_EQ(clipped_gain(0.7F, -1.0F, 0.2F).slope, 0.0F);
  // max of a cost: A_C = 1.
  EXPECT_FLOAT_EQ(-clipped_gain(0.7F, -1.0F, 0.2F).value, 0.8F);
  EXPECT_FLOAT_EQ(-clipped_gain(1.3F, -1.0F, 0.2F).value, 1.3F);
  EXPECT_FLOAT_EQ(clipped_gain(1.1F, 2.0F, 0.2F).slope, 2.2F);
}

}  // namespace
}  // namespace cgpo
