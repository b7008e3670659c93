// Actuators: where they pull, their laws and their activations.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "cgpo/physics/model/loader.hpp"

namespace cgpo {
namespace {

// MuJoCo's least time constant.
constexpr double kLeastTime = 1e-15;

bool is_switched_off(const mjModel& source, int actuator) {
  const int group = source.actuator_group[actuator];
  return disabled(source, mjDSBL_ACTUATION) ||
         (group >= 0 && group < 31 && (source.opt.disableactuator & (1 << group)) != 0);
}

double square_length(const double* a) { return a[0] * a[0] + a[1] * a[1] + a[2] * a[2]; }

// What a unit of force moves in the pose of the file, by MuJoCo's mean inverse inertias.
double response_of(const mjModel& source, const Actuator& actuator) {
  const double* const gear = actuator.gear.data();
  switch (actuator.transmission) {
    case TransmissionType::kTendon: return gear[0] * gear[0] * source.tendon_invweight0[actuator.tendon];
    case TransmissionType::kSite: {
      double response = 0.0;
      for (const int site : {actuator.site, actuator.reference_site}) {
        if (site < 0) continue;
        const mjtNum* const inverse = source.body_invweight0 + std::ptrdiff_t{2} * source.site_bodyid[site];
        response += square_length(gear) * inverse[0] + square_length(gear + 3) * inverse[1];
      }
      return response;
    }
    case TransmissionType::kJoint:
    case TransmissionType::kJointInParent: break;
  }
  const mjtNum* const inverse = source.dof_invweight0 + source.jnt_dofadr[actuator.joint];
  switch (source.jnt_type[actuator.joint]) {
    case mjJNT_FREE: return square_length(gear) * inverse[0] + square_length(gear + 3) * inverse[3];
    case mjJNT_BALL: return square_length(gear) * inverse[0];
    default: return gear[0] * gear[0] * inverse[0];
  }
}

// A servo's setpoint on an orientation is an angle, of which the nearest turn is meant.
double turn_of(const mjModel& source, int id, const Actuator& actuator) {
  const bool servo = source.actuator_gaintype[id] == mjGAIN_FIXED && source.actuator_biastype[id] == mjBIAS_AFFINE &&
                     actuator.gain[0] == -actuator.bias[1] && actuator.bias[1] != 0.0;
  if (!servo) return 0.0;
  const double* const gear = actuator.gear.data();
  if (actuator.transmission == TransmissionType::kSite) {
    const bool turns = actuator.reference_site >= 0 && square_length(gear) == 0.0;
    return turns ? 2.0 * std::numbers::pi * std::hypot(gear[3], gear[4], gear[5]) : 0.0;
  }
  if (actuator.joint < 0 || source.jnt_type[actuator.joint] != mjJNT_BALL) return 0.0;
  return 2.0 * std::numbers::pi * std::hypot(gear[0], gear[1], gear[2]);
}

void read_transmission(const mjModel& source, int id, Actuator& actuator) {
  const int* const target = source.actuator_trnid + std::ptrdiff_t{2} * id;
  actuator.joint = -1;
  switch (source.actuator_trntype[id]) {
    case mjTRN_TENDON:
      actuator.transmission = TransmissionType::kTendon;
      actuator.tendon = target[0];
      break;
    case mjTRN_SITE:
      actuator.transmission = TransmissionType::kSite;
      actuator.site = target[0];
      actuator.reference_site = target[1];
      break;
    default:
      actuator.transmission =
          source.actuator_trntype[id] == mjTRN_JOINT ? TransmissionType::kJoint : TransmissionType::kJointInParent;
      actuator.joint = target[0];
  }
  if (!is_switched_off(source, id)) {
    std::copy_n(source.actuator_gear + std::ptrdiff_t{6} * source.actuator_outadr[id], 6, actuator.gear.begin());
  }
}

Activation read_activation(const mjModel& source, int id, Activation activation) {
  switch (source.actuator_dyntype[id]) {
    case mjDYN_INTEGRATOR: activation.type = ActivationType::kIntegrator; break;
    case mjDYN_FILTER: activation.type = ActivationType::kFilter; break;
    case mjDYN_FILTEREXACT: activation.type = ActivationType::kFilterExact; break;
    default: return activation;
  }
  activation.time_constant = std::max(kLeastTime, source.actuator_dynprm[std::ptrdiff_t{mjNDYN} * id]);
  activation.early = source.actuator_actearly[id];
  activation.limited = source.actuator_actlimited[id];
  activation.lower = source.actuator_actrange[std::ptrdiff_t{2} * id];
  activation.upper = source.actuator_actrange[2 * id + 1];
  return activation;
}

// Of a force that is clipped to the first range, then to the second; false if they have nothing in common.
bool clip_range(double lower, double upper, Actuator& actuator) {
  const double low = actuator.force_limited ? std::max(lower, actuator.force_lower) : lower;
  const double high = actuator.force_limited ? std::min(upper, actuator.force_upper) : upper;
  if (!(low < high)) return false;
  actuator.force_limited = true;
  actuator.force_lower = low;
  actuator.force_upper = high;
  return true;
}

void read_force_range(const mjModel& source, int id, Actuator& actuator) {
  actuator.force_limited = source.actuator_forcelimited[id];
  actuator.force_lower = source.actuator_forcerange[std::ptrdiff_t{2} * id];
  actuator.force_upper = source.actuator_forcerange[2 * id + 1];
}

void read_law(const mjModel& source, int id, Actuator& actuator) {
  const int gains = source.actuator_gaintype[id] == mjGAIN_AFFINE ? 3 : 1;
  std::copy_n(source.actuator_gainprm + std::ptrdiff_t{mjNGAIN} * id, gains, actuator.gain.begin());
  if (source.actuator_biastype[id] == mjBIAS_AFFINE) {
    std::copy_n(source.actuator_biasprm + std::ptrdiff_t{mjNBIAS} * id, 3, actuator.bias.begin());
  }
  actuator.activation = read_activation(source, id, actuator.activation);
  actuator.turn = turn_of(source, id, actuator);
  actuator.response = response_of(source, actuator);
}

// A joint that a single actuator drives is kept in its range by that one, so that a step can look at how its force
// falls with the velocity when it clips it.
void hand_over_joint_ranges(Model& model) {
  std::vector<int> drives(model.joints.size());
  for (Actuator& actuator : model.actuators) {
    actuator.step_limited = actuator.force_limited;
    actuator.step_lower = actuator.force_lower;
    actuator.step_upper = actuator.force_upper;
  }
  for (const Actuator& actuator : model.actuators) {
    if (actuator.joint < 0) return;  // what it moves may be any joint
    if (actuator.gear[0] != 0.0) ++drives[static_cast<std::size_t>(actuator.joint)];
  }
  for (Actuator& actuator : model.actuators) {
    Joint& joint = model.joints[static_cast<std::size_t>(actuator.joint)];
    const double gear = actuator.gear[0];
    if (!joint.force_limited || gear == 0.0 || drives[static_cast<std::size_t>(actuator.joint)] != 1 ||
        joint.compensation == Compensation::kActuators) {
      continue;
    }
    const auto [lower, upper] = std::minmax({joint.force_lower / gear, joint.force_upper / gear});
    Actuator clipped = actuator;
    if (!clip_range(lower, upper, clipped)) continue;
    joint.range_in_actuator = true;
    actuator.step_limited = true;
    actuator.step_lower = clipped.force_lower;
    actuator.step_upper = clipped.force_upper;
  }
}

}  // namespace

bool is_tendon_range_supported(const mjModel& source, int tendon) {
  int drives = 0;
  for (int i = 0; i < source.nactuator; ++i) {
    if (source.actuator_trntype[i] != mjTRN_TENDON || source.actuator_trnid[std::ptrdiff_t{2} * i] != tendon) continue;
    const mjtNum* const range = source.tendon_actfrcrange + std::ptrdiff_t{2} * tendon;
    Actuator actuator;
    read_force_range(source, i, actuator);
    if (++drives > 1 || !clip_range(range[0], range[1], actuator)) return false;
  }
  return true;
}

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
      read_force_range(source, i, actuator);
      const int activations = source.actuator_actnum[i];
      if (activations > 0) actuator.activation.index = source.actuator_actadr[i] + activations - 1;
      actuator.left_out = !is_supported_actuator(source, i);
      if (actuator.left_out) continue;
      read_transmission(source, i, actuator);
      if (actuator.tendon >= 0 && source.tendon_actfrclimited[actuator.tendon]) {
        const mjtNum* const range = source.tendon_actfrcrange + std::ptrdiff_t{2} * actuator.tendon;
        actuator.left_out = !is_tendon_range_supported(source, actuator.tendon);
        if (!actuator.left_out) clip_range(range[0], range[1], actuator);
      }
      if (!is_switched_off(source, i)) read_law(source, i, actuator);
    }
  }
  hand_over_joint_ranges(model);
}

}  // namespace cgpo
