// From MuJoCo's compiled model to ours.
#include "cgpo/physics/model/model.hpp"

#include <algorithm>
#include <cmath>

#include "cgpo/base/error.hpp"
#include "cgpo/physics/model/loader.hpp"

namespace cgpo {

std::string plain_name(const mjModel& source, mjtObj type, int id) {
  const char* name = mj_id2name(&source, type, id);
  return name == nullptr ? "" : name;
}

namespace {

void read_bodies(const mjModel& source, Model& model) {
  const bool lifts = !disabled(source, mjDSBL_GRAVITY) &&  // both of these switch off all passive forces
                     !(disabled(source, mjDSBL_SPRING) && disabled(source, mjDSBL_DAMPER));
  for (int i = 0; i < source.nbody; ++i) {
    // An inertial frame that is next to the body's is taken for it.
    const int frame = source.body_sameframe[i];
    const bool same_place = frame == mjSAMEFRAME_BODY;
    const bool same_axes = same_place || frame == mjSAMEFRAME_BODYROT;
    model.bodies.push_back(
        {.name = plain_name(source, mjOBJ_BODY, i),
         .parent = i == 0 ? -1 : source.body_parentid[i],
         .position = read_vec3(source.body_pos + std::ptrdiff_t{3} * i),
         .orientation = read_quat(source.body_quat + std::ptrdiff_t{4} * i),
         .mass = source.body_mass[i],
         .inertial_position = same_place ? Vec3<double>{} : read_vec3(source.body_ipos + std::ptrdiff_t{3} * i),
         .inertial_orientation =
             same_axes ? Quat<double>{1.0, 0.0, 0.0, 0.0} : read_quat(source.body_iquat + std::ptrdiff_t{4} * i),
         .inertia = read_vec3(source.body_inertia + std::ptrdiff_t{3} * i),
         .link = -1,
         .in_link = {}});
    const double lifted = source.body_mass[i] * source.body_gravcomp[i];
    if (lifts && lifted != 0.0) {
      model.gravity_compensations.push_back({.body = i, .mass = lifted, .link = -1, .link_position = {}});
    }
  }
}

// A ball joint that may not turn at all has an axis to push back about only beyond this angle.
constexpr double kLeastRange = 1e-6;

void read_joints(const mjModel& source, Model& model) {
  const bool limits = !disabled(source, mjDSBL_CONSTRAINT) && !disabled(source, mjDSBL_LIMIT);
  const bool friction = !disabled(source, mjDSBL_CONSTRAINT) && !disabled(source, mjDSBL_FRICTIONLOSS);
  for (int i = 0; i < source.njnt; ++i) {
    const int v = source.jnt_dofadr[i];
    Joint joint;
    joint.name = plain_name(source, mjOBJ_JOINT, i);
    joint.type = static_cast<JointType>(source.jnt_type[i]);
    const bool is_scalar = joint.type == JointType::kSlide || joint.type == JointType::kHinge;
    joint.body = source.jnt_bodyid[i];
    joint.position = read_vec3(source.jnt_pos + std::ptrdiff_t{3} * i);
    joint.q = source.jnt_qposadr[i];
    joint.v = v;
    joint.armature = source.dof_armature[v];
    if (!disabled(source, mjDSBL_DAMPER)) {
      joint.damping = source.dof_damping[v];
      if (is_scalar) joint.damping_curve = read_curve(source.dof_dampingpoly + std::ptrdiff_t{mjNPOLY} * v);
    }
    if (!disabled(source, mjDSBL_SPRING)) {
      joint.stiffness = source.jnt_stiffness[i];
      joint.stiffness_curve = read_curve(source.jnt_stiffnesspoly + std::ptrdiff_t{mjNPOLY} * i);
    }
    if (friction) joint.frictionloss = std::max(source.dof_frictionloss[v], 0.0);
    joint.inertia = inertia_of(source.dof_invweight0[v]);
    if (joint.type == JointType::kFree) joint.turn_inertia = inertia_of(source.dof_invweight0[v + 3]);
    joint.limit = read_limit_scale(source, source.jnt_solref + std::ptrdiff_t{mjNREF} * i);
    if (source.jnt_actgravcomp[i] != 0) {
      const bool actuators = source.nactuator > 0 && !disabled(source, mjDSBL_ACTUATION);
      joint.compensation = actuators ? Compensation::kActuators : Compensation::kNone;
    }
    if (is_scalar) {
      joint.axis = read_vec3(source.jnt_axis + std::ptrdiff_t{3} * i);
      joint.reference = source.qpos0[joint.q];
      joint.limited = limits && source.jnt_limited[i] != 0;
      joint.lower = source.jnt_range[std::ptrdiff_t{2} * i] + source.jnt_margin[i];
      joint.upper = source.jnt_range[2 * i + 1] - source.jnt_margin[i];
      joint.force_limited = source.jnt_actfrclimited[i] != 0;
      joint.force_lower = source.jnt_actfrcrange[std::ptrdiff_t{2} * i];
      joint.force_upper = source.jnt_actfrcrange[2 * i + 1];
    } else if (joint.type == JointType::kBall) {
      const mjtNum* const range = source.jnt_range + std::ptrdiff_t{2} * i;
      const double largest = std::max({range[0], range[1], 0.0}) - source.jnt_margin[i];
      if (limits && source.jnt_limited[i] && largest < std::numbers::pi) {
        joint.largest_angle = std::max(largest, kLeastRange);
      }
    } else {  // MuJoCo ignores the anchor of a free joint, and writes its pose where the body stands
      joint.position = {};
    }
    model.joints.push_back(joint);
  }
  model.dof_parent.assign(source.dof_parentid, source.dof_parentid + source.nv);
  model.q0.assign(source.qpos0, source.qpos0 + source.nq);
  model.q_spring.assign(source.qpos_spring, source.qpos_spring + source.nq);
}

// An actuator's own damping and inertia, as its joint or tendon sees them through the gear, whether or not it is
// switched off.
void add_reflected_parts(const mjModel& source, Model& model) {
  for (int i = 0; i < source.nactuator; ++i) {
    const double gear = source.actuator_gear[std::ptrdiff_t{6} * source.actuator_outadr[i]];
    const int target = source.actuator_trnid[std::ptrdiff_t{2} * i];
    const auto reflect = [&](auto& part, bool is_scalar) {
      part.armature += gear * gear * source.actuator_armature[i];
      if (disabled(source, mjDSBL_DAMPER)) return;
      part.damping += gear * gear * source.actuator_damping[i];
      for (int k = 0; is_scalar && k < mjNPOLY; ++k) {
        part.damping_curve[k] += gear * gear * source.actuator_dampingpoly[mjNPOLY * i + k];
      }
    };
    const int transmission = source.actuator_trntype[i];
    if (transmission == mjTRN_JOINT || transmission == mjTRN_JOINTINPARENT) {
      Joint& joint = model.joints[static_cast<std::size_t>(target)];
      reflect(joint, joint.type >= JointType::kSlide);
    } else if (transmission == mjTRN_TENDON && is_supported_tendon(source, target)) {
      reflect(model.tendons[static_cast<std::size_t>(target)], true);
    }
  }
}

void read_geoms(const mjModel& source, Model& model) {
  for (int i = 0; i < source.ngeom; ++i) {
    const int material = source.geom_matid[i];
    const float* rgba =
        material >= 0 ? source.mat_rgba + std::ptrdiff_t{4} * material : source.geom_rgba + std::ptrdiff_t{4} * i;
    const int type = source.geom_type[i] == mjGEOM_SDF ? mjGEOM_MESH : source.geom_type[i];  // it has a mesh, too
    Geom geom{.name = plain_name(source, mjOBJ_GEOM, i),
              .type = static_cast<GeomType>(type),
              .body = source.geom_bodyid[i],
              .size = read_vec3(source.geom_size + std::ptrdiff_t{3} * i),
              .position = read_vec3(source.geom_pos + std::ptrdiff_t{3} * i),
              .orientation = read_quat(source.geom_quat + std::ptrdiff_t{4} * i),
              .rgba = {}};
    std::copy_n(rgba, 4, geom.rgba.begin());
    model.geoms.push_back(geom);
  }
}

void read_sites(const mjModel& source, Model& model) {
  for (int i = 0; i < source.nsite; ++i) {
    model.sites.push_back({.name = plain_name(source, mjOBJ_SITE, i),
                           .body = source.site_bodyid[i],
                           .position = read_vec3(source.site_pos + std::ptrdiff_t{3} * i),
                           .orientation = read_quat(source.site_quat + std::ptrdiff_t{4} * i),
                           .link = -1,
                           .link_position = {},
                           .link_axes = {}});
  }
}

// What moves has numbers that can be computed with: finite masses and lengths may still have a product that is not.
void check_links(const Model& model) {
  const auto finite = [](const Vec3<double>& v) { return std::isfinite(v[0] + v[1] + v[2]); };
  for (const Link& link : model.links) {
    bool fine = std::isfinite(link.mass) && finite(link.centre) && std::isfinite(link.inertia.isotropic);
    for (const AxialInertia::Term& term : link.inertia.terms) {
      fine = fine && std::isfinite(term.extra) && finite(term.axis);
    }
    if (fine) continue;
    throw UserError("{}: body '{}': mass and size are so large that its inertia is not a finite number", model.name,
                    model.bodies[static_cast<std::size_t>(link.body)].name);
  }
}

Model convert(const mjModel& source, const std::string& name) {
  if (source.njnt == 0) throw UserError("{} has no <joint>: nothing in it can move", name);
  Model model;
  model.name = name;
  model.nq = count(source.nq);
  model.nv = count(source.nv);
  model.nu = count(source.nu);
  model.na = count(source.na);
  model.timestep = source.opt.timestep;
  if (!disabled(source, mjDSBL_GRAVITY)) model.gravity = read_vec3(source.opt.gravity);
  if (!disabled(source, mjDSBL_SPRING) || !disabled(source, mjDSBL_DAMPER)) {  // both switch off all passive forces
    model.density = source.opt.density;
    model.viscosity = source.opt.viscosity;
  }
  model.wind = read_vec3(source.opt.wind);
  read_bodies(source, model);
  read_joints(source, model);
  read_actuators(source, model);
  read_geoms(source, model);
  read_sites(source, model);
  read_tendons(source, model);
  add_reflected_parts(source, model);
  read_equalities(source, model);
  list_unsupported(source, model);
  read_collisions(source, model);
  build_links(model);
  check_links(model);
  check_ties(model);
  find_mobilities(model);
  return model;
}

}  // namespace

Model load_model(const std::string& path) { return convert(*compile_file(path), path); }

Model load_model_from_text(const std::string& xml, const std::string& name) {
  return convert(*compile_text(xml, name), name);
}

}  // namespace cgpo
