#include "cgpo/tasks/robots/cartpole.hpp"

#include <string>

#include "cgpo/tasks/robots/models.hpp"
#include "cgpo/tasks/robots/robot.hpp"

namespace cgpo {
namespace {

// q = (x, θ). r = 1 a step while |θ| ≤ 0.2; c = −x², Σ c ≤ −50: stand at 0.45 m or more, to either side.
constexpr double kFallAngle = 0.2;

enum class Ending : std::uint8_t { kLatched, kStop, kNone };

struct CartPole {
  Robot body;
  Ending ending = Ending::kLatched;
  bool surrogate = false;

  const Robot& robot() const { return body; }

  TaskSpec spec() const {
    TaskSpec spec = robot_spec(body, 4);
    spec.summary = "a pole on a cart: stay upright, away from the middle";
    spec.horizon = 300;
    // A fall that ended the cost would leave it near 0, above the limit; the step back to the limit accelerates the
    // cart away, and the pole falls sooner. So the cost goes on (docs/tasks/cartpole.md).
    const bool stops = ending == Ending::kStop;
    spec.costs = {
        {.name = "position", .limit = -50.0, .stops_at_end = stops, .meaning = "−x², x the cart's position in m"},
        {.name = "energy", .limit = 30.0, .stops_at_end = stops, .standard = false, .meaning = "Σ a²"}};
    return spec;
  }

  void reset(RandomStream& random, std::span<double> state) const {
    for (double& value : state) value = random.uniform(-0.01, 0.01);
  }

  template <class S>
  void observe(const RobotState<S>& state, std::span<S> observation) const {
    std::copy(state.q.begin(), state.q.end(), observation.begin());
    std::copy(state.v.begin(), state.v.end(), observation.subspan(2).begin());
  }

  template <class S>
  StepResult<S> outcome(const RobotState<S>&, std::span<const S> action, const RobotState<S>& after) const {
    const S x = after.q[0];
    const S fallen = kFallAngle < abs(after.q[1]);
    StepResult<S> result;
    result.reward_paper = ending == Ending::kNone ? S(1.0) - fallen : S(1.0);
    result.reward = result.reward_paper;
    if (surrogate) result.reward = 0.5 + 0.5 * tanh((kFallAngle - abs(after.q[1])) * (0.5 / 0.02));
    result.costs = {-(x * x), sum_of_squares(action)};
    result.ended = ending == Ending::kNone ? S(0.0) : fallen;
    return result;
  }
};

RobotDefaults cartpole_defaults() {
  return {.name = "cartpole",
          .xml = std::string(model_text("cartpole")),
          .period = 0.04,
          .own_substeps = 2,
          .mujoco_substeps = 2,
          .action_scale = 3.0};
}

}  // namespace

TaskEntry cartpole_entry() {
  std::vector<TaskOption> options = robot_options(cartpole_defaults(), /*collides=*/false);
  options.push_back({.name = "ending",
                     .standard = std::string("latched"),
                     .help = "at a fall: latched, the reward ends and the cost goes on; stop, both end; none, the "
                             "reward is 1 whenever upright",
                     .choices = {"latched", "stop", "none"}});
  options.push_back({.name = "survival_surrogate",
                     .standard = false,
                     .help = "optimise sigmoid((0.2 − |θ|)/0.02), which has a slope; return_paper stays literal"});
  return {.name = "cartpole", .options = std::move(options), .make = [](const TaskOptions& chosen) {
            const std::string& ending = chosen.text("ending");
            return make_robot_task(CartPole{.body = make_robot(cartpole_defaults(), chosen),
                                            .ending = ending == "latched" ? Ending::kLatched
                                                      : ending == "stop"  ? Ending::kStop
                                                                          : Ending::kNone,
                                            .surrogate = chosen.flag("survival_surrogate")});
          }};
}

}  // namespace cgpo
