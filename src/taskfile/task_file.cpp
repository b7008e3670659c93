#include "cgpo/taskfile/task_file.hpp"

#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cgpo/base/checksum.hpp"
#include "cgpo/base/error.hpp"
#include "cgpo/base/file.hpp"
#include "cgpo/base/text.hpp"
#include "cgpo/taskfile/assemble.hpp"
#include "cgpo/taskfile/functions.hpp"
#include "cgpo/taskfile/mjcf.hpp"
#include "cgpo/taskfile/quantities.hpp"
#include "cgpo/tasks/outside/external.hpp"

namespace cgpo {
namespace {

namespace fs = std::filesystem;

// The robot's text, before actuators are added.
WholeMjcf robot_text(const TaskDefinition& definition, const fs::path& folder) {
  if (definition.robot->mjcf) return {*definition.robot->mjcf, {}};
  const fs::path file = fs::path(definition.robot->file);
  try {
    return read_whole_mjcf(file.is_absolute() ? file : folder / file);
  } catch (const UserError& error) {
    throw UserError("{}: {}", place_words(definition.file, definition.robot->spot), error.what());
  }
}

double given_or(const GivenNumbers& given, const std::string& name, double otherwise) {
  const auto found = given.find(name);
  return found == given.end() ? otherwise : found->second;
}

RobotDefaults robot_defaults(const TaskDefinition& definition, const std::string& mjcf, const Model& model) {
  const RobotDefinition& robot = *definition.robot;
  const int of_file = std::max(1, static_cast<int>(std::lround(definition.period / model.timestep)));
  const PhysicsParameters suggested = suggest_parameters(model);
  RobotDefaults defaults;
  defaults.name = definition.name;
  defaults.xml = mjcf;
  defaults.period = definition.period;
  if (definition.simulator) defaults.engine = Engine::kSimulator;
  defaults.own_substeps = robot.substeps.value_or(std::min(of_file, 1000));
  defaults.mujoco_substeps = robot.mujoco_substeps.value_or(std::min(of_file, 1000));
  defaults.action_scale = robot.action_scale;
  defaults.action_scales = robot.action_scales;
  defaults.action_range = robot.action_range;
  defaults.action_offset = robot.action_offset;
  const ContactParameters& law = suggested.contact;
  const double stiffness = given_or(robot.contact, "stiffness", law.stiffness);
  defaults.contact = {.stiffness = stiffness,
                      .damping = given_or(robot.contact, "damping", stiffness * (law.damping / law.stiffness)),
                      .width = given_or(robot.contact, "width", law.width),
                      .slip_speed = given_or(robot.contact, "slip_speed", law.slip_speed),
                      .slip_lift = given_or(robot.contact, "slip_lift", law.slip_lift)};
  defaults.limit = {.stiffness = given_or(robot.limit, "stiffness", defaults.limit.stiffness),
                    .damping = given_or(robot.limit, "damping", defaults.limit.damping),
                    .width = given_or(robot.limit, "width", defaults.limit.width)};
  return defaults;
}

// What starts the simulator is what the file says, once somebody lets it.
void add_simulator_options(const TaskDefinition& definition, std::vector<TaskOption>& options) {
  for (TaskOption& option : process_options()) {
    if (option.executes) {
      option.said = definition.simulator->command;
      option.said_at = place_words(definition.file, definition.simulator->spot);
    } else if (definition.simulator->timeout) {
      option.standard = *definition.simulator->timeout;
    }
    options.push_back(std::move(option));
  }
}

// What is wrong with an option's name shows only beside those that every robot has.
std::vector<TaskOption> all_options(std::vector<TaskOption> of_robot, const TaskDefinition& definition) {
  static constexpr const char* kOfConfiguration[] = {"name", "definition", "checksum"};
  for (const TaskOption& option : definition.options) {
    bool taken = false;
    for (const char* const name : kOfConfiguration) taken = taken || option.name == name;
    for (const TaskOption& other : of_robot) taken = taken || option.name == other.name;
    if (taken) {
      throw UserError("{}: the option '{}' would be task.{}, which every task of this kind has; choose another name",
                      definition.file, option.name, option.name);
    }
  }
  of_robot.insert(of_robot.end(), definition.options.begin(), definition.options.end());
  return of_robot;
}

// A run's folder holds no binary files of others.
std::vector<std::string> warnings_about(const std::vector<std::string>& needed) {
  if (needed.empty()) return {};
  return {fmt::format("a run's folder does not keep what the robot's file names, so leave it where it is: {}",
                      fmt::join(needed, ", "))};
}

// What the task and its robot are, wherever the text lies.
std::string with_embedded(const std::string& text, const TaskDefinition& definition, const std::string& mjcf) {
  std::string added = fmt::format(
      "\n# Added when the file was kept, so that it needs no other: its name, and the robot with all that it "
      "includes.\n"
      "[embedded]\nname = {}\n",
      quoted_for_toml(definition.name));
  if (definition.robot && !definition.robot->mjcf) {
    if (!is_utf8(mjcf)) {
      throw UserError("{}: '{}' is not UTF-8, and a run could not keep it",
                      place_words(definition.file, definition.robot->spot), definition.robot->file);
    }
    added += fmt::format("robot = {}\n", quoted_for_toml(mjcf));
  }
  return text + added;
}

}  // namespace

std::shared_ptr<const TaskFile> TaskFile::read(const fs::path& path) {
  std::error_code ignored;
  if (fs::exists(path, ignored) && fs::is_other(path, ignored)) throw UserError("'{}' is not a file", path.string());
  return parse(read_file(path), path);
}

std::shared_ptr<const TaskFile> TaskFile::parse(const std::string& text, const fs::path& file) {
  auto result = std::make_shared<TaskFile>();
  const auto definition =
      std::make_shared<const TaskDefinition>(parse_definition(text, file.string(), file.stem().string()));
  result->path_ = file.string();
  std::string robot;
  std::shared_ptr<const RobotDefaults> defaults;
  std::vector<TaskOption> options;
  if (definition->robot) {
    const WholeMjcf mjcf = robot_text(*definition, file.parent_path());
    result->needed_ = mjcf.files;
    robot = mjcf.text;
    const std::string name = definition->robot->mjcf ? definition->name : definition->robot->file;
    const Model bare = load_model_from_text(mjcf.text, name);
    defaults = std::make_shared<const RobotDefaults>(
        robot_defaults(*definition, add_actuators(mjcf.text, bare, definition->robot->actuators, file.string()), bare));
    options = robot_options(*defaults, /*collides=*/!bare.contacts.empty() || !bare.pairs.empty());
    if (definition->simulator) add_simulator_options(*definition, options);
  }
  result->text_ = definition->is_copy ? text : with_embedded(text, *definition, robot);
  result->checksum_ = checksum_text(result->text_);
  result->entry_ = {
      .name = definition->name,
      .options = all_options(std::move(options), *definition),
      .make = [definition, defaults, warnings = warnings_about(result->needed_)](const TaskOptions& chosen) {
        return assemble_task(definition, defaults.get(), warnings, chosen);
      }};
  return result;
}

bool is_task_file(std::string_view task) { return task.ends_with(".toml"); }

std::vector<ReferenceTable> reference_tables() {
  std::vector<ReferenceTable> tables = {{"Operators", "| operator | gives |\n| --- | --- |\n"},
                                        {"Functions", "| function | gives |\n| --- | --- |\n"},
                                        {"Names", "| name | numbers | is |\n| --- | --- | --- |\n"},
                                        {"Things", "| thing | numbers | is |\n| --- | --- | --- |\n"},
                                        {"Actuators", "| kind | gains | is |\n| --- | --- | --- |\n"}};
  for (const OperatorRow& row : operator_rows())
    tables[0].markdown += fmt::format("| `{}` | {} |\n", row.usage, row.meaning);
  for (const FunctionRow& row : function_rows())
    tables[1].markdown += fmt::format("| `{}` | {} |\n", row.usage, row.meaning);
  for (const NameRow& row : name_rows()) {
    tables[2].markdown += fmt::format("| `{}` | {} | {} |\n", row.name, row.size, row.meaning);
  }
  for (const ThingRow& thing : thing_rows()) {
    for (const MemberRow& row : member_rows()) {
      if (row.kind != thing.kind) continue;
      tables[3].markdown += fmt::format("| `{}{}.{}` | {} | {} |\n", thing.word, thing.named ? "('NAME')" : "",
                                        row.member, row.size, row.meaning);
    }
  }
  for (const ActuatorKind& row : actuator_kinds())
    tables[4].markdown += fmt::format("| `{}` | {} | {} |\n", row.kind, fmt::join(row.gains, ", "), row.meaning);
  return tables;
}

}  // namespace cgpo
