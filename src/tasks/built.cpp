#include "cgpo/tasks/built.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace cgpo {
namespace {

// A count of substeps in units that keep it far below the bound of a diverged state, and exact in float.
constexpr double kClockUnit = 1.0 / 1024.0;

// Where in a state the memory stands: behind everything else, the clock first.
struct Memory {
  std::size_t states = 0;
  std::size_t actions = 0;
  bool clock = false;
  bool action = false;

  explicit Memory(const BuiltTask& built)
      : states(static_cast<std::size_t>(built.spec.states)),
        actions(static_cast<std::size_t>(built.spec.actions)),
        clock(built.remembers_clock),
        action(built.remembers_action) {}

  std::size_t size() const { return (clock ? 1 : 0) + (action ? actions : 0); }

  BuiltMoment read(TracedSpan state) const {
    BuiltMoment moment{state.first(states), Traced(0.0), {}};
    if (clock) moment.clock = state[states] * (1.0 / kClockUnit);
    if (action) moment.last_action = state.last(actions);
    return moment;
  }

  // The memory of `state`, after so many substeps with this action, at the end of `next`.
  template <class S>
  void advance(std::span<const S> state, std::span<const S> chosen, double substeps, std::span<S> next) const {
    if (clock) next[states] = state[states] + substeps * kClockUnit;
    if (action) std::copy(chosen.begin(), chosen.end(), next.last(actions).begin());
  }
};

// The memory's, too; its clock counts in a unit of its own, which is no name.
void name_states(const BuiltTask& built, const Memory& memory, std::vector<std::string>& names) {
  std::size_t own = memory.states;
  if (built.robot != nullptr) {
    const Model& model = *built.robot->model;
    own -= static_cast<std::size_t>(model.nq) + static_cast<std::size_t>(model.nv) + static_cast<std::size_t>(model.na);
  }
  names.resize(own + (memory.clock ? 1 : 0));
  for (std::size_t i = 0; memory.action && i < memory.actions; ++i) {
    names.push_back(memory.actions == 1 ? "previous_action" : fmt::format("previous_action[{}]", i));
  }
}

// An engine outside does not know the memory, and hands it on as it was.
class RememberingEngine final : public OutsideEngine {
 public:
  RememberingEngine(std::unique_ptr<OutsideEngine> engine, const Memory& memory, int substeps)
      : engine_(std::move(engine)), memory_(memory), substeps_(substeps) {}

  bool step(std::span<const double> state, std::span<const double> action, std::span<double> next) override {
    const bool good = engine_->step(state, action, next);
    memory_.advance(state, action, substeps_, next);
    return good;
  }

 private:
  std::unique_ptr<OutsideEngine> engine_;
  Memory memory_;
  int substeps_;
};

// substep: what one of ours counts for.
TaskDynamics remembering(TaskDynamics dynamics, const Memory& memory, int substeps, double substep) {
  if (memory.size() == 0) return dynamics;
  if (auto* const own = std::get_if<Substeps>(&dynamics)) {
    own->substep = [inner = own->substep, memory, substep](TracedSpan state, TracedSpan action, TracedSpan parameters) {
      std::vector<Traced> next = inner(state, action, parameters);
      memory.advance(state, action, substep, std::span<Traced>(next));
      return next;
    };
  } else if (auto* const outside = std::get_if<OutsideStep>(&dynamics)) {
    if (outside->states) {
      outside->states->complete = [memory, substeps](std::span<const double> state, std::span<const double> action,
                                                     std::span<double> next) {
        memory.advance(state, action, substeps, next);
      };
      return dynamics;
    }
    outside->make = [make = outside->make, memory, substeps]() -> std::unique_ptr<OutsideEngine> {
      return std::make_unique<RememberingEngine>(make(), memory, substeps);
    };
  }
  return dynamics;
}

void add_dynamics(const std::shared_ptr<const BuiltTask>& built, const Memory& memory, TaskParts& parts) {
  const auto outcome = [built, memory](TracedSpan before, TracedSpan action, TracedSpan after) {
    return built->outcome(memory.read(before), action, memory.read(after));
  };
  if (built->robot != nullptr) {
    add_robot_dynamics(built->robot, outcome, /*smooth=*/nullptr, parts);
    const int substeps = built->robot->substeps;
    parts.dynamics = remembering(parts.dynamics, memory, substeps, 1.0);
    for (std::shared_ptr<const Task>* const other : {&parts.twin, &parts.prelude}) {
      if (*other == nullptr) continue;
      const int own = (*other)->spec().substeps;
      const double share = static_cast<double>(substeps) / own;
      *other = moved_by(std::get<Substeps>(remembering((*other)->dynamics(), memory, own, share)), own, parts);
    }
    return;
  }
  parts.dynamics = WholeStep{[built, memory, outcome](TracedSpan state, TracedSpan action) {
    std::vector<Traced> next = built->advance(memory.read(state), action);
    next.resize(memory.states + memory.size());
    memory.advance(state, action, 1.0, std::span<Traced>(next));
    StepResult<Traced> result = outcome(state, action, next);
    result.state = std::move(next);
    return result;
  }};
}

}  // namespace

std::shared_ptr<const Task> make_built_task(BuiltTask built) {
  const auto kept = std::make_shared<const BuiltTask>(std::move(built));
  const Memory memory(*kept);
  TaskParts parts;
  parts.spec = kept->spec;
  parts.spec.states += static_cast<int>(memory.size());
  name_states(*kept, memory, parts.spec.state_names);
  parts.reset = [kept, memory](RandomStream& random, std::span<double> state) {
    std::fill(state.begin(), state.end(), 0.0);
    kept->reset(random, state.first(memory.states));
  };
  parts.reset_in_batch = [reset = parts.reset](RandomStream& random, const BatchPlace&, std::span<double> state) {
    reset(random, state);
  };
  parts.observe = [kept, memory](TracedSpan state, std::span<Traced> observation) {
    kept->observe(memory.read(state), observation);
  };
  add_dynamics(kept, memory, parts);
  return std::make_shared<const Task>(std::move(parts));
}

}  // namespace cgpo
