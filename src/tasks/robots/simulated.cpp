#include "cgpo/tasks/robots/simulated.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <utility>

#include "cgpo/physics/dynamics/actuation.hpp"

namespace cgpo {
namespace {

int shown_by_all(const Model& model) { return model.nq + model.nv + model.na; }

// Hands over what the actuators get in place of actions.
class ControlledEnvironments final : public OutsideEnvironments {
 public:
  ControlledEnvironments(std::shared_ptr<const Robot> robot, std::shared_ptr<OutsideEnvironments> inner)
      : robot_(std::move(robot)), inner_(std::move(inner)) {}

  bool in_parallel() const override { return inner_->in_parallel(); }
  void reset(int first, std::span<const std::uint64_t> seeds, std::span<double> observations) override {
    inner_->reset(first, seeds, observations);
  }
  void step(int first, int count, std::span<const double> actions, std::span<double> results) override {
    const std::size_t actuators = robot_->model->actuators.size();
    std::vector<double> controls(actions.size());
    for (std::size_t i = 0; i < actions.size(); ++i) {
      const std::size_t at = i % actuators;
      controls[i] = clipped_control(robot_->model->actuators[at], robot_->control(at, actions[i]));
    }
    inner_->step(first, count, controls, results);
  }

 private:
  std::shared_ptr<const Robot> robot_;
  std::shared_ptr<OutsideEnvironments> inner_;
};

}  // namespace

void move_by(std::shared_ptr<OutsideEnvironments> environments, const TaskSpec& said, const std::string& who, int extra,
             Robot& robot) {
  const Model& model = *robot.model;
  const int least = shown_by_all(model);
  if (said.observations != least && said.observations != least + extra) {
    throw UserError(
        "{} shows {} numbers, but the state of robot {} has {}: {} positions, {} velocities and {} activations{}", who,
        said.observations, robot.name, least, model.nq, model.nv, model.na,
        extra > 0 ? fmt::format("; or {}, with those of the task's own states", least + extra) : "");
  }
  if (said.actions != model.nu) {
    throw UserError("{} takes {} actions, but robot {} has {} actuators", who, said.actions, robot.name, model.nu);
  }
  if (said.dt > 0.0 && std::abs(said.dt - robot.period()) > 1e-6 * robot.period()) {
    throw UserError("{} makes steps of {} s, but those of robot {} are {} s long", who, said.dt, robot.name,
                    robot.period());
  }
  robot.simulator = std::move(environments);
  robot.shown = said.observations;
}

void move_by(std::function<std::unique_ptr<Environment>()> make, Robot& robot) {
  TaskSpec said;
  said.name = robot.name;
  said.observations = shown_by_all(*robot.model);
  said.actions = robot.model->nu;
  said.reward_stops_at_end = false;  // what goes on after an end is the task's affair, so it is stepped on
  move_by(make_environments(said, std::move(make)), said, "its simulator", /*extra=*/0, robot);
}

OutsideStates states_outside(const std::shared_ptr<const Robot>& robot,
                             std::function<void(RandomStream& random, std::span<double> state)> draw) {
  check(robot->simulator != nullptr, "a robot whose engine is a simulator has one");
  OutsideStates states;
  states.environments = std::make_shared<ControlledEnvironments>(robot, robot->simulator);
  states.shown = robot->shown;
  states.begin = [robot, draw = std::move(draw)](int environment, RandomStream& random, std::span<double> state) {
    draw(random, state);
    const std::uint64_t seed = random.bits64();
    robot->simulator->reset(environment, {&seed, 1}, state.first(static_cast<std::size_t>(robot->shown)));
  };
  return states;
}

}  // namespace cgpo
