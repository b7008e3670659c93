#include "cgpo/tasks/robots/robot.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/ranges.h>
#include <mutex>

#include "cgpo/physics/dynamics/step.hpp"
#include "cgpo/tasks/robots/leftovers.hpp"
#include "cgpo/tasks/robots/measured.hpp"
#include "cgpo/tasks/robots/reach.hpp"
#include "cgpo/tasks/robots/simulated.hpp"
#include "cgpo/tasks/robots/starts.hpp"

namespace cgpo {
namespace {

class MujocoSteps final : public OutsideEngine {
 public:
  MujocoSteps(std::shared_ptr<const Robot> robot, MujocoEngine engine)
      : kept_(std::move(robot)),
        robot_(*kept_),
        engine_(std::move(engine)),
        control_(static_cast<std::size_t>(engine_.nu())) {}

  bool step(std::span<const double> state, std::span<const double> action, std::span<double> next) override {
    const RobotState<double> before(*robot_.model, state);
    engine_.set_state(before.q, before.v, before.activation);
    for (std::size_t i = 0; i < control_.size(); ++i) control_[i] = robot_.control(i, action[i]);
    begin_with_leftovers(robot_, before.extra, engine_);
    const bool good = engine_.step(control_, robot_.substeps);
    auto end = next.begin();
    for (const std::span<const double> part : {engine_.q(), engine_.v(), engine_.activation(), before.extra}) {
      end = std::copy(part.begin(), part.end(), end);
    }
    if (good) measure(robot_, engine_, next);
    copy_leftovers(robot_, engine_, next);
    return good;
  }

