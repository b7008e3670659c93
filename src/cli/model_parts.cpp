#include "cgpo/cli/model_parts.hpp"

#include <algorithm>
#include <fmt/ranges.h>
#include <vector>

#include "cgpo/base/table.hpp"
#include "cgpo/cli/terminal.hpp"

namespace cgpo {
namespace {

using Rows = std::vector<std::vector<std::string>>;

void say_table(const Rows& rows) {
  say("\n");
  say_lines(text_table(rows));
}

std::string range_words(bool limited, double lower, double upper) {
  return limited ? fmt::format("{:.4g} to {:.4g}", lower, upper) : "any";
}
Json range_json(bool limited, double lower, double upper) {
  return limited ? Json::array({lower, upper}) : Json(nullptr);
}

// ---- actuators -----------------------------------------------------------------------------------------------------

// One that is not supported, or switched off, has neither gain nor gear.
bool is_idle(const Actuator& actuator) {
  return std::all_of(actuator.gear.begin(), actuator.gear.end(), [](double gear) { return gear == 0.0; });
}

std::string describe_target(const Model& model, const Actuator& actuator) {
  if (actuator.joint >= 0) return joint_name(model, actuator.joint);
  if (actuator.tendon >= 0)
    return fmt::format("tendon {}", name_or_number(model.tendons[actuator.tendon].name, actuator.tendon));
  return fmt::format("site {}", name_or_number(model.sites[actuator.site].name, actuator.site));
}

// A site, and a ball or free joint, have a gear for each direction.
std::vector<double> gears_of(const Model& model, const Actuator& actuator) {
  const bool is_site = actuator.transmission == TransmissionType::kSite;
  const JointType type = actuator.joint < 0 ? JointType::kHinge : model.joints[actuator.joint].type;
  const int gears = is_site || type == JointType::kFree ? 6 : type == JointType::kBall ? 3 : 1;
  return {actuator.gear.begin(), actuator.gear.begin() + gears};
}

// What MJCF calls an actuator of such a law.
std::string kind_of(const Actuator& actuator) {
  const std::array<double, 3>& gain = actuator.gain;
  const std::array<double, 3>& bias = actuator.bias;
  const bool constant = gain[1] == 0.0 && gain[2] == 0.0;
  const bool unbiased = bias == std::array<double, 3>{};
  const bool plain = actuator.activation.type == ActivationType::kNone;
  if (constant && unbiased && gain[0] == 1.0 && plain) return "motor";
  if (constant && bias[0] == 0.0 && bias[1] != 0.0 && gain[0] == -bias[1]) {
    return actuator.activation.type == ActivationType::kIntegrator ? "intvelocity" : "position";
  }
  if (constant && bias[0] == 0.0 && bias[1] == 0.0 && bias[2] != 0.0 && gain[0] == -bias[2]) return "velocity";
  if (unbiased && gain[0] == 0.0 && gain[1] == 0.0 && gain[2] != 0.0) return "damper";
  return "general";
}

std::string activation_words(const Activation& activation) {
  switch (activation.type) {
    case ActivationType::kNone: return "";
    case ActivationType::kIntegrator: return ", integrator";
    case ActivationType::kFilter:
    case ActivationType::kFilterExact: return fmt::format(", filter of {:.4g} s", activation.time_constant);
  }
  return "";
}

std::string describe_law(const Actuator& actuator) {
  const std::string kind = kind_of(actuator);
  std::string law = kind;
  if (kind == "position" || kind == "intvelocity") {
    law += fmt::format(", kp {:.4g}, kv {:.4g}", actuator.gain[0], 0.0 - actuator.bias[2]);
  }
  if (kind == "velocity") law += fmt::format(", kv {:.4g}", actuator.gain[0]);
  if (kind == "damper") law += fmt::format(", kv {:.4g}", -actuator.gain[2]);
  if (kind == "general") {
    law += fmt::format(", gain {:.4g}, bias {:.4g}", fmt::join(actuator.gain, " "), fmt::join(actuator.bias, " "));
  }
  return kind == "intvelocity" ? law : law + activation_words(actuator.activation);
}

void print_actuators(const Model& model) {
  if (model.nu == 0) {
    say("\nno actuator; a task file adds some, [[robot.actuators]] (docs/guide/task-files.md)\n");
    return;
  }
  Rows rows = {{"actuator", "at", "gear", "control", "force", "kind"}};
  for (int i = 0; i < model.nu; ++i) {
    const Actuator& actuator = model.actuators[i];
    const bool idle = is_idle(actuator);
    rows.push_back({name_or_number(actuator.name, i), idle ? "-" : describe_target(model, actuator),
                    idle ? "-" : fmt::format("{:.4g}", fmt::join(gears_of(model, actuator), " ")),
                    range_words(actuator.control_limited, actuator.control_lower, actuator.control_upper),
                    range_words(actuator.step_limited, actuator.step_lower, actuator.step_upper),
                    idle ? (actuator.left_out ? "left out" : "switched off") : describe_law(actuator)});
  }
  say_table(rows);
}

Json actuators_json(const Model& model) {
  Json all = Json::array();
  for (const Actuator& actuator : model.actuators) {
    Json one{{"name", actuator.name}, {"left_out", actuator.left_out && is_idle(actuator)}};
    one["control_range"] = range_json(actuator.control_limited, actuator.control_lower, actuator.control_upper);
    one["force_range"] = range_json(actuator.step_limited, actuator.step_lower, actuator.step_upper);
    if (!is_idle(actuator)) {
      one["at"] = describe_target(model, actuator);
      one["gear"] = gears_of(model, actuator);
      one["kind"] = kind_of(actuator);
      one["gain"] = actuator.gain;
      one["bias"] = actuator.bias;
    }
    one["has_activation"] = actuator.activation.index >= 0;
    all.push_back(std::move(one));
  }
  return all;
}

// ---- ties ----------------------------------------------------------------------------------------------------------

std::string describe_path(const Model& model, const Tendon& tendon) {
  std::vector<std::string> parts;
  for (const Tendon::Term& term : tendon.terms)
    parts.push_back(fmt::format("{:.4g} {}", term.coefficient, joint_name(model, term.joint)));
  for (const Tendon::Piece& piece : tendon.pieces) {
    parts.push_back(fmt::format("{} - {}", name_or_number(model.sites[piece.from].name, piece.from),
                                name_or_number(model.sites[piece.to].name, piece.to)));
  }
  return parts.empty() ? "left out" : fmt::format("{}", fmt::join(parts, ", "));
}

void print_tendons(const Model& model) {
  if (model.tendons.empty()) return;
  Rows rows = {{"tendon", "range", "stiffness", "damping", "friction", "along"}};
  for (std::size_t i = 0; i < model.tendons.size(); ++i) {
    const Tendon& tendon = model.tendons[i];
    rows.push_back({name_or_number(tendon.name, static_cast<int>(i)),
                    range_words(tendon.limited, tendon.lower, tendon.upper), fmt::format("{:.4g}", tendon.stiffness),
                    fmt::format("{:.4g}", tendon.damping), fmt::format("{:.4g}", tendon.frictionloss),
                    describe_path(model, tendon)});
  }
  say_table(rows);
}

constexpr const char* kEqualityTypes[] = {"connect", "weld", "joint", "tendon"};  // in the order of EqualityType

std::string end_name(const Model& model, const Equality& equality, int id) {
  if (id < 0) return "a constant";
  switch (equality.type) {
    case EqualityType::kJoint: return joint_name(model, id);
    case EqualityType::kTendon: return name_or_number(model.tendons[id].name, id);
    case EqualityType::kConnect:
    case EqualityType::kWeld: break;
  }
  return body_name(model, id);
}

void print_equalities(const Model& model) {
  if (model.equalities.empty()) return;
  Rows rows = {{"equality", "type", "between"}};
  for (std::size_t i = 0; i < model.equalities.size(); ++i) {
    const Equality& equality = model.equalities[i];
    rows.push_back({name_or_number(equality.name, static_cast<int>(i)),
                    kEqualityTypes[static_cast<std::size_t>(equality.type)],
                    fmt::format("{} and {}", end_name(model, equality, equality.ends[0].id),
                                end_name(model, equality, equality.ends[1].id))});
  }
  say_table(rows);
}

// ---- contact -------------------------------------------------------------------------------------------------------

void print_pairs(const Model& model) {
  if (model.pairs.empty()) return;
  constexpr std::size_t kMostNamed = 12;
  say("\nmay touch one another:\n");
  for (std::size_t i = 0; i < std::min(kMostNamed, model.pairs.size()); ++i) {
    say("  {} with {}\n", model.pairs[i].first.name, model.pairs[i].second.name);
  }
  if (model.pairs.size() > kMostNamed) say("  and {} more pairs (--json has all)\n", model.pairs.size() - kMostNamed);
}

}  // namespace

std::string name_or_number(const std::string& name, int number) {
  return name.empty() ? fmt::format("#{}", number) : name;
}

std::string body_name(const Model& model, int body) {
  return body == 0 ? "world" : name_or_number(model.bodies[body].name, body);
}

std::string joint_name(const Model& model, int joint) { return name_or_number(model.joints[joint].name, joint); }

void print_parts(const Model& model) {
  print_actuators(model);
  print_tendons(model);
  print_equalities(model);
  print_pairs(model);
}

Json parts_of(const Model& model) {
  Json tendons = Json::array();
  for (const Tendon& tendon : model.tendons) {
    tendons.push_back({{"name", tendon.name},
                       {"along", describe_path(model, tendon)},
                       {"range", range_json(tendon.limited, tendon.lower, tendon.upper)},
                       {"stiffness", tendon.stiffness},
                       {"damping", tendon.damping},
                       {"frictionloss", tendon.frictionloss}});
  }
  Json equalities = Json::array();
  for (const Equality& equality : model.equalities) {
    equalities.push_back({{"name", equality.name},
                          {"type", kEqualityTypes[static_cast<std::size_t>(equality.type)]},
                          {"between", Json::array({end_name(model, equality, equality.ends[0].id),
                                                   end_name(model, equality, equality.ends[1].id)})}});
  }
  Json pairs = Json::array();
  for (const GeomPair& pair : model.pairs) pairs.push_back(Json::array({pair.first.name, pair.second.name}));
  return {{"na", model.na},
          {"actuators", actuators_json(model)},
          {"tendons", std::move(tendons)},
          {"equalities", std::move(equalities)},
          {"pair_names", std::move(pairs)}};
}

}  // namespace cgpo
