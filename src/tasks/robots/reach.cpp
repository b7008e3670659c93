#include "cgpo/tasks/robots/reach.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

#include "cgpo/base/error.hpp"

namespace cgpo {
namespace {

constexpr double kLittle = 0.5;         // of an actuator's range
constexpr std::size_t kMostNamed = 12;  // in one sentence

std::string list_of(const std::vector<std::string>& names) {
  const std::size_t shown = std::min(names.size(), kMostNamed);
  const std::string list = fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<long>(shown), ", "));
  return shown == names.size() ? list : fmt::format("{} and {} more", list, names.size() - shown);
}

}  // namespace

void reach_ranges(Robot& robot) {
  std::vector<double> centres;
  for (const Actuator& actuator : robot.model->actuators) {
    if (!actuator.control_limited) {
      throw UserError(
          "{}: action_scale = \"range\" is for actuators with a control range, and '{}' has none; give it one, or a "
          "list "
          "of scales",
          robot.model->name, actuator.name);
    }
    centres.push_back(0.5 * (actuator.control_lower + actuator.control_upper));
    robot.action_scales.push_back(0.5 * (actuator.control_upper - actuator.control_lower));
  }
  if (robot.action_offset.empty()) robot.action_offset = std::move(centres);
}

std::vector<std::string> reach_warnings(const Robot& robot) {
  std::vector<std::string> still, little;
  for (std::size_t i = 0; i < robot.model->actuators.size(); ++i) {
    const Actuator& actuator = robot.model->actuators[i];
    if (!actuator.control_limited) continue;
    const std::string name = actuator.name.empty() ? fmt::format("actuator {}", i) : fmt::format("'{}'", actuator.name);
    const double low = robot.control(i, -1.0);  // no scale is negative
    const double high = robot.control(i, 1.0);
    const double reached = std::min(high, actuator.control_upper) - std::max(low, actuator.control_lower);
    const double share = reached / (actuator.control_upper - actuator.control_lower);
    if (reached <= 0.0) {
      still.push_back(fmt::format("{} (its controls are {:.3g} to {:.3g}, actions ask for {:.3g} to {:.3g})", name,
                                  actuator.control_lower, actuator.control_upper, low, high));
    } else if (share < kLittle) {
      little.push_back(fmt::format("{} ({:.2g} %)", name, 100.0 * share));
    }
  }
  const char* const way = "[robot] action_scale = \"range\" lets actions reach all of it";
  std::vector<std::string> warnings;
  if (!still.empty()) {
    warnings.push_back(fmt::format("NO ACTION MOVES {}: what actions ask for lies outside the control range; {}",
                                   list_of(still), way));
  }
  if (!little.empty()) {
    warnings.push_back(
        fmt::format("actions reach less than half of the control range of {}; {}", list_of(little), way));
  }
  return warnings;
}

}  // namespace cgpo
