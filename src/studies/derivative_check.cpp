#include "cgpo/studies/derivative_check.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "cgpo/base/error.hpp"
#include "cgpo/base/interruption.hpp"
#include "cgpo/tasks/robots/robot.hpp"
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
        robot_(task->find_robot()),
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

  // What is not finite first, from these inputs; empty: all of it is.
  std::string find_not_finite(const Vector& x) {
    StepRows rows(*simulator_, 1);
    rows.state.values = Vector(x.begin(), x.begin() + spec_.states);
    const auto all_finite = [](const LaneRows& some) {
      return std::all_of(some.values.begin(), some.values.end(), [](double value) { return std::isfinite(value); });
    };
    for (int t = 0; t < steps_; ++t) {
      rows.action.values = action(x, t);
      run(rows);
      if (!all_finite(rows.next)) return "the state";
      if (!all_finite(rows.observation)) return "the observation";
      for (int k = 0; k < signals_; ++k) {
        if (!std::isfinite(rows.signals(k, 0))) return signal_name(k);
      }
      rows.state.values = rows.next.values;
    }
    return "";
  }

  std::string signal_name(int k) const {
    return k == 0 ? "the reward" : fmt::format("cost {}", spec_.costs[at(k - 1)].name);
  }
  // Of an input: an entry of the state that the window begins with, or of an action.
  std::string input_name(int i) const {
    if (i >= spec_.states) {
      return fmt::format("action[{}] of step {}", (i - spec_.states) % spec_.actions,
                         (i - spec_.states) / spec_.actions + 1);
    }
    const Model* const model = robot_ == nullptr ? nullptr : robot_->model.get();
    int own = i;
    for (const auto& [name, size] : {std::pair{"qpos", model == nullptr ? 0 : model->nq},
                                     {"qvel", model == nullptr ? 0 : model->nv},
                                     {"activation", model == nullptr ? 0 : model->na}}) {
      if (own < size) return fmt::format("{}[{}]", name, own);
      own -= size;
    }
    const bool named = at(own) < spec_.state_names.size() && !spec_.state_names[at(own)].empty();
    return named ? spec_.state_names[at(own)] : fmt::format("state[{}]", i);
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
  const Robot* robot_;  // null: there is none
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

// The largest error of a window, relative to the gradient of its signal; infinite where something is not finite.
struct WindowError {
  double largest = 0.0;
  int signal = 0;
  int input = 0;
  std::vector<int> over;  // signals that do not agree

  bool agrees() const { return largest <= kDerivativeTolerance; }
};

WindowError compare(Window& window, const Vector& x) {
  const std::vector<Vector> gradients = window.gradients(x);
  const std::vector<Vector> expected = differences(window, x);
  WindowError result;
  for (int k = 0; k < window.signals(); ++k) {
    const Vector& gradient = gradients[static_cast<std::size_t>(k)];
    double scale = std::numeric_limits<double>::min();
    for (const double entry : gradient) scale = std::max(scale, std::abs(entry));
    double worst = 0.0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      double error = std::abs(gradient[i] - expected[i][static_cast<std::size_t>(k)]) / scale;
      // A NaN must not pass for agreement.
      if (!std::isfinite(error)) error = std::numeric_limits<double>::infinity();
      worst = std::max(worst, error);
      if (error <= result.largest) continue;
      result.largest = error;
      result.signal = k;
      result.input = static_cast<int>(i);
    }
    if (worst > kDerivativeTolerance) result.over.push_back(k);
  }
  return result;
}

// Of what the error is the largest. What all signals share, states and observations, is in the function of each.
std::string place_of(const Window& window, const WindowError& error) {
  const bool all = static_cast<int>(error.over.size()) == window.signals();
  const std::string what = all && window.signals() > 1 ? "states or observations"
                           : all                       ? "the reward, states or observations"
                                                       : window.signal_name(error.signal);
  return fmt::format("{} with respect to {}", what, window.input_name(error.input));
}

// Whether the derivatives agree near a state at which they do not: first so near that what touches goes on touching.
bool is_kink(const Task& task, Window& window, const Vector& x, RandomStream& random, WindowError& nearby) {
  constexpr int kTries = 3;
  for (const double width : {1e-4, 1e-3}) {
    int agreeing = 0;
    double largest = 0.0;
    for (int n = 0; n < kTries; ++n) {
      Vector moved = x;
      for (int i = 0; i < task.spec().states; ++i) {
        double& entry = moved[static_cast<std::size_t>(i)];
        entry += width * std::max(1.0, std::abs(entry)) * random.normal();
      }
      const WindowError error = compare(window, moved);
      if (!error.agrees()) continue;
      ++agreeing;
      largest = std::max(largest, error.largest);
    }
    nearby.largest = largest;
    if (2 * agreeing > kTries) return true;
  }
  return false;
}

void add_window(const Task& task, Window& window, const Vector& x, RandomStream& random, DerivativeCheck& check) {
  const WindowError error = compare(window, x);
  std::string not_finite = window.find_not_finite(x);
  if (not_finite.empty() && !std::isfinite(error.largest)) not_finite = "a derivative of " + place_of(window, error);
  if (!not_finite.empty()) {  // differences that are not finite may look like zeros
    ++check.disagreeing;
    if (++check.not_finite == 1) check.not_finite_what = not_finite;
    check.max_relative_error = std::numeric_limits<double>::infinity();
    return;
  }
  if (!error.agrees()) {
    WindowError nearby;
    if (is_kink(task, window, x, random, nearby)) {
      ++check.kinks;
      if (error.largest > check.kink_error) {
        check.kink_error = error.largest;
        check.kink_at = place_of(window, error);
      }
      check.max_relative_error = std::max(check.max_relative_error, nearby.largest);
      return;
    }
    ++check.disagreeing;
  }
  if (error.largest <= check.max_relative_error) return;
  check.max_relative_error = error.largest;
  check.largest_at = place_of(window, error);
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
    add_window(*task, window, x, random, result);
  }
  return result;
}

}  // namespace cgpo
