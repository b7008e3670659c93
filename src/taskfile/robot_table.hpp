// Private to this folder: what a task file says of its robot.
#pragma once

#include "cgpo/taskfile/definition.hpp"
#include "cgpo/taskfile/document.hpp"

namespace cgpo {

// Of [robot], with its actuators. Throws UserError with place.
RobotDefinition read_robot(const Document& document, const toml::table& table);

}  // namespace cgpo
