#include "cgpo/nn/critic.hpp"

#include <gtest/gtest.h>

#include "batches.hpp"

namespace cgpo {
namespace {

template <class Real>
Critic<Real> random_critic(int observations, std::vector<int> hidden = {7, 6}) {
  Critic<Real> critic(observations, std::move(hidden), 50);
  critic.initialise(3, 1);
  const int last = critic.mlp().weight_offset(critic.mlp().layers() - 1);
  for (Real& weight : critic.parameters().subspan(last)) weight /= static_cast<Real>(Critic<Real>::kLastLayerScale);
  critic.rescale(12.0, 5.0);
  return critic;
}

template <class Real>
std::vector<Real> values(const Critic<Real>& critic, const RowStore<Real>& x, int t, int workspace_columns = 64) {
  CriticWorkspace<Real> workspace(critic.mlp(), workspace_columns);
  std::vector<Real> out(x.columns());
  critic.value(x.view(), t, out.data(), static_cast<int>(x.columns()), workspace);
  return out;
}

TEST(Critic, RescalingLeavesTheValue) {
  Critic<double> critic = random_critic<double>(3);
  const auto x = random_rows<double>(3, 20, 1);
  const auto before = values(critic, x, 10);
  critic.rescale(-300.0, 47.0);
  EXPECT_EQ(critic.offset(), -300.0);
  EXPECT_LT(relative_error(values(critic, x, 10), before), 1e-12);
  critic.rescale(5.0, 0.0);  // targets that do not vary
  EXPECT_EQ(critic.scale(), Critic<double>::kSmallestScale);
  EXPECT_LT(relative_error(values(critic, x, 10), before), 1e-9);
}

TEST(Critic, TheFirstScaleIsTakenOverLaterOnesLeaveTheValue) {
  SampleTable<double> table;
  table.resize(4, 4);
  const std::vector<double> first = {900, 1100, 900, 1100};
  const std::vector<double> second = {0, 10, 0, 10};
  Critic<double> critic(3, {7}, 50);
  critic.initialise(3, 1);
  const auto x = random_rows<double>(3, 5, 9);
  const auto raw = values(critic, x, 10);
  critic.rescale_to({table, first});
  EXPECT_EQ(critic.offset(), 1000.0);
  EXPECT_EQ(critic.scale(), 100.0);
  const auto scaled = values(critic, x, 10);
  for (int j = 0; j < 5; ++j) EXPECT_NEAR(scaled[j], 1000.0 + 100.0 * raw[j], 1e-10);
  critic.rescale_to({table, second});
  EXPECT_EQ(critic.scale(), 5.0);
  EXPECT_LT(relative_error(values(critic, x, 10), scaled), 1e-13);
}

TEST(Critic, PiecesOfTheWorkspaceGiveTheSameBits) {
  const Critic<float> critic = random_critic<float>(3);
  const auto x = random_rows<float>(3, 100, 2);
  EXPECT_EQ(values(critic, x, 3, 128), values(critic, x, 3, 7));
}

TEST(Critic, ValueGradientAgreesWithDifferences) {
  const Critic<double> critic = random_critic<double>(3);
  const int samples = 9, t = 20;
  auto x = random_rows<double>(3, samples, 3);
  const auto weights = random_vector<double>(samples, 4);
  CriticWorkspace<double> workspace(critic.mlp(), 4);
  RowStore<double> adjoint = random_rows<double>(3, samples, 5);
  const RowStore<double> before = adjoint;
  std::vector<double> out(samples);
  critic.value_gradient(x.view(), t, weights.data(), adjoint.view(), samples, workspace, out.data());
  EXPECT_EQ(out, values(critic, x, t));
  std::vector<double> expected, got;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < samples; ++j) {
      expected.push_back(weights[j] * central_difference(x.view().row(i)[j], [&] { return values(critic, x, t)[j]; }));
      got.push_back(adjoint.view().row(i)[j] - before.view().row(i)[j]);
    }
  }
  EXPECT_LT(relative_error(got, expected), 1e-8);
}

