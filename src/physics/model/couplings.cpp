// What ties joints and bodies to one another beside the tree: tendons and equality constraints.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <set>
#include <utility>

#include "cgpo/base/error.hpp"
#include "cgpo/physics/dynamics/passive.hpp"
#include "cgpo/physics/model/loader.hpp"

namespace cgpo {

bool is_supported_tendon(const mjModel& source, int id) {
  const int* const types = source.wrap_type + source.tendon_adr[id];
  for (int i = 0; i < source.tendon_num[id]; ++i) {
    if (types[i] != mjWRAP_JOINT && types[i] != mjWRAP_SITE && types[i] != mjWRAP_PULLEY) return false;
  }
  return true;
}

LimitScale read_limit_scale(const mjModel& source, const mjtNum* solref) {
  constexpr double kTime = 0.02;  // MuJoCo's default, with a damping ratio of 1
  constexpr double kMost = 1e6;
  constexpr double kLeast = 1e-6;                         // without any there would be no law
  if ((solref[0] > 0.0) != (solref[1] > 0.0)) return {};  // MuJoCo takes its default, too
  LimitScale scale;
  if (solref[0] > 0.0) {
    double time = solref[0];
    if (!disabled(source, mjDSBL_REFSAFE)) time = std::max(time, std::min(kTime, 2.0 * source.opt.timestep));
    scale.damping = kTime / time;
    scale.stiffness = scale.damping * scale.damping / (solref[1] * solref[1]);
  } else {  // the stiffness and the damping themselves, negative
    scale = {-solref[0] * kTime * kTime, -solref[1] * 0.5 * kTime};
  }
  if (!std::isfinite(scale.stiffness) || !std::isfinite(scale.damping)) return {};
  return {std::clamp(scale.stiffness, kLeast, kMost), std::clamp(scale.damping, kLeast, kMost)};
}

namespace {

void read_path(const mjModel& source, int id, Tendon& tendon) {
  const int first = source.tendon_adr[id];
  const int end = first + source.tendon_num[id];
  double share = 1.0;
  for (int k = first; k < end; ++k) {
    const int object = source.wrap_objid[k];
    if (source.wrap_type[k] == mjWRAP_JOINT) tendon.terms.push_back({object, source.wrap_prm[k]});
    if (source.wrap_type[k] == mjWRAP_PULLEY) share = 1.0 / source.wrap_prm[k];
    if (source.wrap_type[k] != mjWRAP_SITE || k + 1 == end || source.wrap_type[k + 1] != mjWRAP_SITE) continue;
    tendon.pieces.push_back({object, source.wrap_objid[k + 1], share});
  }
}

void read_forces(const mjModel& source, int id, Tendon& tendon) {
  const bool constraints = !disabled(source, mjDSBL_CONSTRAINT);
  if (!disabled(source, mjDSBL_DAMPER)) {
    tendon.damping = source.tendon_damping[id];
    tendon.damping_curve = read_curve(source.tendon_dampingpoly + std::ptrdiff_t{mjNPOLY} * id);
  }
  if (!disabled(source, mjDSBL_SPRING)) {
    tendon.stiffness = source.tendon_stiffness[id];
    tendon.stiffness_curve = read_curve(source.tendon_stiffnesspoly + std::ptrdiff_t{mjNPOLY} * id);
  }
  tendon.rest_lower = source.tendon_lengthspring[std::ptrdiff_t{2} * id];
  tendon.rest_upper = source.tendon_lengthspring[2 * id + 1];
  tendon.armature = source.tendon_armature[id];
  if (constraints && !disabled(source, mjDSBL_FRICTIONLOSS)) {
    tendon.frictionloss = std::max(source.tendon_frictionloss[id], 0.0);
  }
  tendon.limited = constraints && !disabled(source, mjDSBL_LIMIT) && source.tendon_limited[id] != 0;
  tendon.lower = source.tendon_range[std::ptrdiff_t{2} * id] + source.tendon_margin[id];
  tendon.upper = source.tendon_range[2 * id + 1] - source.tendon_margin[id];
  tendon.limit = read_limit_scale(source, source.tendon_solref_lim + std::ptrdiff_t{mjNREF} * id);
  tendon.inertia = inertia_of(source.tendon_invweight0[id]);
}

}  // namespace

void read_tendons(const mjModel& source, Model& model) {
  for (int i = 0; i < source.ntendon; ++i) {
    Tendon tendon;
    tendon.name = plain_name(source, mjOBJ_TENDON, i);
    if (is_supported_tendon(source, i)) {
      read_path(source, i, tendon);
      read_forces(source, i, tendon);
    }
    model.tendons.push_back(std::move(tendon));
  }
}

namespace {

Softness read_softness(const mjModel& source, int id) {
  const auto in_range = [](double x) { return std::clamp(x, mjMINIMP, mjMAXIMP); };
  constexpr double kHighestPower = 16.0;
  const mjtNum* const solref = source.eq_solref + std::ptrdiff_t{mjNREF} * id;
  const mjtNum* const solimp = source.eq_solimp + std::ptrdiff_t{mjNIMP} * id;
  Softness soft;
  if ((solref[0] > 0.0) == (solref[1] > 0.0)) {  // otherwise MuJoCo takes its default
    soft.time = solref[0];
    soft.ratio = solref[1];
  }
  soft.is_safe = !disabled(source, mjDSBL_REFSAFE);
  soft.least = in_range(solimp[0]);
  soft.most = in_range(solimp[1]);
  soft.width = std::max(solimp[2], 0.0);
  soft.midpoint = in_range(solimp[3]);
  soft.power = std::clamp(solimp[4], 1.0, kHighestPower);
  return soft;
}

Mat3<double> read_rotation(const mjtNum* quaternion) {
  Quat<double> q = read_quat(quaternion);
  const double length = std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  if (length < 1e-12) return Mat3<double>::identity();
  for (double& x : q) x /= length;
  return rotation_of(q);
}

void read_bodies_of(const mjModel& source, int id, Equality& equality) {
  const mjtNum* const data = source.eq_data + std::ptrdiff_t{mjNEQDATA} * id;
  const bool by_site = source.eq_objtype[id] == mjOBJ_SITE;
  const bool is_weld = equality.type == EqualityType::kWeld;
  equality.inverse_inertia = equality.inverse_turn_inertia = 0.0;
  for (const int i : {0, 1}) {
    Equality::End& end = equality.ends[i];
    if (by_site) {
      const int site = end.id;
      end.id = source.site_bodyid[site];
      end.in_body = {read_vec3(source.site_pos + std::ptrdiff_t{3} * site),
                     read_rotation(source.site_quat + std::ptrdiff_t{4} * site)};
    } else {  // a weld has the anchors the other way round, and then how the second body is turned in the first
      end.in_body.position = read_vec3(data + (is_weld ? 3 * (1 - i) : 3 * i));
      if (is_weld && i == 0) end.in_body.rotation = read_rotation(data + 6);
    }
    equality.inverse_inertia += source.body_invweight0[std::ptrdiff_t{2} * end.id];
    equality.inverse_turn_inertia += source.body_invweight0[2 * end.id + 1];
  }
  equality.torque_scale = is_weld ? data[10] : 0.0;
}

void read_lengths_of(const mjModel& source, int id, Equality& equality) {
  const bool of_joints = equality.type == EqualityType::kJoint;
  std::copy_n(source.eq_data + std::ptrdiff_t{mjNEQDATA} * id, equality.polynomial.size(), equality.polynomial.begin());
  equality.inverse_inertia = 0.0;
  for (Equality::End& end : equality.ends) {
    if (end.id < 0) continue;
    end.reference = of_joints ? source.qpos0[source.jnt_qposadr[end.id]] : source.tendon_length0[end.id];
    equality.inverse_inertia +=
        of_joints ? source.dof_invweight0[source.jnt_dofadr[end.id]] : source.tendon_invweight0[end.id];
  }
}

bool is_supported_equality(const mjModel& source, int id) {
  for (const int target : {source.eq_obj1id[id], source.eq_obj2id[id]}) {
    if (source.eq_type[id] == mjEQ_JOINT && target >= 0 && source.jnt_type[target] < mjJNT_SLIDE) return false;
    if (source.eq_type[id] == mjEQ_TENDON && target >= 0 && !is_supported_tendon(source, target)) return false;
  }
  return source.eq_type[id] <= mjEQ_TENDON;
}

}  // namespace

void read_equalities(const mjModel& source, Model& model) {
  if (disabled(source, mjDSBL_CONSTRAINT) || disabled(source, mjDSBL_EQUALITY)) return;
  for (int i = 0; i < source.neq; ++i) {
    if (!source.eq_active0[i]) continue;
    if (!is_supported_equality(source, i)) {
      model.unsupported.push_back(fmt::format("{}: an equality of flexes, or of what is not supported itself",
                                              element_name(source, mjOBJ_EQUALITY, i)));
      continue;
    }
    Equality equality;
    equality.name = plain_name(source, mjOBJ_EQUALITY, i);
    equality.type = static_cast<EqualityType>(source.eq_type[i]);
    equality.ends[0].id = source.eq_obj1id[i];
    equality.ends[1].id = source.eq_obj2id[i];
    if (equality.type <= EqualityType::kWeld) {
      read_bodies_of(source, i, equality);
    } else {
      read_lengths_of(source, i, equality);
    }
    equality.softness = read_softness(source, i);
    model.equalities.push_back(equality);
  }
}

namespace {

// Marks the dofs that move a link.
void mark_dofs(const Model& model, int link, std::set<int>& dofs) {
  for (; link >= 0; link = model.links[link].parent) {
    for (const int j : model.links[link].joints) {
      for (int k = 0; k < dof_count(model.joints[j]); ++k) dofs.insert(model.joints[j].v + k);
    }
  }
}

std::set<int> dofs_of(const Model& model, const Tendon& tendon) {
  std::set<int> dofs;
  for (const Tendon::Term& term : tendon.terms) dofs.insert(model.joints[term.joint].v);
  for (const Tendon::Piece& piece : tendon.pieces) {
    for (const int site : {piece.from, piece.to}) mark_dofs(model, model.sites[site].link, dofs);
  }
  return dofs;
}

std::set<int> dofs_of(const Model& model, const Equality& equality) {
  std::set<int> dofs;
  for (const Equality::End& end : equality.ends) {
    if (equality.type <= EqualityType::kWeld) mark_dofs(model, end.link, dofs);
    if (end.id < 0) continue;
    if (equality.type == EqualityType::kJoint) dofs.insert(model.joints[end.id].v);
    if (equality.type == EqualityType::kTendon) dofs.merge(dofs_of(model, model.tendons[end.id]));
  }
  return dofs;
}

std::set<int> dofs_of(const Model& model, const Actuator& actuator) {
  if (actuator.tendon >= 0) return dofs_of(model, model.tendons[actuator.tendon]);
  std::set<int> dofs;
  for (const int site : {actuator.site, actuator.reference_site}) {
    if (site >= 0) mark_dofs(model, model.sites[site].link, dofs);
  }
  return dofs;
}

}  // namespace

namespace {

constexpr double kMostEntries = 300'000;  // of the matrix, that ties add to

double entries_of(double rows, double dofs, double pieces) { return rows * dofs * (dofs + 1.0) / 2.0 + pieces * dofs; }

// Of pairs that would tie too many joints to one another those are left out that come last.
void leave_out_pairs(Model& model, double entries) {
  std::map<std::pair<int, int>, bool> kept;  // links, whose pairs of geoms share their entries
  std::vector<std::string> names;
  std::erase_if(model.pairs, [&](const GeomPair& pair) {
    const auto links = std::minmax(pair.first.link, pair.second.link);
    if (links.first < 0) return false;
    const auto [found, is_new] = kept.emplace(links, true);
    if (is_new) {
      std::set<int> dofs;
      for (const int link : {links.first, links.second}) mark_dofs(model, link, dofs);
      const double more = entries_of(1.0, static_cast<double>(dofs.size()), 0.0);
      found->second = entries + more <= kMostEntries;
      if (found->second) entries += more;
    }
    if (!found->second) names.push_back(fmt::format("{} with {}", pair.first.name, pair.second.name));
    return !found->second;
  });
  if (names.empty()) return;
  const std::string more =
      names.size() == 1 ? "" : fmt::format(" and {} more such pair{}", names.size() - 1, names.size() == 2 ? "" : "s");
  model.unsupported.push_back(
      fmt::format("contact between bodies that ties too many joints to one another: {}{}", names.front(), more));
}

}  // namespace

void check_ties(Model& model) {
  double entries = 0.0;
  const auto add = [&](const std::string& name, double rows, double dofs, double pieces) {
    entries += entries_of(rows, dofs, pieces);
    if (entries <= kMostEntries) return;
    throw UserError(
        "{}: tendons, equality constraints and actuators up to '{}' tie so many joints to one another that a step "
        "would be too long; leave some of them out",
        model.name, name);
  };
  for (const Tendon& tendon : model.tendons) {
    const double pieces = std::max<double>(1.0, static_cast<double>(tendon.pieces.size()));
    const auto dofs = static_cast<double>(dofs_of(model, tendon).size());
    add(tendon.name, 1.0, dofs, pieces);
  }
  for (const Equality& equality : model.equalities) {
    const double rows = equality.type == EqualityType::kWeld      ? 6.0
                        : equality.type == EqualityType::kConnect ? 3.0
                                                                  : 1.0;
    add(equality.name, rows, static_cast<double>(dofs_of(model, equality).size()), rows);
  }
  for (const Actuator& actuator : model.actuators) {
    if (actuator.joint >= 0) continue;
    const auto dofs = static_cast<double>(dofs_of(model, actuator).size());
    const bool damps = actuator.bias[1] < 0.0 || actuator.bias[2] < 0.0 || actuator.gain[2] != 0.0;
    const std::size_t pieces = actuator.tendon < 0 ? 1 : model.tendons[actuator.tendon].pieces.size();
    add(actuator.name, damps ? 1.0 : 0.0, dofs, static_cast<double>(pieces));
  }
  leave_out_pairs(model, entries);
}

}  // namespace cgpo
