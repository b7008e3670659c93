#include "cgpo/taskfile/actuators.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
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

bool turns_or_slides(const Joint& joint) { return joint.type == JointType::kHinge || joint.type == JointType::kSlide; }

std::string name_of(const ActuatorRequest& request, const Joint& joint) {
  std::string name;
  for (const char c : request.name) name += c == '*' ? joint.name : std::string(1, c);
  return name;
}

// One element. Every attribute that a default class of the file could change is said.
std::string element_of(const ActuatorRequest& request, const ActuatorKind& kind, const Joint& joint) {
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
      R"(<general name="{0}" joint="{1}" gear="{2} 0 0 0 0 0"{3}{4}{5} dyntype="{6}" dynprm="{7}" actearly="false")"
      R"( gaintype="{8}" gainprm="{9} 0 {10}" biastype="affine" biasprm="0 {11} {12}" damping="0" armature="0"/>)",
      escaped(name_of(request, joint)), escaped(joint.name), request.gear, limits("ctrl", range),
      limits("force", request.force_range), limits("act", integrates ? of_joint : std::nullopt), dynamics,
      request.timeconst > 0.0 ? request.timeconst : 1.0, law.brake == 0.0 ? "fixed" : "affine", law.gain,
      0.0 - law.brake, 0.0 - law.stiffness, 0.0 - law.damping);
}

std::vector<const Joint*> joints_that_fit(const Model& model, const std::string& pattern) {
  std::vector<const Joint*> fitting;
  for (const Joint& joint : model.joints) {
    if (joint.name.empty() || (is_pattern(pattern) && !turns_or_slides(joint))) continue;
    if (joint.name == pattern || (is_pattern(pattern) && fits(pattern, joint.name))) fitting.push_back(&joint);
  }
  return fitting;
}

// Those that this request adds an actuator to. Throws UserError with place.
std::vector<const Joint*> joints_of(const ActuatorRequest& request, const Model& bare, const std::string& place) {
  std::vector<const Joint*> joints = joints_that_fit(bare, request.joint);
  if (joints.empty()) {
    std::vector<std::string> known;
    for (const Joint& joint : bare.joints) {
      if (!joint.name.empty()) known.push_back(joint.name);
    }
    if (known.empty()) {
      throw UserError("{}: the robot has no joint with a name, and an actuator is added to one by its name", place);
    }
    throw UserError("{}: the robot has no joint {} '{}'{}; it has: {}", place,
                    is_pattern(request.joint) ? "that turns or slides and is named like" : "named", request.joint,
                    did_you_mean(request.joint, known), fmt::join(known, ", "));
  }
  for (const Joint* const joint : joints) {
    if (turns_or_slides(*joint)) continue;
    throw UserError(
        "{}: joint '{}' is a {} joint, and actuators are added to those that turn or slide, hinge and slide", place,
        joint->name, joint->type == JointType::kFree ? "free" : "ball");
  }
  return joints;
}

// Who has which name already: the robot's file, or a request by its line.
class TakenNames {
 public:
  explicit TakenNames(const Model& bare) {
    for (const Actuator& actuator : bare.actuators) {
      if (!actuator.name.empty()) owners_[actuator.name] = "the robot's file has";
    }
  }

  void add(const ActuatorRequest& request, const std::vector<const Joint*>& joints, const std::string& place) {
    std::vector<std::string> twice;
    std::string owner;
    for (const Joint* const joint : joints) {
      const std::string name = name_of(request, *joint);
      const auto [found, is_new] = owners_.emplace(
          name, fmt::format("[[robot.actuators]] for '{}' in line {} adds", request.joint, request.spot.line));
      if (is_new) continue;
      if (owner.empty()) owner = found->second;
      twice.push_back(fmt::format("'{}'", name));
    }
    if (twice.empty()) return;
    throw UserError(
        "{}: {} an actuator of the same name: {}; choose other joints, or say name = \"*_2\", in which * is the "
        "joint's "
        "name",
        place, owner, fmt::join(twice, ", "));
  }

 private:
  std::map<std::string, std::string> owners_;
};

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
  TakenNames taken(bare);
  for (const ActuatorRequest& request : requests) {
    const std::string place = place_words(file, request.spot);
    const ActuatorKind& kind = find_actuator_kind(request.kind, place);
    const std::vector<const Joint*> joints = joints_of(request, bare, place);
    taken.add(request, joints, place);
    for (const Joint* const joint : joints) elements += element_of(request, kind, *joint);
  }
  const std::size_t end = mjcf.rfind("</mujoco");
  if (end == std::string::npos) throw UserError("{}: the robot's MJCF does not end with </mujoco>", file);
  return mjcf.substr(0, end) + "<actuator>" + elements + "</actuator>" + mjcf.substr(end);
}

}  // namespace cgpo
