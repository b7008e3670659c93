// Private to this folder: actuators that a task file adds to a robot. A kind is a row of a table.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cgpo/physics/model/model.hpp"
#include "cgpo/taskfile/syntax.hpp"

namespace cgpo {

using Range = std::array<double, 2>;

struct ActuatorRequest {
  std::string kind;
  std::string joint;       // a name or a pattern
  std::string name = "*";  // of the actuator; * is the joint's name
  double gear = 1.0;
  double kp = 0.0;
  double kv = 0.0;
  double timeconst = 0.0;            // s; 0: the control acts at once
  std::optional<Range> range;        // of the control; nothing: the kind says
  std::optional<Range> force_range;  // nothing: any
  Spot spot;
};

// What can be added, for messages and pages. With l = gear·q of the joint:
//
//   force = (gain − brake·l̇)·input − stiffness·l − damping·l̇,   torque of the joint = gear·force
//
// with the control, or its integral over time, as input.
enum class Meaning : unsigned char {
  kForce,     // of the input
  kPosition,  // without a range the control has that of the joint
  kSpeed,     // of a position, its integral, which has the joint's range
  kShare,     // without a range the control lies between 0 and 1
};
struct ActuatorKind {
  std::string_view kind;
  std::string_view meaning;
  std::vector<std::string_view> gains;  // which of kp and kv it has; the first must be said
  Meaning control = Meaning::kForce;
  struct Law {
    double gain = 0.0, stiffness = 0.0, damping = 0.0, brake = 0.0;
  };
  Law (*law)(const ActuatorRequest&);
};
const std::vector<ActuatorKind>& actuator_kinds();

// Throws UserError, naming the kinds there are, if it is none of them.
const ActuatorKind& find_actuator_kind(const std::string& kind, const std::string& place);

// The MJCF text with all that is asked for, one actuator for each joint that fits, in the order of the requests.
// `bare` is the model of the text as it is. Throws UserError with place.
std::string add_actuators(const std::string& mjcf, const Model& bare, const std::vector<ActuatorRequest>& requests,
                          const std::string& file);

}  // namespace cgpo
