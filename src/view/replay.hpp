// Episodes of a run's policies as a page plays them: simulated anew, the robot's bodies from its kinematics.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cgpo/base/json.hpp"
#include "cgpo/base/thread_pool.hpp"
#include "cgpo/config/configuration.hpp"
#include "cgpo/run/run_folder.hpp"

namespace cgpo {

// A policy that a run has kept.
struct KeptPolicy {
  std::string label;  // for people
  std::string role;   // "start", "middle", "end", "best"; empty: between
  int iteration = 0;  // how many updates it has had
  std::filesystem::path path;
};

// Snapshots, the last checkpoint and the best feasible policy, by iteration; each policy once. Throws UserError if
// there is none that can be read.
std::vector<KeptPolicy> find_policies(const RunPaths& run, const Configuration& configuration);

struct ReplayOptions {
  int episodes = 1;
  bool noise = false;                     // false: the mean action
  std::optional<std::int64_t> seed = {};  // of start states and noise; the run's own unless given
};

// What the page's player needs:
//   kind "robot": "bodies", "geoms", and for each episode poses and contact forces as 16-bit numbers
//   kind "curve": a task with one state: reward and costs over it, and where each episode is
//   kind "states": other tasks without a robot: the states over time
// and for all of them the reward and each cost, summed up step by step.
Json replay_json(const RunPaths& run, const Configuration& configuration, const ReplayOptions& options,
                 ThreadPool& pool);

}  // namespace cgpo
