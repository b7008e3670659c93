// `cgpo model`: what an MJCF file holds, what of it our dynamics leaves out, and how far the rest is from MuJoCo's.
#include <algorithm>
#include <fmt/ranges.h>
#include <vector>

#include "cgpo/base/error.hpp"
#include "cgpo/base/json.hpp"
#include "cgpo/base/program_name.hpp"
#include "cgpo/base/table.hpp"
#include "cgpo/cli/commands.hpp"
#include "cgpo/cli/terminal.hpp"
#include "cgpo/physics/model/model.hpp"
#include "cgpo/physics/mujoco/engine.hpp"

namespace cgpo {
namespace {

// Larger errors on what is supported are a fault of the dynamics.
constexpr double kModelTolerance = 1e-8;

struct ModelRequest {
  std::string file;
  int states = 1000;  // random ones, to compare on
  std::int64_t seed = 0;
  bool json = false;
};

constexpr const char* kJointTypes[] = {"free", "ball", "slide", "hinge"};  // in the order of JointType

// The world, body 0, is not counted among the bodies.
int count_bodies(const Model& model) { return static_cast<int>(model.bodies.size()) - 1; }

std::string name_or_number(const std::string& name, int number) {
  return name.empty() ? fmt::format("#{}", number) : name;
}

std::string body_name(const Model& model, int body) {
  return body == 0 ? "world" : name_or_number(model.bodies[body].name, body);
}

std::string joint_name(const Model& model, int joint) { return name_or_number(model.joints[joint].name, joint); }

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

// An actuator that is not supported has neither gain nor gear.
bool is_left_out(const Actuator& actuator) {
  return std::all_of(actuator.gear.begin(), actuator.gear.end(), [](double gear) { return gear == 0.0; });
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

// A ball or free joint has a gear for each direction.
std::string describe_gear(const Model& model, const Actuator& actuator) {
  const JointType type = model.joints[actuator.joint].type;
  const int gears = type == JointType::kFree ? 6 : type == JointType::kBall ? 3 : 1;
  return fmt::format("{:.4g}", fmt::join(actuator.gear.begin(), actuator.gear.begin() + gears, " "));
}

void print_actuators(const Model& model) {
  if (model.nu == 0) {
    say("no actuator; a task file adds some, [[robot.actuators]] (docs/guide/task-files.md)\n");
    return;
  }
  std::vector<std::vector<std::string>> rows = {{"actuator", "joint", "gear", "control"}};
  for (int i = 0; i < model.nu; ++i) {
    const Actuator& actuator = model.actuators[i];
    const bool left_out = is_left_out(actuator);
    const std::string range = fmt::format("{:.4g} to {:.4g}", actuator.control_lower, actuator.control_upper);
    rows.push_back({name_or_number(actuator.name, i), left_out ? "-" : joint_name(model, actuator.joint),
                    left_out ? "-" : describe_gear(model, actuator), actuator.control_limited ? range : "any"});
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

bool agrees(const ModelComparison& error) {
  for (const double value : {error.mass_matrix, error.bias, error.passive, error.acceleration}) {
    if (!(value <= kModelTolerance)) return false;  // nor does a NaN
  }
  return true;
}

// How far we are from MuJoCo with all that the file has, and from MuJoCo without what we leave out.
struct Comparisons {
  ModelComparison whole;
  ModelComparison supported;
};

void print_errors(const ModelComparison& error) {
  say("  mass matrix {:.1e}, bias {:.1e}, passive {:.1e}, acceleration {:.1e}\n", error.mass_matrix, error.bias,
      error.passive, error.acceleration);
}

void print_comparisons(const Comparisons& errors, bool complete, int states) {
  const bool same = agrees(errors.whole);
  const char* verdict = same       ? "equals MuJoCo's"
                        : complete ? "IS NOT MuJoCo's"
                                   : "is not MuJoCo's, which has the elements above";
  say("\nwithout contact and limits the dynamics {} on {} random states; largest relative errors:\n", verdict, states);
  print_errors(errors.whole);
  if (same || complete) return;
  say("without those elements it {}:\n", agrees(errors.supported) ? "equals MuJoCo's" : "IS NOT MuJoCo's");
  print_errors(errors.supported);
}

void print_report(const Model& model, const Comparisons& errors, int states) {
  say("{}: {} positions, {} velocities, {} controls, {} bodies, {} contact points\n", model.name, model.nq, model.nv,
      model.nu, count_bodies(model), model.contacts.size());
  say("total mass {:.6g}, gravity {:.6g}, {}, time step {:.6g}\n\n", model.total_mass(),
      fmt::join(model.gravity.at, " "), describe_fluid(model), model.timestep);
  print_bodies(model);
  say("\n");
  print_actuators(model);
  print_list("not supported; our dynamics leaves it out:", model.unsupported);
  print_list("to be aware of:", model.warnings);
  print_comparisons(errors, model.unsupported.empty(), states);
}

Json to_json(const ModelComparison& error) {
  return {{"mass_matrix", error.mass_matrix},
          {"bias", error.bias},
          {"passive", error.passive},
          {"acceleration", error.acceleration}};
}

// Numbers that are not finite become null when the object is written.
Json to_json(const Model& model, const Comparisons& errors, int states) {
  Json result;
  result["file"] = model.name;
  result["nq"] = model.nq;
  result["nv"] = model.nv;
  result["nu"] = model.nu;
  result["bodies"] = count_bodies(model);
  result["joints"] = model.joints.size();
  result["contacts"] = model.contacts.size();
  result["mass"] = model.total_mass();
  result["gravity"] = model.gravity.at;
  result["density"] = model.density;
  result["viscosity"] = model.viscosity;
  result["timestep"] = model.timestep;
  result["unsupported"] = model.unsupported;
  result["warnings"] = model.warnings;
  result["states"] = states;
  result["max_error"] = to_json(errors.whole);
  result["max_error_supported"] = to_json(errors.supported);
  return result;
}

// The exit code: 0, or 1 if the dynamics is not that of MuJoCo without the unsupported elements.
int describe_model(const ModelRequest& request) {
  if (request.file.empty()) throw UserError("model needs an MJCF file: {} model FILE.xml", program_name());
  const Model model = load_model(request.file);
  MujocoEngine engine = MujocoEngine::from_file(request.file);
  const auto compare = [&] {
    return compare_with_mujoco(model, engine, request.states, static_cast<std::uint64_t>(request.seed));
  };
  Comparisons errors{.whole = compare(), .supported = {}};
  errors.supported = errors.whole;
  if (!model.unsupported.empty()) {
    engine.leave_out_unsupported();
    errors.supported = compare();
  }
  if (request.json) {
    // Names in a file need not be UTF-8; JSON is.
    const Json report = to_json(model, errors, request.states);
    say_json(report);
  } else {
    print_report(model, errors, request.states);
  }
  return agrees(errors.supported) ? 0 : 1;
}

}  // namespace

Command make_model_command() {
  const auto owned = std::make_shared<ModelRequest>();
  ModelRequest& request = *owned;
  return {{{"FILE", Text{&request.file}, "a robot, as MJCF"},
           {"--states", whole(request.states, 1, 1'000'000), "random states to compare on (1000)"},
           {"--seed", seed(request.seed), "of the random states (0)"},
           json_flag(request.json)},
          [owned](const Given&) { return describe_model(*owned); }};
}

}  // namespace cgpo
