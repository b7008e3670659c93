// What a task file sees where MuJoCo moves its robot, or a simulator of somebody's own.
#include <cmath>
#include <fmt/format.h>

#include "cgpo/physics/mujoco/engine.hpp"
#include "cgpo/tasks/simulators/simulator.hpp"

#include "files.hpp"

namespace cgpo {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// A box of 8 kg that a motor can lift, and a ball on it.
const std::string kBoxes = R"XML(<mujoco><option timestep="0.002"/><worldbody>
<geom name="floor" type="plane" size="5 5 1"/>
<body name="box" pos="0 0 0.1"><joint name="up" type="slide" axis="0 0 1"/><joint type="slide" axis="1 0 0"/>
<geom name="skin" type="box" size="0.1 0.1 0.1" mass="8"/></body>
<body name="ball" pos="0 0 0.25"><joint type="slide" axis="0 0 1"/><geom name="ball" size="0.05" mass="2"/></body>
</worldbody><actuator><motor name="lift" joint="up" gear="20"/></actuator></mujoco>)XML";

std::string boxes_file(const std::string& observation, const std::string& mjcf, const std::string& more = "",
                       const std::string& reward = "reward = 0") {
  return fmt::format("horizon = 50\nperiod = 0.02\n{}\nobservation = [{}]\n[robot]\nmjcf = '''{}'''\n{}", reward,
                     observation, mjcf, more);
}

std::shared_ptr<const Task> on_engine(const std::string& text, const std::string& engine) {
  const TaskEntry entry = TaskFile::parse(text, "t.toml")->entry();
  TaskOptions options(entry.options);
  options.set("engine", engine);
  return entry.make(options);
}

