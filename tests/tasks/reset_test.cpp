// Start states: both forms of reset, and what a task may not do.
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cgpo/base/error.hpp"
#include "cgpo/tasks/task.hpp"

#include "tasks.hpp"

namespace cgpo {
namespace {

struct Plain {
  double start = 1.0;

  TaskSpec spec() const { return testing::toy_spec("plain", {.states = 2}); }
  void reset(RandomStream& random, std::span<double> state) const {
    state[0] = random.uniform();
    state[1] = start;
  }
  template <class S>
  void observe(std::span<const S> state, std::span<S> observation) const {
    observation[0] = state[0];
  }
  template <class S>
  StepResult<S> step(std::span<const S> state, std::span<const S>) const {
    return {.state = {state.begin(), state.end()}, .costs = {}};
  }
};

struct Spread : Plain {
  using Plain::reset;
  void reset(RandomStream& random, const BatchPlace& place, std::span<double> state) const {
    RandomStream common = place.common;
    state[0] = random.uniform() + place.environment;
    state[1] = common.uniform() + place.environments;
  }
};

BatchPlace place() { return {.environment = 3, .environments = 8, .common = RandomStream(5, Purpose::kTest)}; }

TEST(Reset, InABatchUsesTheSecondFormIfThereIsOne) {
  std::vector<double> alone(2), in_batch(2);
  RandomStream first(1, Purpose::kTest), second(1, Purpose::kTest);
  make_task(Plain{})->reset(first, alone);
  make_task(Plain{})->reset_in_batch(second, place(), in_batch);
  EXPECT_EQ(alone, in_batch);

  RandomStream third(1, Purpose::kTest), fourth(1, Purpose::kTest), common(5, Purpose::kTest);
  make_task(Spread{})->reset(third, alone);
  make_task(Spread{})->reset_in_batch(fourth, place(), in_batch);
  EXPECT_EQ(alone[1], 1.0);
  EXPECT_EQ(in_batch[0], alone[0] + 3.0);
  EXPECT_EQ(in_batch[1], common.uniform() + 8.0);
}

TEST(Reset, StatesThatAreNotFiniteAreRefused) {
  for (const double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    std::vector<double> state(2);
    RandomStream random(1, Purpose::kTest);
    try {
      make_task(Plain{.start = bad})->reset_in_batch(random, place(), state);
      FAIL();
    } catch (const UserError& error) {
      EXPECT_THAT(error.what(), ::testing::AllOf(::testing::HasSubstr("task plain"), ::testing::HasSubstr("entry 1")));
    }
    EXPECT_THROW(make_task(Plain{.start = bad})->reset(random, state), UserError);
  }
}

}  // namespace
}  // namespace cgpo