TEST(Critic, LossGradientAgreesWithDifferences) {
  Critic<double> critic = random_critic<double>(3);
  const int samples = 11;
  CriticWorkspace<double> workspace(critic.mlp(), samples);
  workspace.inputs = random_rows<double>(4, samples, 6);
  const auto targets = random_vector<double>(samples, 7, 20.0);
  std::copy(targets.begin(), targets.end(), workspace.targets.begin());
  critic.minibatch_gradient(samples, workspace);
  const std::vector<double> gradient(workspace.gradient.begin(), workspace.gradient.end());
  std::vector<double> expected;
  for (double& parameter : critic.parameters()) {
    expected.push_back(central_difference(parameter, [&] { return critic.minibatch_gradient(samples, workspace); }));
  }
  EXPECT_LT(relative_error(gradient, expected), 1e-8);
}

// A slope loss whose value is known: 0.7 Σ_j Σ_o (slope − wish)² with a different wish for every sample and input.
class WishedSlope final : public SlopeLoss<double> {
 public:
  explicit WishedSlope(int observations) : observations_(observations) {}
  double evaluate(Rows<const double> slope, std::span<const std::uint32_t> samples, double scale,
                  Rows<double> direction) override {
    EXPECT_EQ(scale, 5.0);
    double loss = 0.0;
    for (int o = 0; o < observations_; ++o) {
      for (std::size_t j = 0; j < samples.size(); ++j) {
        const double error = slope.row(o)[j] - (0.1 * o - 0.2 * samples[j]);
        loss += 0.7 * error * error;
        direction.row(o)[j] = 1.4 * error;
      }
    }
    last = loss;
    return loss;
  }
  double last = 0.0;

 private:
  int observations_;
};

TEST(Critic, SlopeLossGradientAgreesWithDifferences) {
  for (const std::vector<int>& hidden : {std::vector<int>{}, {5}, {7, 6}, {4, 5, 3}}) {
    Critic<double> critic = random_critic<double>(3, hidden);
    const int samples = 9;
    CriticWorkspace<double> workspace(critic.mlp(), samples);
    const auto x = random_rows<double>(4, samples, 5);
    for (int i = 0; i < 4; ++i) std::copy_n(x.view().row(i), samples, workspace.inputs.view().row(i));
    for (int j = 0; j < samples; ++j) {
      workspace.targets[j] = 10.0 + j;
      workspace.index[j] = static_cast<std::uint32_t>(j);
    }
    WishedSlope wish(3);
    const auto loss = [&] {
      const double value_loss = critic.minibatch_gradient(samples, workspace, &wish);
      return value_loss + wish.last;
    };
    loss();
    const std::vector<double> gradient(workspace.gradient.begin(), workspace.gradient.end());
    for (std::size_t p = 0; p < gradient.size(); ++p) {
      const double saved = critic.parameters()[p];
      critic.parameters()[p] = saved + 1e-5;
      const double up = loss();
      critic.parameters()[p] = saved - 1e-5;
      const double down = loss();
      critic.parameters()[p] = saved;
      EXPECT_NEAR(gradient[p], (up - down) / 2e-5, 1e-7 * (1.0 + std::abs(gradient[p])))
          << hidden.size() << " hidden, parameter " << p;
    }
  }
}

TEST(Critic, FoldingLeavesTheValueOfTheRawObservation) {
  Critic<double> critic = random_critic<double>(2);
  const InputScale before{{0.0, 1.0}, {1.0, 2.0}};
  const InputScale after{{0.3, -1.0}, {1.5, 0.5}};
  const auto raw = random_rows<double>(2, 10, 8);
  const auto scaled = [&](const InputScale& scale) {
    RowStore<double> x(2, 10);
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 10; ++j) x.view().row(i)[j] = (raw.view().row(i)[j] - scale.mean[i]) / scale.std[i];
    }
    return x;
  };
  const auto old_values = values(critic, scaled(before), 5);
  critic.fold_input_change(before, after);
  EXPECT_LT(relative_error(values(critic, scaled(after), 5), old_values), 1e-13);
}

