// Tasks whose environment is a robot from an MJCF file.
//
// To define one, write a class with these members (cartpole.cpp is the smallest example) and hand it to
// make_robot_task():
//
//   const Robot& robot() const;
//   TaskSpec spec() const;                                            // begin with robot_spec(robot(), …)
//   void reset(RandomStream& random, std::span<double> state) const;  // [q, v, activations, extra constants]
//   template <class S> void observe(const RobotState<S>& state, std::span<S> observation) const;
//   template <class S> StepResult<S> outcome(const RobotState<S>& before, std::span<const S> action,
//                                            const RobotState<S>& after) const;   // its `state` stays empty
//
// Where that has steps, a second form of it, smooth_outcome, may have slopes in their place: our own engine takes it,
// by itself and as a twin, so an engine outside keeps the steps and is lent the slopes.
//
// An environment's state is [q, v, activations of actuators, extra]: what a reset draws and nothing changes, as a
// target, is extra. A reset leaves activations 0. One environment step holds the action for `substeps` physics steps of
// length dt.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cgpo/base/error.hpp"
#include "cgpo/physics/dynamics/contact_queries.hpp"
#include "cgpo/physics/dynamics/step.hpp"
#include "cgpo/physics/mujoco/engine.hpp"
#include "cgpo/tasks/options.hpp"
#include "cgpo/tasks/task.hpp"

namespace cgpo {

enum class Engine : std::uint8_t {
  kOwn,        // our dynamics: smooth contact, derivatives
  kMujoco,     // mj_step with the contact of the MJCF file: outside, with none of its own derivatives
  kSimulator,  // a simulator of somebody's own, which shows the robot's states (robots/simulated.hpp): outside as well
};

// What is drawn beside a robot: a ball whose place in the world stands in the extra part of the state.
struct Marker {
  std::string name;
  int extra = 0;        // first of its two entries there: x and y
  double height = 0.0;  // z
  double radius = 0.0;
};

// How our engine stands in for MuJoCo's.
struct OwnSteps {
  PhysicsParameters physics;
  int substeps = 0;   // of an environment step; 0: it does not
  bool fits = false;  // whether its numbers are found by what MuJoCo does
};

// Contact forces that a task asks for. MuJoCo's are no function of the state alone, so where it moves the robot they
// are measured in the last of a step's substeps, at the start with action 0, and kept in the state: three entries of
// its extra part each, in these units. Where our engine stands in for it, our contact law fills them.
struct MeasuredContacts {
  static constexpr double kNewtons = 1024.0;  // keeps an impact far below the bound of a diverged state
  int first = 0;                              // in the extra part
  std::vector<ContactTarget> on = {};
  int size() const { return 3 * static_cast<int>(on.size()); }
};

struct Robot {
  std::string name;
  std::string xml;   // the MJCF text,
  std::string file;  // or the file that has it
  std::shared_ptr<const Model> model;
  Engine engine = Engine::kOwn;
  PhysicsParameters physics;  // of our own engine; its time step is that of both
  int substeps = 1;
  OwnSteps twin;                                             // where our engine only lends its derivative,
  OwnSteps prelude;                                          // and where it is what is learned on first
  std::shared_ptr<OutsideEnvironments> simulator = nullptr;  // of kSimulator,
  int shown = 0;                                             // and how many entries of the state it shows
  double action_scale = 1.0;
  std::vector<double> action_scales = {};  // times this; one an actuator, or none
  std::vector<double> action_offset = {};  // one an actuator, or none
  std::vector<Leftover> leftovers = {};    // of mj_step, which stand in this order at the end of the state
  std::vector<Marker> markers = {};
  MeasuredContacts measured = {};

