// From values of Python to those of a configuration.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cgpo/config/value.hpp"

#include "bindings.hpp"

namespace cgpo::python {

// Keys and values in the order in which they were given.
using Settings = std::vector<std::pair<std::string, nb::object>>;

std::vector<Assignment> assignments_from(const Settings& settings);

}  // namespace cgpo::python
