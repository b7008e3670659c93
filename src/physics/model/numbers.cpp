// Numbers that MuJoCo's compiler lets through and no simulation can use. Each is refused by element and attribute.
#include <cmath>
#include <vector>

#include "cgpo/base/error.hpp"
#include "cgpo/physics/mujoco/handle.hpp"

namespace cgpo {
namespace {

struct Numbers {
  mjtObj type;
  const char* attribute;
  const mjtNum* values;
  mjtSize elements;
  int each;  // numbers of an element
};

std::vector<Numbers> numbers_of(const mjModel& m) {
  // Geoms come first: what is wrong with one makes its body wrong, too.
  return {{mjOBJ_GEOM, "size", m.geom_size, m.ngeom, 3},
          {mjOBJ_GEOM, "pos", m.geom_pos, m.ngeom, 3},
          {mjOBJ_GEOM, "orientation", m.geom_quat, m.ngeom, 4},
          {mjOBJ_GEOM, "friction", m.geom_friction, m.ngeom, 3},
          {mjOBJ_GEOM, "margin", m.geom_margin, m.ngeom, 1},
          {mjOBJ_GEOM, "gap", m.geom_gap, m.ngeom, 1},
          {mjOBJ_GEOM, "adhesion", m.geom_adhesion, m.ngeom, 1},
          {mjOBJ_GEOM, "surfacevel", m.geom_surfacevel, m.ngeom, 6},
          {mjOBJ_GEOM, "fluidcoef", m.geom_fluid, m.ngeom, mjNFLUID},
          {mjOBJ_GEOM, "solmix", m.geom_solmix, m.ngeom, 1},
          {mjOBJ_GEOM, "solref", m.geom_solref, m.ngeom, mjNREF},
          {mjOBJ_GEOM, "solimp", m.geom_solimp, m.ngeom, mjNIMP},
          {mjOBJ_BODY, "pos", m.body_pos, m.nbody, 3},
          {mjOBJ_BODY, "orientation", m.body_quat, m.nbody, 4},
          {mjOBJ_BODY, "mass", m.body_mass, m.nbody, 1},
          {mjOBJ_BODY, "centre of mass", m.body_ipos, m.nbody, 3},
          {mjOBJ_BODY, "principal axes", m.body_iquat, m.nbody, 4},
          {mjOBJ_BODY, "inertia", m.body_inertia, m.nbody, 3},
          {mjOBJ_BODY, "gravcomp", m.body_gravcomp, m.nbody, 1},
          {mjOBJ_JOINT, "pos", m.jnt_pos, m.njnt, 3},
          {mjOBJ_JOINT, "axis", m.jnt_axis, m.njnt, 3},
          {mjOBJ_JOINT, "stiffness", m.jnt_stiffness, m.njnt, 1},
          {mjOBJ_JOINT, "stiffness", m.jnt_stiffnesspoly, m.njnt, mjNPOLY},
          {mjOBJ_JOINT, "springyield", m.jnt_springyield, m.njnt, 1},
          {mjOBJ_JOINT, "actuatorfrcrange", m.jnt_actfrcrange, m.njnt, 2},
          {mjOBJ_JOINT, "range", m.jnt_range, m.njnt, 2},
          {mjOBJ_JOINT, "margin", m.jnt_margin, m.njnt, 1},
          {mjOBJ_JOINT, "solreflimit", m.jnt_solref, m.njnt, mjNREF},
          {mjOBJ_JOINT, "solimplimit", m.jnt_solimp, m.njnt, mjNIMP},
          {mjOBJ_ACTUATOR, "forcerange", m.actuator_forcerange, m.nactuator, 2},
          {mjOBJ_ACTUATOR, "gain", m.actuator_gainprm, m.nactuator, mjNGAIN},
          {mjOBJ_ACTUATOR, "bias", m.actuator_biasprm, m.nactuator, mjNBIAS},
          {mjOBJ_ACTUATOR, "dynprm", m.actuator_dynprm, m.nactuator, mjNDYN},
          {mjOBJ_ACTUATOR, "actrange", m.actuator_actrange, m.nactuator, 2},
          {mjOBJ_ACTUATOR, "delay", m.actuator_delay, m.nactuator, 1},
          {mjOBJ_ACTUATOR, "armature", m.actuator_armature, m.nactuator, 1},
          {mjOBJ_ACTUATOR, "damping", m.actuator_damping, m.nactuator, 1},
          {mjOBJ_ACTUATOR, "damping", m.actuator_dampingpoly, m.nactuator, mjNPOLY},
          {mjOBJ_ACTUATOR, "cranklength", m.actuator_cranklength, m.nactuator, 1},
          // Our dynamics has none of these; MuJoCo's, on which a robot can be trained too, has.
          {mjOBJ_SITE, "pos", m.site_pos, m.nsite, 3},
          {mjOBJ_SITE, "orientation", m.site_quat, m.nsite, 4},
          {mjOBJ_SITE, "size", m.site_size, m.nsite, 3},
          {mjOBJ_HFIELD, "size", m.hfield_size, m.nhfield, 4},
          {mjOBJ_PAIR, "friction", m.pair_friction, m.npair, 5},
          {mjOBJ_PAIR, "margin", m.pair_margin, m.npair, 1},
          {mjOBJ_PAIR, "adhesion", m.pair_adhesion, m.npair, 1},
          {mjOBJ_PAIR, "solreffriction", m.pair_solreffriction, m.npair, mjNREF},
          {mjOBJ_PAIR, "gap", m.pair_gap, m.npair, 1},
          {mjOBJ_PAIR, "solref", m.pair_solref, m.npair, mjNREF},
          {mjOBJ_PAIR, "solimp", m.pair_solimp, m.npair, mjNIMP},
          {mjOBJ_EQUALITY, "data", m.eq_data, m.neq, mjNEQDATA},
          {mjOBJ_EQUALITY, "solref", m.eq_solref, m.neq, mjNREF},
          {mjOBJ_EQUALITY, "solimp", m.eq_solimp, m.neq, mjNIMP},
          {mjOBJ_TENDON, "length", m.tendon_length0, m.ntendon, 1},
          {mjOBJ_TENDON, "moment", m.tendon_invweight0, m.ntendon, 1},
          {mjOBJ_TENDON, "range", m.tendon_range, m.ntendon, 2},
          {mjOBJ_TENDON, "margin", m.tendon_margin, m.ntendon, 1},
          {mjOBJ_TENDON, "actuatorfrcrange", m.tendon_actfrcrange, m.ntendon, 2},
          {mjOBJ_TENDON, "stiffness", m.tendon_stiffness, m.ntendon, 1},
          {mjOBJ_TENDON, "stiffness", m.tendon_stiffnesspoly, m.ntendon, mjNPOLY},
          {mjOBJ_TENDON, "springyield", m.tendon_springyield, m.ntendon, 1},
          {mjOBJ_TENDON, "damping", m.tendon_damping, m.ntendon, 1},
          {mjOBJ_TENDON, "damping", m.tendon_dampingpoly, m.ntendon, mjNPOLY},
          {mjOBJ_TENDON, "armature", m.tendon_armature, m.ntendon, 1},
          {mjOBJ_TENDON, "frictionloss", m.tendon_frictionloss, m.ntendon, 1},
          {mjOBJ_TENDON, "springlength", m.tendon_lengthspring, m.ntendon, 2},
          {mjOBJ_TENDON, "solreffriction", m.tendon_solref_fri, m.ntendon, mjNREF},
          {mjOBJ_TENDON, "solimpfriction", m.tendon_solimp_fri, m.ntendon, mjNIMP},
          {mjOBJ_TENDON, "solreflimit", m.tendon_solref_lim, m.ntendon, mjNREF},
          {mjOBJ_TENDON, "solimplimit", m.tendon_solimp_lim, m.ntendon, mjNIMP}};
}

void refuse(const std::string& file, const std::string& element, const char* attribute, double value) {
  if (!std::isfinite(value)) throw UserError("{}: {}: {} is {}, not a finite number", file, element, attribute, value);
}

void check_joint_numbers(const mjModel& m, const std::string& file) {
  for (int v = 0; v < m.nv; ++v) {
    const std::string joint = element_name(m, mjOBJ_JOINT, m.dof_jntid[v]);
    refuse(file, joint, "armature", m.dof_armature[v]);
    refuse(file, joint, "damping", m.dof_damping[v]);
    for (int k = 0; k < mjNPOLY; ++k) refuse(file, joint, "damping", m.dof_dampingpoly[mjNPOLY * v + k]);
    refuse(file, joint, "frictionloss", m.dof_frictionloss[v]);
    if (m.dof_armature[v] < 0.0) throw UserError("{}: {}: armature {} is negative", file, joint, m.dof_armature[v]);
  }
  for (int i = 0; i < m.njnt; ++i) {
    const std::string joint = element_name(m, mjOBJ_JOINT, i);
    refuse(file, joint, "ref", m.qpos0[m.jnt_qposadr[i]]);
    refuse(file, joint, "springref", m.qpos_spring[m.jnt_qposadr[i]]);
  }
}

// Gears are numbered by outputs and ranges by controls, of which an actuator may have several.
void check_actuator_numbers(const mjModel& m, const std::string& file) {
  const auto check_all = [&](int actuator, const char* attribute, const mjtNum* values, int numbers) {
    for (int i = 0; i < numbers; ++i) {
      if (!std::isfinite(values[i])) refuse(file, element_name(m, mjOBJ_ACTUATOR, actuator), attribute, values[i]);
    }
  };
  for (int i = 0; i < m.nactuator; ++i) {
    check_all(i, "gear", m.actuator_gear + std::ptrdiff_t{6} * m.actuator_outadr[i], 6 * m.actuator_outnum[i]);
    check_all(i, "ctrlrange", m.actuator_ctrlrange + std::ptrdiff_t{2} * m.actuator_ctrladr[i],
              2 * m.actuator_ctrlnum[i]);
    if (m.actuator_armature[i] < 0.0) {
      throw UserError("{}: {}: armature {} is negative", file, element_name(m, mjOBJ_ACTUATOR, i),
                      m.actuator_armature[i]);
    }
  }
}

void check_options(const mjOption& option, const std::string& file) {
  refuse(file, "option", "timestep", option.timestep);
  if (!(option.timestep > 0.0)) throw UserError("{}: option: timestep {} is not positive", file, option.timestep);
  refuse(file, "option", "density", option.density);
  refuse(file, "option", "viscosity", option.viscosity);
  refuse(file, "option", "impratio", option.impratio);
  refuse(file, "option", "tolerance", option.tolerance);
  for (int i = 0; i < 3; ++i) {
    refuse(file, "option", "gravity", option.gravity[i]);
    refuse(file, "option", "wind", option.wind[i]);
  }
}

}  // namespace

void check_compiled_numbers(const mjModel& model, const std::string& file) {
  check_options(model.opt, file);
  for (const Numbers& numbers : numbers_of(model)) {
    for (mjtSize i = 0; i < numbers.elements * numbers.each; ++i) {
      if (std::isfinite(numbers.values[i])) continue;
      refuse(file, element_name(model, numbers.type, count(i / numbers.each)), numbers.attribute, numbers.values[i]);
    }
  }
  check_joint_numbers(model, file);
  check_actuator_numbers(model, file);
}

}  // namespace cgpo
