#include "cgpo/tasks/robots/measured.hpp"

#include <mutex>
#include <optional>
#include <vector>

namespace cgpo {

int first_measured(const Robot& robot) {
  return robot.model->nq + robot.model->nv + robot.model->na + robot.measured.first;
}

// What MuJoCo has found, at its place in a state.
void measure(const Robot& robot, const MujocoEngine& engine, std::span<double> state) {
  auto entry = state.subspan(static_cast<std::size_t>(first_measured(robot))).begin();
  for (const ContactTarget& target : robot.measured.on) {
    for (const double force : engine.contact_force_on(target).at) *entry++ = force / MeasuredContacts::kNewtons;
  }
}

void follow_measured(const Robot& robot, const ContactParameters& law, std::vector<Traced>& state) {
  if (robot.measured.on.empty()) return;
  const Kinematics<Traced> places = RobotState<Traced>(*robot.model, TracedSpan(state)).kinematics();
  auto entry = state.begin() + first_measured(robot);
  for (const ContactTarget& target : robot.measured.on) {
    for (const Traced& force : contact_force_on(*robot.model, law, places, target).at)
      *entry++ = force * (1.0 / MeasuredContacts::kNewtons);
  }
}

// Resets that also measure what MuJoCo finds at the start.
void measure_starts(const std::shared_ptr<const Robot>& robot, TaskParts& parts) {
  struct Compiled {
    std::mutex mutex;
    std::optional<MujocoEngine> engine;
  };
  const auto measured = [robot, compiled = std::make_shared<Compiled>()](std::span<double> state) {
    const std::lock_guard lock(compiled->mutex);
    if (!compiled->engine) compiled->engine = make_mujoco_engine(*robot);
    MujocoEngine& engine = *compiled->engine;
    const RobotState<double> start(*robot->model, std::span<const double>(state));
    engine.set_state(start.q, start.v, start.activation);
    std::vector<double> control;
    for (std::size_t i = 0; i < robot->model->actuators.size(); ++i) control.push_back(robot->control(i, 0.0));
    engine.forward(control);
    measure(*robot, engine, state);
  };
  parts.reset = [measured, reset = parts.reset](RandomStream& random, std::span<double> state) {
    reset(random, state);
    measured(state);
  };
  parts.reset_in_batch = [measured, reset = parts.reset_in_batch](RandomStream& random, const BatchPlace& place,
                                                                  std::span<double> state) {
    reset(random, place, state);
    measured(state);
  };
}

}  // namespace cgpo
