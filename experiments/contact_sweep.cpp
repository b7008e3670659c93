// The sweep behind each robot's contact parameters (docs/physics/contact.md); contact_sweep.sh runs it. Prints CSV.
//
//   contact_sweep table ROBOT [--quick]      every candidate: divergence, gains, signal to noise, distance from MuJoCo
//   contact_sweep try ROBOT KEY=VALUE …      one row with parameters of one's own
//   contact_sweep gains ROBOT [--quick]      gain of ∂x over windows of 1 … 20 steps
//   contact_sweep falls | slides | random ROBOT     single trajectories beside MuJoCo's
#include <algorithm>
#include <fmt/core.h>
#include <iostream>
#include <span>

#include "cgpo/base/error.hpp"

#include "contact_candidates.hpp"
#include "contact_measures.hpp"
#include "contact_trajectories.hpp"

namespace cgpo::contact {
namespace {

struct Effort {
  int endurance_lanes = 1000, endurance_steps = 1000;
  int episodes = 256, mujoco_episodes = 128, idle = 64;
  int gain_states = 256, windows = 4096, pairs = 128;
};
constexpr Effort kFull;
constexpr Effort kQuick{.endurance_lanes = 100,
                        .endurance_steps = 100,
                        .episodes = 64,
                        .mujoco_episodes = 16,
                        .idle = 8,
                        .gain_states = 32,
                        .windows = 512,
                        .pairs = 16};

void print_header() {
  fmt::print(
      "candidate,substeps,k,c,w,v_s,lift,limit_k,limit_c,limit_w,diverged,gain_median,gain_max,snr1,snr5,snr10,"
      "snr20,small_snr10,joints_0.1,root_0.1,joints_0.5,root_0.5,joints_1,root_1,length,speed_sum,speed,airborne,"
      "height,idle_alive,idle_speed_sum,idle_height,depth_mm,creep_mm_s\n");
}

void print_row(const Candidate& candidate, const Effort& effort) {
  const Subject& subject = candidate.subject;
  const bool own = candidate.own;
  fmt::print("{}", candidate.name);
  for (const std::string& value : candidate.settings()) fmt::print(",{}", value);
  if (own) {
    fmt::print(",{}", count_diverged(subject, effort.endurance_lanes, effort.endurance_steps));
    const Gain gain = window_gains(subject, effort.gain_states, 10).back();
    fmt::print(",{:.0f},{:.0f}", gain.median, gain.largest);
    for (const int h : {1, 5, 10, 20}) fmt::print(",{:.1f}", signal_to_noise(subject, effort.windows, h, 1.0));
    fmt::print(",{:.1f}", signal_to_noise(subject, effort.windows, 10, 0.3));
  } else {
    fmt::print(",,,,,,,,");
  }
  for (const Distance& distance : distances(subject, mujoco(subject.robot), effort.pairs)) {
    fmt::print(",{:.3f},{:.3f}", distance.joints, distance.root);
  }
  const RandomMotion motion = random_motion(subject, own ? effort.episodes : effort.mujoco_episodes);
  fmt::print(",{:.0f},{:.0f},{:.2f},{:.2f},{:.3f}", motion.length, motion.speed_sum, motion.speed, motion.airborne,
             motion.height);
  const Rest still = rest(subject, effort.idle);
  fmt::print(",{:.2f},{:.2f},{:.3f},{:.1f},{:.1f}\n", still.alive, still.speed_sum, still.height, still.depth,
             still.creep);
  std::fflush(stdout);
}

void print_gains(const std::string& robot, const Effort& effort) {
  std::vector<std::vector<Gain>> columns;
  fmt::print("h");
  for (const Candidate& candidate : candidates(robot)) {
    if (!candidate.in_gain_picture) continue;
    fmt::print(",{0} median,{0} max", candidate.name);
    columns.push_back(window_gains(candidate.subject, effort.gain_states, 20));
  }
  fmt::print("\n");
  for (std::size_t h = 0; h < columns.front().size(); ++h) {
    fmt::print("{}", h + 1);
    for (const std::vector<Gain>& gains : columns) fmt::print(",{:.1f},{:.1f}", gains[h].median, gains[h].largest);
    fmt::print("\n");
  }
}

void run(std::span<const std::string> arguments) {
  const bool quick = std::find(arguments.begin(), arguments.end(), "--quick") != arguments.end();
  const Effort& effort = quick ? kQuick : kFull;
  const std::string command = arguments.empty() ? "" : arguments[0];
  const std::string robot = arguments.size() > 1 ? arguments[1] : "ant";
  if (command == "table") {
    print_header();
    for (const Candidate& candidate : candidates(robot)) print_row(candidate, effort);
  } else if (command == "try") {
    print_header();
    print_row(parse_candidate(robot, arguments.subspan(2)), kFull);
  } else if (command == "gains") {
    print_gains(robot, effort);
  } else if (command == "falls") {
    print_falls();
  } else if (command == "slides") {
    print_slides();
  } else if (command == "random") {
    print_random(robot);
  } else {
    throw UserError("usage: contact_sweep table|try|gains|random ROBOT, contact_sweep falls|slides");
  }
}

}  // namespace
}  // namespace cgpo::contact

int main(int argc, char** argv) {
  try {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    cgpo::contact::run(arguments);
  } catch (const std::exception& error) {
    std::cerr << "contact_sweep: " << error.what() << "\n";
    return 2;
  }
  return 0;
}
