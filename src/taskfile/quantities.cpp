#include "cgpo/taskfile/quantities.hpp"

#include <fmt/format.h>
#include <numbers>

#include "cgpo/physics/dynamics/passive.hpp"
#include "cgpo/physics/dynamics/resistance.hpp"

namespace cgpo {
namespace {

using Maybe = std::optional<Numbers>;

Numbers vector_of(const Vec3<Traced>& v) { return Numbers::several({v.at.begin(), v.at.end()}); }

Maybe several_or_nothing(const std::vector<Traced>& values) {
  if (values.empty()) return std::nullopt;
  return Numbers::several(values);
}

const Kinematics<Traced>& places(Moment& moment) { return moment.kinematics(DofAxes::kTree); }
bool knows_pose(const Moment& moment) { return !moment.q.empty(); }

// ---- controls ------------------------------------------------------------------------------------------------------

// What the actuators get: the action, scaled and clipped.
std::optional<std::vector<Traced>> controls_of(const Moment& moment) {
  if (!moment.action) return std::nullopt;
  const Robot& robot = *moment.words().robot;
  std::vector<Traced> controls;
  for (std::size_t i = 0; i < moment.action->at.size(); ++i) {
    controls.push_back(clipped_control(moment.model().actuators[i], robot.control(i, moment.action->at[i])));
  }
  return controls;
}

// Whether what this actuator does follows from the state by our laws. On our engine one that is left out does nothing.
bool knows_actuator(Moment& moment, const Actuator& actuator) {
  if (!actuator.left_out || moment.words().robot->engine == Engine::kOwn) return true;
  moment.unknown_because = fmt::format(
      "it follows from our laws of actuators, and '{}' is of a kind that we do not know (cgpo model names it)",
      actuator.name);
  return false;
}

PhysicsState<Traced> physics_state(const Moment& moment) { return {moment.q, moment.v, moment.activation}; }

// By dof, in MuJoCo's coordinates: its qfrc_actuator.
std::optional<std::vector<Traced>> torques_of(Moment& moment) {
  const std::optional<std::vector<Traced>> controls = controls_of(moment);
  if (!controls || !knows_pose(moment)) return std::nullopt;
  const Model& model = moment.model();
  for (const Actuator& actuator : model.actuators) {
    if (!knows_actuator(moment, actuator)) return std::nullopt;
  }
  const Kinematics<Traced>& kinematics = moment.kinematics(DofAxes::kMujoco);
  std::vector<Traced> tau(static_cast<std::size_t>(model.nv), Traced(0.0));
  std::vector<Traced> passive = tau;
  add_actuator_forces(model, kinematics, physics_state(moment), TracedSpan(*controls), moment.words().dt(),
                      DofAxes::kMujoco, tau);
  add_gravity_compensation(model, kinematics, passive, tau);
  clip_joint_forces(model, tau);
  return tau;
}

Maybe all_controls(Moment& moment) {
  const auto controls = controls_of(moment);
  return controls ? Maybe(Numbers::several(*controls)) : std::nullopt;
}
Maybe all_torques(Moment& moment) {
  const auto torques = torques_of(moment);
  return torques ? Maybe(Numbers::several(*torques)) : std::nullopt;
}

// ---- names ---------------------------------------------------------------------------------------------------------

Maybe pose_of_file(Moment& moment) {
  const std::vector<double>& q0 = moment.model().q0;
  return Numbers::several({q0.begin(), q0.end()});
}
Maybe time_passed(Moment& moment) {
  if (!moment.clock) return std::nullopt;
  return Numbers::one(*moment.clock * moment.words().dt());
}
Maybe steps_done(Moment& moment) {
  if (!moment.clock) return std::nullopt;
  const int substeps = moment.words().substeps;
  return Numbers::one(substeps == 1 ? *moment.clock : *moment.clock * (1.0 / substeps));
}

constexpr NameRow kNames[] = {
    {"action", "actions", "what the policy chose for this step, each in (-1, 1); in reward, costs, end and [step]",
     false, [](Moment& moment) { return moment.action; }},
    {"previous_action", "actions",
     "what it chose for the step before, 0 at the start; in the observation: what it chose last", false,
     [](Moment& moment) { return moment.previous_action; }},
    {"time", "1", "seconds since the start of the episode", false, time_passed},
    {"step", "1", "steps since the start of the episode", false, steps_done},
    {"period", "1", "seconds of a step", false,
     [](Moment& moment) { return Maybe(Numbers::one(moment.words().period)); }},
    {"horizon", "1", "steps of an episode, as the file says", false,
     [](Moment& moment) { return Maybe(Numbers::one(static_cast<double>(moment.words().horizon))); }},
    {"pi", "1", "3.14159…", false, [](Moment&) { return Maybe(Numbers::one(std::numbers::pi)); }},
    {"qpos", "nq", "all positions, as in MuJoCo", true, [](Moment& moment) { return several_or_nothing(moment.q); }},
    {"qvel", "nv", "all velocities, as in MuJoCo", true, [](Moment& moment) { return several_or_nothing(moment.v); }},
    {"qpos0", "nq", "the positions that the MJCF file has", true, pose_of_file},
    {"controls", "nu", "what the actuators get: the action times action_scale, clipped to their ranges", true,
     all_controls},
    {"torques", "nv", "forces and torques of the actuators on all degrees of freedom", true, all_torques},
};

// ---- things --------------------------------------------------------------------------------------------------------

template <class Item>
std::vector<std::string> names_of(const std::vector<Item>& items) {
  std::vector<std::string> names;
  for (const Item& item : items) names.push_back(item.name);
  return names;
}

constexpr ThingRow kThings[] = {
    {ThingKind::kBody, "body", true, [](const Model& model) { return names_of(model.bodies); }},
    {ThingKind::kJoint, "joint", true, [](const Model& model) { return names_of(model.joints); }},
    {ThingKind::kSite, "site", true, [](const Model& model) { return names_of(model.sites); }},
    {ThingKind::kGeom, "geom", true, [](const Model& model) { return names_of(model.geoms); }},
    {ThingKind::kActuator, "actuator", true, [](const Model& model) { return names_of(model.actuators); }},
    {ThingKind::kCentre, "com", false, nullptr},
};

// A point that is fixed to a body.
struct BodyPoint {
  int body = 0;
  Vec3<double> local;
};
BodyPoint body_point(const Moment&, int id) { return {id, {}}; }
BodyPoint mass_point(const Moment& moment, int id) {
  return {id, moment.model().bodies[static_cast<std::size_t>(id)].inertial_position};
}
BodyPoint site_point(const Moment& moment, int id) {
  const Site& site = moment.model().sites[static_cast<std::size_t>(id)];
  return {site.body, site.position};
}
BodyPoint geom_point(const Moment& moment, int id) {
  const Geom& geom = moment.model().geoms[static_cast<std::size_t>(id)];
  return {geom.body, geom.position};
}

template <BodyPoint (*Point)(const Moment&, int)>
Maybe position(Moment& moment, int id) {
  if (!knows_pose(moment)) return std::nullopt;
  const BodyPoint point = Point(moment, id);
  return vector_of(point_position(moment.model(), places(moment), point.body, point.local));
}
template <BodyPoint (*Point)(const Moment&, int)>
Maybe velocity(Moment& moment, int id) {
  if (!knows_pose(moment)) return std::nullopt;
  const BodyPoint point = Point(moment, id);
  return vector_of(point_velocity(moment.model(), places(moment), point.body, point.local));
}

Maybe angular_velocity(Moment& moment, int id) {
  if (!knows_pose(moment)) return std::nullopt;
  return vector_of(body_angular_velocity(moment.model(), places(moment), id));
}
template <int Axis>
Maybe axis(Moment& moment, int id) {
  if (!knows_pose(moment)) return std::nullopt;
  return vector_of(body_rotation(moment.model(), places(moment), id).column(Axis));
}
Maybe rotation(Moment& moment, int id) {
  if (!knows_pose(moment)) return std::nullopt;
  std::vector<Traced> entries;
  for (const Vec3<Traced>& row : body_rotation(moment.model(), places(moment), id).rows) {
    entries.insert(entries.end(), row.at.begin(), row.at.end());
  }
  return Numbers::several(std::move(entries));
}

Maybe quaternion(Moment& moment, int id) {
  if (!knows_pose(moment)) return std::nullopt;
  const Quat<Traced> q = body_quaternion(moment.model(), TracedSpan(moment.q), id);
  return Numbers::several({q.begin(), q.end()});
}

Maybe mass(Moment& moment, int id) { return Numbers::one(moment.model().bodies[static_cast<std::size_t>(id)].mass); }

// On our engine it follows from the state. What MuJoCo's solver does is no function of it, and has been measured.
Maybe contact_on(Moment& moment, const ContactTarget& target) {
  if (!knows_pose(moment)) return std::nullopt;
  const Robot& robot = *moment.words().robot;
  if (robot.engine == Engine::kSimulator) {
    moment.unknown_because =
        "the task's simulator has a contact of its own, and does not say what it is; let the program show it as an "
        "entry of [states], or leave it out";
    return std::nullopt;
  }
  if (const auto found = moment.measured.find(target); found != moment.measured.end()) {
    return Numbers::several(found->second);
  }
  if (moment.asked != nullptr) moment.asked->insert(target);
  if (robot.engine == Engine::kOwn || moment.asked != nullptr) {
    return vector_of(contact_force_on(moment.model(), robot.physics.contact, places(moment), target));
  }
  moment.unknown_because = "MuJoCo measures it in a step, and a state alone does not say it";
  return std::nullopt;
}
Maybe force_on_body(Moment& moment, int id) { return contact_on(moment, {.is_geom = false, .id = id}); }
Maybe force_on_geom(Moment& moment, int id) { return contact_on(moment, {.is_geom = true, .id = id}); }

// The part of `all` that belongs to a joint: one number of a slide or hinge.
Numbers part_of_joint(const std::vector<Traced>& all, const Joint& joint, int first, int count) {
  std::vector<Traced> entries(all.begin() + first, all.begin() + first + count);
  return {std::move(entries), joint.type <= JointType::kBall};
}
const Joint& joint_at(const Moment& moment, int id) { return moment.model().joints[static_cast<std::size_t>(id)]; }
int position_count(const Joint& joint) {
  if (joint.type == JointType::kFree) return 7;
  return joint.type == JointType::kBall ? 4 : 1;
}

Maybe joint_position(Moment& moment, int id) {
  const Joint& joint = joint_at(moment, id);
  if (!knows_pose(moment)) return std::nullopt;
  return part_of_joint(moment.q, joint, joint.q, position_count(joint));
}
Maybe joint_velocity(Moment& moment, int id) {
  const Joint& joint = joint_at(moment, id);
  if (!knows_pose(moment)) return std::nullopt;
  return part_of_joint(moment.v, joint, joint.v, dof_count(joint));
}
Maybe joint_torque(Moment& moment, int id) {
  const Joint& joint = joint_at(moment, id);
  const auto torques = torques_of(moment);
  if (!torques) return std::nullopt;
  return part_of_joint(*torques, joint, joint.v, dof_count(joint));
}

Maybe actuator_control(Moment& moment, int id) {
  const auto controls = controls_of(moment);
  if (!controls) return std::nullopt;
  return Numbers::one((*controls)[static_cast<std::size_t>(id)]);
}

const Actuator& actuator_at(const Moment& moment, int id) {
  return moment.model().actuators[static_cast<std::size_t>(id)];
}
Maybe actuator_activation(Moment& moment, int id) {
  if (!knows_pose(moment)) return std::nullopt;
  const int index = actuator_at(moment, id).activation.index;
  if (index < 0) return Numbers::several({});
  return Numbers::one(moment.activation[static_cast<std::size_t>(index)]);
}
Transmission<Traced> transmission_at(Moment& moment, int id) {
  return transmission_of(moment.model(), places(moment), TracedSpan(moment.q), actuator_at(moment, id), DofAxes::kTree);
}
Maybe actuator_length(Moment& moment, int id) {
  if (!knows_pose(moment) || !knows_actuator(moment, actuator_at(moment, id))) return std::nullopt;
  return Numbers::one(transmission_at(moment, id).length);
}
Maybe actuator_velocity(Moment& moment, int id) {
  if (!knows_pose(moment) || !knows_actuator(moment, actuator_at(moment, id))) return std::nullopt;
  return Numbers::one(transmission_at(moment, id).velocity);
}
Maybe actuator_push(Moment& moment, int id) {
  const auto controls = controls_of(moment);
  if (!controls || !knows_pose(moment) || !knows_actuator(moment, actuator_at(moment, id))) return std::nullopt;
  return Numbers::one(actuator_force(actuator_at(moment, id), transmission_at(moment, id),
                                     TracedSpan(moment.activation), (*controls)[static_cast<std::size_t>(id)],
                                     moment.words().dt()));
}

// Of all bodies together, weighted by their masses.
template <Vec3<Traced> (*Of)(Moment&, int, const Vec3<double>&)>
Maybe centre(Moment& moment, int) {
  if (!knows_pose(moment)) return std::nullopt;
  const Model& model = moment.model();
  Vec3<Traced> sum;
  double all = 0.0;
  for (std::size_t i = 1; i < model.bodies.size(); ++i) {
    const Body& body = model.bodies[i];
    if (body.mass == 0.0) continue;
    all += body.mass;
    sum = sum + scale(Traced(body.mass), Of(moment, static_cast<int>(i), body.inertial_position));
  }
  return vector_of(scale(Traced(all > 0.0 ? 1.0 / all : 0.0), sum));
}
Vec3<Traced> position_at(Moment& moment, int body, const Vec3<double>& local) {
  return point_position(moment.model(), places(moment), body, local);
}
Vec3<Traced> velocity_at(Moment& moment, int body, const Vec3<double>& local) {
  return point_velocity(moment.model(), places(moment), body, local);
}

constexpr MemberRow kMembers[] = {
    {ThingKind::kBody, "position", "3", "of its frame, in the world, m", position<body_point>},
    {ThingKind::kBody, "velocity", "3", "of its frame, in the world's axes, m/s", velocity<body_point>},
    {ThingKind::kBody, "angular_velocity", "3", "in the world's axes, rad/s", angular_velocity},
    {ThingKind::kBody, "quaternion", "4", "its orientation (w, x, y, z)", quaternion},
    {ThingKind::kBody, "rotation", "9", "its orientation as a matrix, row by row: body's axes to world's", rotation},
    {ThingKind::kBody, "x_axis", "3", "direction of its x axis in the world", axis<0>},
    {ThingKind::kBody, "y_axis", "3", "direction of its y axis", axis<1>},
    {ThingKind::kBody, "z_axis", "3", "direction of its z axis: its up vector", axis<2>},
    {ThingKind::kBody, "com", "3", "its centre of mass, in the world, m", position<mass_point>},
    {ThingKind::kBody, "com_velocity", "3", "velocity of its centre of mass, m/s", velocity<mass_point>},
    {ThingKind::kBody, "mass", "1", "kg", mass},
    {ThingKind::kBody, "contact_force", "3",
     "what touches it pushes it with, N: by our contact law, with task.engine=mujoco as MuJoCo measures it",
     force_on_body},
    {ThingKind::kJoint, "position", "1, 4 or 7",
     "its part of qpos: one number of a slide or hinge, 4 of a ball, 7 of a free joint", joint_position},
    {ThingKind::kJoint, "velocity", "1, 3 or 6", "its part of qvel", joint_velocity},
    {ThingKind::kJoint, "torque", "1, 3 or 6", "its part of torques: N m of a hinge, N of a slide", joint_torque},
    {ThingKind::kSite, "position", "3", "in the world, m", position<site_point>},
    {ThingKind::kSite, "velocity", "3", "in the world's axes, m/s", velocity<site_point>},
    {ThingKind::kGeom, "position", "3", "of its centre, in the world, m", position<geom_point>},
    {ThingKind::kGeom, "velocity", "3", "of its centre, m/s", velocity<geom_point>},
    {ThingKind::kGeom, "contact_force", "3",
     "what touches it pushes it with, N: by our contact law, with task.engine=mujoco as MuJoCo measures it",
     force_on_geom},
    {ThingKind::kActuator, "control", "1", "its part of controls", actuator_control},
    {ThingKind::kActuator, "activation", "1 or 0", "its state, that of a filter or an integrator, if it has one",
     actuator_activation},
    {ThingKind::kActuator, "force", "1", "what it pulls with along its length, N or N m", actuator_push},
    {ThingKind::kActuator, "length", "1", "gear times what it pulls at: position of a joint, length of a tendon",
     actuator_length},
    {ThingKind::kActuator, "velocity", "1", "how fast its length changes", actuator_velocity},
    {ThingKind::kCentre, "position", "3", "of the centre of mass of all bodies, m", centre<position_at>},
    {ThingKind::kCentre, "velocity", "3", "of the centre of mass of all bodies, m/s", centre<velocity_at>},
};

}  // namespace

std::span<const NameRow> name_rows() { return kNames; }
std::span<const ThingRow> thing_rows() { return kThings; }
std::span<const MemberRow> member_rows() { return kMembers; }

bool is_pattern(std::string_view text) { return text.find_first_of("*?") != std::string_view::npos; }

// A star is tried with nothing first; where the rest does not fit, it takes one letter more. Only the last star
// matters.
bool fits(std::string_view pattern, std::string_view name) {
  std::size_t p = 0;
  std::size_t n = 0;
  std::size_t star = std::string_view::npos;
  std::size_t taken = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      taken = n;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p;
      ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++taken;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace cgpo
