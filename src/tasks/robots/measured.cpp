#include "cgpo/tasks/robots/measured.hpp"

#include "cgpo/tasks/robots/starts.hpp"

namespace cgpo {

int first_measured(const Robot& robot) {
  return robot.model->nq + robot.model->nv + robot.model->na + robot.measured.first;
}

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

void measure_starts(const std::shared_ptr<const Robot>& robot, TaskParts& parts) {
  finish_resets(look_with_mujoco(robot, [robot](const MujocoEngine& engine,
                                                std::span<double> state) { measure(*robot, engine, state); }),
                parts);
}

}  // namespace cgpo
