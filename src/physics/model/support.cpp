// What an MJCF file may ask for that our dynamics does not do. Every such element is named.
#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <iterator>

#include "cgpo/physics/model/loader.hpp"

namespace cgpo {

namespace {

bool is_scalar(const mjModel& source, int joint) {
  return source.jnt_type[joint] == mjJNT_SLIDE || source.jnt_type[joint] == mjJNT_HINGE;
}

}  // namespace

bool is_supported_actuator(const mjModel& source, int id) {
  switch (source.actuator_trntype[id]) {
    case mjTRN_JOINT:
    case mjTRN_JOINTINPARENT:
    case mjTRN_SITE: break;
    case mjTRN_TENDON:
      if (!is_supported_tendon(source, source.actuator_trnid[std::ptrdiff_t{2} * id])) return false;
      break;
    default: return false;
  }
  if (source.actuator_ctrlnum[id] != 1 || source.actuator_plugin[id] >= 0 || source.actuator_delay[id] > 0.0) {
    return false;
  }
  const int gain = source.actuator_gaintype[id];
  const int bias = source.actuator_biastype[id];
  const int activations = source.actuator_dyntype[id] == mjDYN_NONE ? 0 : 1;
  return source.actuator_dyntype[id] <= mjDYN_FILTEREXACT && source.actuator_actnum[id] == activations &&
         (gain == mjGAIN_FIXED || gain == mjGAIN_AFFINE) && (bias == mjBIAS_NONE || bias == mjBIAS_AFFINE);
}

namespace {

void list_actuators(const mjModel& source, Model& model) {
  static constexpr const char* kTransmissions[] = {"joint", "jointinparent", "slidercrank", "tendon",
                                                   "site",  "body",          "orientation"};
  static_assert(std::size(kTransmissions) == mjTRN_SO3 + 1);
  static constexpr const char* kDynamics[] = {"none",   "integrator", "filter", "filterexact",
                                              "muscle", "dcmotor",    "pid",    "user"};
  static_assert(std::size(kDynamics) == mjDYN_USER + 1);
  for (int i = 0; i < source.nactuator; ++i) {
    if (is_supported_actuator(source, i)) continue;
    const std::string name = element_name(source, mjOBJ_ACTUATOR, i);
    const int transmission = source.actuator_trntype[i];
    if (source.actuator_dyntype[i] > mjDYN_FILTEREXACT) {
      model.unsupported.push_back(
          fmt::format("{}: activation dynamics '{}'", name, kDynamics[source.actuator_dyntype[i]]));
    } else if (transmission == mjTRN_TENDON &&
               !is_supported_tendon(source, source.actuator_trnid[std::ptrdiff_t{2} * i])) {
      model.unsupported.push_back(fmt::format("{}: a tendon that is left out", name));
    } else if (transmission == mjTRN_SLIDERCRANK || transmission > mjTRN_SITE) {
      model.unsupported.push_back(fmt::format("{}: transmission '{}'", name, kTransmissions[transmission]));
    } else if (source.actuator_plugin[i] >= 0) {
      model.unsupported.push_back(fmt::format("{}: plugins", name));
    } else if (source.actuator_delay[i] > 0.0) {
      model.unsupported.push_back(fmt::format("{}: a control that is delayed", name));
    } else if (source.actuator_ctrlnum[i] != 1) {
      model.unsupported.push_back(fmt::format("{}: {} controls", name, source.actuator_ctrlnum[i]));
    } else {
      model.unsupported.push_back(fmt::format("{}: a gain or bias that is not affine", name));
    }
  }
}

bool is_bent(const mjtNum* coefficients) {  // a polynomial beyond its linear term
  return std::any_of(coefficients, coefficients + mjNPOLY, [](mjtNum c) { return c != 0.0; });
}

// Whether an actuator's damping is linear, or acts along a length.
bool is_damping_supported(const mjModel& source, int actuator) {
  const int transmission = source.actuator_trntype[actuator];
  const bool on_joint = transmission == mjTRN_JOINT || transmission == mjTRN_JOINTINPARENT;
  return !is_bent(source.actuator_dampingpoly + std::ptrdiff_t{mjNPOLY} * actuator) || transmission == mjTRN_TENDON ||
         (on_joint && is_scalar(source, source.actuator_trnid[std::ptrdiff_t{2} * actuator]));
}

using Lister = std::function<void(mjtObj type, int id, const char* what)>;

void list_joints(const mjModel& source, const Lister& list) {
  for (int i = 0; i < source.njnt; ++i) {
    const mjtNum* const damping = source.dof_dampingpoly + std::ptrdiff_t{mjNPOLY} * source.jnt_dofadr[i];
    if (!is_scalar(source, i) && is_bent(damping)) list(mjOBJ_JOINT, i, "damping that is not linear");
    if (source.jnt_springyield[i] > 0.0) list(mjOBJ_JOINT, i, "a spring that yields");
  }
  for (int i = 0; i < source.nactuator; ++i) {
    if (!is_damping_supported(source, i)) list(mjOBJ_ACTUATOR, i, "damping that is not linear");
  }
}

void list_tendons(const mjModel& source, const Lister& list) {
  for (int i = 0; i < source.ntendon; ++i) {
    if (!is_supported_tendon(source, i)) list(mjOBJ_TENDON, i, "a path around a geom");
    if (source.tendon_springyield[i] > 0.0) list(mjOBJ_TENDON, i, "a spring that yields");
    if (source.tendon_actfrclimited[i] && !is_tendon_range_supported(source, i)) {
      list(mjOBJ_TENDON, i, "actuatorfrcrange of several actuators");
    }
  }
}

void list_bodies(const mjModel& source, const Lister& list) {
  for (int i = 0; i < source.nbody; ++i) {
    if (source.body_plugin[i] >= 0) list(mjOBJ_BODY, i, "plugins");
  }
  for (int i = 0; i < source.nflex; ++i) list(mjOBJ_FLEX, i, "flexes");
  const bool fluid = source.opt.density > 0.0 || source.opt.viscosity > 0.0;
  for (int i = 0; i < source.ngeom; ++i) {
    if (fluid && source.geom_fluid[std::ptrdiff_t{mjNFLUID} * i] > 0.0) list(mjOBJ_GEOM, i, "fluidshape 'ellipsoid'");
    if (source.geom_adhesion[i] != 0.0) list(mjOBJ_GEOM, i, "adhesion");
    const mjtNum* const velocity = source.geom_surfacevel + std::ptrdiff_t{6} * i;
    if (std::any_of(velocity, velocity + 6, [](mjtNum x) { return x != 0.0; })) list(mjOBJ_GEOM, i, "surfacevel");
  }
  for (int i = 0; i < source.npair; ++i) {
    if (source.pair_adhesion[i] != 0.0) list(mjOBJ_PAIR, i, "adhesion");
  }
}

// How much of a contact, limit or friction MuJoCo's solver fulfils has no counterpart in our smooth laws.
void note_impedances(const mjModel& m, Model& model) {
  static constexpr mjtNum kDefault[mjNIMP] = {0.9, 0.95, 0.001, 0.5, 2.0};
  std::vector<std::string> given;
  // find(i): the numbers of element i, null where they do not matter.
  const auto look = [&](mjtObj type, const char* attribute, auto count, const auto& find) {
    for (int i = 0; i < static_cast<int>(count); ++i) {
      const mjtNum* const numbers = find(i);
      if (numbers == nullptr || std::equal(numbers, numbers + mjNIMP, kDefault)) continue;
      given.push_back(fmt::format("{} of {}", attribute, element_name(m, type, i)));
    }
  };
  const auto row = [](const mjtNum* numbers, int i, bool matters) {
    return matters ? numbers + std::ptrdiff_t{mjNIMP} * i : nullptr;
  };
  look(mjOBJ_GEOM, "solimp", m.ngeom,
       [&](int i) { return row(m.geom_solimp, i, m.geom_contype[i] != 0 || m.geom_conaffinity[i] != 0); });
  look(mjOBJ_PAIR, "solimp", m.npair, [&](int i) { return row(m.pair_solimp, i, true); });
  look(mjOBJ_JOINT, "solimplimit", m.njnt, [&](int i) { return row(m.jnt_solimp, i, m.jnt_limited[i]); });
  look(mjOBJ_JOINT, "solimpfriction", m.njnt, [&](int i) {
    const int dof = m.jnt_dofadr[i];
    return row(m.dof_solimp, dof, m.dof_frictionloss[dof] > 0.0);
  });
  look(mjOBJ_TENDON, "solimplimit", m.ntendon, [&](int i) { return row(m.tendon_solimp_lim, i, m.tendon_limited[i]); });
  look(mjOBJ_TENDON, "solimpfriction", m.ntendon,
       [&](int i) { return row(m.tendon_solimp_fri, i, m.tendon_frictionloss[i] > 0.0); });
  if (given.empty()) return;
  const std::string others = given.size() > 1 ? fmt::format(" and {} more", given.size() - 1) : "";
  model.notes.push_back(
      fmt::format("{}{}: not used, our contact, limits and friction have no counterpart", given.front(), others));
}

}  // namespace

void list_unsupported(const mjModel& source, Model& model) {
  static constexpr const char* kIntegrators[] = {"Euler", "RK4", "implicit", "implicitfast", "discrete"};
  static_assert(std::size(kIntegrators) == mjINT_DISCRETE + 1);
  const Lister list = [&](mjtObj type, int id, const char* what) {
    model.unsupported.push_back(fmt::format("{}: {}", element_name(source, type, id), what));
  };
  list_joints(source, list);
  list_tendons(source, list);
  list_actuators(source, model);
  list_bodies(source, list);
  if ((source.opt.enableflags & mjENBL_OVERRIDE) != 0) {
    model.unsupported.push_back("option flag 'override': contact parameters for all geoms");
  }
  if (source.opt.integrator != mjINT_EULER) {
    model.notes.push_back(fmt::format("option integrator '{}' is MuJoCo's; our step is our own, semi-implicit Euler",
                                      kIntegrators[source.opt.integrator]));
  }
  note_impedances(source, model);
  if ((source.opt.enableflags & mjENBL_SLEEP) != 0) {
    model.warnings.push_back("option flag 'sleep' is left out: bodies at rest are computed, too");
  }
}

void leave_out_unsupported(mjModel& model) {
  for (int i = 0; i < model.njnt; ++i) {
    if (!is_scalar(model, i))
      std::fill_n(model.dof_dampingpoly + std::ptrdiff_t{mjNPOLY} * model.jnt_dofadr[i],
                  mjNPOLY * (model.jnt_type[i] == mjJNT_FREE ? 6 : 3), 0.0);
  }
  for (int i = 0; i < model.ntendon; ++i) {
    if (!is_tendon_range_supported(model, i)) model.tendon_actfrclimited[i] = false;
    if (is_supported_tendon(model, i)) continue;
    model.tendon_stiffness[i] = model.tendon_damping[i] = model.tendon_armature[i] = 0.0;
    std::fill_n(model.tendon_stiffnesspoly + std::ptrdiff_t{mjNPOLY} * i, mjNPOLY, 0.0);
    std::fill_n(model.tendon_dampingpoly + std::ptrdiff_t{mjNPOLY} * i, mjNPOLY, 0.0);
  }
  std::fill_n(model.flex_stiffness, model.nflexstiffness, 0.0);
  std::fill_n(model.flex_bending, model.nflexbending, 0.0);
  std::fill_n(model.flex_edgestiffness, model.nflex, 0.0);
  std::fill_n(model.flex_edgedamping, model.nflex, 0.0);
  for (int i = 0; i < model.nactuator; ++i) {
    const bool lost = model.actuator_trntype[i] == mjTRN_TENDON &&
                      !is_supported_tendon(model, model.actuator_trnid[std::ptrdiff_t{2} * i]);
    if (lost) model.actuator_damping[i] = model.actuator_armature[i] = 0.0;
    if (lost || !is_damping_supported(model, i)) {
      std::fill_n(model.actuator_dampingpoly + std::ptrdiff_t{mjNPOLY} * i, mjNPOLY, 0.0);
    }
    if (is_supported_actuator(model, i)) continue;
    model.actuator_gaintype[i] = mjGAIN_FIXED;
    model.actuator_biastype[i] = mjBIAS_NONE;
    std::fill_n(model.actuator_gainprm + std::ptrdiff_t{mjNGAIN} * i, mjNGAIN, 0.0);
  }
  for (int i = 0; i < model.ngeom; ++i)
    model.geom_fluid[std::ptrdiff_t{mjNFLUID} * i] = 0.0;  // the body is a box to the fluid again
}

}  // namespace cgpo