// Targets 1000 + 200 (sin 2x + y t/T) for 50 steps of 60 environments; every tenth environment is left out.
struct FitProblem {
  static constexpr int kHorizon = 50, kBatch = 60;
  SampleTable<float> table;
  std::vector<float> targets;
  std::vector<std::uint32_t> chosen;

  FitProblem() : targets(kHorizon * kBatch) {
    table.resize(3, kHorizon * kBatch);
    for (int t = 0; t < kHorizon; ++t) {
      const auto x = random_rows<float>(2, kBatch, 100 + static_cast<std::uint32_t>(t));
      table.write(t * kBatch, x.view(), kBatch, static_cast<float>(t) / kHorizon);
      for (int j = 0; j < kBatch; ++j) {
        const float value = std::sin(2 * x.view().row(0)[j]) + x.view().row(1)[j] * static_cast<float>(t) / kHorizon;
        targets[t * kBatch + j] = j % 10 == 0 ? NAN : 1000 + 200 * value;
        if (j % 10 != 0) chosen.push_back(static_cast<std::uint32_t>(t * kBatch + j));
      }
    }
  }
  FitSamples<float> samples() const { return {table, targets, chosen}; }
};

TEST(Critic, FitFindsAKnownFunctionAndIsTheSameEveryTime) {
  const FitProblem problem;
  const auto train = [&](std::uint32_t key) {
    Critic<float> critic(2, {64, 64}, FitProblem::kHorizon);
    critic.initialise(1, 0);
    critic.rescale_to(problem.samples());
    CriticWorkspace<float> workspace(critic.mlp(), 256);
    std::vector<FitReport> reports;
    for (std::uint32_t iteration = 0; iteration < 6; ++iteration) {
      const double rate = iteration < 5 ? 3e-3 : 5e-4;
      reports.push_back(critic.fit(problem.samples(), {256, 256, rate}, {key, iteration, 0}, workspace));
    }
    return std::pair(std::vector<float>(critic.parameters().begin(), critic.parameters().end()), reports);
  };
  const auto [first, reports] = train(1);
  EXPECT_NEAR(reports.back().explained_variance, 1.0, 0.01);
  EXPECT_LT(reports.back().loss, 0.1 * reports.front().loss);
  EXPECT_LT(reports.back().loss, 400.0);  // of a variance above 30 000
  EXPECT_EQ(first, train(1).first);
  EXPECT_NE(first, train(2).first);
}

TEST(Critic, NothingChosenIsNoStep) {
  const FitProblem problem;
  Critic<float> critic(2, {8}, FitProblem::kHorizon);
  critic.initialise(1, 0);
  const std::vector<float> before(critic.parameters().begin(), critic.parameters().end());
  CriticWorkspace<float> workspace(critic.mlp(), 512);
  const FitSamples<float> none{problem.table, problem.targets, std::span<const std::uint32_t>()};
  critic.rescale_to(none);
  EXPECT_EQ(critic.fit(none, {}, {}, workspace).loss, 0.0);
  EXPECT_EQ(before, std::vector<float>(critic.parameters().begin(), critic.parameters().end()));
}

TEST(Critic, ContinuesBitForBitAfterLoading) {
  const FitProblem problem;
  Critic<float> critic(2, {16}, FitProblem::kHorizon);
  critic.initialise(1, 0);
  critic.rescale_to(problem.samples());
  CriticWorkspace<float> workspace(critic.mlp(), 64);
  critic.fit(problem.samples(), {20, 64, 1e-3}, {1, 0, 0}, workspace);
  Tensors tensors;
  critic.save(tensors, "critic0");
  Critic<float> loaded(2, {16}, FitProblem::kHorizon);
  loaded.load(tensors, "critic0");
  critic.fit(problem.samples(), {20, 64, 1e-3}, {1, 1, 0}, workspace);
  loaded.fit(problem.samples(), {20, 64, 1e-3}, {1, 1, 0}, workspace);
  EXPECT_EQ(loaded.offset(), critic.offset());
  EXPECT_EQ(loaded.scale(), critic.scale());
  EXPECT_TRUE(std::equal(critic.parameters().begin(), critic.parameters().end(), loaded.parameters().begin()));
}

}  // namespace
}  // namespace cgpo
