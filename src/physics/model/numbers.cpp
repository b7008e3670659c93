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
  int elements;
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
          {mjOBJ_GEOM, "solmix", m.geom_solmix, m.ngeom, 1},
          {mjOBJ_GEOM, "solref", m.geom_solref, m.ngeom, mjNREF},
          {mjOBJ_GEOM, "solimp", m.geom_solimp, m.ngeom, mjNIMP},
          {mjOBJ_BODY, "pos", m.body_pos, m.nbody, 3},
          {mjOBJ_BODY, "orientation", m.body_quat, m.nbody, 4},
          {mjOBJ_BODY, "mass", m.body_mass, m.nbody, 1},
          {mjOBJ_BODY, "centre of mass", m.body_ipos, m.nbody, 3},
          {mjOBJ_BODY, "principal axes", m.body_iquat, m.nbody, 4},
          {mjOBJ_BODY, "inertia", m.body_inertia, m.nbody, 3},
          {mjOBJ_JOINT, "pos", m.jnt_pos, m.njnt, 3},
          {mjOBJ_JOINT, "axis", m.jnt_axis, m.njnt, 3},
          {mjOBJ_JOINT, "stiffness", m.jnt_stiffness, m.njnt, 1},
          {mjOBJ_JOINT, "range", m.jnt_range, m.njnt, 2},
          {mjOBJ_JOINT, "margin", m.jnt_margin, m.njnt, 1},
          {mjOBJ_JOINT, "solreflimit", m.jnt_solref, m.njnt, mjNREF},
          {mjOBJ_JOINT, "solimplimit", m.jnt_solimp, m.njnt, mjNIMP},
          {mjOBJ_ACTUATOR, "gear", m.actuator_gear, m.nu, 6},
          {mjOBJ_ACTUATOR, "ctrlrange", m.actuator_ctrlrange, m.nu, 2},
          {mjOBJ_ACTUATOR, "forcerange", m.actuator_forcerange, m.nu, 2},
          {mjOBJ_ACTUATOR, "gain", m.actuator_gainprm, m.nu, mjNGAIN},
          {mjOBJ_ACTUATOR, "bias", m.actuator_biasprm, m.nu, mjNBIAS},
          {mjOBJ_ACTUATOR, "dynprm", m.actuator_dynprm, m.nu, mjNDYN},
          {mjOBJ_ACTUATOR, "cranklength", m.actuator_cranklength, m.nu, 1},
          // Our dynamics has none of these; MuJoCo's, on which a robot can be trained too, has.
          {mjOBJ_SITE, "pos", m.site_pos, m.nsite, 3},
          {mjOBJ_SITE, "orientation", m.site_quat, m.nsite, 4},
          {mjOBJ_SITE, "size", m.site_size, m.nsite, 3},
          {mjOBJ_HFIELD, "size", m.hfield_size, m.nhfield, 4},
          {mjOBJ_PAIR, "friction", m.pair_friction, m.npair, 5},
          {mjOBJ_PAIR, "margin", m.pair_margin, m.npair, 1},
          {mjOBJ_PAIR, "gap", m.pair_gap, m.npair, 1},
          {mjOBJ_PAIR, "solref", m.pair_solref, m.npair, mjNREF},
          {mjOBJ_PAIR, "solimp", m.pair_solimp, m.npair, mjNIMP},
          {mjOBJ_EQUALITY, "data", m.eq_data, m.neq, mjNEQDATA},
          {mjOBJ_EQUALITY, "solref", m.eq_solref, m.neq, mjNREF},
          {mjOBJ_EQUALITY, "solimp", m.eq_solimp, m.neq, mjNIMP},
          {mjOBJ_TENDON, "range", m.tendon_range, m.ntendon, 2},
          {mjOBJ_TENDON, "margin", m.tendon_margin, m.ntendon, 1},
          {mjOBJ_TENDON, "stiffness", m.tendon_stiffness, m.ntendon, 1},
          {mjOBJ_TENDON, "damping", m.tendon_damping, m.ntendon, 1},
          {mjOBJ_TENDON, "frictionloss", m.tendon_frictionloss, m.ntendon, 1},
          {mjOBJ_TENDON, "springlength", m.tendon_lengthspring, m.ntendon, 1},
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
    refuse(file, joint, "frictionloss", m.dof_frictionloss[v]);
    if (m.dof_armature[v] < 0.0) throw UserError("{}: {}: armature {} is negative", file, joint, m.dof_armature[v]);
  }
  for (int i = 0; i < m.njnt; ++i) {
    const std::string joint = element_name(m, mjOBJ_JOINT, i);
    refuse(file, joint, "ref", m.qpos0[m.jnt_qposadr[i]]);
    refuse(file, joint, "springref", m.qpos_spring[m.jnt_qposadr[i]]);
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
    for (int i = 0; i < numbers.elements * numbers.each; ++i) {
      if (std::isfinite(numbers.values[i])) continue;
      refuse(file, element_name(model, numbers.type, i / numbers.each), numbers.attribute, numbers.values[i]);
    }
  }
  check_joint_numbers(model, file);
}

}  // namespace cgpo