std::string refusal_on(const std::string& text, const std::string& engine) {
  try {
    on_engine(text, engine);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

// One environment, step by step.
struct BoxWalk {
  explicit BoxWalk(const std::shared_ptr<const Task>& task)
      : simulator(make_simulator<double>(task, {})),
        state(static_cast<std::size_t>(task->spec().states)),
        next(state),
        seen(static_cast<std::size_t>(task->spec().observations)) {
    RandomStream random(1, Purpose::kTest);
    task->reset(random, state);
    simulator->observe({state.data(), 1}, {seen.data(), 1}, 1, scratch);
  }
  void step(double action) {
    double signal = 0.0, paper = 0.0, ended = 0.0;
    std::vector<double> inner(static_cast<std::size_t>(simulator->inner_rows()) + 1);
    simulator->step({{state.data(), 1},
                     {&action, 1},
                     {next.data(), 1},
                     {seen.data(), 1},
                     {&signal, 1},
                     &paper,
                     &ended,
                     {inner.data(), 1}},
                    1, scratch);
    state = next;
  }
  std::unique_ptr<Simulator<double>> simulator;
  SimulatorScratch<double> scratch;
  std::vector<double> state, next, seen;
};

// Weights that rest are carried, on either engine.
TEST(Engines, ContactForcesCarryTheWeight) {
  const std::string forces =
      "\"body('box').contact_force\", \"geom('ball').contact_force\", \"geom('floor').contact_force\"";
  for (const std::string engine : {"own", "mujoco"}) {
    BoxWalk walk(on_engine(boxes_file(forces, kBoxes), engine));
    for (int t = 0; t < 150; ++t) walk.step(0.0);
    EXPECT_NEAR(walk.seen[2], 8.0 * 9.81, 0.05) << engine;
    EXPECT_NEAR(walk.seen[5], 2.0 * 9.81, 0.05) << engine;
    EXPECT_NEAR(walk.seen[8], -10.0 * 9.81, 0.05) << engine;
    EXPECT_NEAR(walk.seen[0], 0.0, 0.05) << engine;
  }
}

// In motion they are those of MuJoCo's last substep, as its own contacts have them; before, those at the start.
TEST(Engines, ContactForcesAreWhatMujocoFinds) {
  const auto task = on_engine(boxes_file("\"body('ball').contact_force\"", kBoxes,
                                         "[states]\nx = 0.5\ny = '[1, 2]'\n[reset]\nqpos = '[-0.002, 0, -0.003]'\n"),
                              "mujoco");
  ASSERT_EQ(task->spec().states, 3 + 3 + 3 + 3);
  BoxWalk walk(task);
  MujocoEngine engine = MujocoEngine::from_text(kBoxes);
  const auto expect_same = [&](int t) {
    Vec3<double> sum;  // the ball touches the box alone
    for (const ContactForce& contact : engine.contact_forces()) {
      if (contact.position[2] > 0.15) sum = sum - contact.force;  // on the box
    }
    for (int k = 0; k < 3; ++k) EXPECT_NEAR(walk.seen[static_cast<std::size_t>(k)], sum[k], 1e-9) << t;
    return sum[2];
  };
  const auto take_state = [&] {
    engine.set_state(std::span<const double>(walk.state).first(3), std::span<const double>(walk.state).subspan(3, 3));
  };
  take_state();
  engine.forward(std::vector<double>(1));
  EXPECT_GT(expect_same(-1), 1.0);
  double most = 0.0;
  for (int t = 0; t < 30; ++t) {
    take_state();
    const double action = 8.0 * std::sin(0.9 * t);
    engine.step(std::vector<double>{action}, 10);
    walk.step(action);
    most = std::max(most, expect_same(t));
    EXPECT_EQ(walk.state[6], 0.5);  // the task's own states stay where they are
    EXPECT_EQ(walk.state[8], 2.0);
  }
  EXPECT_GT(most, 30.0);
}

// Our law fills them where our engine stands in, so that the twin has their derivative.
TEST(Engines, TheTwinHasOurLawsContactForces) {
  const std::string text = boxes_file("\"body('box').contact_force\"", kBoxes);
  const auto task = on_engine(text, "mujoco");
  const auto own = on_engine(text, "own");
  ASSERT_NE(task->twin(), nullptr);
  const std::vector<double> input = {-0.01, 0.0, -0.015, 0.1, 0.3, -0.2, 0.0, 0.0, 0.0, 0.2};
  const std::vector<double> next = evaluate(task->twin()->trace_substep(), input);
  const std::vector<double> law = evaluate(own->trace_observation(), {next.begin(), next.begin() + 6});
  for (const std::size_t k : {0U, 1U, 2U}) EXPECT_NEAR(1024.0 * next[6 + k], law[k], 1e-9) << k;
  EXPECT_GT(std::abs(law[2]), 10.0);
  EXPECT_GT(std::abs(law[0]), 0.1);
}

// No program is started for a task whose forces it could not say.
TEST(Engines, ASimulatorsContactIsNotKnown) {
  const std::string text = boxes_file("\"body('box').contact_force\"", kBoxes, "[simulator]\ncommand = 'false'\n");
  EXPECT_THAT(
      refusal_on(text, "simulator"),
      AllOf(HasSubstr("t.toml:4:29: contact_force of body is not known: the task's simulator"), HasSubstr("[states]")));
  EXPECT_EQ(refusal_on(text, "own"), "");
  EXPECT_EQ(refusal_on(text, "mujoco"), "");
}

// Torques are MuJoCo's qfrc_actuator, within the range of the joint, and with what compensates gravity there.
TEST(Engines, TorquesAreMujocos) {
  const std::string arm =
      R"XML(<mujoco><option timestep="0.002"/><worldbody><body name="arm" pos="0 0 1" gravcomp="0.7">
<joint name="turn" axis="0 1 0" actuatorfrcrange="-4 3" actuatorgravcomp="true"/><geom size="0.05" pos="0.2 0 0"/>
<body name="hand" pos="0.3 0 0"><joint name="wrist" axis="0 1 0" actuatorfrcrange="-1 2"/><geom size="0.05" pos="0.1 0 0"/>
</body></body></worldbody><actuator><motor joint="turn" gear="6"/><position joint="wrist" kp="9" kv="0.3"/>
<motor joint="wrist" gear="2"/></actuator></mujoco>)XML";
  const auto task =
      on_engine(boxes_file("'qpos'", arm, "", "reward = 'torques[0]'\nreward_paper = 'torques[1]'"), "mujoco");
  const Graph outcome = task->trace_outcome();
  MujocoEngine engine = MujocoEngine::from_text(arm);
  int clipped = 0;
  for (std::uint32_t index = 0; index < 30; ++index) {
    const RandomState drawn = random_state(*task->find_robot()->model, 4, index);
    std::vector<double> state = drawn.q;
    state.insert(state.end(), drawn.v.begin(), drawn.v.end());
    std::vector<double> input = state;
    input.insert(input.end(), drawn.control.begin(), drawn.control.end());
    input.insert(input.end(), state.begin(), state.end());
    const std::vector<double> result = evaluate(outcome, input);
    engine.set_state(drawn.q, drawn.v);
    engine.forward(drawn.control);
    EXPECT_NEAR(result[static_cast<std::size_t>(task->layout().reward())], engine.actuation()[0], 1e-12) << index;
    EXPECT_NEAR(result[static_cast<std::size_t>(task->layout().reward_paper())], engine.actuation()[1], 1e-12) << index;
    clipped += engine.actuation()[1] == 2.0 || engine.actuation()[1] == -1.0 ? 1 : 0;
  }
  EXPECT_GT(clipped, 5);
}

// What we leave out MuJoCo does all the same, and we do not know with what force.
TEST(Engines, ForcesOfActuatorsThatWeDoNotKnowAreRefused) {
  const std::string arm = R"XML(<mujoco><option timestep="0.002"/><worldbody><body name="arm">
<joint name="turn" axis="0 1 0" range="-90 90"/><geom size="0.05" pos="0.2 0 0"/></body></worldbody>
<actuator><muscle name="flexor" joint="turn" ctrllimited="true" ctrlrange="0 1"/><motor name="help" joint="turn"/>
</actuator></mujoco>)XML";
  const auto asking = [&](const std::string& what) {
    return boxes_file("'qpos'", arm, "", "reward = \"" + what + "\"");
  };
  for (const std::string what : {"actuator('flexor').force", "torques[0]", "actuator('flexor').length"}) {
    EXPECT_EQ(refusal_on(asking(what), "own"), "") << what;
    EXPECT_THAT(refusal_on(asking(what), "mujoco"),
                AllOf(HasSubstr("t.toml:3:"), HasSubstr("is not known: "), HasSubstr("'flexor'")))
        << what;
  }
  EXPECT_EQ(refusal_on(asking("actuator('help').force"), "mujoco"), "");
}

}  // namespace
}  // namespace cgpo
