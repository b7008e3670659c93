// What an MJCF file holds, what of it our dynamics leaves out, and how far the rest is from MuJoCo's.
#pragma once

#include <cstdint>
#include <string>

namespace cgpo {

// Larger errors on what is supported are a fault of the dynamics.
inline constexpr double kModelTolerance = 1e-8;

struct ModelRequest {
  std::string file;
  int states = 1000;  // random ones, to compare on
  std::int64_t seed = 0;
  bool json = false;
};

// The exit code: 0, or 1 if the dynamics is not that of MuJoCo without the unsupported elements. Throws UserError,
// naming file and element, if the file is not a robot.
int model_command(const ModelRequest& request);

}  // namespace cgpo
