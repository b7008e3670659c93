// A learned model as a simulator: its derivatives, and windows inside it beside real episodes.
#include "cgpo/world/world_simulator.hpp"

#include <cmath>
#include <gtest/gtest.h>

#include "cgpo/gradient/corrected.hpp"
#include "cgpo/gradient/first_order.hpp"
#include "cgpo/rollout/imagine.hpp"

#include "probe_task.hpp"
#include "tasks.hpp"

namespace cgpo {
namespace {

constexpr int kLanes = 3;

// Networks that no fit has seen, with scales that are not 1.
WorldModel<double> random_model(int members) {
  WorldSettings settings;
  settings.hidden = {7, 5};
  settings.members = members;
  WorldModel<double> model({3, 2, 3}, settings);
  model.initialise(3);
  RandomStream random(2, Purpose::kTest);
  std::vector<float> rows;
  for (int i = 0; i < 200; ++i) {
    for (int j = 0; j < 11; ++j) rows.push_back(static_cast<float>((1.0 + j) * random.normal() + 0.3 * j));
  }
  model.observe(rows);
  for (int e = 0; e < members; ++e) {
    for (double& value : model.parameters(e)) value += 0.3 * random.normal();
  }
  return model;
}

class WorldDerivatives : public ::testing::TestWithParam<std::tuple<int, bool>> {};

// L_k = Σ u_k·s' + v_k·o + w_k f_k of every lane, by central differences in every input.
TEST_P(WorldDerivatives, AgreeWithCentralDifferences) {
  const auto [members, kept] = GetParam();
  const WorldModel<double> model = random_model(members);
  const auto task = make_task(testing::ProbeTask{});
  const WorldSimulator<double> simulator(*task, {0, 1}, model);
  RandomStream random(4, Purpose::kTest);
  SimulatorScratch<double> scratch;
  const auto filled = [&](int rows) {
    RowStore<double> store(rows, kLanes);
    for (int i = 0; i < rows; ++i) {
      for (int lane = 0; lane < kLanes; ++lane) store.view().row(i)[lane] = random.normal();
    }
    return store;
  };
  RowStore<double> state = filled(3);
  RowStore<double> action = filled(2);
  const RowStore<double> u = filled(9);
  const RowStore<double> v = filled(9);
  const RowStore<double> w = filled(3);
  RowStore<double> inner(simulator.inner_rows(), kLanes);
  const auto loss = [&](int k, int lane) {
    RowStore<double> next(3, kLanes), observation(3, kLanes), signals(3, kLanes);
    std::vector<double> paper(kLanes), ended(kLanes);
    simulator.step({state.view(), action.view(), next.view(), observation.view(), signals.view(), paper.data(),
                    ended.data(), inner.view()},
                   kLanes, scratch);
    double sum = w.view().row(k)[lane] * signals.view().row(k)[lane];
    for (int i = 0; i < 3; ++i) {
      sum += u.view().row(3 * k + i)[lane] * next.view().row(i)[lane];
      sum += v.view().row(3 * k + i)[lane] * observation.view().row(i)[lane];
    }
    return sum;
  };
  loss(0, 0);  // fills inner
  const RowStore<double> units = inner;
  RowStore<double> state_adjoint(9, kLanes), action_adjoint(6, kLanes);
  simulator.pull_back({.state = state.view(),
                       .action = action.view(),
                       .next_state_adjoint = u.view(),
                       .observation_adjoint = v.view(),
                       .weight = w.view(),
                       .state_adjoint = state_adjoint.view(),
                       .action_adjoint = action_adjoint.view(),
                       .inner = kept ? units.view() : Rows<const double>()},
                      kLanes, scratch);
  constexpr double kStep = 1e-5;
  for (int k = 0; k < 3; ++k) {
    for (int lane = 0; lane < kLanes; ++lane) {
      for (int i = 0; i < 5; ++i) {
        double& input = i < 3 ? state.view().row(i)[lane] : action.view().row(i - 3)[lane];
        const double middle = input;
        input = middle + kStep;
        const double above = loss(k, lane);
        input = middle - kStep;
        const double below = loss(k, lane);
        input = middle;
        const double found =
            i < 3 ? state_adjoint.view().row(3 * k + i)[lane] : action_adjoint.view().row(2 * k + i - 3)[lane];
        EXPECT_NEAR(found, (above - below) / (2.0 * kStep), 1e-7 * std::max(1.0, std::abs(found)));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, WorldDerivatives, ::testing::Combine(::testing::Values(1, 3), ::testing::Bool()));

// A task that observes all of its state is a model of itself: imagined episodes repeat the real ones.
struct Plain {
  TaskSpec spec() const {
    return testing::toy_spec("plain", {.states = 2, .observations = 2, .horizon = 11},
                             {{.name = "cost", .limit = 1.0}});
  }
  void reset(RandomStream& random, std::span<double> state) const { testing::uniform_start(random, state); }
  template <class S>
  void observe(std::span<const S> s, std::span<S> o) const {
    testing::observe_state(s, o);
  }
  template <class S>
  StepResult<S> step(std::span<const S> s, std::span<const S> a) const {
    return {.state = {s[0] + drift + 0.1 * s[1], 0.9 * s[1] + push * a[0]},
            .reward = s[0] * s[1],
            .reward_paper = s[0],
            .costs = {s[1] * s[1]},
            .ended = s[0] > end_at};
  }
  double drift = 0.0;
  double push = 0.2;
  double end_at = 0.9;
};

class Imagination : public ::testing::Test {
 protected:
  Imagination() : policy_(2, {4}, 1, false), parameters_(static_cast<std::size_t>(policy_.parameter_count())) {
    policy_.initialise(parameters_, 1, 0.3, 1.0);
    collect(*real_, actor(), {.seed = 3}, false, pool_, batch_);
  }
  Actor<double> actor() const { return {policy_, parameters_, normaliser_}; }

  ThreadPool pool_{2};
  std::unique_ptr<Simulator<double>> real_ = make_simulator<double>(make_task(Plain{}), {0});
  Policy<double> policy_;
  AlignedVector<double> parameters_;
  Normaliser<double> normaliser_{2};
  Batch<double> batch_{*real_, 10, 11, 4};
};

TEST_F(Imagination, APerfectModelRepeatsTheEpisodes) {
  for (const int window : {0, 1, 4, 11}) {
    Batch<double> imagined(*real_, 10, 11, 4);
    imagine(*real_, actor(), batch_, window, Replay::kNoise, pool_, imagined);
    for (std::size_t b = 0; b < batch_.blocks.size(); ++b) {
      EXPECT_EQ(imagined.blocks[b].length, batch_.blocks[b].length);
      for (std::size_t i = 0; i < batch_.blocks[b].sums.size(); ++i)
        EXPECT_DOUBLE_EQ(imagined.blocks[b].sums[i], batch_.blocks[b].sums[i]);
    }
    const std::vector<double> unit = {1.0, 1.0};
    for (const double error : prediction_errors(batch_, imagined, window, unit).state) EXPECT_LT(error, 1e-12);
  }
}

TEST_F(Imagination, AModelThatDriftsIsOffByItsDriftTimesTheSteps) {
  const auto model = make_simulator<double>(make_task(Plain{.drift = 0.01}), {0});
  Batch<double> imagined(*model, 10, 11, 4);
  imagine(*model, actor(), batch_, 5, Replay::kActions, pool_, imagined);
  const std::vector<double> unit = {0.5, 1.0};
  const PredictionErrors errors = prediction_errors(batch_, imagined, 5, unit);
  ASSERT_EQ(errors.state.size(), 5U);
  for (std::size_t j = 0; j < 5; ++j)
    EXPECT_NEAR(errors.state[j], 0.01 * static_cast<double>(j + 1) / 0.5 / std::sqrt(2.0), 1e-12);
  std::vector<double> expected(5, 0.0);
  for (const auto& block : batch_.blocks) {
    for (const int length : block.length) {
      for (int t = 0; t < length; ++t) expected[static_cast<std::size_t>(t % 5)] += 1.0;
    }
  }
  EXPECT_EQ(errors.samples, expected);
  EXPECT_LT(expected[4], expected[0]);  // else it would not matter which is which
}

// A model that drifts has the derivatives of the real task, at the same states. So along real episodes its gradient is
// the true one; along what it predicts itself it is not.
TEST_F(Imagination, AlongRealStatesOnlyDerivativesMatter) {
  constexpr int kWindow = 4;
  const auto model = make_simulator<double>(make_task(Plain{.drift = 0.05}), {0});
  FirstOrderGradient<double> truth(*real_, policy_, batch_, kWindow);
  const std::vector<std::vector<double>> expected = truth.estimate(batch_, actor(), {}, pool_).gradients;
  const auto distance = [&](Replay replay) {
    Batch<double> imagined(*model, 10, 11, 4);
    imagine(*model, actor(), batch_, kWindow, replay, pool_, imagined);
    FirstOrderGradient<double> gradient(*model, policy_, imagined, kWindow);
    const GradientEstimate& found = gradient.estimate(imagined, actor(), {}, pool_);
    double largest = 0.0;
    for (std::size_t k = 0; k < expected.size(); ++k) {
      for (std::size_t i = 0; i < expected[k].size(); ++i)
        largest = std::max(largest, std::abs(found.gradients[k][i] - expected[k][i]));
    }
    return largest;
  };
  EXPECT_LT(distance(Replay::kStates), 1e-12);
  EXPECT_GT(distance(Replay::kNoise), 1e-3);
}

// Corrected gradients through a model, and critics that no fit has seen.
class Correction : public Imagination {
 protected:
  Correction() {
    for (std::uint32_t k = 0; k < 2; ++k) {
      critics_.emplace_back(2, std::vector<int>{6}, 11);
      critics_.back().initialise(4, k);
      critics_.back().rescale(0.3 * k, 1.0 + k);
      RandomStream random(5, Purpose::kTest, k);
      for (double& value : critics_.back().parameters()) value += random.normal();  // they begin near 0
    }
  }
  std::vector<Critic<double>> critics_;
};

// With a perfect model and λ = 0 there is nothing to correct: A is what model and critic promise.
TEST_F(Correction, OfAPerfectModelIsNothing) {
  Batch<double> steps(*real_, 10, 11, 4);
  imagine(*real_, actor(), batch_, 1, Replay::kNoise, pool_, steps);
  const HorizonRule rule{.discount = 0.9};
  CorrectedGradient<double> corrected(*real_, *real_, policy_, batch_, steps, rule, /*lambda=*/0.0);
  FirstOrderGradient<double> promised(*real_, policy_, steps, 1, rule);
  const GradientEstimate& found = corrected.estimate(batch_, steps, actor(), critics_, pool_);
  const GradientEstimate& expected = promised.estimate(steps, actor(), critics_, pool_);
  for (std::size_t k = 0; k < 2; ++k) {
    for (std::size_t p = 0; p < parameters_.size(); ++p)
      EXPECT_NEAR(found.gradients[k][p], expected.gradients[k][p], 1e-12 * expected.norm(k));
  }
}

// The model pushes the wrong way and drifts, the critics are noise, and the mean is still that of the true gradient.
TEST_F(Correction, MakesAWrongModelRightInTheMean) {
  constexpr int kEpisodes = 1500;
  constexpr int kRepeats = 60;
  const auto real = make_simulator<double>(make_task(Plain{.end_at = 1e9}), {0});
  const auto model = make_simulator<double>(make_task(Plain{.drift = 0.2, .push = -1.0, .end_at = 1e9}), {0});
  Batch<double> batch(*real, kEpisodes, 11, 64);
  Batch<double> steps(*model, kEpisodes, 11, 64);
  CorrectedGradient<double> corrected(*real, *model, policy_, batch, steps, {}, /*lambda=*/1.0);
  FirstOrderGradient<double> promised(*model, policy_, steps, 1);
  FirstOrderGradient<double> exact(*real, policy_, batch, 0);
  const std::vector<double> zero(parameters_.size(), 0.0);
  std::vector<std::vector<double>> difference(2, zero);
  std::vector<std::vector<double>> squares(2, zero);
  std::vector<std::vector<double>> model_part(2, zero);
  for (std::uint32_t repeat = 0; repeat < kRepeats; ++repeat) {
    collect(*real, actor(), {.seed = 3, .iteration = repeat}, false, pool_, batch);
    imagine(*model, actor(), batch, 1, Replay::kNoise, pool_, steps);
    const GradientEstimate& found = corrected.estimate(batch, steps, actor(), critics_, pool_);
    const GradientEstimate& truth = exact.estimate(batch, actor(), {}, pool_);
    const GradientEstimate& wrong = promised.estimate(steps, actor(), critics_, pool_);
    for (std::size_t k = 0; k < 2; ++k) {
      for (std::size_t p = 0; p < parameters_.size(); ++p) {
        const double error = found.gradients[k][p] - truth.gradients[k][p];
        difference[k][p] += error / kRepeats;
        squares[k][p] += error * error / kRepeats;
        model_part[k][p] += wrong.gradients[k][p] / kRepeats;
      }
    }
  }
  for (std::size_t k = 0; k < 2; ++k) {
    double would_show = 0.0;
    for (std::size_t p = 0; p < parameters_.size(); ++p) {
      const double allowed = 4.5 * std::sqrt(squares[k][p] / kRepeats) + 1e-12;
      EXPECT_LT(std::abs(difference[k][p]), allowed) << k << " " << p;
      would_show = std::max(would_show, std::abs(model_part[k][p]) / allowed);
    }
    EXPECT_GT(would_show, 3.0);  // were the model's part there twice, or not at all, it would be seen
  }
}

}  // namespace
}  // namespace cgpo
