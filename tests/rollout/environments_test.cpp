// Environments that a simulator outside moves: each has an episode of its own, wherever it stands in the batch.
#include "cgpo/rollout/environments.hpp"

#include <gtest/gtest.h>

#include "cgpo/tasks/robots/simulated.hpp"

namespace cgpo {
namespace {

constexpr const char* kRail = R"(<mujoco model="rail"><option timestep="0.01"/><worldbody>
  <body name="cart" pos="0 0 2"><joint name="rail" type="slide" axis="1 0 0"/>
    <geom type="sphere" size="0.1" mass="2" contype="0" conaffinity="0"/></body>
  </worldbody><actuator><motor joint="rail"/></actuator></mujoco>)";

// It begins where its seed says, and goes a metre a step.
class Metres final : public Environment {
 public:
  void reset(std::uint64_t seed, std::span<double> observation) override {
    place_ = static_cast<double>(seed % 1000);
    show(observation);
  }
  Step step(std::span<const double> /*action*/, std::span<double> observation, std::span<double> /*costs*/) override {
    place_ += 1.0;
    show(observation);
    return {};
  }

 private:
  void show(std::span<double> observation) const {
    observation[0] = place_;
    observation[1] = 0.0;
  }
  double place_ = -1.0;
};

struct RailTask {
  Robot body;

  const Robot& robot() const { return body; }
  TaskSpec spec() const {
    TaskSpec spec = robot_spec(body, /*observations=*/1, /*extra=*/0);
    spec.horizon = 20;
    return spec;
  }
  void reset(RandomStream& /*random*/, std::span<double> state) const { std::fill(state.begin(), state.end(), 0.0); }
  template <class S>
  void observe(const RobotState<S>& state, std::span<S> observation) const {
    observation[0] = state.q[0];
  }
  template <class S>
  StepResult<S> outcome(const RobotState<S>& before, std::span<const S> /*action*/, const RobotState<S>& after) const {
    StepResult<S> result;
    result.reward = result.reward_paper = after.q[0] - before.q[0];
    return result;
  }
};

std::shared_ptr<const Task> rail_moved_outside() {
  RobotDefaults defaults{.name = "rail", .xml = kRail, .period = 0.05, .own_substeps = 5, .mujoco_substeps = 5};
  defaults.engine = Engine::kSimulator;
  Robot robot = make_robot(defaults, TaskOptions(robot_options(defaults, /*collides=*/false)));
  move_by([] { return std::make_unique<Metres>(); }, robot);
  return make_robot_task(RailTask{robot});
}

struct Rails {
  int count;
  Environments environments;
  std::vector<float> observations, actions;

  explicit Rails(int count_in)
      : count(count_in),
        environments(rail_moved_outside(), {}, count, /*horizon=*/20, Autoreset::kDisabled, /*threads=*/1),
        observations(static_cast<std::size_t>(count)),
        actions(static_cast<std::size_t>(count)) {}
  std::vector<double> step() {
    std::vector<double> rewards(actions.size());
    const auto flags = std::make_unique<bool[]>(4 * actions.size());
    bool* const flag = flags.get();
    environments.step(actions.data(), {observations.data(), nullptr, rewards.data(), nullptr, flag, flag + count,
                                       flag + 2 * count, flag + 3 * count});
    return rewards;
  }
};

TEST(EnvironmentsOutside, EachBeginsAndGoesOnByItself) {
  Rails several(3);
  for (int i = 0; i < 3; ++i) several.environments.seed(i, 10 + static_cast<std::uint64_t>(i));
  several.environments.reset(nullptr, several.observations.data());
  for (std::size_t i = 0; i < 3; ++i) {
    Rails alone(1);
    alone.environments.seed(0, 10 + i);
    alone.environments.reset(nullptr, alone.observations.data());
    EXPECT_EQ(several.observations[i], alone.observations[0]) << i;
  }
  std::vector<float> before = several.observations;
  EXPECT_EQ(several.step(), std::vector<double>(3, 1.0));
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(several.observations[i], before[i] + 1.0F) << i;

  const bool second[] = {false, true, false};
  before = several.observations;
  several.environments.reset(second, several.observations.data());
  EXPECT_EQ(several.observations[0], before[0]);
  EXPECT_EQ(several.observations[2], before[2]);
  EXPECT_EQ(several.step(), std::vector<double>(3, 1.0));
}

TEST(EnvironmentsOutside, CannotBeSetToAState) {
  Rails one(1);
  one.environments.reset(nullptr, one.observations.data());
  const float state[] = {5.0F, 0.0F};
  EXPECT_THROW(one.environments.write_states(state, one.observations.data()), UserError);
}

}  // namespace
}  // namespace cgpo
