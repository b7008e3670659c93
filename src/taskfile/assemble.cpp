#include "cgpo/taskfile/assemble.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cgpo/base/text.hpp"
#include "cgpo/graph/evaluate.hpp"
#include "cgpo/taskfile/moment.hpp"
#include "cgpo/taskfile/quantities.hpp"
#include "cgpo/tasks/built.hpp"
#include "cgpo/tasks/outside/external.hpp"
#include "cgpo/tasks/robots/reach.hpp"
#include "cgpo/tasks/robots/simulated.hpp"

namespace cgpo {
namespace {

constexpr const char* kInOutcome = "after a step";
constexpr const char* kInBefore = "before a step";

// How an environment begins: random numbers in, a state out.
struct Start {
  Graph graph;
  std::vector<bool> normal;
  std::vector<int> sizes;  // of the states, one after the other; 0: it is one number

  std::vector<double> draw(RandomStream& random) const {
    std::vector<double> drawn;
    for (const bool is_normal : normal) drawn.push_back(is_normal ? random.normal() : random.uniform());
    return evaluate(graph, drawn);
  }
};

// A task file's task, with the options that were chosen.
class Assembly {
 public:
  Assembly(std::shared_ptr<const TaskDefinition> definition, std::shared_ptr<const Robot> robot,
           const TaskOptions& options)
      : definition_(std::move(definition)), robot_(std::move(robot)) {
    words_.robot = robot_.get();
    words_.period = robot_ != nullptr ? robot_->period() : definition_->period;
    words_.substeps = robot_ != nullptr ? robot_->substeps : 1;
    words_.horizon = definition_->horizon;
    for (const TaskOption& option : definition_->options) {
      const bool is_flag = std::holds_alternative<bool>(option.standard);
      words_.options[option.name] = is_flag ? (options.flag(option.name) ? 1.0 : 0.0) : options.number(option.name);
    }
    for (const NamedExpression& defined : definition_->define) words_.defined[defined.name] = defined.expression;
    for (const NamedExpression& drawn : definition_->draws) words_.drawn.insert(drawn.name);
    trace_start();
  }

  int own_states() const {
    int sum = 0;
    for (const int size : start_.sizes) sum += std::max(size, 1);
    return sum;
  }

  TaskSpec spec() const {
    TaskSpec spec;
    if (robot_ != nullptr) {
      spec = robot_spec(*robot_, 0, own_states() + robot_->measured.size());
    } else {
      spec.states = own_states();
      spec.actions = definition_->actions;
      spec.dt = definition_->period;
    }
    spec.name = definition_->name;
    spec.summary = definition_->summary;
    spec.horizon = definition_->horizon;
    spec.reward_stops_at_end = definition_->reward_stops_at_end;
    spec.defaults = definition_->defaults;
    for (std::size_t i = 0; i < definition_->states.size(); ++i) {
      const std::string& name = definition_->states[i].name;
      if (start_.sizes[i] == 0) spec.state_names.push_back(name);
      for (int k = 0; k < start_.sizes[i]; ++k) spec.state_names.push_back(fmt::format("{}[{}]", name, k));
    }
    name_measured(spec.state_names);
    for (const CostDefinition& cost : definition_->costs) spec.costs.push_back(cost.spec);
    return spec;
  }

  // All contact forces that the expressions ask for. Throws UserError, with place, where the engine does not say them.
  std::vector<ContactTarget> find_contacts() {
    std::set<ContactTarget> asked;
    asked_ = &asked;
    Graph graph;
    const TaskSpec sizes = spec();
    const std::vector<Traced> state = trace_inputs(graph, sizes.states);
    const std::vector<Traced> action = trace_inputs(graph, sizes.actions);
    const BuiltMoment now{state, Traced(0.0), action};
    observe(now);
    outcome(now, action, now);
    asked_ = nullptr;
    return {asked.begin(), asked.end()};
  }

  void reset(RandomStream& random, std::span<double> state) const {
    const std::vector<double> drawn = start_.draw(random);
    std::copy(drawn.begin(), drawn.end(), state.begin());
    if (robot_ == nullptr) return;
    normalise_quaternions(state);
    if (definition_->reset.lift) lift(state);
  }

  std::vector<Traced> observe(const BuiltMoment& now) const {
    Moment moment = moment_of(now, "in the observation");
    if (!now.last_action.empty())
      moment.previous_action = Numbers::several({now.last_action.begin(), now.last_action.end()});
    std::vector<Traced> all;
    for (const Expression& expression : definition_->observation) {
      const Numbers part = evaluate(expression, moment);
      all.insert(all.end(), part.at.begin(), part.at.end());
    }
    return all;
  }

