#include "cgpo/tasks/robots/humanoid.hpp"

#include "cgpo/tasks/robots/legged.hpp"
#include "cgpo/tasks/robots/models.hpp"

namespace cgpo {

namespace {

// The floor
RobotDefaults humanoid_defaults() {
  return {.name = "humanoid",
          .xml = std::string(model_text("humanoid")),
          .period = 0.02,
          .own_substeps = 4,
          .mujoco_substeps = 10,
          .contact = {.stiffness = 27000.0, .damping = 270.0, .width = 0.02, .slip_speed = 0.1}};
}

}  // namespace

TaskEntry humanoid_entry() {
  const LeggedPlan plan{
      .summary = "a body on two legs, with a speed limit",
      .robot = humanoid_defaults(),
      .planar = false,
      .horizon = 250,
      .joints = {0.0, 0.0, 0.0, 0.0, 0.0, -0.15, -0.3, 0.0, 0.0, -0.15, -0.3, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0},
      .reset_width = 0.01,
      .alive_bonus = 1.0,
      .torque_weight = 0.01,
      .standing = 1.2,
      .lowest = 1.0,
      .highest = 2.0,
      .farthest_lean = 1.0,
      .speed_limit = 0.8,
      .torque_limit = 1.0,
      .power_limit = 300.0,
      .rate_limit = 2.0,
      .lateral_limit = 0.3};
  return legged_entry(plan);
}

}  // namespace cgpo
