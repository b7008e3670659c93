#include "cgpo/studies/derivative_check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "cgpo/base/error.hpp"
#include "cgpo/base/interruption.hpp"
#include "cgpo/tasks/simulators/simulator.hpp"

namespace cgpo {
namespace {

using Vector = std::vector<double>;

std::vector<int> all_costs(const Task& task) {
  std::vector<int> costs(task.spec().costs.size());
  std::iota(costs.begin(), costs.end(), 0);
  return costs;
}

// The functions L_k(start state, actions) whose gradients are compared, one a signal (reward, then the costs), on the
// simulator that training uses, in double.
class Window {
 public:
  Window(const std::shared_ptr<const Task>& task, int steps)
      : spec_(task->spec()),
        steps_(steps),
        signals_(1 + static_cast<int>(task->spec().costs.size())),
        simulator_(make_simulator<double>(task, all_costs(*task))) {}

  int inputs() const { return spec_.states + steps_ * spec_.actions; }
  int signals() const { return signals_; }

  void draw_weights(RandomStream& random) {
    weights_.resize(at(signals_) * (at(spec_.states) + at(steps_) * at(spec_.observations + 1)));
    for (double& weight : weights_) weight = random.normal();
  }

  // The state after one environment step.
  Vector step(Vector state, Vector action) {
    StepRows rows(*simulator_, 1);
    rows.state.values = std::move(state);
    rows.action.values = std::move(action);
    run(rows);
    return rows.next.values;
  }

  // L_k at many points at once, a lane each: [point][signal].
  std::vector<Vector> values(const std::vector<Vector>& points) {
    StepRows rows(*simulator_, static_cast<int>(points.size()));
    std::vector<Vector> sums(points.size(), Vector(at(signals_), 0.0));
    for (int t = 0; t < steps_; ++t) {
      for (std::size_t p = 0; p < points.size(); ++p) {
        for (int i = 0; i < spec_.states; ++i) rows.state(i, p) = t == 0 ? points[p][at(i)] : rows.next(i, p);
        for (int i = 0; i < spec_.actions; ++i) rows.action(i, p) = action(points[p], t)[at(i)];
      }
      run(rows);
      for (std::size_t p = 0; p < points.size(); ++p) {
        for (int k = 0; k < signals_; ++k) {
          const double* weight = step_weights(k, t);
          double& sum = sums[p][at(k)];
          for (int i = 0; i < spec_.observations; ++i) sum += weight[i] * rows.observation(i, p);
          sum += weight[spec_.observations] * rows.signals(k, p);
        }
      }
    }
    for (std::size_t p = 0; p < points.size(); ++p) {
      for (int k = 0; k < signals_; ++k) {
        for (int i = 0; i < spec_.states; ++i) sums[p][at(k)] += state_weights(k)[i] * rows.next(i, p);
      }
    }
    return sums;
  }

  // Reverse mode, step by step, all signals at once: [signal][input].
  std::vector<Vector> gradients(const Vector& x) {
    std::vector<Vector> states = {Vector(x.begin(), x.begin() + spec_.states)};
    for (int t = 0; t + 1 < steps_; ++t) states.push_back(step(states.back(), action(x, t)));
    std::vector<Vector> result(at(signals_), Vector(at(inputs()), 0.0));
    LaneRows after(signals_ * spec_.states, 1), observed(signals_ * spec_.observations, 1), weight(signals_, 1);
    LaneRows before(signals_ * spec_.states, 1), actions(signals_ * spec_.actions, 1);
    std::copy_n(weights_.begin(), signals_ * spec_.states, after.values.begin());
    for (int t = steps_ - 1; t >= 0; --t) {
      for (int k = 0; k < signals_; ++k) {
        for (int i = 0; i < spec_.observations; ++i) observed(k * spec_.observations + i, 0) = step_weights(k, t)[i];
        weight(k, 0) = step_weights(k, t)[spec_.observations];
      }
      LaneRows state(spec_.states, 1), acted(spec_.actions, 1);
      state.values = states[at(t)];
      acted.values = action(x, t);
      simulator_->pull_back(
          {state.view(), acted.view(), after.view(), observed.view(), weight.view(), before.view(), actions.view()}, 1,
          scratch_);
      for (int k = 0; k < signals_; ++k) {
        std::copy_n(actions.values.begin() + std::ptrdiff_t{k} * spec_.actions, spec_.actions,
                    result[at(k)].begin() + spec_.states + std::ptrdiff_t{t} * spec_.actions);
      }
      std::swap(after, before);
    }
    for (int k = 0; k < signals_; ++k)
      std::copy_n(after.values.begin() + std::ptrdiff_t{k} * spec_.states, spec_.states, result[at(k)].begin());
    return result;
  }

 private:
  struct LaneRows {
    LaneRows(int rows, int lanes_in) : lanes(lanes_in), values(at(rows) * at(lanes_in)) {}
    double& operator()(int row, std::size_t lane) { return values[at(row) * at(lanes) + lane]; }
    Rows<double> view() { return {values.data(), lanes}; }
    int lanes;
    Vector values;
  };
  struct StepRows {
    StepRows(const Simulator<double>& simulator, int lanes_in)
        : lanes(lanes_in),
          state(simulator.spec().states, lanes_in),
          action(simulator.spec().actions, lanes_in),
          next(simulator.spec().states, lanes_in),
          observation(simulator.spec().observations, lanes_in),
          signals(simulator.signals(), lanes_in),
          paper(1, lanes_in),
          ended(1, lanes_in) {}
    int lanes;
    LaneRows state, action, next, observation, signals, paper, ended;
  };

