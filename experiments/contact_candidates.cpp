#include "contact_candidates.hpp"

#include <array>
#include <cstdlib>
#include <fmt/core.h>

#include "cgpo/base/error.hpp"

namespace cgpo::contact {
namespace {

constexpr std::array<const char*, 9> kKeys = {"substeps",        "contact_stiffness", "contact_damping",
                                              "contact_width",   "slip_speed",        "slip_lift",
                                              "limit_stiffness", "limit_damping",     "limit_width"};

Candidate own(const std::string& robot, std::string name, Options changes, bool in_gain_picture = false) {
  return {std::move(name), {robot, std::move(changes)}, true, in_gain_picture};
}

Candidate mujoco_at(const std::string& robot, std::string name, double substeps) {
  Subject subject = mujoco(robot);
  subject.options.emplace_back("substeps", substeps);
  return {std::move(name), std::move(subject), false};
}

// Each differs from the chosen one, the task's standard, in what its name says.
std::vector<Candidate> ant() {
  const std::string robot = "ant";
  return {
      own(robot, "chosen", {}, true),
      own(robot, "no slip lift", {{"slip_lift", 0.0}}),
      own(robot, "no lift k 20000 c 50 w .005 10 substeps",
          {{"slip_lift", 0.0},
           {"contact_stiffness", 20000.0},
           {"contact_damping", 50.0},
           {"contact_width", 0.005},
           {"substeps", 10.0}}),
      own(robot, "first guess: k 2000 c 50 v_s .05 no lift",
          {{"contact_stiffness", 2000.0}, {"contact_damping", 50.0}, {"slip_speed", 0.05}, {"slip_lift", 0.0}}),
      own(robot, "first guess with lift",
          {{"contact_stiffness", 2000.0}, {"contact_damping", 50.0}, {"slip_speed", 0.05}}),
      own(robot, "c 20", {{"contact_damping", 20.0}}),
      own(robot, "k 2000 c 20", {{"contact_stiffness", 2000.0}, {"contact_damping", 20.0}}, true),
      own(robot, "k 20000 c 200 w .005",
          {{"contact_stiffness", 20000.0}, {"contact_damping", 200.0}, {"contact_width", 0.005}}, true),
      own(robot, "w .01", {{"contact_width", 0.01}}),
      own(robot, "v_s .05", {{"slip_speed", 0.05}}),
      own(robot, "limits 4 x stiffer", {{"limit_stiffness", 10000.0}, {"limit_damping", 200.0}}),
      own(robot, "10 substeps", {{"substeps", 10.0}}),
  };
}

std::vector<Candidate> halfcheetah() {
  const std::string robot = "halfcheetah";
  return {
      own(robot, "chosen", {}, true),
      own(robot, "no slip lift", {{"slip_lift", 0.0}}),
      own(robot, "first guess: v_s .1 no lift", {{"slip_speed", 0.1}, {"slip_lift", 0.0}}),
      own(robot, "v_s .1", {{"slip_speed", 0.1}}),
      own(robot, "v_s .6", {{"slip_speed", 0.6}}),
      own(robot, "k 10000 c 200 w .02",
          {{"contact_stiffness", 10000.0}, {"contact_damping", 200.0}, {"contact_width", 0.02}}),
      own(robot, "c 500", {{"contact_damping", 500.0}}),
      own(robot, "k 50000 c 500", {{"contact_stiffness", 50000.0}, {"contact_damping", 500.0}}, true),
      own(robot, "k 250000 c 2500 w .002",
          {{"contact_stiffness", 250000.0}, {"contact_damping", 2500.0}, {"contact_width", 0.002}}, true),
      own(robot, "limits 4 x stiffer", {{"limit_stiffness", 10000.0}, {"limit_damping", 200.0}}),
      own(robot, "5 substeps", {{"substeps", 5.0}}),
  };
}

}  // namespace

std::vector<std::string> Candidate::settings() const {
  std::vector<std::string> result;
  const TaskEntry& entry = find_task(subject.robot);
  TaskOptions chosen(entry.options);
  for (const auto& [key, value] : subject.options) chosen.set(key, value);
  for (const char* key : kKeys) {
    const double value = std::string(key) == "substeps" ? entry.make(chosen)->spec().substeps : chosen.number(key);
    result.push_back(own || std::string(key) == "substeps" ? fmt::format("{:g}", value) : "");
  }
  return result;
}

Subject mujoco(const std::string& robot) { return {robot, {{"engine", std::string("mujoco")}}}; }

std::vector<Candidate> candidates(const std::string& robot) {
  std::vector<Candidate> result;
  if (robot == "ant") {
    result = ant();
  } else if (robot == "halfcheetah") {
    result = halfcheetah();
  } else {
    throw UserError("no candidates for \"{}\"; there are some for ant and halfcheetah", robot);
  }
  result.push_back(mujoco_at(robot, "MuJoCo 10 ms", 5));
  result.push_back(mujoco_at(robot, "MuJoCo 1 ms", 50));
  return result;
}

Candidate parse_candidate(const std::string& robot, std::span<const std::string> settings) {
  Candidate candidate{"own", {robot, {}}};
  for (const std::string& setting : settings) {
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos) throw UserError("\"{}\" is not KEY=VALUE", setting);
    candidate.subject.options.emplace_back(setting.substr(0, equals), std::atof(setting.c_str() + equals + 1));
  }
  return candidate;
}

}  // namespace cgpo::contact
