#include "cgpo/run/derivative_check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "cgpo/base/error.hpp"
#include "cgpo/graph/evaluate.hpp"
#include "cgpo/tasks/simulator.hpp"

namespace cgpo {
namespace {

using Vector = std::vector<double>;

std::vector<int> all_costs(const Task& task) {
  std::vector<int> costs(task.spec().costs.size());
  std::iota(costs.begin(), costs.end(), 0);
  return costs;
}

// The functions L_k(start state, actions) whose gradients are compared, one a signal (reward, then the costs).
class Window {
 public:
  Window(const Task& task, int steps)
      : spec_(task.spec()),
        steps_(steps),
        signals_(1 + static_cast<int>(task.spec().costs.size())),
        step_(step_graph(task, all_costs(task))),
        adjoint_(step_adjoint_graph(task, all_costs(task))) {}

  int inputs() const { return spec_.states + steps_ * spec_.actions; }
  int signals() const { return signals_; }

  void draw_weights(RandomStream& random) {
    weights_.resize(at(signals_) * (at(spec_.states) + at(steps_) * at(spec_.observations + 1)));
    for (double& weight : weights_) weight = random.normal();
  }

  // One environment step; returns the step graph's outputs.
  Vector step(std::span<const double> state, std::span<const double> action) const {
    Vector inputs(state.begin(), state.end());
    inputs.insert(inputs.end(), action.begin(), action.end());
    return evaluate(step_, inputs);
  }

  Vector values(const Vector& x) const {
    Vector sums(static_cast<std::size_t>(signals_), 0.0);
    Vector state(x.begin(), x.begin() + spec_.states);
    for (int t = 0; t < steps_; ++t) {
      const Vector outputs = step(state, action(x, t));
      for (int k = 0; k < signals_; ++k) {
        double& sum = sums[static_cast<std::size_t>(k)];
        const double* weight = step_weights(k, t);
        for (int i = 0; i < spec_.observations; ++i) sum += weight[i] * outputs[at(spec_.states + i)];
        sum += weight[spec_.observations] * outputs[at(spec_.states + spec_.observations + k)];
      }
      state.assign(outputs.begin(), outputs.begin() + spec_.states);
    }
    for (int k = 0; k < signals_; ++k) {
      for (int i = 0; i < spec_.states; ++i) sums[at(k)] += state_weights(k)[i] * state[at(i)];
    }
    return sums;
  }

  // Reverse mode, step by step, all signals at once: [signal][input].
  std::vector<Vector> gradients(const Vector& x) const {
    std::vector<Vector> states = {Vector(x.begin(), x.begin() + spec_.states)};
    for (int t = 0; t + 1 < steps_; ++t) {
      const Vector outputs = step(states.back(), action(x, t));
      states.emplace_back(outputs.begin(), outputs.begin() + spec_.states);
    }
    std::vector<Vector> result(static_cast<std::size_t>(signals_), Vector(at(inputs()), 0.0));
    std::vector<Vector> adjoints;  // of the state after step t
    adjoints.reserve(at(signals_));
    for (int k = 0; k < signals_; ++k) adjoints.emplace_back(state_weights(k), state_weights(k) + spec_.states);
    for (int t = steps_ - 1; t >= 0; --t) {
      Vector seeds = states[at(t)];
      seeds.insert(seeds.end(), action(x, t).begin(), action(x, t).end());
      for (int k = 0; k < signals_; ++k) {
        seeds.insert(seeds.end(), adjoints[at(k)].begin(), adjoints[at(k)].end());
        seeds.insert(seeds.end(), step_weights(k, t), step_weights(k, t) + spec_.observations + 1);
      }
      const Vector pulled = evaluate(adjoint_, seeds);
      for (int k = 0; k < signals_; ++k) {
        const double* own = pulled.data() + k * (spec_.states + spec_.actions);
        adjoints[at(k)].assign(own, own + spec_.states);
        std::copy_n(own + spec_.states, spec_.actions, result[at(k)].data() + spec_.states + t * spec_.actions);
      }
    }
    for (int k = 0; k < signals_; ++k) std::copy_n(adjoints[at(k)].data(), spec_.states, result[at(k)].data());
    return result;
  }

 private:
  static std::size_t at(int index) { return static_cast<std::size_t>(index); }
  std::span<const double> action(const Vector& x, int t) const {
    return std::span(x).subspan(at(spec_.states + t * spec_.actions), at(spec_.actions));
  }
  const double* state_weights(int k) const { return weights_.data() + k * spec_.states; }
  // Of the observation after step t, then of the signal itself.
  const double* step_weights(int k, int t) const {
    return weights_.data() + signals_ * spec_.states + (k * steps_ + t) * (spec_.observations + 1);
  }

