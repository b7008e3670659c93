// Private to this folder: the policy as one Python file with a torch.nn.Module, its weights in it.
#pragma once

#include <string>

#include "cgpo/export/deployed_policy.hpp"

namespace cgpo {

std::string torch_module(const DeployedPolicy& policy);

}  // namespace cgpo
