// All that `cgpo model` asks of an MJCF file: can we read it, is our dynamics MuJoCo's, does it hold together?
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cgpo/physics/model/model.hpp"
#include "cgpo/physics/mujoco/engine.hpp"
#include "cgpo/studies/robot_trial.hpp"

namespace cgpo {

// Larger errors on what is supported are a fault of the dynamics.
inline constexpr double kModelTolerance = 1e-8;

double worst_error(const ModelComparison& error);  // NaN if one of them is
bool agrees(const ModelComparison& error);

struct RobotCheckRequest {
  std::optional<int> states;  // random ones, to compare on; none: 1000, fewer for robots of hundreds of joints
  int steps = 1000;           // of the trial; 0: no trial
  std::uint64_t seed = 0;
};

struct RobotCheck {
  std::shared_ptr<const Model> model;
  int states = 0;
  ModelComparison whole;      // from MuJoCo with all that the file has
  ModelComparison supported;  // from MuJoCo without what we leave out
  std::optional<RobotTrial> trial;
  int mujoco_diverged = 0;  // episodes of the same trial, counted where some of ours did

  bool accepted() const { return model->unsupported.empty(); }
  bool right() const { return agrees(supported); }
};

// Throws UserError if it cannot be read. The engine is that of the file, as it was read.
RobotCheck check_robot(const std::string& file, const RobotCheckRequest& request);
RobotCheck check_robot(const std::string& file, MujocoEngine engine, const RobotCheckRequest& request);

// Elements that are left out, as Model::unsupported lists them, by their kind: how many there are of each.
std::map<std::string, int> count_kinds(const std::vector<std::string>& unsupported);

}  // namespace cgpo
