// What expressions can ask of a robot, beside MuJoCo's places of bodies, what follows from those, and weights.
#include <cmath>
#include <fmt/format.h>

#include "cgpo/graph/differentiate.hpp"
#include "cgpo/physics/mujoco/engine.hpp"

#include "files.hpp"

namespace cgpo {
namespace {

using testing::task_of_text;

// A free body, an arm on a hinge and a slide, a hand on a ball joint. Bodies without weight stand where sites, geoms
// and the ends of axes are, so that MuJoCo's places of bodies are the witness for all of them.
const std::string kRobot = R"XML(<mujoco><compiler angle="radian"/><option timestep="0.002"/>
<worldbody>
  <geom name="floor" type="plane" size="5 5 1" friction="0.6"/>
  <body name="trunk" pos="0 0 1" euler="0.1 0.2 0.3">
    <freejoint name="root"/>
    <geom name="ball" type="sphere" size="0.2" mass="3"/>
    <body name="arm" pos="0.3 0.1 0" euler="0.3 0 0.2">
      <joint name="turn" type="hinge" axis="0.6 0.8 0" pos="0.05 0 0.02" armature="0.02" ref="0.1"/>
      <joint name="reach" type="slide" axis="0 0.6 0.8" armature="0.1"/>
      <geom name="upper" type="sphere" size="0.05" mass="1" contype="0" conaffinity="0"/>
      <site name="elbow" pos="0.1 -0.2 0.3"/>
      <body name="at_elbow" pos="0.1 -0.2 0.3"/>
      <body name="hand" pos="0.2 0 0.4">
        <joint name="wrist" type="ball" armature="0.02"/>
        <geom name="palm" type="sphere" size="0.05" pos="0 0.1 0" mass="0.5" contype="0" conaffinity="0"/>
        <body name="at_palm" pos="0 0.1 0"/>
        <body name="at_x" pos="1 0 0"/>
        <body name="at_y" pos="0 1 0"/>
        <body name="at_z" pos="0 0 1"/>
      </body>
    </body>
  </body>
</worldbody>
<actuator><motor name="m_turn" joint="turn" gear="7" ctrllimited="true" ctrlrange="-0.5 0.5"/>
<motor name="m_reach" joint="reach" gear="-3"/></actuator>
</mujoco>)XML";

std::string file_with(const std::string& observation, const std::string& reward = "0", const std::string& more = "") {
  return fmt::format("horizon = 10\nperiod = 0.01\nobservation = {}\nreward = \"{}\"\n[robot]\nmjcf = '''{}'''\n{}",
                     observation, reward, kRobot, more);
}

struct State {
  std::vector<double> q, v;
};

State random_pose(std::uint32_t index) {
  const Model model = load_model_from_text(kRobot);
  const RandomState drawn = random_state(model, 3, index);
  return {drawn.q, drawn.v};
}

std::vector<double> joined(const State& state) {
  std::vector<double> all = state.q;
  all.insert(all.end(), state.v.begin(), state.v.end());
  return all;
}

// The numbers of an observation at a state.
std::vector<double> observe(const std::string& observation, const State& state) {
  return evaluate(task_of_text(file_with(observation))->trace_observation(), joined(state));
}

class Witness {
 public:
  Witness() : engine_(MujocoEngine::from_text(kRobot)), model_(load_model_from_text(kRobot)) {}

  Vec3<double> place(const State& state, const std::string& body) {
    engine_.set_state(state.q, state.v);
    engine_.forward(std::vector<double>(2));
    return engine_.body_position(model_.body_id(body));
  }
  // By MuJoCo's own step of a microsecond.
  Vec3<double> speed(const State& state, const std::string& body) {
    const Vec3<double> before = place(state, body);
    engine_.set_timestep(kTime);
    engine_.set_state(state.q, state.v);
    EXPECT_TRUE(engine_.step(std::vector<double>(2)));
    const State moved = {{engine_.q().begin(), engine_.q().end()}, {engine_.v().begin(), engine_.v().end()}};
    return scale(1.0 / kTime, place(moved, body) - before);
  }