  std::vector<Traced> advance(const BuiltMoment& before, TracedSpan action) const {
    Moment moment = moment_of(before, "in [step]");
    moment.action = Numbers::several({action.begin(), action.end()});
    set_previous(before, moment);
    std::map<std::string, Numbers> done;
    moment.next = [&](const std::string& state) -> Numbers {
      if (const auto found = done.find(state); found != done.end()) return found->second;
      return done[state] = next_of(state, moment);
    };
    std::vector<Traced> next;
    for (const NamedExpression& state : definition_->states) {
      moment.open.insert("next " + state.name);
      const Numbers value = moment.next(state.name);
      moment.open.erase("next " + state.name);
      next.insert(next.end(), value.at.begin(), value.at.end());
    }
    return next;
  }

  StepResult<Traced> outcome(const BuiltMoment& before, TracedSpan action, const BuiltMoment& after) const {
    Moment earlier = moment_of(before, kInBefore);
    Moment now = moment_of(after, kInOutcome);
    now.before = &earlier;
    now.action = Numbers::several({action.begin(), action.end()});
    set_previous(before, now);
    set_previous(before, earlier);
    StepResult<Traced> result;
    result.reward = evaluate_one(definition_->reward, now, "the reward");
    result.reward_paper =
        definition_->reward_paper ? evaluate_one(*definition_->reward_paper, now, "reward_paper") : result.reward;
    for (const CostDefinition& cost : definition_->costs) {
      result.costs.push_back(evaluate_one(cost.expression, now, fmt::format("cost {}", cost.spec.name)));
    }
    if (definition_->end) {
      result.ended = select(evaluate_one(*definition_->end, now, "the end"), Traced(1.0), Traced(0.0));
    }
    return result;
  }

 private:
  Moment moment_of(const BuiltMoment& built, const std::string& where) const {
    Moment moment(words_, where);
    std::size_t at = 0;
    if (robot_ != nullptr) {
      const RobotState<Traced> state(*robot_->model, built.state);
      moment.q.assign(state.q.begin(), state.q.end());
      moment.v.assign(state.v.begin(), state.v.end());
      moment.activation.assign(state.activation.begin(), state.activation.end());
      at = state.q.size() + state.v.size() + state.activation.size();
    }
    for (std::size_t i = 0; i < definition_->states.size(); ++i) {
      const int size = start_.sizes[i];
      const TracedSpan part = built.state.subspan(at, static_cast<std::size_t>(std::max(size, 1)));
      moment.states[definition_->states[i].name] = {{part.begin(), part.end()}, size > 0};
      at += part.size();
    }
    moment.asked = asked_;
    for (const ContactTarget& target : robot_ != nullptr ? robot_->measured.on : std::vector<ContactTarget>()) {
      std::vector<Traced>& force = moment.measured[target];
      for (const Traced& entry : built.state.subspan(at, 3)) force.push_back(entry * MeasuredContacts::kNewtons);
      at += 3;
    }
    moment.clock = built.clock;
    return moment;
  }

  void name_measured(std::vector<std::string>& names) const {
    if (robot_ == nullptr) return;
    for (const ContactTarget& target : robot_->measured.on) {
      const auto id = static_cast<std::size_t>(target.id);
      const Model& model = *robot_->model;
      for (int k = 0; k < 3; ++k) {
        names.push_back(fmt::format("{}('{}').contact_force[{}]", target.is_geom ? "geom" : "body",
                                    target.is_geom ? model.geoms[id].name : model.bodies[id].name, k));
      }
    }
  }

  static void set_previous(const BuiltMoment& before, Moment& moment) {
    if (before.last_action.empty()) return;
    moment.previous_action = Numbers::several({before.last_action.begin(), before.last_action.end()});
  }

  // A state that no line of [step] names stays as it is.
  Numbers next_of(const std::string& name, Moment& moment) const {
    const Numbers& now = moment.states.at(name);
    const auto line = std::find_if(definition_->step.begin(), definition_->step.end(),
                                   [&](const NamedExpression& step) { return step.name == name; });
    if (line == definition_->step.end()) return now;
    return {evaluate_several(line->expression, moment, now.size(), fmt::format("the state {}", name)), now.is_vector};
  }

  // ---- starts ------------------------------------------------------------------------------------------------------

