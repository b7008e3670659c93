// Derivatives of windows of steps against central differences, reverse against forward mode, and the graphs' sizes.
#include <chrono>
#include <cmath>
#include <gtest/gtest.h>
#include <numeric>

#include "cgpo/graph/differentiate.hpp"
#include "cgpo/graph/evaluate.hpp"
#include "cgpo/graph/lower.hpp"

#include "robots.hpp"
#include "simulate.hpp"
#include "window.hpp"

namespace cgpo {
namespace {

using testing::all;
using testing::joined;
using testing::trace_window;
using testing::Window;
using testing::WindowErrors;

void check_windows(const char* name, const Model& model, bool in_contact, int states) {
  const PhysicsParameters parameters = suggest_parameters(model);
  const Window window(model, parameters, 10);
  RandomStream random(6, Purpose::kTest);
  WindowErrors worst{0.0, 0.0};
  int compared = 0;
  for (int trial = 0; compared < states && trial < 20 * states; ++trial) {
    PhysicsState<double> start = testing::start_of(model);
    for (const Joint& joint : model.joints) {
      if (joint.limited) start.q[joint.q] = random.uniform(joint.lower, joint.upper);
    }
    if (!in_contact && !model.contacts.empty()) {  // high above the floor
      start.q[model.joints[0].type == JointType::kFree ? 2 : 1] += 5.0;
    }
    const PhysicsState<double> state =
        testing::wander(model, parameters, start, static_cast<std::uint64_t>(trial), in_contact ? 150 : 20);
    if (in_contact && testing::deepest(model, state) < 0.002) continue;
    ++compared;
    const WindowErrors errors = window.errors(state, random);
    worst.difference = std::max(worst.difference, errors.difference);
    worst.forward = std::max(worst.forward, errors.forward);
  }
  EXPECT_EQ(compared, states) << name;
  EXPECT_LT(worst.difference, 1e-6) << name;
  EXPECT_LT(worst.forward, 1e-12) << name;
  std::printf("%-8s %-10s %d states: differences %.1e, forward mode %.1e\n", name,
              in_contact ? "in contact" : "in flight", compared, worst.difference, worst.forward);
}

void check_windows(const char* name, bool in_contact, int states) {
  check_windows(name, load_model_from_text(testing::robot_xml(name), name), in_contact, states);
}

TEST(PhysicsDerivatives, InFlight) {
  for (const char* name : {"pendulum", "cartpole", "cheetah", "ant", "swimmer", "floater"})
    check_windows(name, false, 5);
}

TEST(PhysicsDerivatives, InContact) {
  check_windows("cheetah", true, 20);
  check_windows("ant", true, 10);
  check_windows("tripod", true, 10);
  check_windows("skittles", true, 10);
}

// Servos with and without activations, one against the end of its force's range; a site, its reference and a tendon.
TEST(PhysicsDerivatives, OfActuators) {
  check_windows("crane", load_model_from_text(R"(<mujoco><option timestep="0.005"/><worldbody>
      <site name="post" pos="0.5 0 1"/><body name="hub" pos="0 0 1"><freejoint/>
        <geom type="box" size="0.2 0.1 0.1" contype="0" conaffinity="0"/>
        <site name="jet" pos="0.1 0.1 0" euler="20 0 10"/>
        <body name="boom" pos="0.2 0 0"><joint name="lift" axis="0 1 0" armature="0.05"/>
          <geom type="capsule" size="0.04" fromto="0 0 0 0.5 0 0" contype="0" conaffinity="0"/>
          <body name="load" pos="0.5 0 0"><joint name="turn" type="ball" armature="0.02" damping="0.1"/>
            <geom type="box" size="0.1 0.05 0.05" pos="0 0 -0.1" contype="0" conaffinity="0"/>
            <site name="hook" pos="0.05 0 -0.2" euler="0 30 0"/></body></body></body></worldbody>
      <tendon><spatial name="rope"><site site="jet"/><site site="hook"/></spatial></tendon>
      <actuator><intvelocity joint="lift" kp="50" kv="3" actrange="-2 2"/>
        <position joint="lift" kp="2000" kv="40" forcerange="-3 3"/>
        <position joint="turn" gear="1 0.5 -0.3" kp="3" kv="0.2"/>
        <cylinder tendon="rope" timeconst="0.03" area="2" bias="0 -3 -0.5"/>
        <general site="jet" gear="0 0 1 0.1 0 0" dyntype="filterexact" dynprm="0.02" gainprm="5" actearly="true"/>
        <position site="hook" refsite="post" gear="1 0 0 0 0.3 0" kp="4" kv="0.3" timeconst="0.05"/>
        <damper joint="lift" kv="2" ctrlrange="0 1"/></actuator></mujoco>)"),
                /*in_contact=*/false, 10);
}

// A traced step computes what the step computes.
TEST(PhysicsDerivatives, GraphEqualsDirectStep) {
  for (const testing::Robot& robot : testing::robots()) {
    const Model model = load_model_from_text(robot.xml, robot.name);
    const PhysicsParameters parameters = suggest_parameters(model);
    const Graph graph = trace_window(model, parameters, 1);
    RandomStream random(8, Purpose::kTest);
    PhysicsState<double> state = testing::start_of(model);
    for (double& x : state.v) x = random.uniform(-1.0, 1.0);
    std::vector<double> control(model.nu, 0.3);
    const PhysicsState<double> direct = testing::run(model, parameters, state, control, 1);
    const std::vector<double> traced = evaluate(graph, joined(joined(state.q, state.v), control));
    for (int i = 0; i < model.nq; ++i) EXPECT_NEAR(traced[i], direct.q[i], 1e-12) << robot.name;
    for (int i = 0; i < model.nv; ++i) EXPECT_NEAR(traced[model.nq + i], direct.v[i], 1e-9) << robot.name;
  }
}

// As a machine runs it: transcendentals expanded, products fused with sums.
int operations(const Graph& graph) { return prepare(graph, Precision::kFloat).count_operations(); }

// The sizes are the cost of everything that trains on these robots; a change that raises them should be noticed.
TEST(PhysicsDerivatives, GraphSizes) {
  for (const char* name : {"cartpole", "cheetah", "ant", "swimmer"}) {
    const Model model = load_model_from_text(testing::robot_xml(name), name);
    const auto begin = std::chrono::steady_clock::now();
    const Graph graph = trace_window(model, suggest_parameters(model), 1);
    const auto outputs = all(graph.outputs().size());
    const auto inputs = all(graph.inputs().size());
    const Graph one = differentiate(graph, {.seeds = {outputs}, .wrt = inputs, .keep_outputs = true});
    const Graph two = differentiate(graph, {.seeds = {outputs, outputs}, .wrt = inputs, .keep_outputs = true});
    const int forward = operations(graph);
    const int with_one = operations(one);
    const int with_two = operations(two);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    std::printf("%-8s %zu contact points, operations: forward %d, +1 adjoint %d, +2 adjoints %d (%.0f ms)\n", name,
                model.contacts.size(), forward, with_one, with_two, 1e3 * seconds);
    if (model.nq == 15) {  // the ant; 424 of these are sines and cosines
      EXPECT_LT(forward, 3050);
      EXPECT_LT(with_one, 6500);
      EXPECT_LT(with_two, 9800);
    }
  }
}

}  // namespace
}  // namespace cgpo
