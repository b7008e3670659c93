// Window gradients against differences of the windowed objective itself, with the same noise.
#include "cgpo/gradient/first_order.hpp"

#include <cmath>
#include <gtest/gtest.h>

#include "cgpo/base/error.hpp"
#include "cgpo/rollout/imagine.hpp"
#include "cgpo/tasks/registry.hpp"

#include "fixture.hpp"
#include "tasks.hpp"

namespace cgpo {
namespace {

using testing::Fixture;
using testing::ProbeTask;

// What a gradient claims to look at.
struct Sight {
  int window;
  bool use_critics = true;
  HorizonRule horizon = {};
};
const HorizonRule kDiscounted{.discount = 0.8, .ends_at_horizon = false};
const HorizonRule kShortSighted{.discount = 0.8, .ends_at_horizon = true};  // gradient.discount

// L of signal k from a state at step `start` to the end of its window, critic included, with the reference episode's
// noise and ends; the first action is by a policy of its own. Written with one-column calls of simulator and policy, so
// that it shares nothing with the sweep.
double rest_of_window(const Fixture& f, const TrajectoryBlock<double>& block, int k, int lane,
                      std::vector<double> state, int start, const Sight& sight,
                      const AlignedVector<double>& first_parameters) {
  std::vector<double> next(2), observation(3), input(3), noise(2), action(2), signals(3);
  SimulatorScratch<double> scratch;
  RowStore<double> units(f.policy.unit_count(), 1);
  const auto rows = [](std::vector<double>& values) { return Rows<double>(values.data(), 1); };
  const bool stops = f.simulator.stops_at_end(k);
  double total = 0.0;
  double factor = 1.0;  // γ^(t − start)
  double paper = 0.0;
  double ended = 0.0;
  f.simulator.observe(rows(state), rows(observation), 1, scratch);
  const int end = std::min((start / sight.window + 1) * sight.window, block.horizon);
  for (int t = start; t < end; ++t) {
    f.normaliser.normalise(rows(observation), rows(input), 1);
    for (int a = 0; a < 2; ++a) noise[static_cast<std::size_t>(a)] = block.noise.view().row(a)[block.column(t) + lane];
    f.policy.forward(t == start ? first_parameters : f.parameters, rows(input), rows(noise), units.view(), rows(action),
                     1);
    f.simulator.step({rows(state), rows(action), rows(next), rows(observation), rows(signals), &paper, &ended}, 1,
                     scratch);
    state = next;
    if (counts(block, stops, t, lane)) total += factor * signals[static_cast<std::size_t>(k)];
    factor *= sight.horizon.discount;
  }
  const bool over = stops && block.ended[static_cast<std::size_t>(lane)] != 0;  // before the window's end or with it
  const bool followed = end < block.horizon ? counts(block, stops, end, lane) : !sight.horizon.ends_at_horizon && !over;
  if (sight.use_critics && followed) {
    CriticWorkspace<double> workspace(f.critics[0].mlp(), 1);
    f.normaliser.normalise(rows(observation), rows(input), 1);
    double value = 0.0;
    f.critics[static_cast<std::size_t>(k)].value(rows(input), sight.horizon.ends_at_horizon ? end : 0, &value, 1,
                                                 workspace);
    total += factor * value;
  }
  return total;
}

std::vector<double> state_at(const TrajectoryBlock<double>& block, int t, int lane) {
  const std::ptrdiff_t column = block.column(t) + lane;
  return {block.states.view().row(0)[column], block.states.view().row(1)[column]};
}

// Of episodes that did not diverge.
template <class OfEpisode>
double mean_over_episodes(const Batch<double>& reference, const OfEpisode& of_episode) {
  double total = 0.0;
  int episodes = 0;
  for (const auto& block : reference.blocks) {
    for (int lane = 0; lane < block.lanes(); ++lane) {
      if (block.diverged[static_cast<std::size_t>(lane)] != 0) continue;
      ++episodes;
      total += of_episode(block, lane);
    }
  }
  return total / episodes;
}

// Σ_w L_w of signal k at the current parameters, averaged over episodes: every window starts from the state in which
// the *reference* episode was.
double windowed_objective(const Fixture& f, const Batch<double>& reference, int k, const Sight& sight) {
  return mean_over_episodes(reference, [&](const TrajectoryBlock<double>& block, int lane) {
    double total = 0.0;
    for (int start = 0; start < block.simulated; start += sight.window)
      total += rest_of_window(f, block, k, lane, state_at(block, start, lane), start, sight, f.parameters);
    return total;
  });
}

// Σ_t L_t of signal k, averaged over episodes, where the given parameters choose action t alone: what follows it is the
// reference's policy. Its derivative counts each action once.
double stepwise_objective(const Fixture& f, const Batch<double>& reference, int k, const Sight& sight,
                          const AlignedVector<double>& parameters) {
  return mean_over_episodes(reference, [&](const TrajectoryBlock<double>& block, int lane) {
    double total = 0.0;
    for (int t = 0; t < block.simulated; ++t) {
      if (!counts(block, f.simulator.stops_at_end(k), t, lane)) continue;
      total += rest_of_window(f, block, k, lane, state_at(block, t, lane), t, sight, parameters);
    }
    return total;
  });
}

GradientEstimate estimate_of(Fixture& f, const Batch<double>& batch, const Sight& sight) {
  FirstOrderGradient<double> estimator(f.simulator, f.policy, batch, sight.window, sight.horizon);
  const std::span<const Critic<double>> critics =
      sight.use_critics ? std::span<const Critic<double>>(f.critics) : std::span<const Critic<double>>();
  return estimator.estimate(batch, f.actor(), critics, f.pool);
}

void expect_gradient(Fixture& f, int window, bool use_critics) {
  const Batch<double> batch = f.collect_batch();
  const GradientEstimate gradient = estimate_of(f, batch, {window, use_critics});
  const Sight sight{window > 0 ? window : f.task->spec().horizon, use_critics};
  for (int k = 0; k < 3; ++k) {
    const double norm = gradient.norm(static_cast<std::size_t>(k));
    EXPECT_GT(norm, 1e-3);
    for (std::size_t p = 0; p < f.parameters.size(); p += 3) {
      const double saved = f.parameters[p];
      const double step = 1e-5;
      const auto at = [&](double offset) {
        f.parameters[p] = saved + offset;
        const double value = windowed_objective(f, batch, k, sight);
        f.parameters[p] = saved;
        return value;
      };
      const double difference = (8.0 * (at(step) - at(-step)) - (at(2.0 * step) - at(-2.0 * step))) / (12.0 * step);
      EXPECT_NEAR(gradient.gradients[static_cast<std::size_t>(k)][p], difference, 1e-6 * norm)
          << "signal " << k << " parameter " << p << " window " << window;
    }
  }
}

void expect_stepwise_gradient(Fixture& f, const Batch<double>& batch, const Sight& sight) {
  const GradientEstimate gradient = estimate_of(f, batch, sight);
  for (int k = 0; k < 3; ++k) {
    const double norm = gradient.norm(static_cast<std::size_t>(k));
    EXPECT_GT(norm, 1e-3);
    for (std::size_t p = 0; p < f.parameters.size(); p += 3) {
      const double step = 1e-5;
      const auto at = [&](double offset) {
        AlignedVector<double> moved = f.parameters;
        moved[p] += offset;
        return stepwise_objective(f, batch, k, sight, moved);
      };
      const double difference = (8.0 * (at(step) - at(-step)) - (at(2.0 * step) - at(-2.0 * step))) / (12.0 * step);
      EXPECT_NEAR(gradient.gradients[static_cast<std::size_t>(k)][p], difference, 1e-6 * norm)
          << "signal " << k << " parameter " << p << " window " << sight.window;
    }
  }
}

TEST(FirstOrder, ShacWindowsEqualDifferences) {
  Fixture f;
  for (const int window : {1, 4, 5, 12, 40}) expect_gradient(f, window, true);
}

TEST(FirstOrder, BpttEqualsDifferences) {
  Fixture f(ProbeTask{.horizon = 40});  // several segments in one window
  expect_gradient(f, 0, false);
}

TEST(FirstOrder, EarlyEndsCutEachSignalItsOwnWay) {
  Fixture f(ProbeTask{.end_at = 1.6}, 10);
  expect_gradient(f, 4, true);
  expect_gradient(f, 0, false);
}

TEST(FirstOrder, DivergedEnvironmentsLeaveTheAverage) {
  Fixture f(ProbeTask{.diverge_at = 2.4}, 12);
  const Batch<double> batch = f.collect_batch();
  ASSERT_GT(batch.environments - batch.intact_environments(), 1);
  ASSERT_GT(batch.intact_environments(), 2);
  expect_gradient(f, 4, true);
}

TEST(FirstOrder, DiscountedWindowsEqualDifferences) {
  Fixture f;
  const Batch<double> batch = f.collect_batch();
  for (const int window : {1, 5, 12}) {
    expect_stepwise_gradient(f, batch, {window});  // the reference itself: without discount it is the other one
    expect_stepwise_gradient(f, batch, {window, true, kDiscounted});
    expect_stepwise_gradient(f, batch, {window, false, kDiscounted});
    expect_stepwise_gradient(f, batch, {window, true, kShortSighted});
  }
}

// Across segments of one window.
TEST(FirstOrder, DiscountedBpttEqualsDifferences) {
  Fixture f(ProbeTask{.horizon = 20}, 3);
  expect_stepwise_gradient(f, f.collect_batch(), {20, false, kDiscounted});
}

// Signals that stopped have nothing after T, also those that stopped with the last step; the others are truncated
// there.
TEST(FirstOrder, DiscountedEndsCutEachSignalItsOwnWay) {
  for (const double diverge_at : {1e9, 2.9}) {
    Fixture f(ProbeTask{.end_at = 2.0, .diverge_at = diverge_at}, 10);
    Batch<double> batch = f.collect_batch();
    EXPECT_EQ(batch.intact_environments() < 10, diverge_at < 1e9);
    int early = 0;
    int late = 0;
    for (auto& block : batch.blocks) {
      for (std::size_t lane = 0; lane < block.length.size(); ++lane) {
        if (block.length[lane] < 12) {
          ++early;
        } else if (late++ == 0) {
          block.ended[lane] = 1;
        }
      }
    }
    ASSERT_GT(early, 1);
    ASSERT_GT(late, 1);
    for (const int window : {4, 5, 12}) expect_stepwise_gradient(f, batch, {window, true, kDiscounted});
  }
}

// γ = 0 sees the step alone, whatever the windows and the critics are.
TEST(FirstOrder, WithoutAFutureWindowsDoNotMatter) {
  Fixture f(ProbeTask{.end_at = 1.6}, 5);
  const Batch<double> batch = f.collect_batch();
  const GradientEstimate alone = estimate_of(f, batch, {1, false});
  const GradientEstimate blind = estimate_of(f, batch, {5, true, {.discount = 0.0, .ends_at_horizon = false}});
  for (std::size_t k = 0; k < 3; ++k) {
    for (std::size_t p = 0; p < f.parameters.size(); ++p)
      EXPECT_NEAR(alone.gradients[k][p], blind.gradients[k][p], 1e-12 * alone.norm(k));
  }
}

// dL/ds_t against differences of the rest of the window from a moved state, policy in the loop.
class StateSlopes : public ::testing::TestWithParam<HorizonRule> {};
INSTANTIATE_TEST_SUITE_P(Both, StateSlopes, ::testing::Values(HorizonRule{}, kDiscounted, kShortSighted));

TEST_P(StateSlopes, EqualDifferences) {
  Fixture f(ProbeTask{.end_at = 1.6}, 5);
  const Batch<double> batch = f.collect_batch(0, 5);
  const auto& block = batch.blocks[0];
  const Sight sight{5, true, GetParam()};
  FirstOrderGradient<double> estimator(f.simulator, f.policy, batch, sight.window, sight.horizon);
  const RowStore<double>& slopes = estimator.state_slopes(batch, f.actor(), f.critics, f.pool)[0];
  for (int k = 0; k < 3; ++k) {
    for (int lane = 0; lane < 5; ++lane) {
      for (int t = 0; t < 12; ++t) {
        if (!counts(block, f.simulator.stops_at_end(k), t, lane)) continue;
        const std::ptrdiff_t column = block.column(t) + lane;
        for (int i = 0; i < 2; ++i) {
          const auto moved = [&](double offset) {
            std::vector<double> state = state_at(block, t, lane);
            state[static_cast<std::size_t>(i)] += offset;
            return rest_of_window(f, block, k, lane, state, t, sight, f.parameters);
          };
          const double difference = (8.0 * (moved(1e-4) - moved(-1e-4)) - (moved(2e-4) - moved(-2e-4))) / 12e-4;
          EXPECT_NEAR(slopes.view().row(k * 2 + i)[column], difference, 1e-6 * (1.0 + std::abs(difference)))
              << "signal " << k << " lane " << lane << " t " << t << " state " << i;
        }
      }
    }
  }
}

// bptt is what one window without critics is.
TEST(FirstOrder, OneWindowIsBptt) {
  Fixture f;
  const Batch<double> batch = f.collect_batch();
  FirstOrderGradient<double> whole(f.simulator, f.policy, batch, 12);
  FirstOrderGradient<double> bptt(f.simulator, f.policy, batch, 0);
  EXPECT_EQ(whole.estimate(batch, f.actor(), f.critics, f.pool).gradients,
            bptt.estimate(batch, f.actor(), {}, f.pool).gradients);
}

// A critic that is the exact cost-to-go makes every window length give the same, full gradient; none does not.
// Linear dynamics, a linear signal: V(x, t) is linear in the state, and a network without hidden layers holds it.
struct LinearTask {
  TaskSpec spec() const { return testing::toy_spec("linear", {.horizon = 12}, {{.name = "x", .limit = 0.0}}); }
  void reset(RandomStream& random, std::span<double> state) const { testing::uniform_start(random, state); }
  template <class S>
  void observe(std::span<const S> s, std::span<S> o) const {
    testing::observe_state(s, o);
  }
  template <class S>
  StepResult<S> step(std::span<const S> s, std::span<const S> a) const {
    return {.state = {s[0] * 0.5 + a[0]}, .reward = s[0], .reward_paper = s[0], .costs = {s[0]}, .ended = S(0.0)};
  }
};

TEST(FirstOrder, ExactCriticsMakeWindowsExact) {
  const auto task = make_task(LinearTask{});
  const KernelSimulator<double> simulator(task, {0});
  // A policy whose mean does not depend on the state, so that the cost-to-go is x·(1 + ½ + …): close to 2x far from T.
  const Policy<double> policy(1, {}, 1, false);
  AlignedVector<double> parameters(static_cast<std::size_t>(policy.parameter_count()), 0.0);
  parameters[1] = 0.3;            // bias
  parameters[2] = std::log(0.1);  // log σ
  const Normaliser<double> normaliser(1);
  Batch<double> batch(simulator, 8, 12, 4);
  ThreadPool pool(1);
  collect(simulator, Actor<double>{policy, parameters, normaliser}, {.seed = 1}, false, pool, batch);
  const auto gradient = [&](int window, double slope) {
    std::vector<Critic<double>> critics;
    for (std::uint32_t k = 0; k < 2; ++k) {
      critics.emplace_back(1, std::vector<int>{}, 12);
      std::fill(critics.back().parameters().begin(), critics.back().parameters().end(), 0.0);
      critics.back().parameters()[0] = slope;
    }
    FirstOrderGradient<double> estimator(simulator, policy, batch, window);
    return estimator.estimate(batch, {policy, parameters, normaliser}, critics, pool).gradients[0][1];
  };
  const double full = gradient(12, 0.0);
  // Window of 6: the cost-to-go from step 6 is x (2 − 2^{-5}).
  EXPECT_NEAR(gradient(6, 2.0 - std::pow(0.5, 5)), full, 1e-12 * std::abs(full));
  EXPECT_GT(std::abs(gradient(6, 0.0) - full), 0.05 * std::abs(full));
}

// The same with a discount and no end: dV/dx = 1 + γ/2 + (γ/2)² + … at every time. Each action is worth γ dV/dx then,
// the last one too, and it does not matter where windows begin. Windows in a model that is the task itself are the
// same.
TEST(FirstOrder, ExactCriticsMakeDiscountedWindowsExact) {
  const auto task = make_task(LinearTask{});
  const KernelSimulator<double> simulator(task, {0});
  const Policy<double> policy(1, {}, 1, false);
  AlignedVector<double> parameters(static_cast<std::size_t>(policy.parameter_count()), 0.0);
  parameters[1] = 0.3;
  parameters[2] = std::log(0.1);
  const Normaliser<double> normaliser(1);
  const Actor<double> actor{policy, parameters, normaliser};
  Batch<double> batch(simulator, 8, 12, 4);
  Batch<double> imagined(simulator, 8, 12, 4);
  ThreadPool pool(1);
  collect(simulator, actor, {.seed = 1}, false, pool, batch);
  const HorizonRule horizon{.discount = 0.9, .ends_at_horizon = false};
  const double slope = 1.0 / (1.0 - 0.5 * horizon.discount);
  std::vector<Critic<double>> critics;
  for (std::uint32_t k = 0; k < 2; ++k) {
    critics.emplace_back(1, std::vector<int>{}, 12);
    std::fill(critics.back().parameters().begin(), critics.back().parameters().end(), 0.0);
    critics.back().parameters()[0] = slope;
    critics.back().parameters()[1] = 100.0;  // of the time, which must stay out of it
  }
  double expected = 0.0;  // Σ_t γ dV/dx da_t/dbias
  for (const auto& block : batch.blocks) {
    for (int i = 0; i < 12 * 4; ++i) {
      const double action = block.actions.view().row(0)[i];
      expected += horizon.discount * slope * (1.0 - action * action) / 8.0;
    }
  }
  for (const int window : {1, 5, 6, 12}) {
    FirstOrderGradient<double> estimator(simulator, policy, batch, window, horizon);
    EXPECT_NEAR(estimator.estimate(batch, actor, critics, pool).gradients[0][1], expected, 1e-12 * expected);
    imagine(simulator, actor, batch, window, Replay::kNoise, pool, imagined);
    EXPECT_NEAR(estimator.estimate(imagined, actor, critics, pool).gradients[0][1], expected, 1e-12 * expected);
  }
}

// With the same linear task: the exact cost-to-go agrees with the next window whatever its scale, its opposite never.
TEST(FirstOrder, CosineOfTheCriticsSlope) {
  const auto task = make_task(LinearTask{});
  const KernelSimulator<double> simulator(task, {0});
  const Policy<double> policy(1, {}, 1, false);
  AlignedVector<double> parameters(static_cast<std::size_t>(policy.parameter_count()), 0.0);
  parameters[2] = std::log(0.1);
  const Normaliser<double> normaliser(1);
  Batch<double> batch(simulator, 8, 12, 4);
  ThreadPool pool(1);
  collect(simulator, Actor<double>{policy, parameters, normaliser}, {.seed = 1}, false, pool, batch);
  std::vector<Critic<double>> critics;
  for (const double slope : {0.7, -2.0}) {
    critics.emplace_back(1, std::vector<int>{}, 12);
    std::fill(critics.back().parameters().begin(), critics.back().parameters().end(), 0.0);
    critics.back().parameters()[0] = slope;
  }
  FirstOrderGradient<double> estimator(simulator, policy, batch, 6);
  const auto cosines = [&](std::span<const Critic<double>> used) {
    return estimator.estimate(batch, {policy, parameters, normaliser}, used, pool).critic_cosines;
  };
  EXPECT_EQ(cosines(critics), (std::vector<double>{1.0, -1.0}));
  EXPECT_TRUE(cosines({}).empty());
  FirstOrderGradient<double> whole(simulator, policy, batch, 12);  // no window ends before the episode
  EXPECT_TRUE(std::isnan(whole.estimate(batch, {policy, parameters, normaliser}, critics, pool).critic_cosines[0]));
}

// Against slopes of the next window that were tested by themselves, and differences of the critic.
TEST(FirstOrder, CosinesEqualThoseOfDifferences) {
  Fixture f(ProbeTask{.end_at = 1.6}, 6);
  const Batch<double> batch = f.collect_batch(0, 4);
  const int window = 5;
  FirstOrderGradient<double> estimator(f.simulator, f.policy, batch, window);
  const std::vector<RowStore<double>> slopes = estimator.state_slopes(batch, f.actor(), f.critics, f.pool);
  const std::vector<double> cosines = estimator.estimate(batch, f.actor(), f.critics, f.pool).critic_cosines;

  std::vector<double> mean(2, 0.0), square(2, 0.0);
  double count = 0.0;
  for (const auto& block : batch.blocks) {
    for (int t = window; t < block.simulated; t += window) {
      for (int lane = 0; lane < block.lanes(); ++lane, count += 1.0) {
        for (std::size_t i = 0; i < 2; ++i) {
          mean[i] += state_at(block, t, lane)[i];
          square[i] += std::pow(state_at(block, t, lane)[i], 2);
        }
      }
    }
  }
  const auto variance = [&](std::size_t i) { return square[i] / count - std::pow(mean[i] / count, 2); };

  for (int k = 0; k < 3; ++k) {
    double sum = 0.0;
    double windows = 0.0;
    for (std::size_t b = 0; b < batch.blocks.size(); ++b) {
      const auto& block = batch.blocks[b];
      for (int t = window; t < block.simulated; t += window) {
        for (int lane = 0; lane < block.lanes(); ++lane) {
          if (!counts(block, f.simulator.stops_at_end(k), t, lane)) continue;
          const auto value = [&](std::size_t i, double offset) {
            std::vector<double> state = state_at(block, t, lane), observation(3), input(3);
            state[i] += offset;
            SimulatorScratch<double> scratch;
            CriticWorkspace<double> workspace(f.critics[0].mlp(), 1);
            f.simulator.observe(Rows<double>(state.data(), 1), Rows<double>(observation.data(), 1), 1, scratch);
            f.normaliser.normalise(Rows<double>(observation.data(), 1), Rows<double>(input.data(), 1), 1);
            double result = 0.0;
            f.critics[static_cast<std::size_t>(k)].value(Rows<double>(input.data(), 1), t, &result, 1, workspace);
            return result;
          };
          double product = 0.0, of_window = 0.0, of_critic = 0.0;
          for (std::size_t i = 0; i < 2; ++i) {
            const double critic = (value(i, 1e-5) - value(i, -1e-5)) / 2e-5;
            const double next = slopes[b].view().row(k * 2 + static_cast<int>(i))[block.column(t) + lane];
            product += critic * next * variance(i);
            of_window += next * next * variance(i);
            of_critic += critic * critic * variance(i);
          }
          sum += product / std::sqrt(of_window * of_critic);
          windows += 1.0;
        }
      }
    }
    EXPECT_NEAR(cosines[static_cast<std::size_t>(k)], sum / windows, 1e-6) << "signal " << k;
  }
}

TEST(FirstOrder, ThreadsDoNotMatter) {
  Fixture f(ProbeTask{.end_at = 1.6}, 30);
  const Batch<double> batch = f.collect_batch(0, 4);
  std::vector<std::vector<std::vector<double>>> results;
  for (const int threads : {1, 2, 4}) {
    ThreadPool pool(threads);
    FirstOrderGradient<double> estimator(f.simulator, f.policy, batch, 5);
    results.push_back(estimator.estimate(batch, f.actor(), f.critics, pool).gradients);
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

TEST(FirstOrder, NonDifferentiableTasksAreRefused) {
  const KernelSimulator<float> simulator(standard_task("function-floor"), {0});
  const Policy<float> policy(1, {4}, 1, false);
  AlignedVector<float> parameters(static_cast<std::size_t>(policy.parameter_count()), 0.0F);
  const Normaliser<float> normaliser(1);
  const Batch<float> batch(simulator, 4, 10, 4);
  ThreadPool pool(1);
  for (const int window : {5, 0}) {
    FirstOrderGradient<float> estimator(simulator, policy, batch, window);
    EXPECT_THROW(estimator.estimate(batch, {policy, parameters, normaliser}, {}, pool), UserError);
  }
}

}  // namespace
}  // namespace cgpo
