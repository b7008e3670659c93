#include "cgpo/tasks/robots/velocity_plans.hpp"

#include "cgpo/tasks/robots/models.hpp"

namespace cgpo {

// Clocks, rewards, ends, starts and limits are those of the original. Our own engine's steps and floor, which serve the
// derivative, are those of the same robots in this program's own tasks, as long as a step is.
std::vector<VelocityPlan> velocity_plans() {
  const VelocityPlan ant{
      .summary = "Safety-Gymnasium's ant: at most 25 of 1000 steps above 2.6222 m/s; on MuJoCo",
      .robot = {.name = "SafetyAntVelocity-v1",
                .xml = std::string(model_text("velocity_ant")),
                .period = 0.05,
                .own_substeps = 5,
                .mujoco_substeps = 5,
                .engine = Engine::kMujoco,
                .contact = {.stiffness = 1000.0, .damping = 10.0, .width = 0.02, .slip_speed = 0.015},
                .leftovers = {Leftover::kTorsoPlace}},
      .limit = 2.6222,
      .in_plane = true,
      .effort = 0.5,
      .bonus = 1.0,
      .hidden = 2,
      .reset_width = 0.1,
      .normal_rates = true,
      .height = 2,
      .lowest = 0.2,
      .highest = 1.0,
      .band_is_closed = true};
  const VelocityPlan halfcheetah{
      .summary = "Safety-Gymnasium's planar runner: at most 25 of 1000 steps above 3.2096 m/s; on MuJoCo",
      .robot = {.name = "SafetyHalfCheetahVelocity-v1",
                .xml = std::string(model_text("velocity_halfcheetah")),
                .period = 0.05,
                .own_substeps = 10,
                .mujoco_substeps = 5,
                .engine = Engine::kMujoco,
                .contact = {.stiffness = 25000.0, .damping = 250.0, .width = 0.01, .slip_speed = 0.3}},
      .limit = 3.2096,
      .effort = 0.1,
      .reset_width = 0.1,
      .normal_rates = true};
  const VelocityPlan hopper{
      .summary = "Safety-Gymnasium's leg that hops: at most 25 of 1000 steps above 0.7402 m/s; on MuJoCo",
      .robot = {.name = "SafetyHopperVelocity-v1",
                .xml = std::string(model_text("velocity_hopper")),
                .period = 0.008,
                .own_substeps = 2,
                .mujoco_substeps = 4,
                .engine = Engine::kMujoco,
                .contact = {.stiffness = 10000.0, .damping = 100.0, .width = 0.02, .slip_speed = 0.1},
                .twin_fit = true},
      .has_twin_pairs = false,
      .limit = 0.7402,
      .effort = 1e-3,
      .bonus = 1.0,
      .largest_shown_rate = 10.0,
      .reset_width = 5e-3,
      .lowest = 0.7,
      .farthest_lean = 0.2,
      .largest_entry = 100.0};
  const VelocityPlan humanoid{
      .summary = "Safety-Gymnasium's body on two legs: at most 25 of 1000 steps above 1.4149 m/s; on MuJoCo",
      .robot = {.name = "SafetyHumanoidVelocity-v1",
                .xml = std::string(model_text("velocity_humanoid")),
                .period = 0.015,
                .own_substeps = 3,
                .mujoco_substeps = 5,
                .engine = Engine::kMujoco,
                .action_scale = 0.4,
                .contact = {.stiffness = 27000.0, .damping = 270.0, .width = 0.02, .slip_speed = 0.1},
                .leftovers = {Leftover::kMassCentre, Leftover::kInertias, Leftover::kVelocities,
                              Leftover::kActuatorForces, Leftover::kOutsideForces, Leftover::kWarmStart}},
      .has_twin_pairs = false,
      .limit = 1.4149,
      .in_plane = true,
      .weight = 1.25,
      .effort = 0.1,
      .bonus = 5.0,
      .hidden = 2,
      .reset_width = 0.01,
      .height = 2,
      .lowest = 1.0,
      .highest = 2.0};
  const VelocityPlan swimmer{
      .summary = "Safety-Gymnasium's three links in a fluid: at most 25 of 1000 steps above 0.2282 m/s; on MuJoCo",
      .robot = {.name = "SafetySwimmerVelocity-v1",
                .xml = std::string(model_text("velocity_swimmer")),
                .period = 0.04,
                .own_substeps = 4,
                .mujoco_substeps = 4,
                .engine = Engine::kMujoco,
                .twin_limit = LimitParameters{.stiffness = 10000.0, .damping = 200.0, .width = 0.001},
                .twin_fit = true},
      .collides = false,
      .limit = 0.2282,
      .effort = 1e-4,
      .hidden = 2,
      .reset_width = 0.1};
  const VelocityPlan walker2d{
      .summary = "Safety-Gymnasium's two legs in the plane: at most 25 of 1000 steps above 2.3415 m/s; on MuJoCo",
      .robot = {.name = "SafetyWalker2dVelocity-v1",
                .xml = std::string(model_text("velocity_walker2d")),
                .period = 0.008,
                .own_substeps = 2,
                .mujoco_substeps = 4,
                .engine = Engine::kMujoco,
                .contact = {.stiffness = 16000.0, .damping = 160.0, .width = 0.02, .slip_speed = 0.1}},
      .limit = 2.3415,
      .effort = 1e-3,
      .bonus = 1.0,
      .largest_shown_rate = 10.0,
      .reset_width = 5e-3,
      .lowest = 0.8,
      .highest = 2.0,
      .farthest_lean = 1.0};
  return {ant, halfcheetah, hopper, humanoid, swimmer, walker2d};
}

}  // namespace cgpo
