#include "cgpo/tasks/robots/legged.hpp"

#include <algorithm>
#include <cmath>

namespace cgpo {
namespace {

struct Legged {
  LeggedPlan plan;
  Robot body;
  double alive_bonus = 1.0;
  bool ends = true;
  double reset_width = 0.0;

  const Robot& robot() const { return body; }
  std::size_t height() const { return plan.planar ? 1 : 2; }
  std::size_t root() const { return plan.planar ? 3 : 7; }        // entries of q before the joints,
  std::size_t root_rates() const { return plan.planar ? 3 : 6; }  // and of v

  TaskSpec spec() const {
    const auto places = static_cast<int>(height());  // x, and y: what a policy does not see
    TaskSpec spec = robot_spec(body, body.model->nq - places + body.model->nv);
    spec.summary = plan.summary;
    spec.horizon = plan.horizon;
    const double steps = plan.horizon;
    spec.costs = {
        {.name = "speed",
         .limit = plan.speed_limit * steps,
         .meaning = plan.planar ? "|v_x| of the torso, m/s" : "√(v_x² + v_y²) of the torso, m/s"},
        {.name = "torque", .limit = plan.torque_limit * steps, .standard = false, .meaning = "Σ (τ/τ_max)²"},
        {.name = "power", .limit = plan.power_limit * steps, .standard = false, .meaning = "Σ |τ·joint speed|, W"},
        {.name = "joint_speed",
         .limit = plan.rate_limit * steps,
         .standard = false,
         .meaning = "root mean square of the joints' speeds, rad/s"}};
    if (!plan.planar) {
      spec.costs.push_back({.name = "lateral",
                            .limit = plan.lateral_limit * steps,
                            .standard = false,
                            .meaning = "|v_y| of the torso, m/s"});
    }
    return spec;
  }

  // The standing pose with noise, with its lowest point on the floor.
  void reset(RandomStream& random, std::span<double> state) const {
    const auto nq = static_cast<std::size_t>(body.model->nq);
    const std::span<double> q = state.first(nq);
    std::fill(q.begin(), q.end(), 0.0);
    const double lean = 0.1 * reset_width;
    if (plan.planar) {
      q[2] = random.uniform(-lean, lean);
    } else {
      q[3] = 1.0;
      for (double& x : q.subspan(4, 3)) x = 0.5 * random.uniform(-lean, lean);
      const double length = std::sqrt(sum_of_squares(std::span<const double>(q.subspan(3, 4))));
      for (double& x : q.subspan(3, 4)) x /= length;
    }
    for (std::size_t i = root(); i < nq; ++i) {
      q[i] = plan.joints[i - root()] + random.uniform(-reset_width, reset_width);
    }
    for (double& v : state.subspan(nq, static_cast<std::size_t>(body.model->nv))) v = reset_width * random.normal();
    const Kinematics<double> places = RobotState<double>(*body.model, std::span<const double>(state)).kinematics();
    double lowest = 1e9;
    for (const ContactPoint& point : body.model->contacts) {
      lowest = std::min(lowest, point_position(*body.model, places, point.body, point.body_position)[2] - point.radius);
    }
    q[height()] -= lowest;
  }

  template <class S>
  void observe(const RobotState<S>& state, std::span<S> observation) const {
    const auto seen = state.q.subspan(height());
    std::copy(seen.begin(), seen.end(), observation.begin());
    std::copy(state.v.begin(), state.v.end(), observation.subspan(seen.size()).begin());
  }

  // 1 while the torso is where a standing robot has it.
  template <class S>
  S upright(const RobotState<S>& state) const {
    const S z = state.q[height()];
    const S high = both(S(plan.lowest) <= z, z <= S(plan.highest));
    if (plan.planar) {
      const S pitch = state.q[2];
      return both(high, S(pitch * pitch) <= S(plan.farthest_lean * plan.farthest_lean));
    }
    const S up = 1.0 - 2.0 * (state.q[4] * state.q[4] + state.q[5] * state.q[5]);  // z of the torso's z axis
    return both(high, S(std::cos(plan.farthest_lean)) <= up);
  }

  // 1 − (lean/farthest)² − (missing height/most)², at least −1; of a lean in space 1 − cos stands for its square.
  template <class S>
  S posture(const RobotState<S>& state) const {
    const S missing = max(S(plan.standing - state.q[height()]), S(0.0)) * (1.0 / (plan.standing - plan.lowest));
    const S lean = plan.planar ? state.q[2] * state.q[2] * (1.0 / (plan.farthest_lean * plan.farthest_lean))
                               : 2.0 * (state.q[4] * state.q[4] + state.q[5] * state.q[5]) *
                                     (1.0 / (1.0 - std::cos(plan.farthest_lean)));
    return max(S(1.0 - lean - missing * missing), S(-1.0));
  }

