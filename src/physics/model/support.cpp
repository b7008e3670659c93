// What an MJCF file may ask for that our dynamics does not do. Every such element is named.
#include <algorithm>
#include <fmt/format.h>

#include "cgpo/physics/model/loader.hpp"

namespace cgpo {

bool is_supported_actuator(const mjModel& source, int id) {
  const int transmission = source.actuator_trntype[id];
  if (transmission != mjTRN_JOINT && transmission != mjTRN_JOINTINPARENT) return false;
  const int joint_type = source.jnt_type[source.actuator_trnid[std::ptrdiff_t{2} * id]];
  const bool scalar = joint_type == mjJNT_SLIDE || joint_type == mjJNT_HINGE;
  if (transmission == mjTRN_JOINTINPARENT && !scalar) return false;
  const int gain = source.actuator_gaintype[id];
  const int bias = source.actuator_biastype[id];
  return source.actuator_dyntype[id] == mjDYN_NONE && (gain == mjGAIN_FIXED || gain == mjGAIN_AFFINE) &&
         (bias == mjBIAS_NONE || bias == mjBIAS_AFFINE);
}

namespace {

void list_actuators(const mjModel& source, Model& model) {
  static constexpr const char* kTransmissions[] = {"joint", "jointinparent", "slidercrank", "tendon", "site", "body"};
  static constexpr const char* kDynamics[] = {"none", "integrator", "filter", "muscle", "user"};
  for (int i = 0; i < source.nu; ++i) {
    if (is_supported_actuator(source, i)) continue;
    const std::string name = element_name(source, mjOBJ_ACTUATOR, i);
    const int transmission = source.actuator_trntype[i];
    if (source.actuator_dyntype[i] != mjDYN_NONE) {
      model.unsupported.push_back(
          fmt::format("{}: activation dynamics '{}'", name, kDynamics[source.actuator_dyntype[i]]));
    } else if (transmission > mjTRN_JOINTINPARENT) {
      model.unsupported.push_back(fmt::format("{}: transmission '{}'", name, kTransmissions[transmission]));
    } else if (transmission == mjTRN_JOINTINPARENT) {
      model.unsupported.push_back(fmt::format("{}: transmission 'jointinparent' on a ball or free joint", name));
    } else {
      model.unsupported.push_back(fmt::format("{}: a gain or bias that is not affine", name));
    }
  }
}

}  // namespace

void list_unsupported(const mjModel& source, Model& model) {
  const auto list = [&](mjtObj type, int id, const char* what) {
    model.unsupported.push_back(fmt::format("{}: {}", element_name(source, type, id), what));
  };
  for (int i = 0; i < source.ntendon; ++i) list(mjOBJ_TENDON, i, "tendons");
  const bool constraints = (source.opt.disableflags & mjDSBL_CONSTRAINT) == 0;
  if (constraints && (source.opt.disableflags & mjDSBL_EQUALITY) == 0) {
    for (int i = 0; i < source.neq; ++i) {
      if (source.eq_active[i] != 0) list(mjOBJ_EQUALITY, i, "equality constraints");
    }
  }
  for (int i = 0; i < source.njnt; ++i) {
    const bool scalar = source.jnt_type[i] == mjJNT_SLIDE || source.jnt_type[i] == mjJNT_HINGE;
    const bool limits = constraints && (source.opt.disableflags & mjDSBL_LIMIT) == 0;
    if (limits && source.jnt_limited[i] != 0 && !scalar) list(mjOBJ_JOINT, i, "the range of a ball joint");
    if (constraints && source.dof_frictionloss[source.jnt_dofadr[i]] > 0.0 &&
        (source.opt.disableflags & mjDSBL_FRICTIONLOSS) == 0) {
      list(mjOBJ_JOINT, i, "frictionloss");
    }
  }
  list_actuators(source, model);
  for (int i = 0; i < source.nbody; ++i) {
    if (source.body_mocapid[i] >= 0) list(mjOBJ_BODY, i, "mocap bodies");
  }
  if (source.opt.density > 0.0 || source.opt.viscosity > 0.0) {
    for (int i = 0; i < source.ngeom; ++i) {
      if (source.geom_fluid[std::ptrdiff_t{mjNFLUID} * i] > 0.0) list(mjOBJ_GEOM, i, "fluidshape 'ellipsoid'");
    }
  }
  if ((source.opt.enableflags & mjENBL_OVERRIDE) != 0) {
    model.unsupported.push_back("option flag 'override': contact parameters for all geoms");
  }
  if (source.opt.integrator != mjINT_EULER) {
    model.unsupported.push_back(
        fmt::format("option integrator '{}': only Euler", source.opt.integrator == mjINT_RK4 ? "RK4" : "implicit"));
  }
}

void leave_out_unsupported(mjModel& model) {
  std::fill_n(model.tendon_stiffness, model.ntendon, 0.0);
  std::fill_n(model.tendon_damping, model.ntendon, 0.0);
  for (int i = 0; i < model.nu; ++i) {
    if (is_supported_actuator(model, i)) continue;
    model.actuator_gaintype[i] = mjGAIN_FIXED;
    model.actuator_biastype[i] = mjBIAS_NONE;
    std::fill_n(model.actuator_gainprm + std::ptrdiff_t{mjNGAIN} * i, mjNGAIN, 0.0);
  }
  for (int i = 0; i < model.ngeom; ++i)
    model.geom_fluid[std::ptrdiff_t{mjNFLUID} * i] = 0.0;  // the body is a box to the fluid again
}

}  // namespace cgpo
