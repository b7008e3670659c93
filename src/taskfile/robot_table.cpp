#include "cgpo/taskfile/robot_table.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <utility>

namespace cgpo {
namespace {

constexpr double kHuge = 1e9;

GivenNumbers read_numbers(const TableReader& robot, const char* key, const std::vector<std::string>& known) {
  GivenNumbers given;
  const toml::table* const table = robot.table(key);
  if (table == nullptr) return given;
  const TableReader reader(robot.document(), *table, fmt::format("[robot.{}]", key), known);
  for (const std::string& name : known) {
    const bool may_be_zero = name == "slip_lift";
    const double high = may_be_zero ? 1.0 : kHuge;
    if (const auto number = reader.number(name.c_str(), may_be_zero ? 0.0 : 1e-6, high)) given[name] = *number;
  }
  return given;
}

std::optional<Range> read_range(const TableReader& reader, const char* key) {
  const toml::node* const range = reader.raw().get(key);
  if (range == nullptr) return std::nullopt;
  const toml::array* const pair = range->as_array();
  const auto bound = [&](std::size_t i) {
    return pair != nullptr && pair->size() == 2 && (*pair)[i].is_number() ? (*pair)[i].value<double>() : std::nullopt;
  };
  const auto low = bound(0);
  const auto high = bound(1);
  if (!low || !high || !(*low < *high) || !std::isfinite(*low) || !std::isfinite(*high)) {
    reader.fail(reader.spot(key), fmt::format("{} is [low, high], two numbers of which the first is the smaller", key));
  }
  return Range{*low, *high};
}

ActuatorRequest read_actuator(const Document& document, const toml::table& table) {
  const TableReader reader(document, table, "[[robot.actuators]]",
                           {"kind", "joint", "name", "gear", "kp", "kv", "timeconst", "range", "force_range"});
  ActuatorRequest request;
  request.kind = reader.text("kind", "motor");
  request.joint = reader.text("joint");
  request.spot = reader.spot(reader.has("joint") ? "joint" : "kind");
  const ActuatorKind& kind = find_actuator_kind(request.kind, place_words(document.file(), reader.spot("kind")));
  if (request.joint.empty()) reader.missing("joint", "the name of a joint, or a pattern such as \"*_hip\"");
  request.name = reader.text("name", "*");
  if (request.name.empty())
    reader.fail(reader.spot("name"), "name is what the actuator is called; * is the joint's name");
  request.gear = reader.number("gear", -kHuge, kHuge).value_or(1.0);
  if (request.gear == 0.0) reader.fail(reader.spot("gear"), "gear is 0, so the actuator would do nothing");
  for (const auto& [key, gain] : {std::pair{"kp", &ActuatorRequest::kp}, std::pair{"kv", &ActuatorRequest::kv}}) {
    const auto known = std::find(kind.gains.begin(), kind.gains.end(), key);
    if (known == kind.gains.end() && reader.has(key)) {
      reader.fail(reader.spot(key), fmt::format("{} is not of kind '{}'", key, request.kind));
    }
    if (known != kind.gains.end() && known == kind.gains.begin() && !reader.has(key)) {
      reader.missing(key, fmt::format("the gain of kind '{}'", request.kind));
    }
    request.*gain = reader.number(key, 0.0, kHuge).value_or(0.0);
  }
  if (reader.has("timeconst") && kind.control == Meaning::kSpeed) {
    reader.fail(reader.spot("timeconst"), fmt::format("timeconst is not of kind '{}'", request.kind));
  }
  request.timeconst = reader.number("timeconst", 0.0, kHuge).value_or(0.0);
  request.range = read_range(reader, "range");
  if (request.range && (*request.range)[0] < 0.0 && kind.control == Meaning::kShare) {
    reader.fail(reader.spot("range"), fmt::format("the control of kind '{}' must not be negative", request.kind));
  }
  request.force_range = read_range(reader, "force_range");
  return request;
}

// One number, or one for each actuator.
std::vector<double> read_list(const TableReader& robot, const char* key, double low, double high) {
  const toml::node* const node = robot.raw().get(key);
  if (node == nullptr) return {};
  if (node->is_number()) return {robot.number(key, low, high).value_or(0.0)};
  std::vector<double> list;
  const toml::array* const array = node->as_array();
  for (std::size_t i = 0; array != nullptr && i < array->size(); ++i) {
    const std::optional<double> number =
        (*array)[i].is_number() ? (*array)[i].value<double>() : std::optional<double>();
    if (!number || !(*number >= low && *number <= high)) break;
    list.push_back(*number);
  }
  if (array == nullptr || array->empty() || list.size() != array->size()) {
    robot.fail(robot.spot(key), fmt::format("{} is a number, or a list of one for each actuator", key));
  }
  return list;
}

void read_scale(const TableReader& reader, RobotDefinition& robot) {
  constexpr double kMost = 1000.0;
  const toml::node* const node = reader.raw().get("action_scale");
  if (node == nullptr) return;
  if (node->is_string()) {
    robot.action_range = reader.text("action_scale") == "range";
    if (robot.action_range) return;
    reader.fail(reader.spot("action_scale"),
                "action_scale is a number, a list of one for each actuator, or \"range\": all of each control range");
  }
  std::vector<double> scales = read_list(reader, "action_scale", 0.0, kMost);
  if (node->is_array()) {
    robot.action_scales = std::move(scales);
  } else {
    robot.action_scale = scales.front();
  }
}

}  // namespace

RobotDefinition read_robot(const Document& document, const toml::table& table) {
  const TableReader reader(document, table, "[robot]",
                           {"file", "mjcf", "substeps", "mujoco_substeps", "action_scale", "action_offset", "contact",
                            "limit", "actuators"});
  RobotDefinition robot;
  robot.file = reader.text("file");
  if (reader.has("mjcf")) robot.mjcf = reader.text("mjcf");
  if (reader.has("mjcf") == reader.has("file")) {
    reader.missing("file", "the robot's MJCF file, or its text as mjcf; one of the two");
  }
  robot.spot = reader.spot(robot.mjcf ? "mjcf" : "file");
  robot.substeps = reader.whole("substeps", 1, 1000);
  robot.mujoco_substeps = reader.whole("mujoco_substeps", 1, 1000);
  read_scale(reader, robot);
  robot.action_offset = read_list(reader, "action_offset", -kHuge, kHuge);
  robot.contact = read_numbers(reader, "contact", {"stiffness", "damping", "width", "slip_speed", "slip_lift"});
  robot.limit = read_numbers(reader, "limit", {"stiffness", "damping", "width"});
  for (const toml::table* const actuator : reader.tables("actuators")) {
    robot.actuators.push_back(read_actuator(document, *actuator));
  }
  return robot;
}

}  // namespace cgpo
