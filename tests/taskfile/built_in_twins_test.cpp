// Tasks that are written in C++, written once more as task files: same starts to the bit, same steps and derivatives to
// rounding, and no more operations.
#include <cmath>

#include "cgpo/graph/differentiate.hpp"
#include "cgpo/graph/lower.hpp"

#include "files.hpp"

namespace cgpo {
namespace {

const std::string kSource = CGPO_SOURCE_FOLDER;

std::shared_ptr<const Task> standard(const std::shared_ptr<const TaskFile>& file) {
  return file->entry().make(TaskOptions(file->entry().options));
}

std::string cartpole_text() {
  return R"TOML(
name = "cartpole-file"
horizon = 300
period = 0.04
observation = ["qpos", "qvel"]
reward = 1
end = "abs(qpos[1]) > 0.2"
[robot]
file = "models/cartpole.xml"
substeps = 2
action_scale = 3
[reset]
qpos = "uniform(-0.01, 0.01)"
qvel = "uniform(-0.01, 0.01)"
[[costs]]
name = "position"
expression = "-qpos[0]^2"
limit = -50
stops_at_end = false
[[costs]]
name = "energy"
expression = "sum_squares(action)"
limit = 30
stops_at_end = false
standard = false
)TOML";
}

std::string ant_text() {
  return R"TOML(
name = "ant-file"
horizon = 300
period = 0.05
observation = ["qpos[2:]", "qvel"]
reward = "reward_of_paper + alive_bonus"
reward_paper = "reward_of_paper"
end = "not 0.2 <= z <= 1"
[options]
alive_bonus = 1
[define]
z = "qpos[2]"
v = "(qpos[0:2] - before(qpos[0:2])) / period"
energy = "sum_squares(action)"
reward_of_paper = "v[0] - 0.5 * energy"
[robot]
file = "models/ant.xml"
substeps = 5
contact = { stiffness = 1000, damping = 10, width = 0.02, slip_speed = 0.015 }
[reset]
qpos = "[0, 0, 0.55, 1, 0, 0, 0, 0, 1, 0, -1, 0, -1, 0, 1] + uniform(-0.1, 0.1, 15)"
qvel = "0.1 * normal(0, 1)"
lift = true
[[costs]]
name = "speed"
expression = "smooth_norm(v, 1e-3)"
limit = 1000
[[costs]]
name = "energy"
expression = "energy"
limit = 300
standard = false
[[costs]]
name = "height"
expression = "z"
limit = 180
standard = false
[[costs]]
name = "lateral"
expression = "smooth_norm(qpos[1], 1e-3)"
limit = 300
standard = false
)TOML";
}

class Twins : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    own_ = standard_task(GetParam());
    if (GetParam() == "halfcheetah") {
      file_ = standard(TaskFile::read(kSource + "/examples/tasks/halfcheetah.toml"));
    } else {
      file_ = standard(TaskFile::parse(GetParam() == "ant" ? ant_text() : cartpole_text(), kSource + "/t.toml"));
    }
  }

  std::vector<double> start(const Task& task, std::uint32_t environment) const {
    RandomStream random(5, Purpose::kTest, 0, environment);
    std::vector<double> state(static_cast<std::size_t>(task.spec().states));
    task.reset(random, state);
    return state;
  }

  std::shared_ptr<const Task> own_, file_;
};

TEST_P(Twins, AreTheSameTask) {
  const TaskSpec& a = own_->spec();
  const TaskSpec& b = file_->spec();
  EXPECT_EQ(a.states, b.states);
  EXPECT_EQ(a.observations, b.observations);
  EXPECT_EQ(a.actions, b.actions);
  EXPECT_EQ(a.horizon, b.horizon);
  EXPECT_EQ(a.substeps, b.substeps);
  EXPECT_EQ(a.dt, b.dt);
  ASSERT_EQ(a.costs.size(), b.costs.size());
  for (std::size_t i = 0; i < a.costs.size(); ++i) {
    EXPECT_EQ(a.costs[i].name, b.costs[i].name);
    EXPECT_EQ(a.costs[i].limit, b.costs[i].limit);
    EXPECT_EQ(a.costs[i].stops_at_end, b.costs[i].stops_at_end);
    EXPECT_EQ(a.costs[i].standard, b.costs[i].standard);
  }
  for (std::uint32_t i = 0; i < 20; ++i) {
    const std::vector<double> p = start(*own_, i);
    const std::vector<double> q = start(*file_, i);
    for (std::size_t k = 0; k < p.size(); ++k) EXPECT_NEAR(p[k], q[k], 1e-15) << k;
    if (GetParam() != "ant") {  // which is lifted by sums in another order
      EXPECT_EQ(p, q);
    }
  }
}

// Twenty steps with random actions, of state, observation, reward, costs and end, and all derivatives of one step.
TEST_P(Twins, MoveAlikeAndHaveTheSameDerivatives) {
  const Graph own = own_->trace_step();
  const Graph file = file_->trace_step();
  const StepLayout layout = own_->layout();
  const auto n = static_cast<std::size_t>(own_->spec().states);
  ReverseRequest request;
  request.seeds.resize(1);
  for (int i = 0; i < layout.size(); ++i) request.seeds[0].push_back(i);
  for (int i = 0; i < own_->spec().states + own_->spec().actions; ++i) request.wrt.push_back(i);
  const Graph own_slopes = differentiate(own, request);
  const Graph file_slopes = differentiate(file, request);
  RandomStream random(9, Purpose::kTest);
  for (std::uint32_t environment = 0; environment < 5; ++environment) {
    std::vector<double> input = start(*own_, environment);
    for (int t = 0; t < 20; ++t) {
      input.resize(n);
      for (int i = 0; i < own_->spec().actions; ++i) input.push_back(random.uniform(-1.0, 1.0));
      const std::vector<double> a = evaluate(own, input);
      const std::vector<double> b = evaluate(file, input);
      ASSERT_EQ(a.size(), b.size());
      for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-13 * (1.0 + std::abs(a[i]))) << i;
      std::vector<double> seeded = input;
      for (int i = 0; i < layout.size(); ++i) seeded.push_back(random.uniform(-1.0, 1.0));
      const std::vector<double> da = evaluate(own_slopes, seeded);
      const std::vector<double> db = evaluate(file_slopes, seeded);
      double largest = 0.0;
      for (const double slope : da) largest = std::max(largest, std::abs(slope));
      for (std::size_t i = 0; i < da.size(); ++i) EXPECT_NEAR(da[i], db[i], 1e-12 * largest) << i;
      input.assign(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(n));
    }
  }
}

// The kernels of training are as short: within a handful of operations of the C++ task's.
TEST_P(Twins, CostTheSame) {
  const auto operations = [](const Task& task) {
    return prepare(task.trace_step(), Precision::kFloat).count_operations();
  };
  EXPECT_NEAR(operations(*own_), operations(*file_), 8);
}

INSTANTIATE_TEST_SUITE_P(Tasks, Twins, ::testing::Values("cartpole", "halfcheetah", "ant"));

}  // namespace
}  // namespace cgpo
