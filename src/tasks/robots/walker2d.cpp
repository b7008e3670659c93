#include "cgpo/tasks/robots/walker2d.hpp"

#include "cgpo/tasks/robots/legged.hpp"
#include "cgpo/tasks/robots/models.hpp"

namespace cgpo {

namespace {

// The floor
RobotDefaults walker2d_defaults() {
  return {.name = "walker2d",
          .xml = std::string(model_text("walker2d")),
          .period = 0.02,
          .own_substeps = 4,
          .mujoco_substeps = 10,
          .contact = {.stiffness = 16000.0, .damping = 160.0, .width = 0.02, .slip_speed = 0.1}};
}

}  // namespace

TaskEntry walker2d_entry() {
  const LeggedPlan plan{.summary = "two legs in the plane, with a speed limit",
                        .robot = walker2d_defaults(),
                        .planar = true,
                        .horizon = 250,
                        .joints = {0.2, -0.4, 0.2, 0.2, -0.4, 0.2},
                        .reset_width = 0.01,
                        .alive_bonus = 1.0,
                        .torque_weight = 0.001,
                        .standing = 1.15,
                        .lowest = 0.8,
                        .highest = 2.0,
                        .farthest_lean = 1.0,
                        .speed_limit = 1.0,
                        .torque_limit = 1.0,
                        .power_limit = 100.0,
                        .rate_limit = 2.0,
                        .lateral_limit = 0.0};
  return legged_entry(plan);
}

}  // namespace cgpo
