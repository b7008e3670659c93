// The six velocity tasks of Safety-Gymnasium, on MuJoCo itself: a plan says in numbers how each of them is started,
// paid, charged and ended.
//
// With v the velocity of a place over a step and u the controls, r = weight·v_x + bonus − effort·Σ u², c = 1 where v_x,
// or √(v_x² + v_y²), is above a limit, else 0. An episode ends when the torso leaves a band of heights or leans too
// far.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "cgpo/tasks/registry.hpp"
#include "cgpo/tasks/robots/robot.hpp"

namespace cgpo {

struct VelocityPlan {
  std::string summary;
  // Its period and substeps are those of the original on MuJoCo. If mj_step's leftovers are kept, the first of them is
  // the place that moves, and what the policy sees behind q and v follows up to the warm start; else the place is in q.
  RobotDefaults robot;
  bool collides = true;
  bool has_twin_pairs = true;  // whether our engine knows contact of the robot's parts among themselves
  double limit = 0.0;          // m/s
  bool in_plane = false;       // whether √(v_x² + v_y²) is limited
  double weight = 1.0;         // of v_x
  double effort = 0.0;
  double bonus = 0.0;  // a step, that which ends an episode too
  int hidden = 1;      // first entries of q, which the policy does not see
  double largest_shown_rate = std::numeric_limits<double>::infinity();  // entries of v are clipped to ± this
  double reset_width = 0.0;                                             // of the start's noise: ± on q,
  bool normal_rates = false;                                            // on v, too, or its standard deviation
  // Ends; with none of them nothing ends an episode.
  int height = 1;  // its place in q
  double lowest = -std::numeric_limits<double>::infinity();
  double highest = std::numeric_limits<double>::infinity();
  bool band_is_closed = false;                                     // whether the robot may be at its ends
  double farthest_lean = std::numeric_limits<double>::infinity();  // of q[2]
  double largest_entry = std::numeric_limits<double>::infinity();  // of q from the third on, and of v
  bool ends() const { return lowest > -std::numeric_limits<double>::infinity(); }
};

// SafetyAntVelocity-v1 and so on.
std::vector<TaskEntry> velocity_entries();

}  // namespace cgpo
