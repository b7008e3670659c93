// Private to this folder: the policy as one C99 header that needs neither memory of its own nor a library.
#pragma once

#include <string>

#include "cgpo/export/deployed_policy.hpp"

namespace cgpo {

// name: what all its names begin with; in capitals those of its macros.
std::string c_header(const DeployedPolicy& policy, const std::string& name);

// Throws UserError if it is no name in C and C++.
void check_c_name(const std::string& name);

}  // namespace cgpo
