// How a task gets from one state to the next: all the kinds that there are, as types. make_simulator() has a simulator
// for each of them; a kind without one does not compile.
//
// What is traced and compiled here is ours; every simulator that is not is "outside".
//   WholeStep            ours: the step is one graph
//   Substeps             ours: a small step taken several times, and what follows from it
//   OutsideStep          an engine outside takes a state and gives the next one, as mj_step does, or a simulator
//                        outside shows its states; the rest is ours
//   OutsideEnvironments  a simulator outside that keeps its states to itself and shows observations: objects of class
//                        Environment (outside/environment.hpp), or a program (outside/process.hpp, task `external`)
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "cgpo/base/random.hpp"
#include "cgpo/graph/traced.hpp"

namespace cgpo {

template <class S>
struct StepResult {
  std::vector<S> state;     // after the step
  S reward = S(0.0);        // what is optimised
  S reward_paper = S(0.0);  // the paper's formula, reported beside it
  std::vector<S> costs;     // in the order of the spec
  S ended = S(0.0);         // 1 if the episode ends with this step
};

using TracedSpan = std::span<const Traced>;
// What follows from (state, action, next state); the result's own state stays empty.
using TracedOutcome = std::function<StepResult<Traced>(TracedSpan, TracedSpan, TracedSpan)>;

struct WholeStep {
  std::function<StepResult<Traced>(TracedSpan state, TracedSpan action)> step;
};

// A positive number that substeps depend on, found by what an engine outside does (updates/twin_fit.hpp).
struct StepParameter {
  std::string name;
  double standard = 1.0;
};

struct Substeps {
  // The next state.
  std::function<std::vector<Traced>(TracedSpan state, TracedSpan action, TracedSpan parameters)> substep;
  TracedOutcome outcome;
  std::vector<StepParameter> parameters = {};  // further inputs of a substep; none: all of it is fixed
};

// It may keep working memory: each thread uses its own, and a step depends on nothing but its arguments.
class OutsideEngine {
 public:
  virtual ~OutsideEngine() = default;
  // false: the engine found the state bad; `next` is then not to be used.
  virtual bool step(std::span<const double> state, std::span<const double> action, std::span<double> next) = 0;
};

// As many environments as are asked for, by number. Numbers of one environment follow each other: threads may call for
// different environments at once.
class OutsideEnvironments {
 public:
  virtual ~OutsideEnvironments() = default;
  // Whether calls of several threads go on side by side, and not one after the other.
  virtual bool in_parallel() const { return false; }
  // Environments first, first + 1, … begin new episodes. observations: [count × observations], one after the other.
  virtual void reset(int first, std::span<const std::uint64_t> seeds, std::span<double> observations) = 0;
  // actions: [count × actions]; results: [count × (observations, reward, costs, ended)]. An environment whose episode
  // has ended is stepped on until the next reset; its results are not looked at, unless a signal goes on after the end.
  virtual void step(int first, int count, std::span<const double> actions, std::span<double> results) = 0;
};

// Environments outside that show their states, or the first entries of them, in place of observations: so what follows
// from a step is ours. They cannot be set to a state, so an episode is begun and then stepped in its order.
struct OutsideStates {
  std::shared_ptr<OutsideEnvironments> environments;
  int shown = 0;                                                                              // entries
  std::function<void(int environment, RandomStream& random, std::span<double> state)> begin;  // an episode
  // Fills in what is not shown of the next state, which is as it was before the step; null: it stays so.
  std::function<void(std::span<const double> state, std::span<const double> action, std::span<double> next)> complete =
      nullptr;
};

struct OutsideStep {
  std::function<std::unique_ptr<OutsideEngine>()> make;  // null: `states` move
  TracedOutcome outcome;
  std::optional<OutsideStates> states = std::nullopt;
};

using TaskDynamics = std::variant<WholeStep, Substeps, OutsideStep, std::shared_ptr<OutsideEnvironments>>;

}  // namespace cgpo
