// Private to this folder: the ONNX file, made by hand: nine kinds of messages in the wire format of protobuf.
#pragma once

#include <string>

#include "cgpo/export/deployed_policy.hpp"

namespace cgpo {

// policy_action: whether the policy's own action is a second output.
std::string onnx_model(const DeployedPolicy& policy, bool policy_action);

}  // namespace cgpo
