#include "cgpo/export/names.hpp"

#include <fmt/format.h>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cgpo/base/index.hpp"
#include "cgpo/tasks/robots/robot.hpp"

namespace cgpo {
namespace {

using Name = std::optional<std::string>;

constexpr std::size_t kLongest = 60;  // letters: what is longer is a formula, and no name

std::string joint_name(const Model& model, int joint) {
  const std::string& name = model.joints[static_cast<std::size_t>(joint)].name;
  return name.empty() ? fmt::format("joint{}", joint) : name;
}

void name_entries(const std::string& name, int first, int count, std::vector<Name>& names) {
  for (int i = 0; i < count; ++i) {
    names[at(first + i)] = count == 1 ? name : fmt::format("{}[{}]", name, i);
  }
}

void name_robot(const Model& model, std::vector<Name>& names) {
  for (int j = 0; j < static_cast<int>(model.joints.size()); ++j) {
    const Joint& joint = model.joints[static_cast<std::size_t>(j)];
    const bool free = joint.type == JointType::kFree;
    const bool ball = joint.type == JointType::kBall;
    name_entries(joint_name(model, j) + ".position", joint.q, free ? 7 : ball ? 4 : 1, names);
    name_entries(joint_name(model, j) + ".velocity", model.nq + joint.v, free ? 6 : ball ? 3 : 1, names);
  }
  for (const Actuator& actuator : model.actuators) {
    if (actuator.activation.index < 0 || actuator.name.empty()) continue;
    name_entries(actuator.name + ".activation", model.nq + model.nv + actuator.activation.index, 1, names);
  }
}

// [q, v, activations, the task's own].
std::vector<Name> state_names(const Task& task) {
  std::vector<Name> names(static_cast<std::size_t>(task.spec().states));
  std::size_t own = 0;
  if (task.find_robot() != nullptr) {
    const Model& model = *task.find_robot()->model;
    name_robot(model, names);
    own = static_cast<std::size_t>(model.nq) + static_cast<std::size_t>(model.nv) + static_cast<std::size_t>(model.na);
  }
  for (const std::string& name : task.spec().state_names) {
    if (own < names.size() && !name.empty()) names[own] = name;
    ++own;
  }
  return names;
}

// What a task computes of its state in a step or two has a name, too.
class Namer {
 public:
  Namer(const Graph& graph, const std::vector<Name>& inputs) : graph_(graph), names_(graph.nodes().size()) {
    for (std::size_t i = 0; i < inputs.size(); ++i) names_[static_cast<std::size_t>(graph.inputs()[i])] = inputs[i];
    // Operands come before their users.
    for (std::size_t id = 0; id < names_.size(); ++id) {
      if (!names_[id]) names_[id] = formula(graph.nodes()[id]);
      if (names_[id] && names_[id]->size() > kLongest) names_[id].reset();
    }
  }

  const Name& operator()(NodeId id) const { return names_[static_cast<std::size_t>(id)]; }

 private:
  // A part of a larger one, in brackets if it has two operands itself.
  Name part(NodeId id) const {
    const Name& name = (*this)(id);
    return name && sign_of(graph_.node(id).op) != 0 ? fmt::format("({})", *name) : name;
  }

  static char sign_of(Op op) {
    for (const auto& [known, sign] :
         {std::pair(Op::kAdd, '+'), std::pair(Op::kSub, '-'), std::pair(Op::kMul, '*'), std::pair(Op::kDiv, '/')}) {
      if (op == known) return sign;
    }
    return 0;
  }

  Name formula(const Node& node) const {
    if (node.op == Op::kConstant) return fmt::format("{:.6g}", node.value);
    if (const char sign = sign_of(node.op); sign != 0) {
      const Name a = part(node.a);
      const Name b = part(node.b);
      return a && b ? Name(fmt::format("{} {} {}", *a, sign, *b)) : Name();
    }
    const OpInfo& info = op_info(node.op);
    if (info.operands != 1 || info.kind == OpKind::kRecord || !(*this)(node.a)) return {};
    return fmt::format("{}({})", info.name, *(*this)(node.a));
  }

  const Graph& graph_;
  std::vector<Name> names_;
};

Json or_null(const Name& name) { return name ? Json(*name) : Json(); }

}  // namespace

Json observation_names(const Task& task) {
  Json list = Json::array();
  if (task.find_robot() == nullptr && task.spec().state_names.empty()) {
    for (int i = 0; i < task.spec().observations; ++i) list.push_back(nullptr);
    return list;
  }
  const Graph graph = task.trace_observation();
  const Namer name(graph, state_names(task));
  for (const NodeId output : graph.outputs())
    list.push_back(graph.is_constant(output) ? Json() : or_null(name(output)));
  return list;
}

ActionNames action_names(const Task& task) {
  ActionNames names{Json::array(), Json::array()};
  for (std::size_t i = 0; i < static_cast<std::size_t>(task.spec().actions); ++i) {
    Name actuator_name;
    Name joint;
    if (task.find_robot() != nullptr) {
      const Model& model = *task.find_robot()->model;
      const Actuator& actuator = model.actuators[i];
      if (!actuator.name.empty()) actuator_name = actuator.name;
      if (actuator.joint >= 0 && (actuator.transmission == TransmissionType::kJoint ||
                                  actuator.transmission == TransmissionType::kJointInParent)) {
        joint = joint_name(model, actuator.joint);
      }
    }
    names.actuators.push_back(or_null(actuator_name));
    names.joints.push_back(or_null(joint));
  }
  return names;
}

}  // namespace cgpo