  TaskSpec spec_;
  int steps_;
  int signals_;
  Graph step_;
  Graph adjoint_;
  Vector weights_;
};

constexpr int kLevels = 6;       // of central differences, each with a step smaller by
constexpr double kFactor = 4.0;  // this

// Central differences with ever smaller steps, extrapolated to zero as Ridders does: the step that is best for this
// input and function is found, not guessed. Knows nothing of the gradient it is compared with.
Vector differences(const Window& window, Vector x, std::size_t i) {
  const double centre = x[i];
  double width = 0.01 * std::max(1.0, std::abs(centre));
  const auto signals = static_cast<std::size_t>(window.signals());
  Vector best(signals, 0.0);
  Vector least(signals, std::numeric_limits<double>::infinity());
  std::vector<Vector> before;  // the tableau's last row: [order][signal]
  for (int level = 0; level < kLevels; ++level, width /= kFactor) {
    x[i] = centre + width;
    const double right = x[i];
    const Vector high = window.values(x);
    x[i] = centre - width;
    const double distance = right - x[i];  // as rounded
    const Vector low = window.values(x);
    std::vector<Vector> row(1, Vector(signals));
    for (std::size_t k = 0; k < signals; ++k) row[0][k] = (high[k] - low[k]) / distance;
    double power = kFactor * kFactor;
    for (std::size_t order = 0; order < before.size(); ++order, power *= kFactor * kFactor) {
      row.emplace_back(signals);
      for (std::size_t k = 0; k < signals; ++k) {
        const double better = row[order][k] + (row[order][k] - before[order][k]) / (power - 1.0);
        const double error = std::max(std::abs(better - row[order][k]), std::abs(better - before[order][k]));
        row[order + 1][k] = better;
        if (error < least[k]) {
          least[k] = error;
          best[k] = better;
        }
      }
    }
    before = std::move(row);
  }
  return best;
}

bool has_diverged(std::span<const double> state, double bound) {
  return !std::all_of(state.begin(), state.end(), [&](double value) { return std::abs(value) <= bound; });
}

// Where a few random actions lead from a start state, and the actions of the window.
Vector draw_inputs(const Task& task, const Window& window, RandomStream& random) {
  const TaskSpec& spec = task.spec();
  Vector state(static_cast<std::size_t>(spec.states));
  Vector action(static_cast<std::size_t>(spec.actions));
  task.reset(random, state);
  const std::uint32_t walk = random.below(static_cast<std::uint32_t>(std::min(spec.horizon, 50)));
  for (std::uint32_t t = 0; t < walk; ++t) {
    for (double& value : action) value = random.uniform(-1.0, 1.0);
    const Vector outputs = window.step(state, action);
    const auto next = std::span(outputs).first(state.size());
    if (has_diverged(next, spec.divergence_bound)) break;
    state.assign(next.begin(), next.end());
  }
  while (state.size() < static_cast<std::size_t>(window.inputs())) state.push_back(random.uniform(-1.0, 1.0));
  return state;
}

}  // namespace

DerivativeCheck check_derivatives(const Task& task, int states, int window_steps, std::uint64_t seed) {
  if (!task.spec().differentiable) {
    throw UserError("task {} has no derivative to check: its simulator is not differentiable", task.spec().name);
  }
  Window window(task, window_steps);
  DerivativeCheck result{.states = states, .window = window_steps};
  for (int n = 0; n < states; ++n) {
    RandomStream random(seed, Purpose::kCheck, static_cast<std::uint32_t>(n));
    const Vector x = draw_inputs(task, window, random);
    window.draw_weights(random);
    const std::vector<Vector> gradients = window.gradients(x);
    Vector scales;
    for (const Vector& gradient : gradients) {
      double largest = std::numeric_limits<double>::min();
      for (const double entry : gradient) largest = std::max(largest, std::abs(entry));
      scales.push_back(largest);
    }
    for (std::size_t i = 0; i < x.size(); ++i) {
      const Vector expected = differences(window, x, i);
      for (std::size_t k = 0; k < expected.size(); ++k) {
        const double error = std::abs(gradients[k][i] - expected[k]) / scales[k];
        // A NaN must not pass for agreement.
        result.max_relative_error =
            std::isfinite(error) ? std::max(result.max_relative_error, error) : std::numeric_limits<double>::infinity();
      }
    }
  }
  return result;
}

}  // namespace cgpo
