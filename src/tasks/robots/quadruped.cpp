#include "cgpo/tasks/robots/quadruped.hpp"

#include "cgpo/tasks/robots/legged.hpp"
#include "cgpo/tasks/robots/models.hpp"

namespace cgpo {

namespace {

RobotDefaults quadruped_defaults() {
  return {.name = "quadruped",
          .xml = std::string(model_text("quadruped")),
          .period = 0.02,
          .own_substeps = 5,
          .mujoco_substeps = 10,
          .action_scale = 0.5,
          .contact = {.stiffness = 8000.0, .damping = 80.0, .width = 0.02, .slip_speed = 0.1}};
}

}  // namespace

TaskEntry quadruped_entry() {
  const LeggedPlan plan{.summary = "four legs with position actuators and a speed limit",
                        .robot = quadruped_defaults(),
                        .planar = false,
                        .horizon = 250,
                        .joints = std::vector<double>(12, 0.0),
                        .reset_width = 0.02,
                        .alive_bonus = 0.2,
                        .torque_weight = 0.01,
                        .standing = 0.28,
                        .lowest = 0.18,
                        .highest = 0.6,
                        .farthest_lean = 0.8,
                        .speed_limit = 2.0,
                        .torque_limit = 1.0,
                        .power_limit = 100.0,
                        .rate_limit = 3.0,
                        .lateral_limit = 0.3};
  return legged_entry(plan);
}

}  // namespace cgpo