 private:
  static constexpr double kTime = 1e-6;
  MujocoEngine engine_;
  Model model_;
};

void expect_near(const std::vector<double>& found, const Vec3<double>& wanted, double tolerance, const char* what) {
  ASSERT_EQ(found.size(), 3U) << what;
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(found[static_cast<std::size_t>(i)], wanted[i], tolerance) << what << i;
}

TEST(Quantities, PlacesAndOrientationsAreMujocos) {
  Witness mujoco;
  for (std::uint32_t i = 0; i < 10; ++i) {
    const State state = random_pose(i);
    expect_near(observe("\"body('hand').position\"", state), mujoco.place(state, "hand"), 1e-12, "body");
    expect_near(observe("\"site('elbow').position\"", state), mujoco.place(state, "at_elbow"), 1e-12, "site");
    expect_near(observe("\"geom('palm').position\"", state), mujoco.place(state, "at_palm"), 1e-12, "geom");
    expect_near(observe("\"body('hand').com\"", state), mujoco.place(state, "at_palm"), 1e-12, "com of a body");
    const Vec3<double> origin = mujoco.place(state, "hand");
    for (const char axis : {'x', 'y', 'z'}) {
      const Vec3<double> direction = mujoco.place(state, fmt::format("at_{}", axis)) - origin;
      expect_near(observe(fmt::format("\"body('hand').{}_axis\"", axis), state), direction, 1e-12, "axis");
    }
    const std::vector<double> matrix = observe("\"body('hand').rotation\"", state);
    const std::vector<double> q = observe("\"body('hand').quaternion\"", state);
    ASSERT_EQ(matrix.size(), 9U);
    ASSERT_EQ(q.size(), 4U);
    const Mat3<double> turned = rotation_of(Quat<double>{q[0], q[1], q[2], q[3]});
    for (int r = 0; r < 3; ++r) {
      for (int c = 0; c < 3; ++c) EXPECT_NEAR(turned(r, c), matrix[static_cast<std::size_t>(3 * r + c)], 1e-12);
    }
    // 3 kg in the trunk, 1 in the arm, half in the palm.
    const Vec3<double> centre = scale(1.0 / 4.5, scale(3.0, mujoco.place(state, "trunk")) + mujoco.place(state, "arm") +
                                                     scale(0.5, mujoco.place(state, "at_palm")));
    expect_near(observe("'com.position'", state), centre, 1e-12, "com");
  }
}

TEST(Quantities, VelocitiesAreMujocos) {
  Witness mujoco;
  for (std::uint32_t i = 0; i < 5; ++i) {
    const State state = random_pose(i);
    constexpr double kTolerance = 2e-3;  // accelerations of a thousand, over a microsecond
    const Vec3<double> hand = mujoco.speed(state, "hand");
    expect_near(observe("\"body('hand').velocity\"", state), hand, kTolerance, "body");
    expect_near(observe("\"site('elbow').velocity\"", state), mujoco.speed(state, "at_elbow"), kTolerance, "site");
    expect_near(observe("\"geom('palm').velocity\"", state), mujoco.speed(state, "at_palm"), kTolerance, "geom");
    expect_near(observe("\"body('hand').com_velocity\"", state), mujoco.speed(state, "at_palm"), kTolerance, "centre");
    const Vec3<double> centre = scale(1.0 / 4.5, scale(3.0, mujoco.speed(state, "trunk")) + mujoco.speed(state, "arm") +
                                                     scale(0.5, mujoco.speed(state, "at_palm")));
    expect_near(observe("'com.velocity'", state), centre, kTolerance, "com");
    // ω turns the body's axis.
    const std::vector<double> w = observe("\"body('hand').angular_velocity\"", state);
    const Vec3<double> arm = mujoco.place(state, "at_x") - mujoco.place(state, "hand");
    const Vec3<double> turning = cross(vec3(w[0], w[1], w[2]), arm);
    const Vec3<double> seen = mujoco.speed(state, "at_x") - hand;
    for (int k = 0; k < 3; ++k) EXPECT_NEAR(turning[k], seen[k], 2.0 * kTolerance);
  }
}

TEST(Quantities, JointsArePartsOfTheState) {
  const State state = random_pose(0);
  const auto part = [](const std::vector<double>& all, int first, int count) {
    return std::vector<double>(all.begin() + first, all.begin() + first + count);
  };
  EXPECT_EQ(observe("'qpos'", state), state.q);
  EXPECT_EQ(observe("'qvel'", state), state.v);
  EXPECT_EQ(observe("\"joint('root').position\"", state), part(state.q, 0, 7));
  EXPECT_EQ(observe("\"joint('turn').position\"", state), part(state.q, 7, 1));
  EXPECT_EQ(observe("\"joint('wrist').position\"", state), part(state.q, 9, 4));
  EXPECT_EQ(observe("\"joint('wrist').velocity\"", state), part(state.v, 8, 3));
  EXPECT_EQ(observe("\"joint('?e*').velocity\"", state), part(state.v, 7, 1));  // reach alone
  EXPECT_EQ(observe("[\"joint('t*').position\", \"joint('r?a*').position\"]", state), part(state.q, 7, 2));
  EXPECT_EQ(observe("'qpos0'", state), load_model_from_text(kRobot).q0);
  EXPECT_EQ(observe("\"body('arm').mass\"", state), std::vector<double>{1.0});
}

// Torques are gear times what is left of the control.
TEST(Quantities, ActuatorsActAsTheFileSays) {
  const auto torque = [](const std::string& expression, const std::vector<double>& action) {
    const auto task = task_of_text(file_with("'qpos'", expression, "action_scale = 2\n"));
    const State state = random_pose(1);
    std::vector<double> input = joined(state);
    input.insert(input.end(), action.begin(), action.end());
    for (const double x : joined(state)) input.push_back(x);
    return evaluate(task->trace_outcome(), input)[static_cast<std::size_t>(task->layout().reward())];
  };
  EXPECT_NEAR(torque("joint('turn').torque", {0.1, 0.2}), 7.0 * 0.2, 1e-14);
  EXPECT_NEAR(torque("joint('turn').torque", {0.9, 0.2}), 7.0 * 0.5, 1e-14);  // clipped
  EXPECT_NEAR(torque("joint('reach').torque", {0.9, 0.2}), -3.0 * 0.4, 1e-14);
  EXPECT_NEAR(torque("actuator('m_turn').control", {-0.9, 0.2}), -0.5, 1e-14);
  EXPECT_NEAR(torque("sum(controls)", {-0.9, 0.2}), -0.1, 1e-14);
  EXPECT_NEAR(torque("sum(torques)", {-0.9, 0.2}), -3.5 - 1.2, 1e-14);
}

// What is observed after five seconds without any action.
std::vector<double> at_rest(const std::string& mjcf, const std::string& observation) {
  const auto task = task_of_text(fmt::format(
      "horizon = 10\nperiod = 0.05\nreward = 0\nobservation = [{}]\n[robot]\nmjcf = '''{}'''\n", observation, mjcf));
  std::vector<double> input(static_cast<std::size_t>(task->spec().states));
  RandomStream random(1, Purpose::kTest);
  task->reset(random, input);
  const Graph step = task->trace_step();
  std::vector<double> result;
  for (int t = 0; t < 100; ++t) {
    input.resize(static_cast<std::size_t>(task->spec().states));
    input.push_back(0.0);
    result = evaluate(step, input);
    input.assign(result.begin(), result.begin() + task->spec().states);
  }
  return {result.begin() + task->layout().observation(), result.end()};
}

// A robot at rest is held up by its weight, whatever the place is called.
TEST(Quantities, ContactForcesCarryTheWeight) {
  const std::string ball = R"XML(<mujoco><option timestep="0.005"/><worldbody>
<geom name="floor" type="plane" size="5 5 1"/>
<body name="ball" pos="0 0 0.2"><freejoint/><geom name="skin" type="sphere" size="0.2" mass="3"/>
<body name="top" pos="0 0 0.1"><joint name="j" axis="0 0 1" armature="0.1"/><geom type="sphere" size="0.01" mass="0.1" contype="0" conaffinity="0"/></body>
</body></worldbody><actuator><motor joint="j"/></actuator></mujoco>)XML";
  const std::vector<double> seen =
      at_rest(ball, "\"body('ball').contact_force\", \"geom('skin').contact_force\", \"body('top').contact_force\"");
  EXPECT_NEAR(seen[2], 3.1 * 9.81, 1e-3);
  EXPECT_NEAR(seen[5], 3.1 * 9.81, 1e-3);
  EXPECT_NEAR(seen[0], 0.0, 1e-6);
  EXPECT_EQ(seen[8], 0.0);
}

