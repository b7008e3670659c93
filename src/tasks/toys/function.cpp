#include "cgpo/tasks/toys/function.hpp"

#include <numbers>

namespace cgpo {
namespace {

// x' = x + 0.2 a,  r = c = f(x), both of the state before the step (or after it: option `measured`); J_C ≤ 8.
//   smooth:  f(x) = (x/10)² + 0.1 + 0.1 sin(8x/π)
//   floor:   f(x) = (⌊x⌋/10)² + 0.1 + 0.1 sin(8x/π), which has no useful derivative
// Reward and cost are the same, so the best feasible return is exactly the limit.
struct FunctionTask {
  bool staircase = false;
  double start_width = 0.1;  // x₀ uniform in ± this; 0: always at the origin
  bool after = false;        // f is that of x'

  TaskSpec spec() const {
    TaskSpec spec;
    spec.name = staircase ? "function-floor" : "function";
    spec.summary =
        staircase ? "a point on a line over a staircase; no derivative" : "a point on a line; reward equals cost";
    spec.states = 1;
    spec.observations = 1;
    spec.actions = 1;
    spec.horizon = 100;
    spec.costs = {{.name = "height", .limit = 8.0, .meaning = "f(x), the reward itself"}};
    spec.differentiable = !staircase;
    return spec;
  }

  void reset(RandomStream& random, std::span<double> state) const {
    state[0] = start_width > 0.0 ? random.uniform(-start_width, start_width) : 0.0;
  }

  template <class S>
  void observe(std::span<const S> state, std::span<S> observation) const {
    observation[0] = state[0];
  }

  template <class S>
  StepResult<S> step(std::span<const S> state, std::span<const S> action) const {
    const S next = state[0] + 0.2 * action[0];
    const S x = after ? next : state[0];
    const S bowl = (staircase ? floor(x) : x) * 0.1;
    const S f = bowl * bowl + 0.1 + 0.1 * sin(x * (8.0 / std::numbers::pi));
    return {.state = {next}, .reward = f, .reward_paper = f, .costs = {f}, .ended = S(0.0)};
  }
};

TaskEntry entry(bool staircase) {
  return {.name = FunctionTask{.staircase = staircase}.spec().name,
          .options = {{.name = "start_width",
                       .standard = 0.1,
                       .help = "start uniformly within this distance of the origin",
                       .low = 0.0,
                       .high = 100.0},
                      {.name = "measured",
                       .standard = std::string("before"),
                       .help = "whether reward and cost are those of the state before a step or after it",
                       .choices = {"before", "after"}}},
          .make = [staircase](const TaskOptions& options) {
            return make_task(FunctionTask{.staircase = staircase,
                                          .start_width = options.number("start_width"),
                                          .after = options.text("measured") == "after"});
          }};
}

}  // namespace

TaskEntry function_entry() { return entry(false); }
TaskEntry function_floor_entry() { return entry(true); }

}  // namespace cgpo
