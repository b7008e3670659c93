#include "cgpo/world/transitions.hpp"

#include <cmath>
#include <gtest/gtest.h>

#include "cgpo/rollout/collect.hpp"

#include "probe_task.hpp"

namespace cgpo {
namespace {

TEST(TransitionStore, KeepsTheNewestInTheirOrder) {
  TransitionStore store({1, 0, 1}, 3);
  const auto transition = [](float i) { return std::vector<float>{i, 10 * i, 100 * i}; };
  for (int i = 0; i < 5; ++i) store.append(transition(static_cast<float>(i)));
  ASSERT_EQ(store.size(), 3);
  for (int i = 0; i < 3; ++i) {
    const float* const row = store.data() + store.row(i) * store.width();
    EXPECT_EQ(std::vector<float>(row, row + 3), transition(static_cast<float>(2 + i)));
  }
}

TEST(TransitionStore, InPiecesOrAtOnceIsTheSame) {
  TransitionStore pieces({1, 1, 1}, 100);
  TransitionStore whole({1, 1, 1}, 100);
  std::vector<float> all;
  for (int i = 0; i < 250 * 4; ++i) all.push_back(static_cast<float>(i));
  whole.append(all);
  for (int i = 0; i < 250; ++i) pieces.append(std::span<const float>(all).subspan(static_cast<std::size_t>(4 * i), 4));
  ASSERT_EQ(whole.size(), pieces.size());
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(whole.data()[whole.row(i) * 4], static_cast<float>(4 * (150 + i)));
    EXPECT_EQ(pieces.data()[pieces.row(i) * 4], static_cast<float>(4 * (150 + i)));
  }
}

// Every iteration has something to be judged by and something to learn from, however few environments there are.
TEST(HeldOut, IsAShareOfTheEpisodesButSomeOfEachIteration) {
  EXPECT_EQ(held_out_every(0.05, 20), 20);
  EXPECT_EQ(held_out_every(0.05, 512), 20);
  EXPECT_EQ(held_out_every(0.2, 24), 5);
  EXPECT_EQ(held_out_every(0.05, 8), 8);
  EXPECT_EQ(held_out_every(0.05, 2), 2);
  EXPECT_EQ(held_out_every(0.05, 1), 0);
  EXPECT_EQ(held_out_every(0.0, 100), 0);
  EXPECT_EQ(held_out_every(1e-300, 8), 8);
  EXPECT_EQ(held_out_every(0.9, 100), 2);
}

// Episodes end in the middle; one cost goes on.
TEST(GatherTransitions, TellsWhatCountsAndWhatHasStopped) {
  ThreadPool pool(1);
  const auto task = make_task(testing::ProbeTask{.end_at = 1.0});
  const auto simulator = make_simulator<float>(task, {0, 1});
  const Policy<float> policy(3, {4}, 2, false);
  AlignedVector<float> parameters(static_cast<std::size_t>(policy.parameter_count()));
  policy.initialise(parameters, 1, 0.3, 1.0);
  Batch<float> batch(*simulator, 10, 12, 4);
  collect(*simulator, {policy, parameters, Normaliser<float>(3)}, {.seed = 3}, false, pool, batch);
  BatchTransitions found;
  gather_transitions(*simulator, batch, /*held_every=*/5, /*iteration=*/0, found);
  constexpr std::size_t kWidth = 3 + 2 + 3 + 3;
  EXPECT_EQ(found.held_out.size(), 2 * 12 * kWidth);  // environments 0 and 5
  EXPECT_EQ(found.training.size(), 8 * 12 * kWidth);
  const TrajectoryBlock<float>& block = batch.blocks[0];
  ASSERT_LT(block.length[1], 12);
  for (int t = 0; t < 12; ++t) {  // environment 1 is the first that is learned from
    const float* const row = found.training.data() + static_cast<std::size_t>(t) * kWidth;
    const std::ptrdiff_t now = block.column(t) + 1;
    const std::ptrdiff_t next = block.column(t + 1) + 1;
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(row[i], block.observations.view().row(i)[now]);
      EXPECT_EQ(row[5 + i], block.observations.view().row(i)[next] - block.observations.view().row(i)[now]);
    }
    for (int i = 0; i < 2; ++i) EXPECT_EQ(row[3 + i], block.actions.view().row(i)[now]);
    const bool over = t >= block.length[1];
    EXPECT_EQ(std::isnan(row[8]), over);
    EXPECT_EQ(std::isnan(row[9]), over);
    EXPECT_EQ(row[10], block.signals.view().row(2)[now]);
  }
}

}  // namespace
}  // namespace cgpo
