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

namespace cgpo {
namespace {

std::vector<int> all(std::size_t count) {
  std::vector<int> indices(count);
  std::iota(indices.begin(), indices.end(), 0);
  return indices;
}

double inner(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

std::vector<double> joined(std::span<const double> a, std::span<const double> b) {
  std::vector<double> result(a.begin(), a.end());
  result.insert(result.end(), b.begin(), b.end());
  return result;
}

// (q, v, control) → (q, v) after some substeps.
Graph trace_window(const Model& model, const PhysicsParameters& parameters, int steps) {
  Graph graph;
  PhysicsState<Traced> state{trace_inputs(graph, model.nq), trace_inputs(graph, model.nv)};
  const std::vector<Traced> control = trace_inputs(graph, model.nu);
  for (int i = 0; i < steps; ++i) {
    state = physics_step(model, parameters, state, std::span<const Traced>(control));
  }
  trace_outputs(graph, state.q);
  trace_outputs(graph, state.v);
  return graph;
}

struct WindowErrors {
  double difference;  // adjoint against central differences
  double forward;     // adjoint against forward mode
};

class Window {
 public:
  Window(const Model& model, const PhysicsParameters& parameters, int steps)
      : model_(model),
        graph_(trace_window(model, parameters, steps)),
        reverse_(differentiate(graph_, {.seeds = {all(graph_.outputs().size())}, .wrt = all(graph_.inputs().size())})),
        forward_(differentiate_forward(graph_)) {}

  WindowErrors errors(const PhysicsState<double>& state, RandomStream& random) const {
    std::vector<double> x = joined(state.q, state.v);
    for (int i = 0; i < model_.nu; ++i) x.push_back(random.uniform(-0.5, 0.5));
    std::vector<double> direction(x.size());
    for (double& d : direction) d = random.normal();
    std::vector<double> weights(graph_.outputs().size());
    for (double& w : weights) w = random.normal();
    const std::vector<double> gradient = evaluate(reverse_, joined(x, weights));
    const std::vector<double> tangent = evaluate(forward_, joined(x, direction));
    double scale = 0.0;
    for (std::size_t i = 0; i < x.size(); ++i) scale += std::abs(gradient[i] * direction[i]);
    const double slope = inner(gradient, direction);
    const auto at = [&](double s) {
      std::vector<double> moved = x;
      for (std::size_t i = 0; i < x.size(); ++i) moved[i] += s * direction[i];
      return inner(evaluate(graph_, moved), weights);
    };
    double best = 1e300;
    for (const double h : {1e-4, 3e-5, 1e-5, 3e-6, 1e-6}) {
      const double difference = (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h);
      best = std::min(best, std::abs(difference - slope) / scale);
    }
    return {best, std::abs(inner(tangent, weights) - slope) / scale};
  }

 private:
  const Model& model_;
  Graph graph_, reverse_, forward_;
};

void check_windows(const char* name, bool in_contact, int states) {
  const Model model = load_model_from_text(testing::robot_xml(name), name);
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

TEST(PhysicsDerivatives, InFlight) {
  for (const char* name : {"pendulum", "cartpole", "cheetah", "ant", "swimmer", "floater"})
    check_windows(name, false, 5);
}

TEST(PhysicsDerivatives, InContact) {
  check_windows("cheetah", true, 20);
  check_windows("ant", true, 10);
  check_windows("tripod", true, 10);
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