 private:
  std::shared_ptr<const Robot> kept_;
  const Robot& robot_;
  MujocoEngine engine_;
  std::vector<double> control_;
};

// Engines for any number of threads, of a model that is compiled once, when the first of them is made.
std::function<std::unique_ptr<OutsideEngine>()> mujoco_steps_of(const std::shared_ptr<const Robot>& robot) {
  struct Compiled {
    std::mutex mutex;
    std::optional<MujocoEngine> engine;
  };
  return [robot, compiled = std::make_shared<Compiled>()]() -> std::unique_ptr<OutsideEngine> {
    const std::lock_guard lock(compiled->mutex);
    if (!compiled->engine) {
      compiled->engine = make_mujoco_engine(*robot);
      compiled->engine->leave_out_measurements();
    }
    return std::make_unique<MujocoSteps>(robot, compiled->engine->on_same_model());
  };
}

// visit(name, number) of those that a twin is fitted by, as far as the robot has what they are numbers of.
template <class P, class Visit>
void visit_fitted(const Model& model, BasicPhysicsParameters<P>& physics, Visit visit) {
  const auto any = [](const auto& parts, auto has) { return std::any_of(parts.begin(), parts.end(), has); };
  if (any(model.joints, [](const Joint& joint) { return joint.limited || joint.largest_angle != 0.0; }) ||
      any(model.tendons, [](const Tendon& tendon) { return tendon.limited; })) {
    visit("limit_stiffness", physics.limit.stiffness);
    visit("limit_damping", physics.limit.damping);
    visit("limit_width", physics.limit.width);
  }
  if (!model.contacts.empty() || !model.pairs.empty()) {
    visit("contact_stiffness", physics.contact.stiffness);
    visit("contact_damping", physics.contact.damping);
    visit("contact_width", physics.contact.width);
    visit("slip_speed", physics.contact.slip_speed);
    visit("friction_scale", physics.contact.friction_scale);
  }
  if (any(model.joints, [](const Joint& joint) { return joint.armature != 0.0; })) {
    visit("armature_scale", physics.armature_scale);
  }
}

BasicPhysicsParameters<Traced> as_traced(const PhysicsParameters& physics) {
  const ContactParameters& contact = physics.contact;
  return {.timestep = physics.timestep,
          .contact = {contact.stiffness, contact.damping, contact.width, contact.slip_speed, contact.slip_lift,
                      contact.friction_scale},
          .limit = {physics.limit.stiffness, physics.limit.damping, physics.limit.width},
          .friction = physics.friction,
          .armature_scale = physics.armature_scale};
}

// law: of contact forces that are asked for.
template <class P>
std::vector<Traced> own_substep(const Robot& robot, const BasicPhysicsParameters<P>& physics,
                                const ContactParameters& law, TracedSpan state, TracedSpan action) {
  const RobotState<Traced> before(*robot.model, state);
  std::vector<Traced> control;
  for (std::size_t i = 0; i < action.size(); ++i) control.push_back(robot.control(i, action[i]));
  PhysicsState<Traced> after = physics_step(*robot.model, physics,
                                            PhysicsState<Traced>{{before.q.begin(), before.q.end()},
                                                                 {before.v.begin(), before.v.end()},
                                                                 {before.activation.begin(), before.activation.end()}},
                                            TracedSpan(control));
  std::vector<Traced> next = std::move(after.q);
  next.insert(next.end(), after.v.begin(), after.v.end());
  next.insert(next.end(), after.activation.begin(), after.activation.end());
  next.insert(next.end(), before.extra.begin(), before.extra.end());
  follow_measured(robot, law, next);
  follow_leftovers(robot, next);
  return next;
}

// contact: null: nothing collides.
void add_physics(const std::string& section, const char* use, const LimitParameters& limit,
                 const ContactParameters* contact, std::vector<TaskOption>& options) {
  const auto add = [&](const char* name, double standard, const char* help, double low, double high) {
    options.push_back({.name = section + name,
                       .standard = standard,
                       .help = fmt::format("{}; {}", help, use),
                       .low = low,
                       .high = high});
  };
  add("limit_stiffness", limit.stiffness, "of joint limits, per inertia, 1/s²", 1e-6, 1e9);
  add("limit_damping", limit.damping, "of joint limits, per inertia, 1/s", 1e-6, 1e9);
  add("limit_width", limit.width, "depth up to which a limit is soft, rad or m", 1e-6, 1e9);
  if (contact == nullptr) return;
  add("contact_stiffness", contact->stiffness, "of the floor, N/m", 1e-6, 1e9);
  add("contact_damping", contact->damping, "of the floor, N s/m", 1e-6, 1e9);
  add("contact_width", contact->width, "depth up to which the floor is soft, m", 1e-6, 1e9);
  add("slip_speed", contact->slip_speed, "speed below which friction is viscous, m/s", 1e-6, 1e9);
  add("slip_lift", contact->slip_lift, "1: a slipping point is pushed up as in MuJoCo; 0: it is not", 0.0, 1.0);
}

// contact: what holds if nothing collides.
PhysicsParameters read_physics(const TaskOptions& options, const std::string& section, double timestep,
                               const ContactParameters& contact) {
  const auto number = [&](const char* name) { return options.number(section + name); };
  PhysicsParameters physics;
  physics.timestep = timestep;
  physics.limit = {
      .stiffness = number("limit_stiffness"), .damping = number("limit_damping"), .width = number("limit_width")};
  physics.contact = contact;
  if (options.values().contains(section + "contact_stiffness")) {
    physics.contact = {.stiffness = number("contact_stiffness"),
                       .damping = number("contact_damping"),
                       .width = number("contact_width"),
                       .slip_speed = number("slip_speed"),
                       .slip_lift = number("slip_lift")};
  }
  return physics;
}

// 0: `standard`.
int read_substeps(const TaskOptions& options, const std::string& name, int standard) {
  const double substeps = options.number(name);
  if (substeps != std::floor(substeps)) {
    throw UserError("{} must be a whole number, not {}", option_key(name), substeps);
  }
  return substeps == 0.0 ? standard : static_cast<int>(substeps);
}

// What a robot may be moved by; a simulator of somebody's own, if there is one.
TaskOption engine_option(Engine standard) {
  TaskOption option{.name = "engine",
                    .standard = std::string(standard == Engine::kOwn ? "own" : "mujoco"),
                    .help = "own: our dynamics, with derivatives; mujoco: mj_step, with those of its twin",
                    .choices = {"own", "mujoco"}};
  if (standard == Engine::kSimulator) {
    option.standard = std::string("simulator");
    option.help += "; simulator: the task's own, with those of its twin";
    option.choices.emplace_back("simulator");
  }
  return option;
}

Engine engine_named(const std::string& name) {
  return name == "own" ? Engine::kOwn : name == "mujoco" ? Engine::kMujoco : Engine::kSimulator;
}

// A step of a simulator outside is one, as long as the task says.
void check_steps_outside(const TaskOptions& options) {
  for (const char* const name : {"substeps", "dt"}) {
    if (options.number(name) == 0.0) continue;
    throw UserError("{} is of task.engine=own and mujoco; the steps of the task's simulator are its own affair",
                    option_key(name));
  }
}

}  // namespace

std::vector<TaskOption> robot_options(const RobotDefaults& defaults, bool collides) {
  std::vector<TaskOption> options = {
      engine_option(defaults.engine),
      {.name = "substeps",
       .standard = 0.0,
       .help = fmt::format("physics steps of an environment step; 0: {} with own, {} with mujoco",
                           defaults.own_substeps, defaults.mujoco_substeps),
       .low = 0.0,
       .high = 1000.0},
      {.name = "dt",
       .standard = 0.0,
       .help = fmt::format("seconds of a physics step; 0: {} / substeps", defaults.period),
       .low = 0.0,
       .high = 1.0},
      {.name = "action_scale",
       .standard = defaults.action_scale,
       .help = defaults.action_range || !defaults.action_scales.empty()
                   ? "control = this times the actuator's own scale times the action, clipped to its range"
                   : "control = this times the action, clipped to the motor's range",
       .low = 0.0,
       .high = 1000.0},
  };
  add_physics("", "own engine only", defaults.limit, collides ? &defaults.contact : nullptr, options);
  options.push_back({.name = "gradient.twin",
                     .standard = true,
                     .help = "whether our engine, taken at MuJoCo's states, lends its derivative to task.engine = "
                             "\"mujoco\""});
  options.push_back(
      {.name = "twin.substeps",
       .standard = 0.0,
       .help = fmt::format("our engine's physics steps of an environment step; 0: {}", defaults.own_substeps),
       .low = 0.0,
       .high = 1000.0});
  options.push_back({.name = "twin.fit",
                     .standard = defaults.twin_fit,
                     .help = "whether the twin's limits, contact and armature are fitted to MuJoCo's episodes, from "
                             "what twin.* says they are"});
  const ContactParameters contact = defaults.twin_contact.value_or(defaults.contact);
  add_physics("twin.", "for its derivative alone", defaults.twin_limit.value_or(defaults.limit),
              collides ? &contact : nullptr, options);
  return options;
}

Robot make_robot(const RobotDefaults& defaults, const TaskOptions& options) {
  Robot robot;
  robot.name = defaults.name;
  robot.xml = defaults.xml;
  robot.file = defaults.file;
  if (robot.xml.empty() == robot.file.empty()) {
    throw UserError("robot {} needs its MJCF either as a text or as a file", robot.name);
  }
  robot.model = std::make_shared<const Model>(robot.file.empty() ? load_model_from_text(robot.xml, robot.name)
                                                                 : load_model(robot.file));
  if (robot.model->nu == 0) {
    throw UserError(
        "{} has no actuator, so there is nothing to control; a task file adds some: [[robot.actuators]] with "
        "kind = \"motor\", joint = \"*\", gear and range (docs/guide/task-files.md)",
        robot.model->name);
  }
  const auto actuators = static_cast<std::size_t>(robot.model->nu);
  robot.engine = engine_named(options.text("engine"));
  if (robot.engine == Engine::kSimulator) check_steps_outside(options);
  const int standard_substeps = robot.engine == Engine::kOwn      ? defaults.own_substeps
                                : robot.engine == Engine::kMujoco ? defaults.mujoco_substeps
                                                                  : 1;
  robot.substeps = read_substeps(options, "substeps", standard_substeps);
  const double dt = options.number("dt") > 0.0 ? options.number("dt") : defaults.period / robot.substeps;
  robot.physics = read_physics(options, "", dt, defaults.contact);
  const auto own_steps = [&](const char* section, int own_substeps) {
    return OwnSteps{read_physics(options, section, robot.period() / own_substeps, defaults.contact), own_substeps};
  };
  if (robot.engine != Engine::kOwn) robot.prelude = own_steps("", defaults.own_substeps);
  if (robot.engine != Engine::kOwn && options.flag("gradient.twin")) {
    robot.twin = own_steps("twin.", read_substeps(options, "twin.substeps", defaults.own_substeps));
    robot.twin.fits = options.flag("twin.fit");
  }
  robot.leftovers = defaults.leftovers;
  robot.action_scale = options.number("action_scale");
  robot.action_offset = defaults.action_offset;
  if (robot.action_offset.size() == 1) robot.action_offset.resize(actuators, defaults.action_offset.front());
  robot.action_scales = defaults.action_scales;
  if (defaults.action_range) reach_ranges(robot);
  for (const auto& [what, numbers] :
       {std::pair{"action_scale", &robot.action_scales}, std::pair{"action_offset", &robot.action_offset}}) {
    if (numbers->empty() || numbers->size() == actuators) continue;
    throw UserError("{}: {} has {} numbers, but the robot has {} actuators", robot.model->name, what, numbers->size(),
                    actuators);
  }
  return robot;
}

TaskSpec robot_spec(const Robot& robot, int observations, int extra) {
  TaskSpec spec;
  spec.name = robot.name;
  spec.states = robot.model->nq + robot.model->nv + robot.model->na + extra;
  spec.observations = observations;
  spec.actions = robot.model->nu;
  spec.substeps = robot.substeps;
  spec.dt = robot.dt();
  spec.differentiable = robot.engine == Engine::kOwn;
  if (robot.engine == Engine::kOwn) {  // the others' steps leave nothing out
    spec.unsupported = robot.model->unsupported;
    spec.warnings = robot.model->warnings;
  } else if (robot.twin.substeps > 0 && !robot.model->unsupported.empty()) {
    spec.warnings = {fmt::format("derivatives of the twin, and a stage on our engine, are without: {}",
                                 fmt::join(robot.model->unsupported, "; "))};
  }
  return spec;
}

void rest_activations(const Model& model, TaskParts& parts) {
  if (model.na == 0) return;
  const std::size_t first = static_cast<std::size_t>(model.nq) + static_cast<std::size_t>(model.nv);
  const auto count = static_cast<std::size_t>(model.na);
  finish_resets([=](std::span<double> state) { std::fill_n(state.subspan(first, count).begin(), count, 0.0); }, parts);
}

MujocoEngine make_mujoco_engine(const Robot& robot) {
  MujocoEngine engine =
      robot.file.empty() ? MujocoEngine::from_text(robot.xml, robot.name) : MujocoEngine::from_file(robot.file);
  engine.set_timestep(robot.dt());
  return engine;
}

namespace {

// fits: whether the numbers that can be fitted are inputs.
Substeps robot_substeps(const std::shared_ptr<const Robot>& robot, const PhysicsParameters& physics, bool fits,
                        TracedOutcome outcome) {
  if (!fits) {
    return {[robot, physics](TracedSpan state, TracedSpan action, TracedSpan) {
              return own_substep(*robot, physics, physics.contact, state, action);
            },
            std::move(outcome)};
  }
  Substeps substeps{[robot, physics](TracedSpan state, TracedSpan action, TracedSpan parameters) {
                      BasicPhysicsParameters<Traced> fitted = as_traced(physics);
                      auto value = parameters.begin();
                      visit_fitted(*robot->model, fitted, [&](const char*, Traced& number) { number = *value++; });
                      return own_substep(*robot, fitted, physics.contact, state, action);
                    },
                    std::move(outcome)};
  PhysicsParameters standard = physics;
  visit_fitted(*robot->model, standard, [&](const char* name, double number) {
    substeps.parameters.push_back({name, number});
  });
  return substeps;
}

}  // namespace

void add_robot_dynamics(const std::shared_ptr<const Robot>& robot, const TracedOutcome& outcome,
                        const TracedOutcome& smooth, TaskParts& parts) {
  parts.robot = robot;
  const TracedOutcome& own_outcome = smooth ? smooth : outcome;
  if (robot->engine == Engine::kOwn) {
    parts.dynamics = robot_substeps(robot, robot->physics, /*fits=*/false, own_outcome);
    return;
  }
  if (robot->engine == Engine::kSimulator) {
    OutsideStates states = states_outside(robot, parts.reset);
    // Where only a start is wanted, as on our engine before, it is one of the simulator's, too: of its first
    // environment, which one thread at a time may ask.
    parts.reset = [begin = states.begin, mutex = std::make_shared<std::mutex>()](RandomStream& random,
                                                                                 std::span<double> state) {
      const std::lock_guard lock(*mutex);
      begin(0, random, state);
    };
    parts.reset_in_batch = [reset = parts.reset](RandomStream& random, const BatchPlace&, std::span<double> state) {
      reset(random, state);
    };
    parts.dynamics = OutsideStep{nullptr, outcome, std::move(states)};
  } else {
    if (!robot->measured.on.empty()) measure_starts(robot, parts);
    parts.dynamics = OutsideStep{mujoco_steps_of(robot), outcome};
  }
  const auto stand_in = [&](const OwnSteps& own) -> std::shared_ptr<const Task> {
    if (own.substeps == 0) return nullptr;
    return moved_by(robot_substeps(robot, own.physics, own.fits, own_outcome), own.substeps, parts);
  };
  parts.twin = stand_in(robot->twin);
  parts.prelude = stand_in(robot->prelude);
}

}  // namespace cgpo
