// A robot before there is a task for it: whether our engine keeps it together under random controls, and how fast it
// is.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "cgpo/physics/model/model.hpp"
#include "cgpo/physics/mujoco/engine.hpp"

namespace cgpo {

struct TrialRequest {
  int steps = 1000;  // of the file's time step, from its pose, in each episode
  std::uint64_t seed = 0;
};

struct RobotTrial {
  int steps = 0;
  int episodes = 0;
  int diverged = 0;    // episodes that came to a state that is not finite or beyond every bound of a task
  int first_step = 0;  // of the first of them
  std::string where;   // the joint that did so first; empty: none
  int finer = 0;       // none diverges if each step is cut into so many; 0: no number that was tried helps
  // Of one substep, forwards, for one environment.
  int operations = 0;
  double seconds = 0.0;  // on one core, in single precision, as training has it
  bool measured = true;  // or, of a large one, estimated from double precision
};

// Controls are uniform in their ranges, or between −1 and 1 where there is none, and held for kTrialHold steps. Contact
// and limits have the stiffness that a task file gives them if it names none.
inline constexpr int kTrialHold = 10;
RobotTrial try_robot(const std::shared_ptr<const Model>& model, const TrialRequest& request);

// In how many of the same episodes MuJoCo's own steps, with all that the file has, come to such a state.
int count_mujocos_divergences(const Model& model, MujocoEngine& engine, const TrialRequest& request);

}  // namespace cgpo
