// What tasks in Python need to know while they are traced: the words of a robot.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <regex>

#include "cgpo/base/error.hpp"
#include "cgpo/graph/differentiate.hpp"
#include "cgpo/graph/evaluate.hpp"
#include "cgpo/graph/lower.hpp"
#include "cgpo/taskfile/robot_words.hpp"
#include "cgpo/taskfile/task_file.hpp"
#include "cgpo/tasks/registry.hpp"

#include "bindings.hpp"

namespace cgpo::python {
namespace {

std::shared_ptr<const Task> task_named(const std::string& word) {
  if (!is_task_file(word)) return standard_task(word);
  const TaskEntry entry = TaskFile::read(word)->entry();
  return entry.make(TaskOptions(entry.options));
}

// Runs it; what it throws loses the place in an expression that no user wrote.
template <class Ask>
auto without_place(const Ask& ask) {
  try {
    return ask();
  } catch (const UserError& error) {
    static const std::regex kPlace("^expression:[0-9]+:[0-9]+: ");
    throw UserError("{}", std::regex_replace(std::string(error.what()), kPlace, ""));
  }
}

// A robot, by a task file of its own.
class Words {
 public:
  Words(const std::string& text, const std::string& file) : words_(made(text, file)) {}

  std::string describe_json() const { return json_text(words_.describe()); }
  std::optional<int> size(const std::string& expression, bool with_action) const {
    return without_place([&] { return words_.size(expression, with_action); });
  }
  std::pair<std::vector<double>, bool> value(const std::string& expression, std::vector<double> qpos,
                                             std::vector<double> qvel, std::vector<double> activation,
                                             std::vector<double> action, std::vector<double> previous_action,
                                             double time) const {
    const RobotMoment at{.qpos = std::move(qpos),
                         .qvel = std::move(qvel),
                         .activation = std::move(activation),
                         .action = std::move(action),
                         .previous_action = std::move(previous_action),
                         .time = time};
    RobotWords::Value value = without_place([&] { return words_.value(expression, at); });
    return {std::move(value.numbers), value.is_vector};
  }

 private:
  static std::shared_ptr<const Task> made(const std::string& text, const std::string& file) {
    const TaskEntry entry = TaskFile::parse(text, file)->entry();
    return entry.make(TaskOptions(entry.options));
  }

  RobotWords words_;
};

// A task in plain numbers, one environment by itself: what the module's tests compare.
class Probe {
 public:
  explicit Probe(const std::string& word) : task_(task_named(word)) {
    observe_ = task_->trace_observation();
    result_ = is_whole() ? task_->trace_step() : task_->trace_outcome();
    if (!is_whole()) substep_ = task_->trace_substep();
    ReverseRequest request;
    const StepLayout layout = task_->layout();
    for (int output = layout.reward(); output < layout.size(); ++output) request.seeds.push_back({output});
    for (int input = 0; input < std::ssize(result_.inputs()); ++input) request.wrt.push_back(input);
    gradient_ = differentiate(result_, request);
  }

  // Operations of the observation and of what follows from a step, as they are compiled.
  std::pair<int, int> operations() const {
    const auto count = [](const Graph& graph) { return prepare(graph, Precision::kFloat).count_operations(); };
    return {count(observe_), count(result_)};
  }
  std::vector<double> reset(std::uint64_t seed, std::uint32_t stream) const {
    std::vector<double> state(static_cast<std::size_t>(task_->spec().states));
    RandomStream random(seed, Purpose::kTest, 0, stream);
    task_->reset(random, state);
    return state;
  }
  std::vector<double> observe(const std::vector<double>& state) const {
    check_size("state", state, task_->spec().states);
    return evaluate(observe_, state);
  }
  // Next state, observation, reward, reward_paper, end, costs.
  std::vector<double> step(const std::vector<double>& state, const std::vector<double>& action) const {
    return evaluate(result_, inputs_of(state, action));
  }
  // Of reward, reward_paper, end and each cost, with respect to all that they follow from.
  std::vector<double> gradient(const std::vector<double>& state, const std::vector<double>& action) const {
    std::vector<double> inputs = inputs_of(state, action);
    inputs.resize(gradient_.inputs().size(), 1.0);
    return evaluate(gradient_, inputs);
  }

 private:
  std::vector<double> inputs_of(const std::vector<double>& state, const std::vector<double>& action) const {
    check_size("state", state, task_->spec().states);
    check_size("action", action, task_->spec().actions);
    std::vector<double> inputs = joined(state, action);
    if (!is_whole()) {
      std::vector<double> now = inputs;
      for (int i = 0; i < task_->spec().substeps; ++i) now = evaluate(substep_, now);
      inputs.insert(inputs.end(), now.begin(), now.begin() + task_->spec().states);
    }
    return inputs;
  }
  bool is_whole() const { return std::holds_alternative<WholeStep>(task_->dynamics()); }
  static std::vector<double> joined(std::vector<double> a, const std::vector<double>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }
  static void check_size(const char* name, const std::vector<double>& given, int size) {
    if (std::ssize(given) != size) throw UserError("{} has {} numbers, not {}", name, size, given.size());
  }

  std::shared_ptr<const Task> task_;
  Graph observe_, result_, substep_, gradient_;
};

}  // namespace

void bind_tracing(nb::module_& module) {
  module.def(
      "whole_task_file",
      [](const std::string& text, const std::string& name) { return TaskFile::parse(text, name + ".toml")->text(); },
      nb::arg("text"), nb::arg("name"), "The same task as a text that needs no other file but meshes and pictures.");
  nb::class_<Words>(module, "RobotWords", "What can be said of a robot.")
      .def(nb::init<const std::string&, const std::string&>(), nb::arg("text"), nb::arg("file"))
      .def("describe_json", &Words::describe_json, "Sizes, names, ranges, and what can be asked.")
      .def("size", &Words::size, nb::arg("expression"), nb::arg("with_action"),
           "How many numbers it gives; None: one, which is no vector.")
      .def("value", &Words::value, nb::arg("expression"), nb::arg("qpos"), nb::arg("qvel"), nb::arg("activation"),
           nb::arg("action"), nb::arg("previous_action"), nb::arg("time"),
           "The numbers, and whether they are a vector.");
  nb::class_<Probe>(module, "Probe", "A task in plain numbers.")
      .def(nb::init<const std::string&>(), nb::arg("task"))
      .def("operations", &Probe::operations, "Operations of (the observation, what follows from a step).")
      .def("reset", &Probe::reset, nb::arg("seed"), nb::arg("stream"), "A start state.")
      .def("observe", &Probe::observe, nb::arg("state"), "What is seen of a state.")
      .def("gradient", &Probe::gradient, nb::arg("state"), nb::arg("action"),
           "Of reward, reward_paper, end and each cost, with respect to state, action and what follows from them.")
      .def("step", &Probe::step, nb::arg("state"), nb::arg("action"),
           "Next state, observation, reward, reward_paper, end, costs, one after the other.");
}

}  // namespace cgpo::python
