// A twin that is fitted to the engine's episodes: derivatives against differences, and numbers that are known.
#include "cgpo/updates/twin_fit.hpp"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cgpo/rollout/collect.hpp"
#include "cgpo/tasks/registry.hpp"

namespace cgpo {
namespace {

using Options = std::vector<std::pair<std::string, OptionValue>>;

std::shared_ptr<const Task> make(const std::string& name, const Options& options) {
  const TaskEntry& entry = find_task(name);
  TaskOptions chosen(entry.options);
  for (const auto& [option, value] : options) chosen.set(option, value);
  return entry.make(chosen);
}

// Episodes of a policy that mostly makes noise.
Batch<double> episodes_of(const Task& task, int environments, int horizon, ThreadPool& pool) {
  const std::shared_ptr<const Task> shared(std::shared_ptr<const Task>(), &task);
  const auto simulator = make_simulator<double>(shared, {0});
  const int observations = task.spec().observations;
  const Policy<double> policy(observations, {4}, task.spec().actions, /*learn_std=*/false);
  AlignedVector<double> parameters(static_cast<std::size_t>(policy.parameter_count()));
  policy.initialise(parameters, 1, /*initial_std=*/0.8, 1.0);
  const Normaliser<double> normaliser(observations);
  Batch<double> batch(*simulator, environments, horizon, /*block_size=*/8);
  collect(*simulator, Actor<double>{policy, parameters, normaliser}, {.seed = 3}, /*deterministic=*/false, pool, batch);
  return batch;
}

double root(const TwinError& error) { return std::sqrt(error.mean_square); }

TEST(TwinFit, DerivativeIsThatOfDifferences) {
  ThreadPool pool(1);
  for (const char* const name : {"swimmer", "halfcheetah", "ant"}) {
    const auto task = make(name, {{"engine", std::string("mujoco")}, {"twin.fit", true}});
    const Batch<double> batch = episodes_of(*task, 8, 40, pool);
    for (const int steps : {1, 3}) {
      const EpisodePieces pieces = take_pieces(batch, steps, 64);
      ASSERT_EQ(pieces.count, 64);
      const TwinFit fit(task->twin(), {}, Backend::kBest);
      std::vector<double> there = fit.logarithms();
      const TwinError error = fit.error(pieces, there, /*derivative=*/true, pool);
      ASSERT_EQ(error.lost, 0);
      double largest = 0.0;
      for (const double slope : error.gradient) largest = std::max(largest, std::abs(2.0 * slope));
      ASSERT_GT(largest, 0.0);
      for (std::size_t p = 0; p < there.size(); ++p) {
        const double kept = there[p];
        constexpr double kStep = 1e-5;
        there[p] = kept + kStep;
        const double up = fit.error(pieces, there, false, pool).mean_square;
        there[p] = kept - kStep;
        const double down = fit.error(pieces, there, false, pool).mean_square;
        there[p] = kept;
        EXPECT_NEAR(2.0 * error.gradient[p], (up - down) / (2.0 * kStep), 1e-6 * largest)
            << name << ", " << task->twin()->parameters()[p].name << ", " << steps << " steps";
      }
    }
  }
}

// The engine is ours with other numbers: they are found again.
TEST(TwinFit, FindsTheNumbersOfAnEngineThatIsLikeIt) {
  ThreadPool pool(1);
  const auto engine = make("halfcheetah", {{"engine", std::string("own")},
                                           {"limit_stiffness", 1500.0},
                                           {"limit_damping", 60.0},
                                           {"contact_damping", 200.0},
                                           {"slip_speed", 0.2}});
  const Batch<double> batch = episodes_of(*engine, 16, 100, pool);
  const auto twin = make("halfcheetah", {{"engine", std::string("mujoco")}, {"twin.fit", true}})->twin();
  ASSERT_EQ(twin->spec().substeps, engine->spec().substeps);
  const EpisodePieces pieces = take_pieces(batch, 1, 1000);
  TwinFit fit(twin, {.prior = 0.0}, Backend::kBest);
  const double before = root(fit.error(pieces, fit.logarithms(), false, pool));
  for (int i = 0; i < 12; ++i) fit.fit(pieces, pool);
  EXPECT_LT(root(fit.error(pieces, fit.logarithms(), false, pool)), 1e-4 * before);
  const std::vector<double> found = fit.parameters();
  const auto expect = [&](const std::string& name, double value) {
    for (std::size_t p = 0; p < found.size(); ++p) {
      if (twin->parameters()[p].name != name) continue;
      EXPECT_NEAR(found[p], value, 1e-2 * value) << name;
    }
  };
  expect("limit_stiffness", 1500.0);
  expect("limit_damping", 60.0);
  expect("contact_damping", 200.0);
  expect("slip_speed", 0.2);
  expect("armature_scale", 1.0);
  expect("friction_scale", 1.0);
}

// With our soft joint limits a step of the swimmer's twin leads somewhere else, and its gradients the other way.
TEST(TwinFit, FindsThatMujocosJointLimitsAreHard) {
  ThreadPool pool(1);
  const auto task = make("swimmer", {{"twin.fit", true},
                                     {"twin.limit_stiffness", 2500.0},
                                     {"twin.limit_damping", 100.0},
                                     {"twin.limit_width", 0.02}});
  const Batch<double> batch = episodes_of(*task, 16, 150, pool);
  const EpisodePieces pieces = take_pieces(batch, 1, 1024);
  const auto error_after = [&](int fits, double prior) {
    TwinFit fit(task->twin(), {.prior = prior}, Backend::kBest);
    for (int i = 0; i < fits; ++i) fit.fit(pieces, pool);
    return root(fit.error(pieces, fit.logarithms(), false, pool));
  };
  const double before = error_after(0, 0.0);
  EXPECT_LT(error_after(10, 1e-3), 0.45 * before);
  const double held = error_after(10, TwinSettings().prior);
  EXPECT_LT(held, 0.75 * before);
  EXPECT_LT(held, 0.25);
  EXPECT_GT(held, error_after(10, 1e-3));
}

TEST(TwinFit, IsTheSameForAnyNumberOfThreads) {
  ThreadPool one(1), three(3);
  const auto task = make("halfcheetah", {{"engine", std::string("mujoco")}, {"twin.fit", true}});
  const Batch<double> batch = episodes_of(*task, 16, 60, one);
  const EpisodePieces pieces = take_pieces(batch, 1, 700);
  TwinFit alone(task->twin(), {}, Backend::kBest), together(task->twin(), {}, Backend::kBest);
  alone.fit(pieces, one);
  together.fit(pieces, three);
  EXPECT_NE(alone.logarithms(), TwinFit(task->twin(), {}, Backend::kBest).logarithms());
  EXPECT_EQ(alone.logarithms(), together.logarithms());

  Tensors kept;
  alone.save(kept);
  TwinFit resumed(task->twin(), {}, Backend::kBest);
  resumed.load(kept);
  alone.fit(pieces, one);
  resumed.fit(pieces, one);
  EXPECT_EQ(alone.logarithms(), resumed.logarithms());
}

// Pieces lie within episodes and are spread over all of them.
TEST(TwinFit, PiecesAreThoseOfEpisodes) {
  ThreadPool pool(1);
  const auto task = make("ant", {{"engine", std::string("mujoco")}});
  const Batch<double> batch = episodes_of(*task, 6, 60, pool);
  const EpisodePieces pieces = take_pieces(batch, 5, 40);
  ASSERT_EQ(pieces.count, 40);
  for (int c = 0; c < pieces.count; ++c) {
    bool found = false;
    for_each_episode(batch, [&](const auto& block, int lane) {
      for (int t = 0; t + 5 <= block.length[static_cast<std::size_t>(lane)]; ++t) {
        found = found || (block.states.view().row(0)[block.column(t) + lane] == pieces.first.view().row(0)[c] &&
                          block.states.view().row(0)[block.column(t + 5) + lane] == pieces.last.view().row(0)[c] &&
                          block.actions.view().row(0)[block.column(t + 4) + lane] ==
                              pieces.actions.view().row(4 * task->spec().actions)[c]);
      }
    });
    EXPECT_TRUE(found) << c;
  }
  EXPECT_EQ(take_pieces(batch, 61, 40).count, 0);
}

}  // namespace
}  // namespace cgpo
