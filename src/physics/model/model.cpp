// From MuJoCo's compiled model to ours.
#include "cgpo/physics/model/model.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "cgpo/base/error.hpp"
#include "cgpo/physics/model/loader.hpp"

namespace cgpo {
namespace {

std::string plain_name(const mjModel& source, mjtObj type, int id) {
  const char* name = mj_id2name(&source, type, id);
  return name == nullptr ? "" : name;
}

bool disabled(const mjModel& source, int flag) { return (source.opt.disableflags & flag) != 0; }

void read_bodies(const mjModel& source, Model& model) {
  for (int i = 0; i < source.nbody; ++i) {
    model.bodies.push_back({.name = plain_name(source, mjOBJ_BODY, i),
                            .parent = i == 0 ? -1 : source.body_parentid[i],
                            .position = read_vec3(source.body_pos + std::ptrdiff_t{3} * i),
                            .orientation = read_quat(source.body_quat + std::ptrdiff_t{4} * i),
                            .mass = source.body_mass[i],
                            .inertial_position = read_vec3(source.body_ipos + std::ptrdiff_t{3} * i),
                            .inertial_orientation = read_quat(source.body_iquat + std::ptrdiff_t{4} * i),
                            .inertia = read_vec3(source.body_inertia + std::ptrdiff_t{3} * i),
                            .link = -1,
                            .in_link = {}});
  }
}

void read_joints(const mjModel& source, Model& model) {
  const bool limits = !disabled(source, mjDSBL_CONSTRAINT) && !disabled(source, mjDSBL_LIMIT);
  for (int i = 0; i < source.njnt; ++i) {
    const int v = source.jnt_dofadr[i];
    Joint joint;
    joint.name = plain_name(source, mjOBJ_JOINT, i);
    joint.type = static_cast<JointType>(source.jnt_type[i]);
    joint.body = source.jnt_bodyid[i];
    joint.position = read_vec3(source.jnt_pos + std::ptrdiff_t{3} * i);
    joint.q = source.jnt_qposadr[i];
    joint.v = v;
    joint.armature = source.dof_armature[v];
    joint.damping = disabled(source, mjDSBL_DAMPER) ? 0.0 : source.dof_damping[v];
    joint.stiffness = disabled(source, mjDSBL_SPRING) ? 0.0 : source.jnt_stiffness[i];
    if (joint.type == JointType::kSlide || joint.type == JointType::kHinge) {
      joint.axis = read_vec3(source.jnt_axis + std::ptrdiff_t{3} * i);
      joint.reference = source.qpos0[joint.q];
      joint.limited = limits && source.jnt_limited[i] != 0;
      joint.lower = source.jnt_range[std::ptrdiff_t{2} * i] + source.jnt_margin[i];
      joint.upper = source.jnt_range[2 * i + 1] - source.jnt_margin[i];
      joint.inertia = 1.0 / std::max(source.dof_invweight0[v], 1e-12);
    } else {  // MuJoCo ignores the anchor of a free joint, and writes its pose where the body stands
      if (joint.type == JointType::kFree) joint.position = {};
    }
    model.joints.push_back(joint);
  }
  model.dof_parent.assign(source.dof_parentid, source.dof_parentid + source.nv);
  model.q0.assign(source.qpos0, source.qpos0 + source.nq);
  model.q_spring.assign(source.qpos_spring, source.qpos_spring + source.nq);
}

bool is_switched_off(const mjModel& source, int actuator) {
  const int group = source.actuator_group[actuator];
  return disabled(source, mjDSBL_ACTUATION) ||
         (group >= 0 && group < 31 && (source.opt.disableactuator & (1 << group)) != 0);
}

void read_force(const mjModel& source, int id, Actuator& actuator) {
  actuator.joint = source.actuator_trnid[std::ptrdiff_t{2} * id];
  if (is_switched_off(source, id)) return;
  std::copy_n(source.actuator_gear + std::ptrdiff_t{6} * source.actuator_outadr[id], 6, actuator.gear.begin());
  const int gains = source.actuator_gaintype[id] == mjGAIN_AFFINE ? 3 : 1;
  std::copy_n(source.actuator_gainprm + std::ptrdiff_t{mjNGAIN} * id, gains, actuator.gain.begin());
  if (source.actuator_biastype[id] == mjBIAS_AFFINE) {
    std::copy_n(source.actuator_biasprm + std::ptrdiff_t{mjNBIAS} * id, 3, actuator.bias.begin());
  }
  const bool servo = source.actuator_gaintype[id] == mjGAIN_FIXED && actuator.gain[0] == -actuator.bias[1];
  if (servo && actuator.bias[1] != 0.0 && source.jnt_type[actuator.joint] == mjJNT_BALL) {
    actuator.turn = 2.0 * std::numbers::pi * std::hypot(actuator.gear[0], actuator.gear[1], actuator.gear[2]);
  }
}

// One for each control. An actuator that is not supported, and it alone may have several controls or none, keeps its
// place among them, without a force.
void read_actuators(const mjModel& source, Model& model) {
  model.actuators.resize(static_cast<std::size_t>(source.nu));
  for (int i = 0; i < source.nactuator; ++i) {
    for (int k = 0; k < source.actuator_ctrlnum[i]; ++k) {
      const int control = source.actuator_ctrladr[i] + k;
      Actuator& actuator = model.actuators[static_cast<std::size_t>(control)];
      actuator.name = plain_name(source, mjOBJ_ACTUATOR, i);
      actuator.control_limited = source.actuator_ctrllimited[control] && !disabled(source, mjDSBL_CLAMPCTRL);
      actuator.control_lower = source.actuator_ctrlrange[std::ptrdiff_t{2} * control];
      actuator.control_upper = source.actuator_ctrlrange[2 * control + 1];
      actuator.force_limited = source.actuator_forcelimited[i];
      actuator.force_lower = source.actuator_forcerange[std::ptrdiff_t{2} * i];
      actuator.force_upper = source.actuator_forcerange[2 * i + 1];
      if (is_supported_actuator(source, i)) read_force(source, i, actuator);
    }
  }
}

// An actuator's own damping and inertia, as its joint sees them through the gear, whether or not it is switched off.
void add_reflected_parts(const mjModel& source, Model& model) {
  for (int i = 0; i < source.nactuator; ++i) {
    const int transmission = source.actuator_trntype[i];
    if (transmission != mjTRN_JOINT && transmission != mjTRN_JOINTINPARENT) continue;
    Joint& joint = model.joints[static_cast<std::size_t>(source.actuator_trnid[std::ptrdiff_t{2} * i])];
    const double gear = source.actuator_gear[std::ptrdiff_t{6} * source.actuator_outadr[i]];
    joint.armature += gear * gear * source.actuator_armature[i];
    if (!disabled(source, mjDSBL_DAMPER)) joint.damping += gear * gear * source.actuator_damping[i];
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
                           .position = read_vec3(source.site_pos + std::ptrdiff_t{3} * i)});
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
  add_reflected_parts(source, model);
  read_geoms(source, model);
  read_sites(source, model);
  list_unsupported(source, model);
  read_collisions(source, model);
  build_links(model);
  check_links(model);
  return model;
}

}  // namespace

Model load_model(const std::string& path) { return convert(*compile_file(path), path); }

Model load_model_from_text(const std::string& xml, const std::string& name) {
  return convert(*compile_text(xml, name), name);
}

}  // namespace cgpo
