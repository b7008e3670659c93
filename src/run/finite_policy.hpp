// Private to this folder: a policy that is not made of numbers acts on nothing, and must not take a good one's place.
#pragma once

#include <filesystem>
#include <string>

#include "cgpo/base/tensors.hpp"

namespace cgpo {

// The first tensor of policy or normaliser that holds anything but finite numbers; empty: none.
std::string not_finite_in_policy(const Tensors& tensors);

// Throws UserError, naming file and tensor, if there is one.
void check_policy_is_finite(const Tensors& tensors, const std::filesystem::path& path);

}  // namespace cgpo
