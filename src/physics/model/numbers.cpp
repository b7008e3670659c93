// Numbers that MuJoCo's compiler lets through and no simulation can use. Each is refused by element and attribute.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <string_view>
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
          {mjOBJ_ACTUATOR, "gear", m.actuator_gear, m.nu, 6},
          {mjOBJ_ACTUATOR, "ctrlrange", m.actuator_ctrlrange, m.nu, 2},
          {mjOBJ_ACTUATOR, "forcerange", m.actuator_forcerange, m.nu, 2},
          {mjOBJ_ACTUATOR, "gain", m.actuator_gainprm, m.nu, mjNGAIN},
          {mjOBJ_ACTUATOR, "bias", m.actuator_biasprm, m.nu, mjNBIAS}};
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
  for (int i = 0; i < 3; ++i) {
    refuse(file, "option", "gravity", option.gravity[i]);
    refuse(file, "option", "wind", option.wind[i]);
  }
}

bool has_nan(std::string_view values) {
  const std::string text(values);
  const char* at = text.c_str();
  for (char* end = nullptr;; at = end) {
    const double value = std::strtod(at, &end);
    if (end == at) return false;
    if (std::isnan(value)) return true;
  }
}

}  // namespace

void check_written_numbers(const std::string& xml, const std::string& file) {
  static constexpr std::array<std::string_view, 7> kOptional = {"mass",   "fromto", "euler",      "axisangle",
                                                                "xyaxes", "zaxis",  "fullinertia"};
  for (const std::string_view attribute : kOptional) {
    for (std::size_t at = xml.find(attribute); at != std::string::npos; at = xml.find(attribute, at + 1)) {
      if (at == 0 || std::string_view(" \t\r\n").find(xml[at - 1]) == std::string_view::npos) continue;
      const std::size_t equals = xml.find_first_not_of(" \t\r\n", at + attribute.size());
      if (equals == std::string::npos || xml[equals] != '=') continue;
      const std::size_t open = xml.find_first_not_of(" \t\r\n", equals + 1);
      if (open == std::string::npos || (xml[open] != '"' && xml[open] != '\'')) continue;
      const std::size_t close = xml.find(xml[open], open + 1);
      if (close == std::string::npos || !has_nan(std::string_view(xml).substr(open + 1, close - open - 1))) continue;
      const std::size_t tag = xml.rfind('<', at);
      const std::string element =
          tag == std::string::npos ? "" : xml.substr(tag + 1, xml.find_first_of(" \t\r\n", tag) - tag - 1);
      const auto line = 1 + std::count(xml.begin(), xml.begin() + static_cast<std::ptrdiff_t>(at), '\n');
      throw UserError("{}: {} in line {}: {} is nan, not a finite number", file, element, line, attribute);
    }
  }
}

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
