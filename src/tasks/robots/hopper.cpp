#include "cgpo/tasks/robots/hopper.hpp"

#include "cgpo/tasks/robots/legged.hpp"
#include "cgpo/tasks/robots/models.hpp"

namespace cgpo {

namespace {

// The floor
RobotDefaults hopper_defaults() {
  return {.name = "hopper",
          .xml = std::string(model_text("hopper")),
          .period = 0.02,
          .own_substeps = 4,
          .mujoco_substeps = 10,
          .contact = {.stiffness = 10000.0, .damping = 100.0, .width = 0.02, .slip_speed = 0.1}};
}

}  // namespace

TaskEntry hopper_entry() {
  const LeggedPlan plan{.summary = "a leg that hops, with a speed limit",
                        .robot = hopper_defaults(),
                        .planar = true,
                        .horizon = 250,
                        .joints = {0.3, -0.6, 0.3},
                        .reset_width = 0.01,
                        .alive_bonus = 1.0,
                        .torque_weight = 0.001,
                        .standing = 1.15,
                        .lowest = 0.7,
                        .highest = 2.0,
                        .farthest_lean = 0.4,
                        .speed_limit = 1.2,
                        .torque_limit = 0.5,
                        .power_limit = 100.0,
                        .rate_limit = 2.0,
                        .lateral_limit = 0.0};
  return legged_entry(plan);
}

}  // namespace cgpo
