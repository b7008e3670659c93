#include "cgpo/tasks/robots/ant.hpp"

#include <array>
#include <cmath>
#include <string>

#include "cgpo/tasks/robots/models.hpp"
#include "cgpo/tasks/robots/robot.hpp"

namespace cgpo {
namespace {

// q = (position, quaternion, hip and ankle of each leg). r = v_x + bonus − 0.5 Σ a², c = |(v_x, v_y)|, with v the mean
// velocity of the torso's frame over the step; Σ c ≤ 1000 over 300 steps. The episode ends when the torso leaves
// 0.2 … 1 m.
constexpr double kAntControlWeight = 0.5;
constexpr double kLowest = 0.2;
constexpr double kHighest = 1.0;
constexpr std::array<double, 15> kStart = {0, 0, 0.55, 1, 0, 0, 0, 0, 1, 0, -1, 0, -1, 0, 1};

struct Ant {
  Robot body;
  double alive_bonus = 1.0;
  bool reset_lift = true;
  bool ends = true;
  double reset_width = 0.1;

  const Robot& robot() const { return body; }

  TaskSpec spec() const {
    TaskSpec spec = robot_spec(body, 27);
    spec.summary = "a four-legged runner with a speed limit";
    spec.horizon = 300;
    spec.costs = {{.name = "speed", .limit = 1000.0, .meaning = "√(v_x² + v_y²) of the torso, m/s"},
                  {.name = "energy", .limit = 300.0, .standard = false, .meaning = "Σ a²"},
                  {.name = "height", .limit = 180.0, .standard = false, .meaning = "height of the torso, m"},
                  {.name = "lateral", .limit = 300.0, .standard = false, .meaning = "|y| of the torso, m"}};
    return spec;
  }

  // Noise on all of q, the quaternion too, tilts the robot so that feet start 12 cm inside the floor on average; the
  // lift raises it until the lowest one touches.
  void reset(RandomStream& random, std::span<double> state) const {
    const std::span<double> q = state.first(kStart.size());
    const std::span<double> v = state.subspan(kStart.size());
    for (std::size_t i = 0; i < q.size(); ++i) q[i] = kStart[i] + random.uniform(-reset_width, reset_width);
    for (double& rate : v) rate = reset_width * random.normal();
    const std::span<double> quaternion = q.subspan(3, 4);
    const double length = std::sqrt(sum_of_squares(std::span<const double>(quaternion)));
    for (double& x : quaternion) x /= length;
    if (!reset_lift) return;
    const Kinematics<double> places = RobotState<double>(*body.model, std::span<const double>(state)).kinematics();
    double lowest = 0.0;
    for (const ContactPoint& foot : body.model->contacts) {
      lowest = std::min(lowest, point_position(*body.model, places, foot.body, foot.body_position)[2] - foot.radius);
    }
    q[2] -= lowest;
  }

  template <class S>
  void observe(const RobotState<S>& state, std::span<S> observation) const {
    std::copy(state.q.begin() + 2, state.q.end(), observation.begin());
    std::copy(state.v.begin(), state.v.end(), observation.subspan(13).begin());
  }

  template <class S>
  StepResult<S> outcome(const RobotState<S>& before, std::span<const S> action, const RobotState<S>& after) const {
    const double rate = 1.0 / body.period();
    const S vx = (after.q[0] - before.q[0]) * rate;
    const S vy = (after.q[1] - before.q[1]) * rate;
    const S z = after.q[2];
    const S energy = sum_of_squares(action);
    const S healthy = both(kLowest <= z, z <= kHighest);
    StepResult<S> result;
    result.reward_paper = vx - kAntControlWeight * energy;
    result.reward = result.reward_paper + (ends ? S(alive_bonus) : alive_bonus * healthy);
    result.ended = ends ? S(1.0) - healthy : S(0.0);
    result.costs = {smooth_root(S(vx * vx + vy * vy), kSpeedEpsilon), energy, z,
                    smooth_root(S(after.q[1] * after.q[1]), kSpeedEpsilon)};
    return result;
  }
};

// The contact is the choice of docs/physics/contact.md: soft enough for gradients (a standing ant sinks in by 14 mm),
// and feet creep apart as slowly as MuJoCo's.
RobotDefaults ant_defaults() {
  return {.name = "ant",
          .xml = std::string(model_text("ant")),
          .period = 0.05,
          .own_substeps = 5,
          .mujoco_substeps = 5,
          .contact = {.stiffness = 1000.0, .damping = 10.0, .width = 0.02, .slip_speed = 0.015}};
}

}  // namespace

TaskEntry ant_entry() {
  std::vector<TaskOption> options = robot_options(ant_defaults(), /*collides=*/true);
  options.push_back({.name = "alive_bonus",
                     .standard = 1.0,
                     .help = "reward for every step; return_paper leaves it out",
                     .low = 0.0,
                     .high = 100.0});
  options.push_back({.name = "ending",
                     .standard = std::string("stop"),
                     .help = "when the torso leaves 0.2 … 1 m: stop, the episode ends; none, only the bonus pauses",
                     .choices = {"stop", "none"}});
  options.push_back({.name = "reset_lift", .standard = true, .help = "start with the lowest foot on the floor"});
  options.push_back(
      {.name = "reset_width", .standard = 0.1, .help = "size of the start's noise", .low = 0.0, .high = 1.0});
  return {.name = "ant", .options = std::move(options), .make = [](const TaskOptions& chosen) {
            return make_robot_task(Ant{.body = make_robot(ant_defaults(), chosen),
                                       .alive_bonus = chosen.number("alive_bonus"),
                                       .reset_lift = chosen.flag("reset_lift"),
                                       .ends = chosen.text("ending") == "stop",
                                       .reset_width = chosen.number("reset_width")});
          }};
}

}  // namespace cgpo
