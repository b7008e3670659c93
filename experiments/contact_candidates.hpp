// Sets of contact parameters that the sweep compares.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "contact_measures.hpp"

namespace cgpo::contact {

struct Candidate {
  std::string name;
  Subject subject;
  bool own = true;  // our engine
  bool in_gain_picture = false;

  std::vector<std::string> settings() const;  // substeps, k, c, w, v_s, lift and of limits k, c, w; empty for MuJoCo
};

Subject mujoco(const std::string& robot);                     // with its standard time step
std::vector<Candidate> candidates(const std::string& robot);  // the last ones are MuJoCo at two time steps
Candidate parse_candidate(const std::string& robot, std::span<const std::string> settings);  // from KEY=VALUE

}  // namespace cgpo::contact