  double scale(std::size_t actuator) const {
    return action_scales.empty() ? action_scale : action_scale * action_scales[actuator];
  }
  // offset + scale · action, which the actuator clips to its range.
  template <class S>
  S control(std::size_t actuator, const S& action) const {
    const double factor = scale(actuator);
    const S scaled = factor == 1.0 ? action : factor * action;
    const bool shifted = !action_offset.empty() && action_offset[actuator] != 0.0;
    return shifted ? S(action_offset[actuator] + scaled) : scaled;
  }
  double dt() const { return physics.timestep; }
  double period() const { return dt() * substeps; }  // seconds of an environment step
};

// What a task chooses about its robot; all of it can be changed by options.
struct RobotDefaults {
  std::string name;
  std::string xml = {};   // MJCF as text,
  std::string file = {};  // or a file, whose <include>s and meshes are looked for beside it; exactly one of the two
  double period = 0.0;
  int own_substeps = 1;
  int mujoco_substeps = 1;
  Engine engine = Engine::kOwn;
  double action_scale = 1.0;
  std::vector<double> action_scales = {};  // times this; one an actuator, or none
  bool action_range = false;               // times half the actuator's control range, whose centre is the offset
  std::vector<double> action_offset = {};  // one for all, one an actuator, or none
  LimitParameters limit = {};
  ContactParameters contact = {};                      // not used if nothing collides
  std::optional<LimitParameters> twin_limit = {};      // where they should be others than
  std::optional<ContactParameters> twin_contact = {};  // those that our engine is trained on
  bool twin_fit = false;
  std::vector<Leftover> leftovers = {};
};

// engine, substeps, dt, action_scale, the parameters of joint limits, and those of contact if `collides`; the same for
// the twin, twin.*, whether there is one, gradient.twin, and whether it is fitted, twin.fit.
std::vector<TaskOption> robot_options(const RobotDefaults& defaults, bool collides);
// Throws UserError if the MJCF cannot be read.
Robot make_robot(const RobotDefaults& defaults, const TaskOptions& options);
// Name, sizes and clock.
TaskSpec robot_spec(const Robot& robot, int observations, int extra = 0);
MujocoEngine make_mujoco_engine(const Robot& robot);
// How its engine moves it: ours by physics_step, substep by substep, MuJoCo's by mj_step, outside, with ours as its
// twin.
// smooth: what our engine takes in place of the outcome; null: the outcome.
void add_robot_dynamics(const std::shared_ptr<const Robot>& robot, const TracedOutcome& outcome,
                        const TracedOutcome& smooth, TaskParts& parts);

// An environment's state with names, and where its bodies are.
template <class S>
struct RobotState {
  const Model* model;
  std::span<const S> q, v, activation, extra;

  RobotState(const Model& model_in, std::span<const S> state)
      : model(&model_in),
        q(state.first(static_cast<std::size_t>(model_in.nq))),
        v(state.subspan(q.size(), static_cast<std::size_t>(model_in.nv))),
        activation(state.subspan(q.size() + v.size(), static_cast<std::size_t>(model_in.na))),
        extra(state.subspan(q.size() + v.size() + activation.size())) {}

  // Of a point given in a body's frame, in the world's axes.
  Vec3<S> position(int body, const Vec3<double>& local = {}) const {
    return point_position(*model, kinematics(), body, local);
  }
  Vec3<S> velocity(int body, const Vec3<double>& local = {}) const {
    return point_velocity(*model, kinematics(), body, local);
  }
  Kinematics<S> kinematics() const { return forward_kinematics(*model, q, v, DofAxes::kTree); }
};

// √(x + ε²) − ε of a sum of squares x: a norm whose slope at 0 is 0.
template <class S>
S smooth_root(const S& squares, double epsilon) {
  return sqrt(squares + epsilon * epsilon) - epsilon;
}
inline constexpr double kSpeedEpsilon = 1e-3;  // m/s: over an episode of 300 steps it hides less than 0.3

template <class S>
S sum_of_squares(std::span<const S> values) {
  S sum(0.0);
  for (const S& value : values) sum = sum + value * value;
  return sum;
}

// After a reset they are 0.
void rest_activations(const Model& model, TaskParts& parts);

template <class Definition>
std::shared_ptr<const Task> make_robot_task(Definition definition) {
  const auto kept = std::make_shared<const Definition>(std::move(definition));
  const Model* const model = kept->robot().model.get();
  TaskParts parts = begin_task(kept);
  rest_activations(*model, parts);
  parts.observe = [kept, model](TracedSpan state, std::span<Traced> observation) {
    kept->template observe<Traced>(RobotState<Traced>(*model, state), observation);
  };
  const auto outcome = [kept, model](TracedSpan before, TracedSpan action, TracedSpan after) {
    return kept->template outcome<Traced>(RobotState<Traced>(*model, before), action,
                                          RobotState<Traced>(*model, after));
  };
  TracedOutcome smooth = nullptr;
  if constexpr (requires(const RobotState<Traced>& state) { kept->smooth_outcome(state, TracedSpan(), state); }) {
    smooth = [kept, model](TracedSpan before, TracedSpan action, TracedSpan after) {
      return kept->template smooth_outcome<Traced>(RobotState<Traced>(*model, before), action,
                                                   RobotState<Traced>(*model, after));
    };
  }
  add_robot_dynamics(std::shared_ptr<const Robot>(kept, &kept->robot()), outcome, smooth, parts);
  return std::make_shared<const Task>(std::move(parts));
}

}  // namespace cgpo
