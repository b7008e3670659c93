// Private to this folder: what `cgpo model` says of one file.
#pragma once

#include "cgpo/base/json.hpp"
#include "cgpo/studies/robot_check.hpp"

namespace cgpo {

void print_report(const RobotCheck& check);

// Numbers that are not finite become null when the object is written.
Json to_json(const RobotCheck& check);

// "frictionloss: 3; tendons: 2"
std::string describe_kinds(const std::map<std::string, int>& kinds);

}  // namespace cgpo
