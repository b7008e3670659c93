#include "cgpo/tasks/robots/swimmer.hpp"

#include <string>

#include "cgpo/tasks/robots/models.hpp"
#include "cgpo/tasks/robots/robot.hpp"

namespace cgpo {
namespace {

// q = (x, y, angle of the front link, two joints). r = v_x − 10⁻⁴ Σ a², c = |(v_x, v_y)|, with v the mean velocity of
// the root frame over the step, not of the centre of mass; Σ c ≤ 150 over 300 steps.
constexpr double kSwimmerControlWeight = 1e-4;

struct Swimmer {
  Robot body;

  const Robot& robot() const { return body; }

  TaskSpec spec() const {
    TaskSpec spec = robot_spec(body, 8);
    spec.summary = "three links in a fluid with a speed limit; on MuJoCo";
    spec.horizon = 300;
    spec.costs = {{.name = "speed", .limit = 150.0, .meaning = "√(v_x² + v_y²) of the root frame, m/s"},
                  {.name = "energy", .limit = 150.0, .standard = false, .meaning = "Σ a²"},
                  {.name = "lateral", .limit = 300.0, .standard = false, .meaning = "|y| of the root frame, m"}};
    return spec;
  }

  void reset(RandomStream& random, std::span<double> state) const {
    for (double& value : state) value = random.uniform(-0.1, 0.1);
  }

  template <class S>
  void observe(const RobotState<S>& state, std::span<S> observation) const {
    std::copy(state.q.begin() + 2, state.q.end(), observation.begin());
    std::copy(state.v.begin(), state.v.end(), observation.subspan(3).begin());
  }

  template <class S>
  StepResult<S> outcome(const RobotState<S>& before, std::span<const S> action, const RobotState<S>& after) const {
    const double rate = 1.0 / body.period();
    const S vx = (after.q[0] - before.q[0]) * rate;
    const S vy = (after.q[1] - before.q[1]) * rate;
    const S energy = sum_of_squares(action);
    StepResult<S> result;
    result.reward = vx - kSwimmerControlWeight * energy;
    result.reward_paper = result.reward;
    result.costs = {smooth_root(S(vx * vx + vy * vy), kSpeedEpsilon), energy,
                    smooth_root(S(after.q[1] * after.q[1]), kSpeedEpsilon)};
    return result;
  }
};

RobotDefaults swimmer_defaults() {
  return {.name = "swimmer",
          .xml = std::string(model_text("swimmer")),
          .period = 0.04,
          .own_substeps = 4,
          .mujoco_substeps = 4,
          .engine = Engine::kMujoco,
          .twin_limit = LimitParameters{.stiffness = 10000.0, .damping = 200.0, .width = 0.001},
          .twin_fit = true};
}

}  // namespace

TaskEntry swimmer_entry() {
  return {.name = "swimmer",
          .options = robot_options(swimmer_defaults(), /*collides=*/false),
          .make = [](const TaskOptions& chosen) {
            return make_robot_task(Swimmer{.body = make_robot(swimmer_defaults(), chosen)});
          }};
}

}  // namespace cgpo
