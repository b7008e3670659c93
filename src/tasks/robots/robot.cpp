#include "cgpo/tasks/robots/robot.hpp"

#include <cmath>

#include "cgpo/physics/dynamics/step.hpp"

namespace cgpo {
namespace {

class MujocoSteps final : public OutsideEngine {
 public:
  explicit MujocoSteps(const Robot& robot)
      : engine_(make_mujoco_engine(robot)),
        substeps_(robot.substeps),
        action_scale_(robot.action_scale),
        control_(static_cast<std::size_t>(engine_.nu())) {}

  bool step(std::span<const double> state, std::span<const double> action, std::span<double> next) override {
    const auto nq = static_cast<std::size_t>(engine_.nq());
    const auto nv = static_cast<std::size_t>(engine_.nv());
    engine_.set_state(state.first(nq), state.subspan(nq, nv));
    for (std::size_t i = 0; i < control_.size(); ++i) control_[i] = action_scale_ * action[i];  // MuJoCo clips it
    const bool good = engine_.step(control_, substeps_);
    std::copy(engine_.q().begin(), engine_.q().end(), next.begin());
    std::copy(engine_.v().begin(), engine_.v().end(), next.subspan(nq).begin());
    std::copy(state.begin() + static_cast<std::ptrdiff_t>(nq + nv), state.end(), next.subspan(nq + nv).begin());
    return good;
  }

 private:
  MujocoEngine engine_;
  int substeps_;
  double action_scale_;
  std::vector<double> control_;
};

std::vector<Traced> own_substep(const Robot& robot, TracedSpan state, TracedSpan action) {
  const RobotState<Traced> before(*robot.model, state);
  std::vector<Traced> control;
  for (const Traced& a : action) control.push_back(robot.action_scale == 1.0 ? a : robot.action_scale * a);
  PhysicsState<Traced> after = physics_step(*robot.model, robot.physics,
                                            PhysicsState<Traced>{{before.q.begin(), before.q.end()},  //
                                                                 {before.v.begin(), before.v.end()}},
                                            TracedSpan(control));
  std::vector<Traced> next = std::move(after.q);
  next.insert(next.end(), after.v.begin(), after.v.end());
  next.insert(next.end(), before.extra.begin(), before.extra.end());
  return next;
}

}  // namespace

std::vector<TaskOption> robot_options(const RobotDefaults& defaults, bool collides) {
  std::vector<TaskOption> options = {
      {.name = "engine",
       .standard = std::string(defaults.engine == Engine::kOwn ? "own" : "mujoco"),
       .help = "own: our dynamics, with derivatives; mujoco: mj_step, without",
       .choices = {"own", "mujoco"}},
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
       .help = "control = this times the action, clipped to the motor's range",
       .low = 0.0,
       .high = 1000.0},
  };
  const auto add = [&options](const char* name, double standard, const char* help) {
    options.push_back({.name = name, .standard = standard, .help = help, .low = 1e-6, .high = 1e9});
  };
  add("limit_stiffness", defaults.limit.stiffness, "of joint limits, per inertia, 1/s²; own engine only");
  add("limit_damping", defaults.limit.damping, "of joint limits, per inertia, 1/s; own engine only");
  add("limit_width", defaults.limit.width, "depth up to which a limit is soft, rad or m; own engine only");
  if (!collides) return options;
  add("contact_stiffness", defaults.contact.stiffness, "of the floor, N/m; own engine only");
  add("contact_damping", defaults.contact.damping, "of the floor, N s/m; own engine only");
  add("contact_width", defaults.contact.width, "depth up to which the floor is soft, m; own engine only");
  add("slip_speed", defaults.contact.slip_speed, "speed below which friction is viscous, m/s; own engine only");
  options.push_back({.name = "slip_lift",
                     .standard = defaults.contact.slip_lift,
                     .help = "1: a slipping point is pushed up as in MuJoCo; 0: it is not; own engine only",
                     .low = 0.0,
                     .high = 1.0});
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
  robot.engine = options.text("engine") == "own" ? Engine::kOwn : Engine::kMujoco;
  const double substeps = options.number("substeps");
  if (substeps != std::floor(substeps)) throw UserError("task.substeps must be a whole number, not {}", substeps);
  robot.substeps = static_cast<int>(substeps);
  if (robot.substeps == 0) {
    robot.substeps = robot.engine == Engine::kOwn ? defaults.own_substeps : defaults.mujoco_substeps;
  }
  robot.physics.timestep = options.number("dt") > 0.0 ? options.number("dt") : defaults.period / robot.substeps;
  robot.action_scale = options.number("action_scale");
  robot.physics.limit = {.stiffness = options.number("limit_stiffness"),
                         .damping = options.number("limit_damping"),
                         .width = options.number("limit_width")};
  robot.physics.contact = defaults.contact;
  if (options.values().contains("contact_stiffness")) {
    robot.physics.contact = {.stiffness = options.number("contact_stiffness"),
                             .damping = options.number("contact_damping"),
                             .width = options.number("contact_width"),
                             .slip_speed = options.number("slip_speed"),
                             .slip_lift = options.number("slip_lift")};
  }
  return robot;
}

TaskSpec robot_spec(const Robot& robot, int observations, int extra) {
  TaskSpec spec;
  spec.name = robot.name;
  spec.states = robot.model->nq + robot.model->nv + extra;
  spec.observations = observations;
  spec.actions = robot.model->nu;
  spec.substeps = robot.substeps;
  spec.dt = robot.dt();
  spec.differentiable = robot.engine == Engine::kOwn;
  if (robot.engine == Engine::kOwn) {  // MuJoCo's own step leaves nothing out
    spec.unsupported = robot.model->unsupported;
    spec.warnings = robot.model->warnings;
  }
  return spec;
}

MujocoEngine make_mujoco_engine(const Robot& robot) {
  MujocoEngine engine =
      robot.file.empty() ? MujocoEngine::from_text(robot.xml, robot.name) : MujocoEngine::from_file(robot.file);
  engine.set_timestep(robot.dt());
  return engine;
}

TaskDynamics robot_dynamics(const std::shared_ptr<const Robot>& robot, TracedOutcome outcome) {
  if (robot->engine == Engine::kMujoco) {
    return OutsideStep{[robot]() -> std::unique_ptr<OutsideEngine> { return std::make_unique<MujocoSteps>(*robot); },
                       std::move(outcome)};
  }
  return Substeps{[robot](TracedSpan state, TracedSpan action) { return own_substep(*robot, state, action); },
                  std::move(outcome)};
}

}  // namespace cgpo
