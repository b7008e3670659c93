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

struct ActuatorRequest {
  std::string kind;
  std::string joint;  // a name or a pattern
  double gear = 1.0;
  std::optional<std::array<double, 2>> range;  // of the control; nothing: any
  Spot spot;
};

// What can be added, for messages and pages.
struct ActuatorKind {
  std::string_view kind;
  std::string_view meaning;
  std::string (*mjcf)(const ActuatorRequest&, const std::string& joint);  // one element
};
const std::vector<ActuatorKind>& actuator_kinds();

// Throws UserError, naming the kinds there are, if it is none of them.
const ActuatorKind& find_actuator_kind(const std::string& kind, const std::string& place);

// The MJCF text with all that is asked for, one actuator for each joint that fits, in the order of the requests.
// `bare` is the model of the text as it is. Throws UserError with place.
std::string add_actuators(const std::string& mjcf, const Model& bare, const std::vector<ActuatorRequest>& requests,
                          const std::string& file);

}  // namespace cgpo
