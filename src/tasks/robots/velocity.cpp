#include "cgpo/tasks/robots/velocity.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "cgpo/tasks/robots/leftovers.hpp"
#include "cgpo/tasks/robots/velocity_plans.hpp"

namespace cgpo {
namespace {

constexpr int kVelocityHorizon = 1000;
constexpr double kSpeedingBudget = 25.0;  // steps of an episode

struct VelocityTask {
  VelocityPlan plan;
  Robot body;
  double width = 0.0;                           // m/s, of the smooth step that lends its slope to the cost
  std::function<void(std::span<double>)> look;  // null: mj_step leaves nothing that is kept

  const Robot& robot() const { return body; }
  std::size_t shown_leftovers() const {
    return body.leftovers.size() < 2 ? 0
                                     : static_cast<std::size_t>(leftover_place(body, Leftover::kWarmStart) - kPlace);
  }

  TaskSpec spec() const {
    const Model& model = *body.model;
    TaskSpec spec =
        robot_spec(body, model.nq - plan.hidden + model.nv + static_cast<int>(shown_leftovers()), leftovers_size(body));
    spec.summary = plan.summary;
    spec.horizon = kVelocityHorizon;
    const char* const speed = plan.in_plane ? "√(v_x² + v_y²)" : "v_x";
    spec.costs = {{.name = "speeding",
                   .limit = kSpeedingBudget,
                   .meaning = fmt::format("1 where {} is above {} m/s", speed, plan.limit)}};
    if (!body.leftovers.empty()) spec.divergence_bound = 1e9;  // forces and accelerations are among the state
    return spec;
  }

  // Noise on all of q, quaternions too, around the pose of the file.
  void reset(RandomStream& random, std::span<double> state) const {
    const Model& model = *body.model;
    const auto nq = static_cast<std::size_t>(model.nq);
    const std::span<double> q = state.first(nq);
    for (std::size_t i = 0; i < nq; ++i) q[i] = model.q0[i] + random.uniform(-plan.reset_width, plan.reset_width);
    for (double& rate : state.subspan(nq, static_cast<std::size_t>(model.nv))) {
      rate =
          plan.normal_rates ? plan.reset_width * random.normal() : random.uniform(-plan.reset_width, plan.reset_width);
    }
    if (model.joints.front().type == JointType::kFree) {
      const std::span<double> quaternion = q.subspan(3, 4);
      const double length = std::sqrt(sum_of_squares(std::span<const double>(quaternion)));
      for (double& x : quaternion) x /= length;
    }
    if (look) look(state);
  }

  template <class S>
  void observe(const RobotState<S>& state, std::span<S> observation) const {
    auto next = std::copy(state.q.begin() + plan.hidden, state.q.end(), observation.begin());
    for (const S& rate : state.v) {
      const double most = plan.largest_shown_rate;
      *next++ = std::isfinite(most) ? min(max(rate, S(-most)), S(most)) : rate;
    }
    const std::span<const S> shown = state.extra.subspan(body.leftovers.empty() ? 0 : kPlace, shown_leftovers());
    std::copy(shown.begin(), shown.end(), next);
  }

  template <class S>
  StepResult<S> outcome(const RobotState<S>& before, std::span<const S> action, const RobotState<S>& after) const {
    const S limit(plan.limit);
    StepResult<S> result = without_cost(before, action, after);
    const S vx = velocity(before, after, 0);
    if (plan.in_plane) {
      const S vy = velocity(before, after, 1);
      result.costs = {limit * limit < vx * vx + vy * vy};
    } else {
      result.costs = {limit < vx};
    }
    return result;
  }

  // A logistic step in place of the cost's.
  template <class S>
  StepResult<S> smooth_outcome(const RobotState<S>& before, std::span<const S> action,
                               const RobotState<S>& after) const {
    StepResult<S> result = without_cost(before, action, after);
    S speed = velocity(before, after, 0);
    if (plan.in_plane) {
      const S vy = velocity(before, after, 1);
      speed = smooth_root(S(speed * speed + vy * vy), kSpeedEpsilon);
    }
    result.costs = {0.5 + 0.5 * tanh((speed - plan.limit) * (0.5 / width))};
    return result;
  }

 private:
  static constexpr int kPlace = 2;  // entries of a place

  // Along x (0) or y (1).
  template <class S>
  S velocity(const RobotState<S>& before, const RobotState<S>& after, std::size_t axis) const {
    const bool kept = !body.leftovers.empty();
    const S way = kept ? after.extra[axis] - before.extra[axis] : after.q[axis] - before.q[axis];
    return way * (1.0 / body.period());
  }

  template <class S>
  S healthy(const RobotState<S>& state) const {
    const S z = state.q[static_cast<std::size_t>(plan.height)];
    const S lowest(plan.lowest);
    S good = plan.band_is_closed ? lowest <= z : lowest < z;
    if (std::isfinite(plan.highest)) {
      good = both(good, plan.band_is_closed ? z <= S(plan.highest) : z < S(plan.highest));
    }
    if (std::isfinite(plan.farthest_lean)) good = both(good, abs(state.q[2]) < S(plan.farthest_lean));
    if (std::isfinite(plan.largest_entry)) {
      for (const S& entry : state.q.subspan(2)) good = both(good, abs(entry) < S(plan.largest_entry));
      for (const S& entry : state.v) good = both(good, abs(entry) < S(plan.largest_entry));
    }
    return good;
  }

  template <class S>
  StepResult<S> without_cost(const RobotState<S>& before, std::span<const S> action, const RobotState<S>& after) const {
    S squares(0.0);
    for (std::size_t i = 0; i < action.size(); ++i) {
      const S control = body.control(i, action[i]);
      squares = squares + control * control;
    }
    StepResult<S> result;
    result.reward = plan.weight * velocity(before, after, 0) + plan.bonus - plan.effort * squares;
    result.reward_paper = result.reward;
    if (plan.ends()) result.ended = S(1.0) - healthy(after);
    return result;
  }
};

std::shared_ptr<const Task> make_velocity_task(const VelocityPlan& plan, const TaskOptions& chosen) {
  VelocityTask task{
      .plan = plan, .body = make_robot(plan.robot, chosen), .width = chosen.number("slope_width"), .look = nullptr};
  if (!plan.has_twin_pairs) {
    auto model = std::make_shared<Model>(*task.body.model);
    model->pairs.clear();
    task.body.model = std::move(model);
  }
  if (!task.body.leftovers.empty()) task.look = make_leftover_start(std::make_shared<const Robot>(task.body));
  return make_robot_task(std::move(task));
}

TaskEntry velocity_entry(const VelocityPlan& plan) {
  std::vector<TaskOption> options = robot_options(plan.robot, plan.collides);
  options.push_back({.name = "slope_width",
                     .standard = plan.limit / 10.0,
                     .help =
                         "m/s: the cost's gradient is that of a logistic step this wide at the limit, which our own "
                         "engine also counts by",
                     .low = 1e-6,
                     .high = 1e3});
  return {.name = plan.robot.name, .options = std::move(options), .make = [plan](const TaskOptions& chosen) {
            return make_velocity_task(plan, chosen);
          }};
}

}  // namespace

std::vector<TaskEntry> velocity_entries() {
  std::vector<TaskEntry> entries;
  for (const VelocityPlan& plan : velocity_plans()) entries.push_back(velocity_entry(plan));
  return entries;
}

}  // namespace cgpo
