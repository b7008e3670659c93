// Windows of steps as graphs: their derivatives against central differences, reverse against forward mode.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <vector>

#include "cgpo/base/random.hpp"
#include "cgpo/graph/differentiate.hpp"
#include "cgpo/graph/evaluate.hpp"
#include "cgpo/physics/dynamics/step.hpp"

namespace cgpo::testing {

inline std::vector<int> all(std::size_t count) {
  std::vector<int> indices(count);
  std::iota(indices.begin(), indices.end(), 0);
  return indices;
}

inline double inner(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

inline std::vector<double> joined(std::span<const double> a, std::span<const double> b) {
  std::vector<double> result(a.begin(), a.end());
  result.insert(result.end(), b.begin(), b.end());
  return result;
}

// (q, v, activations, control) → (q, v, activations) after some substeps.
inline Graph trace_window(const Model& model, const PhysicsParameters& parameters, int steps) {
  Graph graph;
  PhysicsState<Traced> state{trace_inputs(graph, model.nq), trace_inputs(graph, model.nv),
                             trace_inputs(graph, model.na)};
  const std::vector<Traced> control = trace_inputs(graph, model.nu);
  for (int i = 0; i < steps; ++i) {
    state = physics_step(model, parameters, state, std::span<const Traced>(control));
  }
  trace_outputs(graph, state.q);
  trace_outputs(graph, state.v);
  trace_outputs(graph, state.activation);
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
    std::vector<double> x = joined(joined(state.q, state.v), state.activation);
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

}  // namespace cgpo::testing
