#include "cgpo/tasks/robots/leftovers.hpp"

#include <algorithm>

namespace cgpo {
namespace {

bool keeps(const Robot& robot, Leftover kind) {
  return std::find(robot.leftovers.begin(), robot.leftovers.end(), kind) != robot.leftovers.end();
}

Vec3<Traced> mass_centre(const Model& model, const Kinematics<Traced>& places) {
  Vec3<Traced> moment;
  for (std::size_t i = 1; i < model.bodies.size(); ++i) {
    const Body& body = model.bodies[i];
    const Vec3<Traced> centre = point_position(model, places, static_cast<int>(i), body.inertial_position);
    moment = moment + scale(Traced(body.mass / model.total_mass()), centre);
  }
  return moment;
}

}  // namespace

int leftovers_size(const Robot& robot) {
  int size = 0;
  for (const Leftover kind : robot.leftovers) size += leftover_size(*robot.model, kind);
  return size;
}

int leftover_place(const Robot& robot, Leftover kind) {
  int place = 0;
  for (const Leftover other : robot.leftovers) {
    if (other == kind) return place;
    place += leftover_size(*robot.model, other);
  }
  check(false, "the robot keeps this leftover");
  return place;
}

void begin_with_leftovers(const Robot& robot, std::span<const double> extra, MujocoEngine& engine) {
  if (!keeps(robot, Leftover::kWarmStart)) return;
  const auto place = static_cast<std::size_t>(leftover_place(robot, Leftover::kWarmStart));
  engine.set_warm_start(extra.subspan(place, static_cast<std::size_t>(robot.model->nv)));
}

void copy_leftovers(const Robot& robot, MujocoEngine& engine, std::span<double> state) {
  auto rest = state.last(static_cast<std::size_t>(leftovers_size(robot)));
  for (const Leftover kind : robot.leftovers) {
    if (kind == Leftover::kOutsideForces) engine.find_outside_forces();
    const auto size = static_cast<std::size_t>(leftover_size(*robot.model, kind));
    engine.copy_leftover(kind, rest.first(size));
    rest = rest.subspan(size);
  }
}

void follow_leftovers(const Robot& robot, std::vector<Traced>& state) {
  if (robot.leftovers.empty()) return;
  const Model& model = *robot.model;
  const Kinematics<Traced> places = RobotState<Traced>(model, state).kinematics();
  std::size_t at = state.size() - static_cast<std::size_t>(leftovers_size(robot));
  for (const Leftover kind : robot.leftovers) {
    if (kind == Leftover::kTorsoPlace || kind == Leftover::kMassCentre) {
      const Vec3<Traced> place =
          kind == Leftover::kTorsoPlace ? point_position(model, places, /*body=*/1) : mass_centre(model, places);
      for (int k = 0; k < 2; ++k) state[at + static_cast<std::size_t>(k)] = place[k];
    }
    at += static_cast<std::size_t>(leftover_size(model, kind));
  }
}

FinishStart make_leftover_start(const std::shared_ptr<const Robot>& robot) {
  return look_with_mujoco(robot, [robot](MujocoEngine& engine, std::span<double> state) {
    copy_leftovers(*robot, engine, state);
    if (!keeps(*robot, Leftover::kOutsideForces)) return;  // nobody has asked for them before a step
    const auto rest = state.last(static_cast<std::size_t>(leftovers_size(*robot)));
    const auto place = static_cast<std::size_t>(leftover_place(*robot, Leftover::kOutsideForces));
    const auto size = static_cast<std::size_t>(leftover_size(*robot->model, Leftover::kOutsideForces));
    std::fill_n(rest.subspan(place).begin(), size, 0.0);
  });
}

}  // namespace cgpo
