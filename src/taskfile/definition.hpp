// Private to this folder: all that a task file says, as plain data.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cgpo/physics/dynamics/contact.hpp"
#include "cgpo/taskfile/actuators.hpp"
#include "cgpo/taskfile/syntax.hpp"
#include "cgpo/tasks/options.hpp"
#include "cgpo/tasks/task.hpp"

namespace cgpo {

// Numbers of the own engine that a file may say; the others are suggested by the robot's weight.
using GivenNumbers = std::map<std::string, double>;

struct RobotDefinition {
  std::string file;                 // as it is written, relative to the task file;
  std::optional<std::string> mjcf;  // or the text itself
  Spot spot;                        // of either, for messages
  std::optional<int> substeps;
  std::optional<int> mujoco_substeps;
  double action_scale = 1.0;
  std::vector<double> action_scales;  // none, or one an actuator
  bool action_range = false;          // "range": all of each actuator's
  std::vector<double> action_offset;  // none, one for all, or one an actuator
  GivenNumbers contact;
  GivenNumbers limit;
  std::vector<ActuatorRequest> actuators;
};

// A program outside that moves the robot, and shows its states.
struct SimulatorDefinition {
  std::string command;  // as the shell takes it; empty: it is given elsewhere
  std::optional<double> timeout;
  Spot spot;  // of the command, for messages
};

// Something by name, in the order of the file.
struct NamedExpression {
  std::string name;
  Expression expression;
  Spot spot;
};

struct ResetDefinition {
  std::optional<Expression> qpos, qvel;
  std::vector<NamedExpression> position, velocity;  // of joints, by name or pattern
  bool lift = false;                                // until no contact point is below its plane
};

struct CostDefinition {
  CostSpec spec;
  Expression expression;
};

struct TaskDefinition {
  std::string file;      // for messages
  bool is_copy = false;  // it needs no other file: [embedded] has what they said
  std::string name;
  std::string summary;
  int horizon = 0;
  double period = 0.0;
  int actions = 0;  // of a task without a robot
  std::optional<RobotDefinition> robot;
  std::optional<SimulatorDefinition> simulator;
  std::vector<TaskOption> options;
  std::vector<NamedExpression> define;
  std::vector<NamedExpression> draws;   // once for a start, which uses them
  std::vector<NamedExpression> states;  // how each begins
  std::vector<NamedExpression> step;
  ResetDefinition reset;
  std::vector<Expression> observation;
  Expression reward;
  std::optional<Expression> reward_paper;
  bool reward_stops_at_end = true;
  std::optional<Expression> end;
  std::vector<CostDefinition> costs;
  std::vector<std::pair<std::string, std::string>> defaults;  // keys with TOML values
};

// A task file's text may hold a robot, and no more than this.
inline constexpr std::size_t kLargestTaskFile = 16U << 20U;

// `stem`: the task's name unless the text says one. Throws UserError with place.
TaskDefinition parse_definition(std::string_view text, const std::string& file, const std::string& stem);

// Whether any expression of the file uses one of these names.
bool mentions(const TaskDefinition& definition, const std::vector<std::string>& names);

// A text in quotes that TOML reads as the same text.
std::string quoted_for_toml(std::string_view text);

}  // namespace cgpo
