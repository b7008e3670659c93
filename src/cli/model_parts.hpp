// Private to this folder: what moves a robot and ties it together, as `cgpo model` lists it.
#pragma once

#include "cgpo/base/json.hpp"
#include "cgpo/physics/model/model.hpp"

namespace cgpo {

std::string name_or_number(const std::string& name, int number);
std::string body_name(const Model& model, int body);
std::string joint_name(const Model& model, int joint);

// Tables of actuators, tendons, equality constraints, and the pairs of geoms that may touch.
void print_parts(const Model& model);

// The same, all of it: fields to add to what else is said of a model.
Json parts_of(const Model& model);

}  // namespace cgpo
