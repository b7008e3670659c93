// What can be set: every key with its type, default, range and meaning.
#pragma once

#include "cgpo/config/configuration.hpp"

namespace cgpo {

// With a task or an algorithm in the request, the defaults in force for it and who set them.
int settings_command(const ConfigurationRequest& request, bool json);

}  // namespace cgpo
