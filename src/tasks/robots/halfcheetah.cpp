#include "cgpo/tasks/robots/halfcheetah.hpp"

#include <string>

#include "cgpo/tasks/robots/models.hpp"
#include "cgpo/tasks/robots/robot.hpp"

namespace cgpo {
namespace {

// q = (x, z − 0.7, pitch, six joints). r = v_x − 0.1 Σ a², c = |v_x|, with v_x the mean velocity of the torso's frame
// over the step; Σ c ≤ 400 over 200 steps: 2 m/s.
constexpr double kCheetahControlWeight = 0.1;
constexpr double kTorsoHeight = 0.7;

struct HalfCheetah {
  Robot body;
  int observations = 18;

  const Robot& robot() const { return body; }

  TaskSpec spec() const {
    TaskSpec spec = robot_spec(body, observations);
    spec.summary = "a planar runner with a speed limit";
    spec.horizon = 200;
    spec.costs = {{.name = "speed", .limit = 400.0, .meaning = "|v_x| of the torso, m/s"},
                  {.name = "energy", .limit = 100.0, .standard = false, .meaning = "Σ a²"},
                  {.name = "height", .limit = 120.0, .standard = false, .meaning = "height of the torso, m"}};
    return spec;
  }

  void reset(RandomStream& random, std::span<double> state) const {
    for (double& q : state.first(9)) q = random.uniform(-0.1, 0.1);
    for (double& v : state.subspan(9)) v = 0.1 * random.normal();
  }

  // 18: height, cos and sin of half the pitch, joints; rates. 17: q without x; rates.
  template <class S>
  void observe(const RobotState<S>& state, std::span<S> o) const {
    std::size_t n = 0;
    if (observations == 17) {
      for (std::size_t i = 1; i < 9; ++i) o[n++] = state.q[i];
    } else {
      o[n++] = state.q[1] + kTorsoHeight;
      o[n++] = cos(0.5 * state.q[2]);
      o[n++] = sin(0.5 * state.q[2]);
      for (std::size_t i = 3; i < 9; ++i) o[n++] = state.q[i];
    }
    for (const S& v : state.v) o[n++] = v;
  }

  template <class S>
  StepResult<S> outcome(const RobotState<S>& before, std::span<const S> action, const RobotState<S>& after) const {
    const S speed = (after.q[0] - before.q[0]) * (1.0 / body.period());
    const S energy = sum_of_squares(action);
    StepResult<S> result;
    result.reward = speed - kCheetahControlWeight * energy;
    result.reward_paper = result.reward;
    result.costs = {smooth_root(S(speed * speed), kSpeedEpsilon), energy, after.q[1] + kTorsoHeight};
    return result;
  }
};

// The contact is the choice of docs/physics/contact.md: feet sink in by 8 mm, ten-step gradients stand out of their
// noise, and the slip speed makes idle and random robots as fast as on MuJoCo.
RobotDefaults halfcheetah_defaults() {
  return {.name = "halfcheetah",
          .xml = std::string(model_text("halfcheetah")),
          .period = 0.05,
          .own_substeps = 10,
          .mujoco_substeps = 5,
          .contact = {.stiffness = 25000.0, .damping = 250.0, .width = 0.01, .slip_speed = 0.3}};
}

}  // namespace

TaskEntry halfcheetah_entry() {
  std::vector<TaskOption> options = robot_options(halfcheetah_defaults(), /*collides=*/true);
  options.push_back({.name = "observation",
                     .standard = std::string("18"),
                     .help = "18: height, half-angle of the pitch, joints, rates; 17: q without x, rates",
                     .choices = {"18", "17"}});
  return {.name = "halfcheetah", .options = std::move(options), .make = [](const TaskOptions& chosen) {
            return make_robot_task(HalfCheetah{.body = make_robot(halfcheetah_defaults(), chosen),
                                               .observations = chosen.text("observation") == "18" ? 18 : 17});
          }};
}

}  // namespace cgpo
