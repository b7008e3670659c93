// A task: what an environment is, from its start to its rewards and costs.
//
// To define one, write a class with these members (toys/function.cpp is the smallest example) and hand it to
// make_task():
//
//   TaskSpec spec() const;
//   void reset(RandomStream& random, std::span<double> state) const;         // one start state, of finite numbers
//   template <class S> void observe(std::span<const S> state, std::span<S> observation) const;
//   template <class S> StepResult<S> step(std::span<const S> state, std::span<const S> action) const;
//
// observe and step are run once with a traced scalar and become graphs: no if on a value (use select), no loop whose
// length depends on one. Actions come from the policy, in (−1, 1).
//
// A task may also have a second form of reset, which is then used for the environments of a batch:
//
//   void reset(RandomStream& random, const BatchPlace& place, std::span<double> state) const;
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cgpo/base/random.hpp"
#include "cgpo/tasks/dynamics.hpp"

namespace cgpo {

struct CostSpec {
  std::string name;
  double limit = 0.0;        // J_C ≤ limit, unless the configuration says otherwise
  bool stops_at_end = true;  // whether the cost stops counting when the episode ends early
  bool standard = true;      // whether it is a constraint unless the configuration chooses
  std::string meaning = {};
};

struct TaskSpec {
  std::string name;
  std::string summary;
  int states = 0;
  int observations = 0;
  int actions = 0;
  int horizon = 0;   // T, environment steps of an episode
  int substeps = 1;  // physics steps of an environment step
  double dt = 0.0;   // seconds of a substep; 0: the task has no clock
  std::vector<CostSpec> costs;
  bool reward_stops_at_end = true;
  bool differentiable = true;
  bool lattice_starts = false;    // reset_in_batch spreads starts as standard_error_of_lattice (base/statistics) says
  double divergence_bound = 1e6;  // an environment with a larger |state| has diverged
  // Elements of the robot that the task leaves out because the engine does not know them, and what else to beware of.
  std::vector<std::string> unsupported = {};
  std::vector<std::string> warnings = {};
  // What a state's own numbers are called, those behind a robot's [q, v, activations]; empty or left out: no name.
  std::vector<std::string> state_names = {};
  // Keys of a configuration that a task of one's own sets, with TOML values; the program's own tasks have theirs in
  // config/defaults.toml.
  std::vector<std::pair<std::string, std::string>> defaults = {};
};

// Where in a batch a start state belongs: lets a task spread its start states evenly over the batch, so that the
// batch's means vary less. Taken by itself every environment's start must still have the task's distribution.
struct BatchPlace {
  int environment = 0;
  int environments = 1;
  RandomStream common;  // gives all environments of the batch the same numbers, another batch others
};

// Where each part of a step stands among the outputs of its graph. Inputs are state, then action.
struct StepLayout {
  int states = 0;
  int observations = 0;
  int costs = 0;

  int state() const { return 0; }
  int observation() const { return states; }
  int reward() const { return states + observations; }
  int reward_paper() const { return reward() + 1; }
  int ended() const { return reward() + 2; }
  int cost(int i) const { return reward() + 3 + i; }
  int size() const { return reward() + 3 + costs; }
};

struct Robot;

class Task;

// What a task is made of. make_task() and its like (robots/robot.hpp, outside/environment.hpp) fill it from a class.
struct TaskParts {
  TaskSpec spec;
  std::function<void(RandomStream& random, std::span<double> state)> reset;
  std::function<void(RandomStream& random, const BatchPlace& place, std::span<double> state)> reset_in_batch;
  std::function<void(TracedSpan state, std::span<Traced> observation)> observe;
  TaskDynamics dynamics;
  std::shared_ptr<const Robot> robot = nullptr;  // that is simulated, if it is one
  // Of OutsideStep, tasks in Substeps with the same states that do nearly the same: a twin, whose derivative, taken at
  // the engine's states and actions, stands for the one that the engine has not; and one to learn on first.
  std::shared_ptr<const Task> twin = nullptr;
  std::shared_ptr<const Task> prelude = nullptr;
};

// The task of these parts, but for how it moves: by these substeps, so many of them.
std::shared_ptr<const Task> moved_by(Substeps dynamics, int substeps, const TaskParts& parts);

class Task final {
 public:
  explicit Task(TaskParts parts) : parts_(std::move(parts)) {}

  const TaskSpec& spec() const { return parts_.spec; }
  const TaskDynamics& dynamics() const { return parts_.dynamics; }
  const Robot* find_robot() const { return parts_.robot.get(); }                 // null: there is none
  const std::shared_ptr<const Task>& twin() const { return parts_.twin; }        // same
  const std::shared_ptr<const Task>& prelude() const { return parts_.prelude; }  // same
  // Whether its environments keep their states to themselves: then each is begun and stepped by number, and there are
  // no more of them than somebody asks for.
  bool has_environments_outside() const;
  std::span<const StepParameter> parameters() const;  // of its substeps; none, if it has none
  StepLayout layout() const { return {spec().states, spec().observations, static_cast<int>(spec().costs.size())}; }
  int cost_index(const std::string& name) const;  // throws UserError, naming those there are

  // A start state: one by itself, or that of one environment in a batch. UserError if the task gives no finite numbers.
  void reset(RandomStream& random, std::span<double> state) const;
  void reset_in_batch(RandomStream& random, const BatchPlace& place, std::span<double> state) const;

  // state → observation.
  Graph trace_observation() const;
  // (state, action) → StepLayout; the observation is the one after the step. Only of a task that is ours.
  Graph trace_step() const;
  // (state, action, parameters) → (next state, action), of Substeps. The action is handed on, so that one sweep of
  // adjoints after the other adds up what belongs to it.
  Graph trace_substep() const;
  // (state, action, next state) → StepLayout, of Substeps and OutsideStep.
  Graph trace_outcome() const;

 private:
  std::vector<Traced> observe(TracedSpan state) const;
  void trace_result(Graph& graph, const StepResult<Traced>& result) const;

  TaskParts parts_;
};

void check_start(const TaskSpec& spec, std::span<const double> state);

// The spec of a definition, and how it begins: either form of reset.
template <class Definition>
TaskParts begin_task(const std::shared_ptr<const Definition>& definition) {
  TaskParts parts;
  parts.spec = definition->spec();
  parts.reset = [definition](RandomStream& random, std::span<double> state) { definition->reset(random, state); };
  parts.reset_in_batch = [definition](RandomStream& random, [[maybe_unused]] const BatchPlace& place,
                                      std::span<double> state) {
    if constexpr (requires { definition->reset(random, place, state); }) {
      definition->reset(random, place, state);
    } else {
      definition->reset(random, state);
    }
  };
  return parts;
}

template <class Definition>
std::shared_ptr<const Task> make_task(Definition definition) {
  const auto kept = std::make_shared<const Definition>(std::move(definition));
  TaskParts parts = begin_task(kept);
  parts.observe = [kept](TracedSpan state, std::span<Traced> observation) {
    kept->template observe<Traced>(state, observation);
  };
  parts.dynamics =
      WholeStep{[kept](TracedSpan state, TracedSpan action) { return kept->template step<Traced>(state, action); }};
  return std::make_shared<const Task>(std::move(parts));
}

}  // namespace cgpo
