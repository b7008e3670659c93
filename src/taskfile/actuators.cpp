#include "cgpo/taskfile/actuators.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

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

// One element. Every attribute that a default class of the file could change is said.
std::string element_of(const ActuatorRequest& request, const ActuatorKind& kind, const Joint& joint) {
  const std::string name = escaped(joint.name);
  const auto limits = [](const char* word, const std::optional<Range>& range) {
    const Range numbers = range.value_or(Range{0.0, 0.0});
    return fmt::format(R"( {0}limited="{1}" {0}range="{2} {3}")", word, range ? "true" : "false", numbers[0],
                       numbers[1]);
  };
  std::optional<Range> of_joint;
  if (joint.limited) {
    of_joint = Range{request.gear * joint.lower, request.gear * joint.upper};
    if (request.gear < 0.0) std::swap((*of_joint)[0], (*of_joint)[1]);
  }
  std::optional<Range> range = request.range;
  if (!range && kind.control == Meaning::kPosition) range = of_joint;
  if (!range && kind.control == Meaning::kShare) range = Range{0.0, 1.0};
  const bool integrates = kind.control == Meaning::kSpeed;
  const char* const dynamics = integrates ? "integrator" : request.timeconst > 0.0 ? "filterexact" : "none";
  const ActuatorKind::Law law = kind.law(request);
  return fmt::format(
      R"(<general name="{0}" joint="{0}" gear="{1} 0 0 0 0 0"{2}{3}{4} dyntype="{5}" dynprm="{6}" actearly="false")"
      R"( gaintype="{7}" gainprm="{8} 0 {9}" biastype="affine" biasprm="0 {10} {11}" damping="0" armature="0"/>)",
      name, request.gear, limits("ctrl", range), limits("force", request.force_range),
      limits("act", integrates ? of_joint : std::nullopt), dynamics, request.timeconst > 0.0 ? request.timeconst : 1.0,
      law.brake == 0.0 ? "fixed" : "affine", law.gain, 0.0 - law.brake, 0.0 - law.stiffness, 0.0 - law.damping);
}

std::vector<const Joint*> joints_that_fit(const Model& model, const std::string& pattern) {
  std::vector<const Joint*> fitting;
  for (const Joint& joint : model.joints) {
    const bool turns_or_slides = joint.type == JointType::kHinge || joint.type == JointType::kSlide;
    if (joint.name.empty() || (is_pattern(pattern) && !turns_or_slides)) continue;
    if (joint.name == pattern || (is_pattern(pattern) && fits(pattern, joint.name))) fitting.push_back(&joint);
  }
  return fitting;
}

}  // namespace

const std::vector<ActuatorKind>& actuator_kinds() {
  static const std::vector<ActuatorKind> kinds = {
      {"motor",
       "the control is the force",
       {},
       Meaning::kForce,
       [](const ActuatorRequest&) { return ActuatorKind::Law{.gain = 1.0}; }},
      {"position",
       "a servo: force = kp (control − l) − kv l̇; without a range the control has the joint's",
       {"kp", "kv"},
       Meaning::kPosition,
       [](const ActuatorRequest& request) {
         return ActuatorKind::Law{.gain = request.kp, .stiffness = request.kp, .damping = request.kv};
       }},
      {"velocity",
       "a speed controller: force = kv (control − l̇)",
       {"kv"},
       Meaning::kForce,
       [](const ActuatorRequest& request) { return ActuatorKind::Law{.gain = request.kv, .damping = request.kv}; }},
      {"intvelocity",
       "a servo whose set point, its activation, moves with the speed control: force = kp (activation − l) − kv l̇; it "
       "stays in the joint's range",
       {"kp", "kv"},
       Meaning::kSpeed,
       [](const ActuatorRequest& request) {
         return ActuatorKind::Law{.gain = request.kp, .stiffness = request.kp, .damping = request.kv};
       }},
      {"damper",
       "a brake: force = −kv control l̇; without a range the control lies between 0 and 1",
       {"kv"},
       Meaning::kShare,
       [](const ActuatorRequest& request) { return ActuatorKind::Law{.brake = request.kv}; }},
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
    const std::vector<const Joint*> joints = joints_that_fit(bare, request.joint);
    if (joints.empty()) {
      std::vector<std::string> known;
      for (const Joint& joint : bare.joints) {
        if (!joint.name.empty()) known.push_back(joint.name);
      }
      throw UserError("{}: the robot has no joint {} '{}'{}; it has: {}", place,
                      is_pattern(request.joint) ? "that turns or slides and is named like" : "named", request.joint,
                      did_you_mean(request.joint, known), fmt::join(known, ", "));
    }
    for (const Joint* const joint : joints) elements += element_of(request, kind, *joint);
  }
  const std::size_t end = mjcf.rfind("</mujoco");
  if (end == std::string::npos) throw UserError("{}: the robot's MJCF does not end with </mujoco>", file);
  return mjcf.substr(0, end) + "<actuator>" + elements + "</actuator>" + mjcf.substr(end);
}

}  // namespace cgpo
