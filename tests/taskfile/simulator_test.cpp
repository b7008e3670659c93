// The example of a simulator of one's own, which knows its crane by equations of motion, beside the twin that we make
// of its MJCF file.
#include "cgpo/tasks/simulators/simulator.hpp"

#include <cmath>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cgpo/base/file.hpp"
#include "cgpo/taskfile/task_file.hpp"

namespace cgpo {
namespace {

constexpr int kCraneSteps = 16;
constexpr int kCraneLanes = 4;

class CraneOutside : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::string(CGPO_PYTHON).empty()) GTEST_SKIP() << "there is no Python";
    const TaskEntry entry = TaskFile::read(CGPO_EXAMPLES "/crane.toml")->entry();
    TaskOptions options(entry.options);
    EXPECT_THROW(options.text("command"), UserError) << "a file alone says so";
    options.set("command", fmt::format("{} {}/crane_simulator.py --drag 0", CGPO_PYTHON, CGPO_EXAMPLES));
    options.set("twin.substeps", 10.0);  // the example's
    task_ = entry.make(options);
    simulator_ = make_simulator<double>(task_, {0});
  }

  struct Step {
    std::vector<double> state, action, next, observation, signals, paper, ended;
  };
  static std::vector<double> sized(int rows) {
    return std::vector<double>(static_cast<std::size_t>(rows * kCraneLanes));
  }
  template <class T>
  static Rows<T> rows(std::vector<double>& values) {
    return Rows<T>(values.data(), kCraneLanes);
  }

  // Episodes from the same starts; the first action of each is another by `change`.
  std::vector<Step> play(double change) const {
    const TaskSpec& spec = task_->spec();
    SimulatorScratch<double> scratch;
    std::vector<Step> steps;
    Step step{sized(spec.states),
              sized(spec.actions),
              sized(spec.states),
              sized(spec.observations),
              sized(simulator_->signals()),
              sized(1),
              sized(1)};
    simulator_->start({.seed = 4, .environments = kCraneLanes}, rows<double>(step.state), kCraneLanes, scratch);
    for (int t = 0; t < kCraneSteps; ++t) {
      for (int lane = 0; lane < kCraneLanes; ++lane) {
        step.action[static_cast<std::size_t>(lane)] = 0.5 * std::sin(0.7 * t + lane) + (t == 0 ? change : 0.0);
      }
      simulator_->step(
          {rows<const double>(step.state), rows<const double>(step.action), rows<double>(step.next),
           rows<double>(step.observation), rows<double>(step.signals), step.paper.data(), step.ended.data()},
          kCraneLanes, scratch);
      steps.push_back(step);
      step.state = step.next;
    }
    return steps;
  }

  std::shared_ptr<const Task> task_;
  std::unique_ptr<Simulator<double>> simulator_;
};

TEST_F(CraneOutside, TwinHasTheSlopesOfItsEpisodes) {
  const TaskSpec& spec = task_->spec();
  const int signals = simulator_->signals();
  std::vector<Step> along = play(0.0);
  std::vector<double> adjoint = sized(signals * spec.states), of_state = adjoint;
  std::vector<double> of_action = sized(signals * spec.actions), nothing = sized(signals * spec.observations);
  std::vector<double> weight(static_cast<std::size_t>(signals * kCraneLanes), 1.0);
  SimulatorScratch<double> scratch;
  for (std::size_t t = along.size(); t-- > 0;) {
    simulator_->pull_back({.state = rows<const double>(along[t].state),
                           .action = rows<const double>(along[t].action),
                           .next_state_adjoint = rows<const double>(adjoint),
                           .observation_adjoint = rows<const double>(nothing),
                           .weight = rows<const double>(weight),
                           .state_adjoint = rows<double>(of_state),
                           .action_adjoint = rows<double>(of_action),
                           .next_state = rows<const double>(along[t].next)},
                          kCraneLanes, scratch);
    adjoint = of_state;
  }
  constexpr double kChange = 0.05;  // the program's answers are floats
  const auto up = play(kChange), down = play(-kChange);
  for (std::size_t index = 0; index < of_action.size(); ++index) {
    double slope = 0.0;
    for (std::size_t t = 0; t < along.size(); ++t)
      slope += (up[t].signals[index] - down[t].signals[index]) / (2.0 * kChange);
    EXPECT_GT(std::abs(slope), 0.05);
    EXPECT_NEAR(of_action[index], slope, 0.02 * std::abs(slope)) << index;
  }
}

// The same seed begins and ends an episode the same way, whatever was played before.
TEST_F(CraneOutside, EpisodesRepeat) {
  const auto first = play(0.0);
  play(0.3);
  const auto again = play(0.0);
  for (std::size_t t = 0; t < first.size(); ++t) EXPECT_EQ(first[t].next, again[t].next);
  EXPECT_NE(first[0].state[0], first[0].state[1]) << "each has a start of its own";
}

}  // namespace
}  // namespace cgpo
