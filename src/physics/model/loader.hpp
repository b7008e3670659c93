// Private to this folder: the stages of loading that read MuJoCo's model.
#pragma once

#include "cgpo/physics/model/model.hpp"
#include "cgpo/physics/mujoco/handle.hpp"

namespace cgpo {

// Fills contacts from the pairs of geoms that MuJoCo would test, and lists those that we do not.
void read_collisions(const mjModel& source, Model& model);

// Lists everything else in the file that the dynamics leaves out.
void list_unsupported(const mjModel& source, Model& model);

// Takes the forces of those elements out of MuJoCo's model, too. Constraints are no part of the smooth dynamics.
void leave_out_unsupported(mjModel& model);

// Whether this actuator is a force on a joint that is affine in control, length and velocity.
bool is_supported_actuator(const mjModel& source, int id);

inline Vec3<double> read_vec3(const mjtNum* a) { return vec3(a[0] + 0.0, a[1] + 0.0, a[2] + 0.0); }  // no −0
inline Quat<double> read_quat(const mjtNum* a) { return {a[0] + 0.0, a[1] + 0.0, a[2] + 0.0, a[3] + 0.0}; }

}  // namespace cgpo
