// What the sweep of contact parameters records about a robot on one engine with one set of parameters.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "contact_swarm.hpp"

namespace cgpo::contact {

struct Subject {
  std::string robot;
  Options options;
};

// How many of `lanes` environments diverge within `steps` random steps; episodes go on after their ends.
int count_diverged(const Subject& subject, int lanes, int steps);

// Means over episodes, up to their ends.
struct RandomMotion {
  double length = 0.0;     // steps
  double speed_sum = 0.0;  // of the task's cost
  double speed = 0.0;      // the same a step
  double height = 0.0;     // of the torso, m
  double airborne = 0.0;   // share of steps after which nothing touches
};
RandomMotion random_motion(const Subject& subject, int lanes);

// An idle robot for 15 s.
struct Rest {
  double alive = 0.0;      // share of episodes
  double speed_sum = 0.0;  // of the task's cost, over its horizon
  double height = 0.0;     // of the torso at the end, m
  double depth = 0.0;      // of the deepest point at the end, mm
  double creep = 0.0;      // speed of contact points over the last 5 s, mm/s
};
Rest rest(const Subject& subject, int lanes);

// Largest singular value of ∂x_h/∂x_0 over random motion.
struct Gain {
  double median = 0.0;
  double largest = 0.0;
};
std::vector<Gain> window_gains(const Subject& subject, int lanes, int longest);  // h = 1 … longest

// |mean| / standard error, as 512 windows would have it, of the gradient of a window's reward with respect to a
// constant added to its actions, which are random. About 1 (less if more windows were used) is noise.
double signal_to_noise(const Subject& subject, int windows, int h, double amplitude);

// The same starts and random actions on two engines: median over environments of the root mean square difference.
struct Distance {
  double joints = 0.0;  // rad
  double root = 0.0;    // m: position of the torso
};
std::array<Distance, 3> distances(const Subject& one, const Subject& other, int lanes);  // after 0.1, 0.5, 1 s

}  // namespace cgpo::contact
