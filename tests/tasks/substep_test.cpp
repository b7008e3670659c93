// The step as a loop over substeps against the whole step as one graph.
#include <cmath>
#include <gtest/gtest.h>

#include "cgpo/tasks/robots/robot.hpp"
#include "cgpo/tasks/simulators/simulator.hpp"

#include "episodes.hpp"

namespace cgpo {
namespace {

using Lanes = std::vector<double>;  // [row · lanes + lane]
constexpr int kLanes = 7;

Rows<double> rows(Lanes& values) { return {values.data(), kLanes}; }
Lanes zeros(int count) { return Lanes(static_cast<std::size_t>(count * kLanes)); }

struct StepValues {
  explicit StepValues(const Simulator<double>& simulator)
      : next(zeros(simulator.spec().states)),
        observation(zeros(simulator.spec().observations)),
        signals(zeros(simulator.signals())),
        paper(zeros(1)),
        ended(zeros(1)),
        inner(zeros(simulator.inner_rows() + 1)) {}
  Lanes next, observation, signals, paper, ended, inner;
};

struct AdjointValues {
  explicit AdjointValues(const Simulator<double>& simulator)
      : state(zeros(simulator.signals() * simulator.spec().states)),
        action(zeros(simulator.signals() * simulator.spec().actions)) {}
  Lanes state, action;
};

void expect_near(const Lanes& actual, const Lanes& expected, double tolerance) {
  double largest = 0.0;
  for (const double value : expected) largest = std::max(largest, std::abs(value));
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) EXPECT_NEAR(actual[i], expected[i], tolerance * largest) << i;
}

void compare_with_whole_step(const std::string& name, const std::vector<int>& costs) {
  SCOPED_TRACE(name);
  const std::shared_ptr<const Task> task = task_with(name, {{"engine", std::string("own")}});
  ASSERT_TRUE(std::holds_alternative<Substeps>(task->dynamics()));
  const TaskSpec& spec = task->spec();
  const KernelSimulator<double> whole(task, costs);
  const SubstepSimulator<double> looped(task, costs);
  EXPECT_EQ(whole.inner_rows(), 0);
  EXPECT_EQ(looped.inner_rows(), (spec.substeps - 1) * spec.states);
  RandomStream random(5, Purpose::kTest);
  const auto draw = [&](int count) {
    Lanes values = zeros(count);
    for (double& value : values) value = random.uniform(-1.0, 1.0);
    return values;
  };
  Lanes state = zeros(spec.states);
  for (int lane = 0; lane < kLanes; ++lane) {
    const std::vector<double> start = reset_state(*task, static_cast<std::uint32_t>(lane));
    for (int i = 0; i < spec.states; ++i)
      state[static_cast<std::size_t>(i * kLanes + lane)] = start[static_cast<std::size_t>(i)];
  }
  SimulatorScratch<double> scratch;
  for (int t = 0; t < 10; ++t) {
    Lanes action = draw(spec.actions);
    StepValues expected(whole), actual(looped), without(looped);
    const auto step = [&](const Simulator<double>& simulator, StepValues& to, bool keep) {
      simulator.step({rows(state), rows(action), rows(to.next), rows(to.observation), rows(to.signals), to.paper.data(),
                      to.ended.data(), keep ? rows(to.inner) : Rows<double>()},
                     kLanes, scratch);
    };
    step(whole, expected, false);
    step(looped, actual, true);
    step(looped, without, false);
    for (Lanes StepValues::*part :
         {&StepValues::next, &StepValues::observation, &StepValues::signals, &StepValues::paper, &StepValues::ended}) {
      expect_near(actual.*part, expected.*part, 1e-13);
      EXPECT_EQ(actual.*part, without.*part);
    }

    Lanes next_adjoint = draw(whole.signals() * spec.states);
    Lanes observation_adjoint = draw(whole.signals() * spec.observations);
    Lanes weight = draw(whole.signals());
    AdjointValues expected_adjoint(whole), actual_adjoint(looped), recomputed(looped);
    const auto pull_back = [&](const Simulator<double>& simulator, AdjointValues& to, bool kept) {
      simulator.pull_back(
          {rows(state), rows(action), rows(next_adjoint), rows(observation_adjoint), rows(weight), rows(to.state),
           rows(to.action), kept ? rows(actual.next) : Rows<double>(), kept ? rows(actual.inner) : Rows<double>()},
          kLanes, scratch);
    };
    pull_back(whole, expected_adjoint, false);
    pull_back(looped, actual_adjoint, true);
    pull_back(looped, recomputed, false);
    expect_near(actual_adjoint.state, expected_adjoint.state, 1e-11);
    expect_near(actual_adjoint.action, expected_adjoint.action, 1e-11);
    EXPECT_EQ(actual_adjoint.state, recomputed.state);
    EXPECT_EQ(actual_adjoint.action, recomputed.action);
    state = expected.next;
  }
}

TEST(Substep, CartPole) { compare_with_whole_step("cartpole", {0}); }
TEST(Substep, Reacher) { compare_with_whole_step("reacher", {0}); }
TEST(Substep, HalfCheetah) { compare_with_whole_step("halfcheetah", {0}); }
TEST(Substep, AntWithTwoCosts) { compare_with_whole_step("ant", {2, 0}); }
TEST(Substep, SwimmerWithoutCosts) { compare_with_whole_step("swimmer", {}); }

}  // namespace
}  // namespace cgpo
