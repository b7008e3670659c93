#include "cgpo/tasks/robots/reacher.hpp"

#include <cmath>
#include <numbers>
#include <string>

#include "cgpo/tasks/robots/models.hpp"
#include "cgpo/tasks/robots/robot.hpp"

namespace cgpo {
namespace {

// State (θ₁, θ₂, θ̇₁, θ̇₂, target x, target y). r = −|tip − target| − Σ a². The paper's cost ‖x_pos‖² with the limit 400
// can bind only in decimetres; of what, it does not say clearly:
//   tip_base       100 |tip|² ≤ 400
//   not_too_close  −100 |tip − target|² ≤ −400
//   literal        100 |tip − target|² ≤ 400
enum class Reading : std::uint8_t { kTipBase, kNotTooClose, kLiteral };
constexpr double kReach = 0.2;
constexpr double kDistanceEpsilon = 1e-5;  // m

struct Reacher {
  Robot body;
  Reading reading = Reading::kTipBase;
  bool joint_rates = false;  // observation 6–7: angular velocities instead of the tip's velocity
  bool stratified = true;    // the targets of a batch are spread evenly

  const Robot& robot() const { return body; }
  int tip() const { return body.model->body_id("fingertip"); }

  TaskSpec spec() const {
    TaskSpec spec = robot_spec(body, 11, 2);
    spec.state_names = {"target.x", "target.y"};
    spec.summary = "a two-link arm that reaches for a target";
    spec.horizon = 300;
    const char* meaning = reading == Reading::kTipBase       ? "100 |tip|², the tip from the base in m"
                          : reading == Reading::kNotTooClose ? "−100 |tip − target|²"
                                                             : "100 |tip − target|²";
    spec.costs = {{.name = "position", .limit = reading == Reading::kNotTooClose ? -400.0 : 400.0, .meaning = meaning},
                  {.name = "energy", .limit = 10.0, .standard = false, .meaning = "Σ a²"}};
    spec.lattice_starts = stratified;
    return spec;
  }

  void reset(RandomStream& random, std::span<double> state) const {
    reset_arm(random, state);
    const double radius = random.uniform();
    set_target(radius, random.uniform(), state);
  }

  // An episode's cost depends much on its target. So the batch's N targets are the lattice (i/N, i/φ) of radii and
  // directions, moved round by a random shift of both: radii up and down in equal steps, and directions that the golden
  // ratio φ spreads evenly for any N. The shift makes each of them uniform, so means stay unbiased.
  void reset(RandomStream& random, const BatchPlace& place, std::span<double> state) const {
    if (!stratified) return reset(random, state);
    reset_arm(random, state);
    const auto wrap = [](double x) { return x - std::floor(x); };
    const double i = place.environment;
    RandomStream shift = place.common;
    const double around = wrap(i / place.environments + shift.uniform());
    const double radius = std::abs(2.0 * around - 1.0);  // folded, so that neighbours stay neighbours at its ends
    set_target(radius, wrap(i / std::numbers::phi + shift.uniform()), state);
  }

  static void reset_arm(RandomStream& random, std::span<double> state) {
    for (double& angle : state.first(2)) angle = random.uniform(-0.1, 0.1);
    for (double& rate : state.subspan(2, 2)) rate = random.uniform(-0.005, 0.005);
  }
  // From two numbers that are uniform in 0 … 1. The radius is uniform, not the area, so E[r²] = 0.04/3.
  static void set_target(double radius, double turn, std::span<double> state) {
    state[4] = kReach * radius * std::cos(2.0 * std::numbers::pi * turn);
    state[5] = kReach * radius * std::sin(2.0 * std::numbers::pi * turn);
  }

  template <class S>
  void observe(const RobotState<S>& state, std::span<S> o) const {
    const Vec3<S> place = state.position(tip());
    const Vec3<S> velocity = state.velocity(tip());
    for (std::size_t i = 0; i < 2; ++i) {
      o[i] = cos(state.q[i]);
      o[2 + i] = sin(state.q[i]);
      o[4 + i] = state.extra[i];
      o[6 + i] = joint_rates ? state.v[i] : velocity.at[i];
      o[8 + i] = place.at[i] - state.extra[i];
    }
    o[10] = S(0.0);  // the arm and the target are at one height
  }

  template <class S>
  StepResult<S> outcome(const RobotState<S>&, std::span<const S> action, const RobotState<S>& after) const {
    const Vec3<S> place = after.position(tip());
    const S dx = place[0] - after.extra[0];
    const S dy = place[1] - after.extra[1];
    const S from_target = dx * dx + dy * dy;
    const S from_base = place[0] * place[0] + place[1] * place[1];
    const S energy = sum_of_squares(action);
    StepResult<S> result;
    result.reward = -smooth_root(from_target, kDistanceEpsilon) - energy;
    result.reward_paper = result.reward;
    const S cost = reading == Reading::kTipBase       ? 100.0 * from_base
                   : reading == Reading::kNotTooClose ? -100.0 * from_target
                                                      : 100.0 * from_target;
    result.costs = {cost, energy};
    return result;
  }
};

RobotDefaults reacher_defaults() {
  return {.name = "reacher",
          .xml = std::string(model_text("reacher")),
          .period = 0.02,
          .own_substeps = 2,
          .mujoco_substeps = 2};
}

}  // namespace

TaskEntry reacher_entry() {
  std::vector<TaskOption> options = robot_options(reacher_defaults(), /*collides=*/false);
  options.push_back({.name = "cost",
                     .standard = std::string("tip_base"),
                     .help = "tip_base: 100 |tip|²; not_too_close: −100 |tip − target|²; literal: 100 |tip − target|²",
                     .choices = {"tip_base", "not_too_close", "literal"}});
  options.push_back({.name = "velocity",
                     .standard = std::string("tip"),
                     .help = "observations 6 and 7: the tip's velocity (tip) or the joints' (qd)",
                     .choices = {"tip", "qd"}});
  options.push_back({.name = "targets",
                     .standard = std::string("stratified"),
                     .help = "stratified: spread evenly over the batch, which steadies its means; independent",
                     .choices = {"stratified", "independent"}});
  return {.name = "reacher", .options = std::move(options), .make = [](const TaskOptions& chosen) {
            const std::string& cost = chosen.text("cost");
            Robot body = make_robot(reacher_defaults(), chosen);
            body.markers = {{.name = "target", .extra = 0, .height = 0.01, .radius = 0.012}};
            return make_robot_task(Reacher{.body = std::move(body),
                                           .reading = cost == "tip_base"        ? Reading::kTipBase
                                                      : cost == "not_too_close" ? Reading::kNotTooClose
                                                                                : Reading::kLiteral,
                                           .joint_rates = chosen.text("velocity") == "qd",
                                           .stratified = chosen.text("targets") == "stratified"});
          }};
}

}  // namespace cgpo
