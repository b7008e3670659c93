// Private to this folder: the stages of loading that read MuJoCo's model.
#pragma once

#include <algorithm>

#include "cgpo/physics/model/model.hpp"
#include "cgpo/physics/mujoco/handle.hpp"

namespace cgpo {

// Two geoms that MuJoCo would let collide, and how.
struct CollidingPair {
  int first = 0;
  int second = 0;
  ContactSurface surface;
};

// A mocap body is put somewhere by a program, and stands where the file has it until then.
inline bool is_static(const mjModel& source, int geom) { return source.body_treeid[source.geom_bodyid[geom]] < 0; }

// "a sphere", "an ellipsoid".
const char* geom_words(const mjModel& source, int geom);

// Fills pairs with those that come near each other, and says of the others why they are left out.
void read_geom_pairs(const mjModel& source, const std::vector<CollidingPair>& candidates, Model& model);

// Fills contacts and pairs from the geoms that MuJoCo would test, and lists what we do not.
void read_collisions(const mjModel& source, Model& model);

// Fills tendons. One that is not supported keeps its place among them, without a length.
void read_tendons(const mjModel& source, Model& model);

// Fills equalities with those that are active; lists those that are not supported.
void read_equalities(const mjModel& source, Model& model);

// Pairs of geoms that would tie too many joints to one another are left out, and listed. UserError if tendons,
// equalities and actuators alone do, so that a step would be too long to be recorded.
void check_ties(Model& model);

// Fills what a torque does to ball joints with a range; in a model with equalities inertias of joints and tendons that
// have limits or friction become those of the whole that is tied together. After the links.
void find_mobilities(Model& model);

// Lists everything else in the file that the dynamics leaves out.
void list_unsupported(const mjModel& source, Model& model);

// Takes the forces of those elements out of MuJoCo's model, too. Constraints are no part of the smooth dynamics.
void leave_out_unsupported(mjModel& model);

// One for each control. An actuator that is not supported, and it alone may have several controls or none, keeps its
// place among them, without a force.
void read_actuators(const mjModel& source, Model& model);

// Whether this actuator is a force, affine in control or activation, length and velocity, on something that we know.
bool is_supported_actuator(const mjModel& source, int id);

// Whether the range of what all actuators do to a tendon is that of a single one.
bool is_tendon_range_supported(const mjModel& source, int tendon);

// Whether this tendon's length is a sum over joints or along sites; around a geom none of ours goes.
bool is_supported_tendon(const mjModel& source, int id);

// A solref as it scales our limits; 1 for MuJoCo's default.
LimitScale read_limit_scale(const mjModel& source, const mjtNum* solref);

inline bool disabled(const mjModel& source, int flag) { return (source.opt.disableflags & flag) != 0; }
inline double inertia_of(double inverse) { return 1.0 / std::min(std::max(1e-12, inverse), 1e30); }
inline Curve read_curve(const mjtNum* coefficients) { return {coefficients[0], coefficients[1]}; }

// "" where there is none.
std::string plain_name(const mjModel& source, mjtObj type, int id);

inline Vec3<double> read_vec3(const mjtNum* a) { return vec3(a[0] + 0.0, a[1] + 0.0, a[2] + 0.0); }  // no −0
inline Quat<double> read_quat(const mjtNum* a) { return {a[0] + 0.0, a[1] + 0.0, a[2] + 0.0, a[3] + 0.0}; }

}  // namespace cgpo