// Of two balls, one on the other, the lower one carries both, and is pushed down by the upper one.
TEST(Quantities, ContactForcesAreThoseBetweenBodiesToo) {
  const std::string balls = R"XML(<mujoco><option timestep="0.005"/><worldbody><geom type="plane" size="5 5 1"/>
<body name="low" pos="0 0 0.1"><joint type="slide" axis="0 0 1"/><geom name="low" size="0.1" mass="2"/></body>
<body name="high" pos="0 0 0.3"><joint name="j" type="slide" axis="0 0 1"/><geom name="high" size="0.1" mass="3"/></body>
</worldbody><actuator><motor joint="j"/></actuator></mujoco>)XML";
  const std::vector<double> seen =
      at_rest(balls, "\"body('low').contact_force\", \"geom('high').contact_force\", \"body('world').contact_force\"");
  EXPECT_NEAR(seen[2], 2.0 * 9.81, 1e-2);
  EXPECT_NEAR(seen[5], 3.0 * 9.81, 1e-2);
  EXPECT_NEAR(seen[8], -5.0 * 9.81, 1e-2);
}

// All quantities at once, with weights, against central differences in double.
TEST(Quantities, DerivativesAgreeWithDifferences) {
  const std::string all =
      "dot(body('hand').position, [1, 2, 3]) + dot(body('hand').velocity, [3, 1, 2]) + "
      "dot(body('hand').angular_velocity, [1, -1, 2]) + dot(body('hand').quaternion, [1, 2, -1, 3]) + "
      "sum(square(body('arm').rotation) * [1, 2, 3, 4, 5, 6, 7, 8, 9]) + body('trunk').z_axis.x * 4 + "
      "dot(site('elbow').velocity, [1, 2, 2]) + norm(geom('palm').position) + dot(com.velocity, [2, 1, 1]) + "
      "0.01 * norm(body('trunk').contact_force) + joint('turn').torque * qvel[6] + tanh(sum(qpos)) + "
      "before(body('hand').position.x) * smooth_norm(action, 0.1) + wrap(joint('turn').position + 3)";
  const auto task = task_of_text(file_with("'qpos'", all));
  const Graph graph = task->trace_outcome();
  const int reward = task->layout().reward();
  ReverseRequest request;
  request.seeds = {{reward}};
  const int inputs = 2 * task->spec().states + task->spec().actions;
  for (int i = 0; i < inputs; ++i) request.wrt.push_back(i);
  const Graph slopes = differentiate(graph, request);
  for (std::uint32_t k = 0; k < 5; ++k) {
    State state = random_pose(k);
    state.q[2] = 0.17;  // the ball presses on the floor
    std::vector<double> input = joined(random_pose(k + 10));
    input.insert(input.end(), {0.3, -0.4});
    for (const double x : joined(state)) input.push_back(x);
    std::vector<double> seeded = input;
    seeded.push_back(1.0);
    const std::vector<double> slope = evaluate(slopes, seeded);
    double largest = 0.0;
    for (const double s : slope) largest = std::max(largest, std::abs(s));
    for (std::size_t i = 0; i < input.size(); ++i) {
      const auto moved = [&](double by) {
        std::vector<double> there = input;
        there[i] += by;
        return evaluate(graph, there)[static_cast<std::size_t>(reward)];
      };
      const double difference = (moved(1e-5) - moved(-1e-5)) / 2e-5;
      EXPECT_NEAR(slope[i], difference, 1e-7 * largest) << i;
    }
  }
}

TEST(Quantities, UnknownNamesAreRefusedWithThoseThereAre) {
  using ::testing::HasSubstr;
  const auto refused = [](const std::string& observation, const std::string& words) {
    EXPECT_THAT(testing::refusal_of(file_with("\"" + observation + "\"")), HasSubstr(words)) << observation;
  };
  refused("body('hnd').position",
          "t.toml:3:21: the robot has no body named 'hnd' (did you mean 'hand'?); it has: world");
  refused("body('hand').positon", "t.toml:3:29: body has no 'positon' (did you mean 'position'?); it has: position");
  refused("joint('x*').position", "the robot has no joint like 'x*'");
  refused("body('hand')", "body has members, as in body('NAME').position");
  refused("body(hand).position", "body takes a name in quotes");
  refused("com", "com has members, as in com.position");
  refused("site('elbow').mass", "site has no 'mass'");
  refused("action", "action is not known in the observation");
  refused("torques", "torques is not known in the observation");
  refused("before(qpos)", "before(…) has no meaning in the observation");
}

}  // namespace
}  // namespace cgpo