  void run(StepRows& rows) {
    look_for_interruption();
    simulator_->step({rows.state.view(), rows.action.view(), rows.next.view(), rows.observation.view(),
                      rows.signals.view(), rows.paper.values.data(), rows.ended.values.data()},
                     rows.lanes, scratch_);
  }
  static std::size_t at(int index) { return static_cast<std::size_t>(index); }
  Vector action(const Vector& x, int t) const {
    const auto begin = x.begin() + spec_.states + std::ptrdiff_t{t} * spec_.actions;
    return {begin, begin + spec_.actions};
  }
  const double* state_weights(int k) const { return weights_.data() + std::ptrdiff_t{k} * spec_.states; }
  // Of the observation after step t, then of the signal itself.
  const double* step_weights(int k, int t) const {
    return weights_.data() + std::ptrdiff_t{signals_} * spec_.states +
           (std::ptrdiff_t{k} * steps_ + t) * (spec_.observations + 1);
  }

  TaskSpec spec_;
  int steps_;
  int signals_;
  std::unique_ptr<Simulator<double>> simulator_;
  SimulatorScratch<double> scratch_;
  Vector weights_;
};

constexpr int kLevels = 6;        // of central differences, each with a step smaller by
constexpr double kFactor = 4.0;   // this
constexpr double kWidest = 8e-6;  // narrow enough for a foot that touches down: its force sets in within a centimetre

// Central differences with ever smaller steps, extrapolated to zero as Ridders does: the step that is best for this
// input and function is found, not guessed. Knows nothing of the gradient it is compared with. [input][signal].
std::vector<Vector> differences(Window& window, const Vector& x) {
  std::vector<Vector> points;
  for (std::size_t i = 0; i < x.size(); ++i) {
    double width = kWidest * std::max(1.0, std::abs(x[i]));
    for (int level = 0; level < kLevels; ++level, width /= kFactor) {
      for (const double offset : {width, -width}) {
        points.push_back(x);
        points.back()[i] += offset;
      }
    }
  }
  const std::vector<Vector> values = window.values(points);
  const auto signals = static_cast<std::size_t>(window.signals());
  std::vector<Vector> result;
  for (std::size_t i = 0; i < x.size(); ++i) {
    Vector best(signals, 0.0);
    Vector least(signals, std::numeric_limits<double>::infinity());
    std::vector<Vector> before;  // the tableau's last row: [order][signal]
    for (std::size_t level = 0; level < kLevels; ++level) {
      const std::size_t high = 2 * (i * kLevels + level);
      const double distance = points[high][i] - points[high + 1][i];  // as rounded
      std::vector<Vector> row(1, Vector(signals));
      for (std::size_t k = 0; k < signals; ++k) row[0][k] = (values[high][k] - values[high + 1][k]) / distance;
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
    result.push_back(std::move(best));
  }
  return result;
}

bool has_diverged(std::span<const double> state, double bound) {
  return !std::all_of(state.begin(), state.end(), [&](double value) { return std::abs(value) <= bound; });
}

// Where a few random actions lead from a start state, and the actions of the window.
Vector draw_inputs(const Task& task, Window& window, RandomStream& random) {
  const TaskSpec& spec = task.spec();
  Vector state(static_cast<std::size_t>(spec.states));
  Vector action(static_cast<std::size_t>(spec.actions));
  task.reset(random, state);
  const std::uint32_t walk = random.below(static_cast<std::uint32_t>(std::min(spec.horizon, 50)));
  for (std::uint32_t t = 0; t < walk; ++t) {
    for (double& value : action) value = random.uniform(-1.0, 1.0);
    Vector next = window.step(state, action);
    if (has_diverged(next, spec.divergence_bound)) break;
    state = std::move(next);
  }
  while (state.size() < static_cast<std::size_t>(window.inputs())) state.push_back(random.uniform(-1.0, 1.0));
  return state;
}

}  // namespace

DerivativeCheck check_derivatives(const std::shared_ptr<const Task>& task, int states, int window_steps,
                                  std::uint64_t seed) {
  if (!task->spec().differentiable) {
    throw UserError("task {} has no derivative to check: its simulator is not differentiable{}", task->spec().name,
                    task->find_robot() != nullptr ? "; that of our engine is, --set task.engine=own" : "");
  }
  Window window(task, window_steps);
  DerivativeCheck result{.states = states, .window = window_steps};
  for (int n = 0; n < states; ++n) {
    RandomStream random(seed, Purpose::kCheck, static_cast<std::uint32_t>(n));
    const Vector x = draw_inputs(*task, window, random);
    window.draw_weights(random);
    const std::vector<Vector> gradients = window.gradients(x);
    Vector scales;
    for (const Vector& gradient : gradients) {
      double largest = std::numeric_limits<double>::min();
      for (const double entry : gradient) largest = std::max(largest, std::abs(entry));
      scales.push_back(largest);
    }
    const std::vector<Vector> expected = differences(window, x);
    for (std::size_t i = 0; i < x.size(); ++i) {
      for (std::size_t k = 0; k < scales.size(); ++k) {
        const double error = std::abs(gradients[k][i] - expected[i][k]) / scales[k];
        // A NaN must not pass for agreement.
        result.max_relative_error =
            std::isfinite(error) ? std::max(result.max_relative_error, error) : std::numeric_limits<double>::infinity();
      }
    }
  }
  return result;
}

Json to_json(const DerivativeCheck& check, const std::string& task) {
  Json result;
  result["task"] = task;
  result["max_relative_error"] = check.max_relative_error;
  result["states"] = check.states;
  result["window"] = check.window;
  return result;
}

}  // namespace cgpo
