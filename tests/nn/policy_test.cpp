#include "cgpo/nn/policy.hpp"

#include <gtest/gtest.h>
#include <numbers>

#include "batches.hpp"

namespace cgpo {
namespace {

constexpr int kObservations = 4, kActions = 3, kSamples = 6;

struct PolicyTest : ::testing::Test {
  Policy<double> policy{kObservations, {7, 6}, kActions, /*learn_std=*/true};
  std::vector<double> parameters = random_vector<double>(policy.parameter_count(), 1, 0.5);
  RowStore<double> x = random_rows<double>(kObservations, kSamples, 2);
  RowStore<double> noise = random_rows<double>(kActions, kSamples, 3);
  RowStore<double> seed = random_rows<double>(kActions, kSamples, 4);
  RowStore<double> units{policy.unit_count(), kSamples};
  RowStore<double> deltas{policy.unit_count(), kSamples};
  RowStore<double> actions{kActions, kSamples};
  std::vector<double> gradient = std::vector<double>(policy.parameter_count(), 0.0);

  void forward() { policy.forward(parameters, x.view(), noise.view(), units.view(), actions.view(), kSamples); }
  double loss() {
    forward();
    double sum = 0.0;
    for (int a = 0; a < kActions; ++a) {
      for (int j = 0; j < kSamples; ++j) sum += seed.view().row(a)[j] * actions.view().row(a)[j];
    }
    return sum;
  }
  template <class Function>
  std::vector<double> parameter_differences(Function&& f) {
    std::vector<double> slopes;
    for (double& parameter : parameters) slopes.push_back(central_difference(parameter, f));
    return slopes;
  }
};

TEST_F(PolicyTest, ActionsAreTheFormula) {
  forward();
  for (int a = 0; a < kActions; ++a) {
    const double sigma = std::exp(parameters[policy.log_std_offset() + a]);
    for (int j = 0; j < kSamples; ++j) {
      const double u = policy.mean(units.view()).row(a)[j] + sigma * noise.view().row(a)[j];
      EXPECT_NEAR(actions.view().row(a)[j], std::tanh(u), 1e-14);
    }
  }
  policy.forward(parameters, x.view(), {}, units.view(), actions.view(), kSamples);
  EXPECT_NEAR(actions.view().row(1)[2], std::tanh(policy.mean(units.view()).row(1)[2]), 1e-14);
}

TEST_F(PolicyTest, GradientsAgreeWithDifferences) {
  loss();
  RowStore<double> dx(kObservations, kSamples);
  policy.backward(parameters, units.view(), actions.view(), seed.view(), deltas.view(), kSamples, {dx.view()});
  policy.accumulate_gradient(parameters, x.view(), noise.view(), units.view(), deltas.view(), gradient, kSamples);
  const auto f = [this] { return loss(); };
  EXPECT_LT(relative_error(gradient, parameter_differences(f)), 1e-9);
  std::vector<double> expected, got;
  for (int i = 0; i < kObservations; ++i) {
    for (int j = 0; j < kSamples; ++j) {
      expected.push_back(central_difference(x.view().row(i)[j], f));
      got.push_back(dx.view().row(i)[j]);
    }
  }
  EXPECT_LT(relative_error(got, expected), 1e-9);
}

TEST_F(PolicyTest, FixedStdHasNoGradient) {
  const Policy<double> fixed(kObservations, {7, 6}, kActions, /*learn_std=*/false);
  forward();
  const std::vector<double> weights(kSamples, 1.0);
  fixed.backward(parameters, units.view(), actions.view(), seed.view(), deltas.view(), kSamples);
  fixed.accumulate_gradient(parameters, x.view(), noise.view(), units.view(), deltas.view(), gradient, kSamples);
  fixed.accumulate_score(parameters, x.view(), noise.view(), weights.data(), units.view(), deltas.view(), gradient,
                         kSamples);
  for (int a = 0; a < kActions; ++a) EXPECT_EQ(gradient[fixed.log_std_offset() + a], 0.0);
  EXPECT_NE(gradient[0], 0.0);
}

TEST_F(PolicyTest, LogProbabilityIsADensityOverActions) {
  // One action: the density of a integrates to 1 over (-1, 1); a = tanh(u), so p(a) da = p(a) (1 - a^2) du.
  const Policy<double> one(1, {}, 1, true);
  const std::vector<double> p = {0.3, 0.2, std::log(0.7)};
  const int points = 4001;
  RowStore<double> input(1, points), eps(1, points), u(1, points), a(1, points);
  for (int j = 0; j < points; ++j) eps.view().row(0)[j] = -10.0 + 20.0 * j / (points - 1);
  one.forward(p, input.view(), eps.view(), u.view(), a.view(), points);
  std::vector<double> log_p(points);
  one.log_probability(p, u.view(), eps.view(), log_p.data(), points);
  double integral = 0.0;
  for (int j = 0; j < points; ++j) {
    const double v = 0.2 + 0.7 * eps.view().row(0)[j];
    integral += std::exp(log_p[j]) / (std::cosh(v) * std::cosh(v)) * 0.7 * 20.0 / (points - 1);
  }
  EXPECT_NEAR(integral, 1.0, 1e-10);
}

TEST_F(PolicyTest, ScoreAgreesWithDifferences) {
  forward();
  RowStore<double> u(kActions, kSamples);  // the sampled actions, held fixed
  for (int a = 0; a < kActions; ++a) {
    for (int j = 0; j < kSamples; ++j) u.view().row(a)[j] = std::atanh(actions.view().row(a)[j]);
  }
  const auto weights = random_vector<double>(kSamples, 5);
  const RowStore<double> drawn = noise;
  policy.accumulate_score(parameters, x.view(), drawn.view(), weights.data(), units.view(), deltas.view(), gradient,
                          kSamples);
  std::vector<double> log_p(kSamples);
  const auto weighted = [&] {
    forward();
    policy.noise_of(parameters, units.view(), u.view(), noise.view(), kSamples);
    policy.log_probability(parameters, units.view(), noise.view(), log_p.data(), kSamples);
    double sum = 0.0;
    for (int j = 0; j < kSamples; ++j) sum += weights[j] * log_p[j];
    return sum;
  };
  EXPECT_LT(relative_error(gradient, parameter_differences(weighted)), 1e-7);
}

TEST_F(PolicyTest, MeanJacobianAgreesWithDifferences) {
  forward();
  const int count = policy.parameter_count();
  std::vector<double> jacobian(kSamples * kActions * count, -1.0);
  policy.mean_jacobian(parameters, x.view(), units.view(), deltas.view(), kSamples, jacobian.data());
  for (int s = 0; s < kSamples; s += 2) {
    for (int a = 0; a < kActions; ++a) {
      const std::vector<double> row(jacobian.begin() + (s * kActions + a) * count,
                                    jacobian.begin() + (s * kActions + a + 1) * count);
      const auto slopes = parameter_differences([&] {
        forward();
        return policy.mean(units.view()).row(a)[s];
      });
      EXPECT_LT(relative_error(row, slopes), 1e-9);
    }
  }
}

TEST(Policy, StartsSmallAndComesBackFromItsFile) {
  const Policy<float> policy(5, {64, 64}, 2, false);
  std::vector<float> p(policy.parameter_count());
  policy.initialise(p, 7, 0.1);
  EXPECT_FLOAT_EQ(p[policy.log_std_offset() + 1], std::log(0.1f));
  for (int i = policy.mlp().weight_offset(2); i < policy.mlp().bias_offset(2); ++i) {
    EXPECT_LT(std::abs(p[i]), 0.01 * std::sqrt(3.0 / 64) * 1.0001);
  }
  Tensors tensors;
  policy.save(tensors, "policy", p);
  std::vector<float> q(p.size());
  policy.load(tensors, "policy", q);
  EXPECT_EQ(p, q);
}

}  // namespace
}  // namespace cgpo
