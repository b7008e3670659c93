#include "cgpo/cli/model_report.hpp"

#include <algorithm>
#include <fmt/ranges.h>
#include <vector>

#include "cgpo/base/table.hpp"
#include "cgpo/base/text.hpp"
#include "cgpo/cli/model_parts.hpp"
#include "cgpo/cli/terminal.hpp"

namespace cgpo {
namespace {

constexpr const char* kJointTypes[] = {"free", "ball", "slide", "hinge"};  // in the order of JointType

// The world, body 0, is not counted among the bodies.
int count_bodies(const Model& model) { return static_cast<int>(model.bodies.size()) - 1; }

std::string describe_joints(const Model& model, int body) {
  std::vector<std::string> joints;
  for (std::size_t i = 0; i < model.joints.size(); ++i) {
    const Joint& joint = model.joints[i];
    if (joint.body != body) continue;
    const std::string range = joint.limited ? fmt::format(" {:.4g} to {:.4g}", joint.lower, joint.upper) : "";
    joints.push_back(fmt::format("{} ({}{})", joint_name(model, static_cast<int>(i)),
                                 kJointTypes[static_cast<std::size_t>(joint.type)], range));
  }
  return joints.empty() ? "-" : fmt::format("{}", fmt::join(joints, ", "));
}

int count_contacts(const Model& model, int body) {
  return static_cast<int>(std::count_if(model.contacts.begin(), model.contacts.end(),
                                        [body](const ContactPoint& point) { return point.body == body; }));
}

void print_bodies(const Model& model) {
  std::vector<std::vector<std::string>> rows = {{"body", "parent", "mass", "contact points", "joints"}};
  for (int i = 1; i <= count_bodies(model); ++i) {
    const Body& body = model.bodies[i];
    rows.push_back({body_name(model, i), body_name(model, body.parent), fmt::format("{:.4g}", body.mass),
                    std::to_string(count_contacts(model, i)), describe_joints(model, i)});
  }
  say_lines(text_table(rows));
}

std::string describe_fluid(const Model& model) {
  if (model.fluid_bodies.empty()) return "no fluid";
  return fmt::format("fluid of density {:.4g} and viscosity {:.4g}", model.density, model.viscosity);
}

void print_list(const char* title, const std::vector<std::string>& lines) {
  if (lines.empty()) return;
  say("\n{}\n", title);
  for (const std::string& line : lines) say("  {}\n", line);
}

void print_errors(const ModelComparison& error) {
  say("  mass matrix {:.1e}, bias {:.1e}, passive {:.1e}, acceleration {:.1e}\n", error.mass_matrix, error.bias,
      error.passive, error.acceleration);
}

void print_comparisons(const RobotCheck& check) {
  const bool same = agrees(check.whole);
  const char* verdict = same               ? "equals MuJoCo's"
                        : check.accepted() ? "IS NOT MuJoCo's"
                                           : "is not MuJoCo's, which has the elements above";
  say("\nwithout contact and limits the dynamics {} on {} random states; largest relative errors:\n", verdict,
      check.states);
  print_errors(check.whole);
  if (same || check.accepted()) return;
  say("without those elements it {}:\n", check.right() ? "equals MuJoCo's" : "IS NOT MuJoCo's");
  print_errors(check.supported);
}

void print_trial(const RobotCheck& check) {
  if (!check.trial) return;
  const RobotTrial& trial = *check.trial;
  say("\n{} steps of {:.6g} s under random controls, from the pose of the file, {} times: ", trial.steps,
      check.model->timestep, trial.episodes);
  if (trial.diverged == 0) {
    say("none diverged\n");
  } else {
    say("{} DIVERGED, the first in step {} at {}; of MuJoCo's own {}\n", trial.diverged, trial.first_step, trial.where,
        check.mujoco_diverged);
    if (trial.finer > 0) say("  with {} steps in place of each none does\n", trial.finer);
  }
  say("a step is {} operations; {} one core: {} substeps/s, without derivatives\n", trial.operations,
      trial.measured ? "measured on" : "estimated for", format_rate(1.0 / trial.seconds));
}

Json to_json(const ModelComparison& error) {
  return {{"mass_matrix", error.mass_matrix},
          {"bias", error.bias},
          {"passive", error.passive},
          {"acceleration", error.acceleration}};
}

Json to_json(const RobotTrial& trial, int mujoco_diverged) {
  Json result{{"steps", trial.steps}, {"episodes", trial.episodes}, {"diverged", trial.diverged}};
  if (trial.diverged > 0) {
    result["first_step"] = trial.first_step;
    result["at"] = trial.where;
    result["mujoco_diverged"] = mujoco_diverged;
    result["finer"] = trial.finer;
  }
  return result;
}

}  // namespace

void print_report(const RobotCheck& check) {
  const Model& model = *check.model;
  const std::string activations = model.na == 0 ? "" : fmt::format(" {} activations,", model.na);
  say("{}: {} positions, {} velocities, {} controls,{} {} bodies, {} contact points, {} pairs of geoms\n", model.name,
      model.nq, model.nv, model.nu, activations, count_bodies(model), model.contacts.size(), model.pairs.size());
  say("total mass {:.6g}, gravity {:.6g}, {}, time step {:.6g}\n\n", model.total_mass(),
      fmt::join(model.gravity.at, " "), describe_fluid(model), model.timestep);
  print_bodies(model);
  print_parts(model);
  print_list("not supported; our dynamics leaves it out:", model.unsupported);
  print_list("to be aware of:", model.warnings);
  print_list("to know:", model.notes);
  print_comparisons(check);
  print_trial(check);
}

Json to_json(const RobotCheck& check) {
  const Model& model = *check.model;
  Json result;
  result["file"] = model.name;
  result["accepted"] = check.accepted();
  result["nq"] = model.nq;
  result["nv"] = model.nv;
  result["nu"] = model.nu;
  result["bodies"] = count_bodies(model);
  result["joints"] = model.joints.size();
  result["contacts"] = model.contacts.size();  // points that planes hold up
  result["pairs"] = model.pairs.size();        // of other geoms that may touch
  result["mass"] = model.total_mass();
  result["gravity"] = model.gravity.at;
  result["density"] = model.density;
  result["viscosity"] = model.viscosity;
  result["timestep"] = model.timestep;
  result["unsupported"] = model.unsupported;
  result["warnings"] = model.warnings;
  result["notes"] = model.notes;
  result["states"] = check.states;
  result["max_error"] = to_json(check.whole);
  result["max_error_supported"] = to_json(check.supported);
  if (check.trial) {
    result["trial"] = to_json(*check.trial, check.mujoco_diverged);
    result["operations"] = check.trial->operations;
    result["substeps_per_second"] = 1.0 / check.trial->seconds;  // on one core
    result["speed_measured"] = check.trial->measured;
  }
  return result;
}

std::string describe_kinds(const std::map<std::string, int>& kinds) {
  std::vector<std::string> parts;
  for (const auto& [kind, number] : kinds) parts.push_back(fmt::format("{}: {}", kind, number));
  return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace cgpo