  void trace_start() {
    Draws draws{&start_.graph, {}};
    Moment moment(words_, "at the start");
    moment.draws = &draws;
    for (const NamedExpression& drawn : definition_->draws) {
      const Numbers value = evaluate(drawn.expression, moment);
      moment.states[drawn.name] = value;  // where names are looked for first; there are no states yet
    }
    if (robot_ != nullptr) trace_pose(moment);
    for (const NamedExpression& state : definition_->states) {
      const Numbers value = evaluate(state.expression, moment);
      start_.sizes.push_back(value.is_vector ? value.size() : 0);
      trace_outputs(start_.graph, value.at);
    }
    start_.normal = std::move(draws.normal);
    for (const NamedExpression& step : definition_->step) check_state_name(step);
  }

  void check_state_name(const NamedExpression& step) const {
    std::vector<std::string> names;
    for (const NamedExpression& state : definition_->states) names.push_back(state.name);
    if (std::find(names.begin(), names.end(), step.name) != names.end()) return;
    SourceText{definition_->file, "", {step.spot}}.fail(
        0, fmt::format("[step] has no state '{}'{}; there are: {}", step.name, did_you_mean(step.name, names),
                       fmt::join(names, ", ")));
  }

  void trace_pose(Moment& moment) {
    const Model& model = *robot_->model;
    const ResetDefinition& reset = definition_->reset;
    std::vector<Traced> q(model.q0.begin(), model.q0.end());
    std::vector<Traced> v(static_cast<std::size_t>(model.nv), Traced(0.0));
    if (reset.qpos) q = evaluate_several(*reset.qpos, moment, model.nq, "qpos");
    if (reset.qvel) v = evaluate_several(*reset.qvel, moment, model.nv, "qvel");
    for (const NamedExpression& line : reset.position) {
      for (const Joint* const joint : joints_like(line)) {
        place(evaluate_several(line.expression, moment, positions_of(*joint), joint->name), joint->q, q);
      }
    }
    for (const NamedExpression& line : reset.velocity) {
      for (const Joint* const joint : joints_like(line)) {
        place(evaluate_several(line.expression, moment, dof_count(*joint), joint->name), joint->v, v);
      }
    }
    trace_outputs(start_.graph, q);
    trace_outputs(start_.graph, v);
    trace_outputs(start_.graph, std::vector<Traced>(static_cast<std::size_t>(model.na), Traced(0.0)));
  }

  static void place(const std::vector<Traced>& values, int first, std::vector<Traced>& all) {
    std::copy(values.begin(), values.end(), all.begin() + first);
  }
  static int positions_of(const Joint& joint) {
    return joint.type == JointType::kFree ? 7 : joint.type == JointType::kBall ? 4 : 1;
  }

  std::vector<const Joint*> joints_like(const NamedExpression& line) const {
    std::vector<const Joint*> found;
    std::vector<std::string> names;
    for (const Joint& joint : robot_->model->joints) {
      if (joint.name.empty()) continue;
      names.push_back(joint.name);
      if (joint.name == line.name || (is_pattern(line.name) && fits(line.name, joint.name))) found.push_back(&joint);
    }
    if (found.empty() && names.empty()) {
      SourceText{definition_->file, "", {line.spot}}.fail(0, "the robot has no joint with a name");
    }
    if (found.empty()) {
      SourceText{definition_->file, "", {line.spot}}.fail(
          0, fmt::format("the robot has no joint {} '{}'{}; it has: {}", is_pattern(line.name) ? "like" : "named",
                         printable(line.name), did_you_mean(line.name, names), fmt::join(names, ", ")));
    }
    return found;
  }

  // Noise on a quaternion changes its length, which the dynamics takes for one.
  void normalise_quaternions(std::span<double> state) const {
    for (const Joint& joint : robot_->model->joints) {
      if (joint.type != JointType::kFree && joint.type != JointType::kBall) continue;
      const int first = joint.q + (joint.type == JointType::kFree ? 3 : 0);
      const std::span<double> quaternion = state.subspan(static_cast<std::size_t>(first), 4);
      const double length = std::sqrt(sum_of_squares(std::span<const double>(quaternion)));
      if (length > 0.0) {
        for (double& x : quaternion) x /= length;
      } else {
        quaternion[0] = 1.0;
      }
    }
  }

