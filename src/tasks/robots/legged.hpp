// What the robots that walk upright have in common: a plan says in numbers how one is started, paid, charged and ended.
//
// q = (x, z, pitch, joints) in the plane, (x, y, z, quaternion, joints) in space. With v the mean velocity of the
// torso's frame over a step and τ the torques at its end, r = v_x + bonus − weight·Σ (τ/τ_max)². The episode ends when
// the torso leaves a band of heights or leans too far.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cgpo/tasks/registry.hpp"
#include "cgpo/tasks/robots/robot.hpp"

namespace cgpo {

struct LeggedPlan {
  std::string summary;
  RobotDefaults robot;
  bool planar = false;
  int horizon = 0;
  std::vector<double> joints;  // of the standing pose
  double reset_width = 0.0;    // of the noise on joints and velocities; a tenth of it on how the torso leans
  double alive_bonus = 1.0;    // a step
  double torque_weight = 0.0;  // of Σ (τ/τ_max)²
  double standing = 0.0;       // height of the torso's frame below which the bonus fades, m
  double lowest = 0.0;         // height of the torso's frame, m
  double highest = 0.0;        // m
  double farthest_lean = 0.0;  // rad, from upright
  double speed_limit = 0.0;    // m/s, and so on: what a step of the costs may take in the mean
  double torque_limit = 0.0;   // Σ (τ/τ_max)²
  double power_limit = 0.0;    // W
  double rate_limit = 0.0;     // rad/s
  double lateral_limit = 0.0;  // m/s; not in the plane
};

TaskEntry legged_entry(const LeggedPlan& plan);

}  // namespace cgpo
