#include "cgpo/taskfile/robot_words.hpp"

#include <fmt/format.h>

#include "cgpo/base/error.hpp"
#include "cgpo/graph/evaluate.hpp"
#include "cgpo/taskfile/quantities.hpp"

namespace cgpo {
namespace {

// Of a text that stands in no file.
Expression parse_alone(const std::string& text) {
  SourceText source{"expression", text, {}};
  for (int column = 1; column <= static_cast<int>(text.size()) + 1; ++column) source.spots.push_back({1, column});
  return parse_expression(std::move(source));
}

Vocabulary words_of(const Task& task) {
  const Robot& robot = *task.find_robot();
  Vocabulary words;
  words.robot = &robot;
  words.period = robot.period();
  words.substeps = robot.substeps;
  words.horizon = task.spec().horizon;
  return words;
}

// The inputs of a graph as they come.
class Inputs {
 public:
  explicit Inputs(Graph& graph) : graph_(graph) {}
  std::vector<Traced> take(const std::vector<double>& values) {
    numbers_.insert(numbers_.end(), values.begin(), values.end());
    return trace_inputs(graph_, static_cast<int>(values.size()));
  }
  const std::vector<double>& numbers() const { return numbers_; }

 private:
  Graph& graph_;
  std::vector<double> numbers_;
};

Moment moment_at(const Vocabulary& words, const RobotMoment& at, Inputs& inputs) {
  const Model& model = *words.robot->model;
  const auto check = [](const char* name, const std::vector<double>& given, int size) {
    if (std::ssize(given) != size) throw UserError("{} has {} numbers, not {}", name, size, given.size());
  };
  const int actions = static_cast<int>(model.actuators.size());
  check("qpos", at.qpos, model.nq);
  check("qvel", at.qvel, model.nv);
  if (!at.activation.empty()) check("activation", at.activation, model.na);
  if (!at.action.empty()) check("action", at.action, actions);
  if (!at.previous_action.empty()) check("previous_action", at.previous_action, actions);
  Moment moment(words, at.action.empty() ? "in an observation, or before a step" : "after a step");
  moment.q = inputs.take(at.qpos);
  moment.v = inputs.take(at.qvel);
  const std::vector<double> rest(static_cast<std::size_t>(model.na), 0.0);
  moment.activation = inputs.take(at.activation.empty() ? rest : at.activation);
  if (!at.action.empty()) moment.action = Numbers::several(inputs.take(at.action));
  const std::vector<double> idle(static_cast<std::size_t>(actions), 0.0);
  moment.previous_action = Numbers::several(inputs.take(at.previous_action.empty() ? idle : at.previous_action));
  moment.clock = inputs.take({at.time / words.dt()}).front();
  return moment;
}

Json listed(const std::vector<std::string>& names) {
  Json list = Json::array();
  for (const std::string& name : names) {
    if (!name.empty()) list.push_back(name);
  }
  return list;
}

Json bounds(bool limited, double lower, double upper) { return limited ? Json::array({lower, upper}) : Json(nullptr); }

}  // namespace

RobotWords::RobotWords(std::shared_ptr<const Task> task) : task_(std::move(task)) {
  check(task_->find_robot() != nullptr, "a task without a robot has no words of one");
}

Json RobotWords::describe() const {
  const Model& model = *task_->find_robot()->model;
  Json result = {{"nq", model.nq},
                 {"nv", model.nv},
                 {"nu", model.actuators.size()},
                 {"na", model.na},
                 {"timestep", model.timestep},
                 {"qpos0", model.q0}};
  for (const ThingRow& thing : thing_rows()) {
    Json members = Json::object();
    for (const MemberRow& row : member_rows()) {
      if (row.kind == thing.kind) members[std::string(row.member)] = row.meaning;
    }
    result["things"][std::string(thing.word)] = {{"names", thing.named ? listed(thing.names(model)) : Json::array()},
                                                 {"named", thing.named},
                                                 {"members", members}};
  }
  for (const NameRow& row : name_rows()) result["names"][std::string(row.name)] = row.meaning;
  for (const Joint& joint : model.joints) {
    if (!joint.name.empty()) result["joint_ranges"][joint.name] = bounds(joint.limited, joint.lower, joint.upper);
  }
  for (const Actuator& actuator : model.actuators) {
    if (actuator.name.empty()) continue;
    result["actuator_ranges"][actuator.name] =
        bounds(actuator.control_limited, actuator.control_lower, actuator.control_upper);
  }
  return result;
}

std::optional<int> RobotWords::size(const std::string& expression, bool with_action) const {
  const Model& model = *task_->find_robot()->model;
  RobotMoment at{.qpos = model.q0, .qvel = std::vector<double>(static_cast<std::size_t>(model.nv), 0.0)};
  if (with_action) at.action.resize(model.actuators.size(), 0.0);
  const Vocabulary words = words_of(*task_);
  Graph graph;
  Inputs inputs(graph);
  Moment moment = moment_at(words, at, inputs);
  const Numbers numbers = evaluate(parse_alone(expression), moment);
  return numbers.is_vector ? std::optional<int>(numbers.size()) : std::nullopt;
}

RobotWords::Value RobotWords::value(const std::string& expression, const RobotMoment& at) const {
  const Vocabulary words = words_of(*task_);
  Graph graph;
  Inputs inputs(graph);
  Moment moment = moment_at(words, at, inputs);
  const Numbers numbers = evaluate(parse_alone(expression), moment);
  trace_outputs(graph, numbers.at);
  return {cgpo::evaluate(graph, inputs.numbers()), numbers.is_vector};
}

}  // namespace cgpo