  // Each tree with a free joint is raised until none of its contact points is inside the plane below it.
  void lift(std::span<double> state) const {
    const Model& model = *robot_->model;
    const RobotState<double> pose(model, std::span<const double>(state));
    const std::vector<double> depths = contact_depths(model, pose.kinematics());
    for (const Joint& joint : model.joints) {
      if (joint.type != JointType::kFree) continue;
      double deepest = 0.0;
      for (std::size_t i = 0; i < model.contacts.size(); ++i) {
        const ContactPoint& point = model.contacts[i];
        const double rise = point.normal[2];
        if (root_of(point.link) == joint.link && rise > 0.1) deepest = std::max(deepest, depths[i] / rise);
      }
      state[static_cast<std::size_t>(joint.q) + 2] += deepest;
    }
  }
  int root_of(int link) const {
    const std::vector<Link>& links = robot_->model->links;
    while (links[static_cast<std::size_t>(link)].parent >= 0) link = links[static_cast<std::size_t>(link)].parent;
    return link;
  }

  std::shared_ptr<const TaskDefinition> definition_;
  std::shared_ptr<const Robot> robot_;
  Vocabulary words_;
  Start start_;
  std::set<ContactTarget>* asked_ = nullptr;  // while somebody looks for them
};

// Lets the program that the options name move the robot. What it says of rewards and costs is not looked at.
void start_simulator(const TaskDefinition& definition, const TaskOptions& options, int own_states, Robot& robot,
                     std::vector<std::string>& warnings) {
  const std::shared_ptr<OutsideProcess> process =
      start_process(options, fmt::format("{}: [simulator]", definition.file));
  const TaskSpec& said = process->spec();
  move_by(process, said, fmt::format("the simulator `{}`", printable(options.text("command"))), own_states, robot);
  if (said.costs.empty()) return;
  std::vector<std::string> names;
  for (const CostSpec& cost : said.costs) names.push_back(cost.name);
  warnings.push_back(fmt::format("costs are those of the task file, not the simulator's: {}", fmt::join(names, ", ")));
}

// As many numbers as the observation has.
int observation_size(const Assembly& assembly, const TaskSpec& spec) {
  Graph graph;
  const std::vector<Traced> state = trace_inputs(graph, spec.states);
  const std::vector<Traced> action = trace_inputs(graph, spec.actions);
  return static_cast<int>(assembly.observe({state, Traced(0.0), action}).size());
}

}  // namespace

std::shared_ptr<const Task> assemble_task(const std::shared_ptr<const TaskDefinition>& definition,
                                          const RobotDefaults* robot_defaults, const std::vector<std::string>& warnings,
                                          const TaskOptions& options) {
  std::shared_ptr<Robot> robot;
  if (robot_defaults != nullptr) robot = std::make_shared<Robot>(make_robot(*robot_defaults, options));
  const auto assembly = std::make_shared<Assembly>(definition, robot, options);
  if (robot != nullptr && robot->engine != Engine::kOwn) {
    robot->measured = {.first = assembly->own_states(), .on = assembly->find_contacts()};
  }
  BuiltTask built;
  built.spec = assembly->spec();
  built.spec.warnings.insert(built.spec.warnings.end(), warnings.begin(), warnings.end());
  if (robot != nullptr) {
    const std::vector<std::string> reach = reach_warnings(*robot);
    built.spec.warnings.insert(built.spec.warnings.end(), reach.begin(), reach.end());
  }
  if (robot != nullptr && robot->engine == Engine::kSimulator)
    start_simulator(*definition, options, assembly->own_states(), *robot, built.spec.warnings);
  built.spec.observations = observation_size(*assembly, built.spec);
  built.remembers_clock = mentions(*definition, {"time", "step"});
  built.remembers_action = mentions(*definition, {"previous_action"});
  built.robot = robot;
  built.reset = [assembly](RandomStream& random, std::span<double> state) { assembly->reset(random, state); };
  built.observe = [assembly](const BuiltMoment& now, std::span<Traced> observation) {
    const std::vector<Traced> all = assembly->observe(now);
    std::copy(all.begin(), all.end(), observation.begin());
  };
  built.advance = [assembly](const BuiltMoment& before, TracedSpan action) {
    return assembly->advance(before, action);
  };
  built.outcome = [assembly](const BuiltMoment& before, TracedSpan action, const BuiltMoment& after) {
    return assembly->outcome(before, action, after);
  };
  std::shared_ptr<const Task> task = make_built_task(std::move(built));
  // What is wrong with an expression is said now, and not when a simulator is made.
  if (robot != nullptr) {
    task->trace_outcome();
  } else {
    task->trace_step();
  }
  return task;
}

}  // namespace cgpo
