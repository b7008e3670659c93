// How fast this machine simulates, differentiates and trains, beside MuJoCo in the same run.
#pragma once

#include <string>
#include <vector>

namespace cgpo {

struct BenchRequest {
  std::vector<std::string> tasks;  // none: all of the program's own
  bool kernels = true;             // the simulation alone, beside MuJoCo
  bool windows = true;             // short windows with the policy, and their gradients
  bool training = true;            // whole iterations
  bool json = false;
};

int bench_command(const BenchRequest& request);

}  // namespace cgpo
