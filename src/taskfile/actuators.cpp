#include "cgpo/taskfile/actuators.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cgpo/base/error.hpp"
#include "cgpo/base/text.hpp"
#include "cgpo/taskfile/quantities.hpp"

namespace cgpo {
namespace {

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '"': result += "&quot;"; break;
      default: result += c;
    }
  }
  return result;
}

// Every attribute that a default class of the file could change is said.
std::string motor(const ActuatorRequest& request, const std::string& joint) {
  const std::string name = escaped(joint);
  const std::array<double, 2> range = request.range.value_or(std::array<double, 2>{0.0, 0.0});
  return fmt::format(
      R"(<motor name="{}" joint="{}" gear="{}" ctrllimited="{}" ctrlrange="{} {}" forcelimited="false"/>)", name, name,
      request.gear, request.range ? "true" : "false", range[0], range[1]);
}

std::vector<std::string> joints_that_fit(const Model& model, const std::string& pattern) {
  std::vector<std::string> names;
  for (const Joint& joint : model.joints) {
    const bool turns_or_slides = joint.type == JointType::kHinge || joint.type == JointType::kSlide;
    if (joint.name.empty() || (is_pattern(pattern) && !turns_or_slides)) continue;
    if (joint.name == pattern || (is_pattern(pattern) && fits(pattern, joint.name))) names.push_back(joint.name);
  }
  return names;
}

}  // namespace

const std::vector<ActuatorKind>& actuator_kinds() {
  static const std::vector<ActuatorKind> kinds = {
      {"motor", "a torque or force: gear times the control, which is clipped to range", motor},
  };
  return kinds;
}

const ActuatorKind& find_actuator_kind(const std::string& kind, const std::string& place) {
  std::vector<std::string> names;
  for (const ActuatorKind& row : actuator_kinds()) {
    if (row.kind == kind) return row;
    names.emplace_back(row.kind);
  }
  throw UserError("{}: there is no kind of actuator '{}'{}; there are: {}", place, kind, did_you_mean(kind, names),
                  fmt::join(names, ", "));
}

std::string add_actuators(const std::string& mjcf, const Model& bare, const std::vector<ActuatorRequest>& requests,
                          const std::string& file) {
  if (requests.empty()) return mjcf;
  std::string elements;
  for (const ActuatorRequest& request : requests) {
    const std::string place = place_words(file, request.spot);
    const ActuatorKind& kind = find_actuator_kind(request.kind, place);
    const std::vector<std::string> joints = joints_that_fit(bare, request.joint);
    if (joints.empty()) {
      std::vector<std::string> known;
      for (const Joint& joint : bare.joints) {
        if (!joint.name.empty()) known.push_back(joint.name);
      }
      throw UserError("{}: the robot has no joint {} '{}'{}; it has: {}", place,
                      is_pattern(request.joint) ? "that turns or slides and is named like" : "named", request.joint,
                      did_you_mean(request.joint, known), fmt::join(known, ", "));
    }
    for (const std::string& joint : joints) elements += kind.mjcf(request, joint);
  }
  const std::size_t end = mjcf.rfind("</mujoco");
  if (end == std::string::npos) throw UserError("{}: the robot's MJCF does not end with </mujoco>", file);
  return mjcf.substr(0, end) + "<actuator>" + elements + "</actuator>" + mjcf.substr(end);
}

}  // namespace cgpo