  template <class S>
  StepResult<S> outcome(const RobotState<S>& before, std::span<const S> action, const RobotState<S>& after) const {
    const double rate = 1.0 / body.period();
    const S vx = (after.q[0] - before.q[0]) * rate;
    S squares = vx * vx;
    S torque(0.0);
    S power(0.0);
    for (std::size_t i = 0; i < action.size(); ++i) {
      const Drive drive = drive_of(i);
      const S share = share_of(drive, action[i], after);
      const S watts = drive.most * share * after.v[drive.v];
      torque = torque + share * share;
      power = power + smooth_root(S(watts * watts), kPowerEpsilon);
    }
    const S healthy = upright(after);
    StepResult<S> result;
    result.reward_paper = vx - plan.torque_weight * torque;
    result.reward = result.reward_paper + alive_bonus * posture(after);
    result.ended = ends ? S(1.0) - healthy : S(0.0);
    S lateral(0.0);
    if (!plan.planar) {
      const S vy = (after.q[1] - before.q[1]) * rate;
      squares = squares + vy * vy;
      lateral = smooth_root(S(vy * vy), kSpeedEpsilon);
    }
    const std::span<const S> rates = after.v.subspan(root_rates());
    const S mean_square = sum_of_squares(rates) * (1.0 / static_cast<double>(rates.size()));
    result.costs = {smooth_root(squares, kSpeedEpsilon), torque, power, smooth_root(mean_square, kSpeedEpsilon)};
    if (!plan.planar) result.costs.push_back(lateral);
    return result;
  }

 private:
  static constexpr double kPowerEpsilon = 0.1;  // W

  struct Drive {
    std::size_t actuator, q, v;
    double gain;   // torque of a unit of control
    double pull;   // and of a unit of the joint's angle
    double most;   // τ_max
    double range;  // of the control
  };

  Drive drive_of(std::size_t i) const {
    const Actuator& actuator = body.model->actuators[i];
    const Joint& joint = body.model->joints[static_cast<std::size_t>(actuator.joint)];
    const double gear = actuator.gear[0];
    const double most = actuator.force_limited ? actuator.force_upper : actuator.gain[0] * actuator.control_upper;
    return {i,
            static_cast<std::size_t>(joint.q),
            static_cast<std::size_t>(joint.v),
            gear * actuator.gain[0],
            gear * gear * actuator.bias[1],
            gear * most,
            actuator.control_upper};
  }

  // τ/τ_max of a motor, or of a spring to where the control says; damping is the joint's own.
  template <class S>
  S share_of(const Drive& drive, const S& action, const RobotState<S>& state) const {
    const S control = min(max(body.control(drive.actuator, action), S(-drive.range)), S(drive.range));
    const S torque = drive.pull == 0.0 ? S(drive.gain * control) : drive.gain * control + drive.pull * state.q[drive.q];
    return min(max(S(torque * (1.0 / drive.most)), S(-1.0)), S(1.0));
  }
};

}  // namespace

TaskEntry legged_entry(const LeggedPlan& plan) {
  std::vector<TaskOption> options = robot_options(plan.robot, /*collides=*/true);
  options.push_back({.name = "alive_bonus",
                     .standard = plan.alive_bonus,
                     .help = "reward for a step in upright posture; return_paper leaves it out",
                     .low = 0.0,
                     .high = 100.0});
  options.push_back({.name = "ending",
                     .standard = std::string("stop"),
                     .help = "when the torso is too low, too high or leans too far: stop, the episode ends; none, it "
                             "goes on",
                     .choices = {"stop", "none"}});
  options.push_back({.name = "reset_width",
                     .standard = plan.reset_width,
                     .help = "size of the start's noise, rad and rad/s",
                     .low = 0.0,
                     .high = 1.0});
  return {.name = plan.robot.name, .options = std::move(options), .make = [plan](const TaskOptions& chosen) {
            return make_robot_task(Legged{.plan = plan,
                                          .body = make_robot(plan.robot, chosen),
                                          .alive_bonus = chosen.number("alive_bonus"),
                                          .ends = chosen.text("ending") == "stop",
                                          .reset_width = chosen.number("reset_width")});
          }};
}

}  // namespace cgpo
