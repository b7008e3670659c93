// A task: what an environment is, from its start to its rewards and costs.
//
// To define one, write a class with these members (toys/function.cpp is the smallest example) and hand it to make_task():
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

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cgpo/base/random.hpp"
#include "cgpo/graph/traced.hpp"

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
  // Configuration keys that this task sets, with TOML values: what its physics or the paper's table demands.
  std::vector<std::pair<std::string, std::string>> defaults = {};
  // And those of the paper's own table, for --preset paper.
  std::vector<std::pair<std::string, std::string>> paper = {};
};

// Where in a batch a start state belongs: lets a task spread its start states evenly over the batch, so that the
// batch's means vary less. Taken by itself every environment's start must still have the task's distribution.
struct BatchPlace {
  int environment = 0;
  int environments = 1;
  RandomStream common;  // gives all environments of the batch the same numbers, another batch others
};

template <class S>
struct StepResult {
  std::vector<S> state;     // after the step
  S reward = S(0.0);        // what is optimised
  S reward_paper = S(0.0);  // the paper's formula, reported beside it
  std::vector<S> costs;     // in the order of the spec
  S ended = S(0.0);         // 1 if the episode ends with this step
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

// A simulator that steps one environment at a time and gives no derivative. It may keep working memory: each thread
// uses its own, and a step depends on nothing but its arguments.
class BlackBox {
 public:
  virtual ~BlackBox() = default;
  // false: the simulator found the state bad; `next` is then not to be used.
  virtual bool step(std::span<const double> state, std::span<const double> action, std::span<double> next) = 0;
};

struct Robot;
class OutsideEnvironments;

class Task {
 public:
  explicit Task(TaskSpec spec) : spec_(std::move(spec)) {}
  virtual ~Task() = default;

  const TaskSpec& spec() const { return spec_; }
  StepLayout layout() const { return {spec_.states, spec_.observations, static_cast<int>(spec_.costs.size())}; }
  int cost_index(const std::string& name) const;  // throws UserError, naming those there are

  // A start state: one by itself, or that of one environment in a batch. UserError if the task gives no finite numbers.
  virtual void reset(RandomStream& random, std::span<double> state) const = 0;
  virtual void reset_in_batch(RandomStream& random, const BatchPlace& place, std::span<double> state) const = 0;
  // (state, action) → StepLayout; the observation is the one after the step. Not of a black box.
  virtual Graph trace_step() const = 0;
  // state → observation.
  virtual Graph trace_observation() const = 0;

  // A task whose step is a substep taken spec().substeps times: (state, action) → (next state, action). The action is
  // handed on, so that one sweep of adjoints after the other adds up what belongs to it.
  virtual bool has_substep() const { return false; }
  virtual Graph trace_substep() const { return Graph(); }
  // A task whose step is not a graph makes its simulator here.
  virtual bool is_black_box() const { return false; }
  virtual std::unique_ptr<BlackBox> make_black_box() const { return nullptr; }
  // A task that is simulated outside (outside.hpp): its environments.
  virtual OutsideEnvironments* find_outside() const { return nullptr; }
  // The robot behind the task, if there is one.
  virtual const Robot* find_robot() const { return nullptr; }
  // Of both kinds, what follows from a step: (state, action, next state) → StepLayout.
  virtual Graph trace_outcome() const { return Graph(); }

 private:
  TaskSpec spec_;
};

void check_start(const TaskSpec& spec, std::span<const double> state);
void check_step_sizes(const TaskSpec& spec, std::size_t states, std::size_t costs);
// Makes a step's results the outputs of its graph, in the order of StepLayout.
void trace_step_outputs(Graph& graph, const TaskSpec& spec, const StepResult<Traced>& result,
                        std::span<const Traced> observation);

// Either form of a definition's reset.
template <class Definition>
void draw_start(const Definition& definition, RandomStream& random, const BatchPlace& place, std::span<double> state) {
  if constexpr (requires { definition.reset(random, place, state); }) {
    definition.reset(random, place, state);
  } else {
    definition.reset(random, state);
  }
}

template <class Definition>
class TracedTask final : public Task {
 public:
  explicit TracedTask(Definition definition) : Task(definition.spec()), definition_(std::move(definition)) {}

  void reset(RandomStream& random, std::span<double> state) const override {
    definition_.reset(random, state);
    check_start(spec(), state);
  }
  void reset_in_batch(RandomStream& random, const BatchPlace& place, std::span<double> state) const override {
    draw_start(definition_, random, place, state);
    check_start(spec(), state);
  }

  Graph trace_step() const override {
    Graph graph;
    const std::vector<Traced> state = trace_inputs(graph, spec().states);
    const std::vector<Traced> action = trace_inputs(graph, spec().actions);
    const StepResult<Traced> result =
        definition_.template step<Traced>(std::span<const Traced>(state), std::span<const Traced>(action));
    std::vector<Traced> observation(static_cast<std::size_t>(spec().observations));
    definition_.template observe<Traced>(std::span<const Traced>(result.state), std::span<Traced>(observation));
    trace_step_outputs(graph, spec(), result, observation);
    return graph;
  }

  Graph trace_observation() const override {
    Graph graph;
    const std::vector<Traced> state = trace_inputs(graph, spec().states);
    std::vector<Traced> observation(static_cast<std::size_t>(spec().observations));
    definition_.template observe<Traced>(std::span<const Traced>(state), std::span<Traced>(observation));
    trace_outputs(graph, observation);
    return graph;
  }

  const Definition& definition() const { return definition_; }

 private:
  Definition definition_;
};

template <class Definition>
std::shared_ptr<const Task> make_task(Definition definition) {
  return std::make_shared<TracedTask<Definition>>(std::move(definition));
}

}  // namespace cgpo
