// A robot as plain numbers: what MuJoCo's compiler made of an MJCF file, and the links that the dynamics runs on.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "cgpo/physics/spatial.hpp"

namespace cgpo {

enum class JointType : std::uint8_t { kFree, kBall, kSlide, kHinge };  // in MuJoCo's order
enum class GeomType : std::uint8_t { kPlane, kHeightField, kSphere, kCapsule, kEllipsoid, kCylinder, kBox, kMesh };

// Where a frame stands in another.
struct Pose {
  Vec3<double> position;
  Mat3<double> rotation = Mat3<double>::identity();
};
Pose operator*(const Pose& a, const Pose& b);                  // first b, then a
Vec3<double> operator*(const Pose& a, const Vec3<double>& x);  // a point
Pose inverse(const Pose& a);

// What two coefficients add to a stiffness or damping where that is not constant: c₁x + c₂x².
using Curve = std::array<double, 2>;

enum class Compensation : std::uint8_t { kNone, kPassive, kActuators };

// How much stiffer than the task's limits a limit is, from its solref.
struct LimitScale {
  double stiffness = 1.0;
  double damping = 1.0;
};

// Body 0 is the world. A body's parent comes before it.
struct Body {
  std::string name;
  int parent = -1;
  Vec3<double> position;                         // in the parent
  Quat<double> orientation{1.0, 0.0, 0.0, 0.0};  // in the parent
  double mass = 0.0;
  Vec3<double> inertial_position;                         // centre of mass, in the body
  Quat<double> inertial_orientation{1.0, 0.0, 0.0, 0.0};  // principal axes, in the body
  Vec3<double> inertia;                                   // principal moments
  int link = -1;                                          // what it moves with; −1: fixed to the world
  Pose in_link;                                           // in its link, or in the world
};

// q and v are addressed as in MuJoCo: free (7, 6), ball (4, 3), slide and hinge (1, 1). The angular velocity of a free
// or ball joint is in the body's frame, the linear velocity of a free joint in the world's.
struct Joint {
  std::string name;
  JointType type = JointType::kHinge;
  int body = 0;
  int link = 0;
  Vec3<double> axis;       // of slide and hinge, in the body's frame
  Vec3<double> position;   // anchor, in the body's frame
  int q = 0;               // first entry in q
  int v = 0;               // first entry in v
  double reference = 0.0;  // q of a slide or hinge in the pose of the file
  double armature = 0.0;
  double damping = 0.0;
  double stiffness = 0.0;
  Curve damping_curve{};      // at |v|; of slides and hinges only
  Curve stiffness_curve{};    // at x from rest, or at its length where x is a vector
  double frictionloss = 0.0;  // what dry friction resists with
  bool limited = false;       // slide or hinge
  double lower = 0.0;
  double upper = 0.0;
  double largest_angle = 0.0;  // of a ball joint's rotation; 0: any
  Mat3<double> ball_mobility;  // of a ball joint with such a range: angular acceleration of a torque, as `inertia`
  LimitScale limit;
  double inertia = 1.0;        // what a unit force meets in the pose of the file; scales limits and friction
  double turn_inertia = 1.0;   // of a free joint's rotation, likewise
  bool force_limited = false;  // of a slide or hinge: what all its actuators do together
  double force_lower = 0.0;
  double force_upper = 0.0;
  bool range_in_actuator = false;                      // steps clip the force of its only actuator instead
  Compensation compensation = Compensation::kPassive;  // where that of gravity counts
  Vec3<double> link_axis;                              // in the link's frame
  Vec3<double> link_anchor;                            // in the link's frame
};

// I = isotropic·1 + Σ extra·axis axisᵀ: one rotated axis for a body of revolution, none for a ball.
struct AxialInertia {
  struct Term {
    double extra = 0.0;
    Vec3<double> axis;
  };
  double isotropic = 0.0;
  std::vector<Term> terms;
};

// One moving body with everything welded to it. Its frame is our own choice: the origin is at the joint's anchor and
// the axes are turned so that as many constants as possible are zero; bodies say where they stand in it.
struct Link {
  int body = 0;
  int parent = -1;  // link; −1: the world
  Pose placement;   // in the parent link with all its joints at their references
  std::vector<int> joints;
  double mass = 0.0;
  Vec3<double> centre;   // of mass
  AxialInertia inertia;  // about the link's origin
};

enum class TransmissionType : std::uint8_t { kJoint, kJointInParent, kTendon, kSite };
enum class ActivationType : std::uint8_t { kNone, kIntegrator, kFilter, kFilterExact };

// A state a between control u and force: ȧ = u of an integrator, (u − a)/τ of a filter. One with an index and no type
// stays as it is: that of an actuator which is not supported or is switched off.
struct Activation {
  ActivationType type = ActivationType::kNone;
  int index = -1;              // in the state's activations; −1: there is none
  double time_constant = 1.0;  // τ
  bool early = false;          // the force takes the activation that the step leads to, not the one it begins with
  bool limited = false;
  double lower = 0.0;
  double upper = 0.0;
};

// force = (gain[0] + gain[1]·l + gain[2]·l̇)·control + bias[0] + bias[1]·l + bias[2]·l̇ with length l = gear·q; with an
// activation in the place of the control, if there is one. A site has no length of its own, and with a reference the
// length of its pose there.
struct Actuator {
  std::string name;
  bool left_out = false;  // it, or a range of its force, is of a kind that we do not know
  TransmissionType transmission = TransmissionType::kJoint;
  int joint = 0;            // of kJoint and kJointInParent, otherwise −1
  int tendon = -1;          // of kTendon
  int site = -1;            // of kSite
  int reference_site = -1;  // −1: the wrench is in the site's own axes; otherwise in this one's
  // Of a slide, a hinge or a tendon the first; ball: torque in the body's frame, or in its parent's; free: force,
  // torque; site: force, torque.
  std::array<double, 6> gear{};
  std::array<double, 3> gain{};
  std::array<double, 3> bias{};
  Activation activation;
  bool control_limited = false;
  double control_lower = 0.0;
  double control_upper = 0.0;
  bool force_limited = false;
  double force_lower = 0.0;
  double force_upper = 0.0;
  // The range in a step: its own, and that of a joint which nothing else drives.
  bool step_limited = false;
  double step_lower = 0.0;
  double step_upper = 0.0;
  double turn = 0.0;      // not 0: the control is an angle on a circle of this length, and means the turn nearest to l
  double response = 0.0;  // l̈ that a unit of force gives in the pose of the file
};

// What MuJoCo's friction is beside sliding, as a length: a torque of this much times the normal force.
struct TurnFriction {
  double spin = 0.0;  // about the normal
  double roll = 0.0;  // about the tangents
  bool any() const { return spin > 0.0 || roll > 0.0; }
};

// How two surfaces push each other.
struct ContactSurface {
  double friction = 0.0;
  TurnFriction turn;
  double margin = 0.0;     // forces begin at this distance
  double stiffness = 1.0;  // of the file's solref, relative to that of MuJoCo's default; so is the damping
  double damping = 1.0;
};

// A sphere fixed to a link that a plane of the world holds up; a corner is one of radius 0. Of an ellipsoid, or of a
// disc, which is one without thickness, the point nearest to the plane.
struct ContactPoint : ContactSurface {
  std::string name;  // of the geom
  int geom = 0;
  int body = 0;
  int link = 0;
  Vec3<double> body_position;
  Vec3<double> link_position;
  double radius = 0.0;
  int plane = 0;              // geom
  Vec3<double> normal;        // of the plane, in the world
  double plane_offset = 0.0;  // normal · x of its points
  bool is_ellipsoid = false;
  Vec3<double> half_axes;
  double softness = 0.0;  // m: nearer to a disc's middle than this, its nearest point is not on the rim
  Mat3<double> body_axes = Mat3<double>::identity();
  Mat3<double> link_axes = Mat3<double>::identity();
};

// A sphere, capsule or box of a pair.
struct PairGeom {
  std::string name;  // as a contact point's
  int geom = 0;
  int body = 0;
  int link = -1;  // −1: it stands still
  GeomType type = GeomType::kSphere;
  Vec3<double> size;  // as MuJoCo has it: half lengths, radius first
  Pose in_body;
  Pose in_link;  // in its link, or in the world
};

// Two geoms that may touch, of two bodies of which at least one moves.
struct GeomPair : ContactSurface {
  PairGeom first;  // its type comes before the other's, or is the same
  PairGeom second;
  bool within_tree = false;
};

// For drawing.
struct Geom {
  std::string name;
  GeomType type = GeomType::kSphere;
  int body = 0;
  Vec3<double> size;
  Vec3<double> position;
  Quat<double> orientation{1.0, 0.0, 0.0, 0.0};
  std::array<double, 4> rgba{};
};

// A point of a body that has a name.
struct Site {
  std::string name;
  int body = 0;
  Vec3<double> position;  // in the body
  Quat<double> orientation{1.0, 0.0, 0.0, 0.0};
  int link = -1;               // −1: fixed to the world
  Vec3<double> link_position;  // in the link, or in the world
  Mat3<double> link_axes = Mat3<double>::identity();
};

// A length that depends on the joints: l = Σ coefficient·q over slides and hinges, or that of a string which is tight
// between sites, where what runs over a pulley counts as its share.
struct Tendon {
  struct Term {
    int joint = 0;
    double coefficient = 0.0;
  };
  struct Piece {
    int from = 0;  // site
    int to = 0;
    double share = 1.0;
  };
  std::string name;
  std::vector<Term> terms;
  std::vector<Piece> pieces;  // one of them is empty; both are if the tendon is not supported
  double damping = 0.0;
  double stiffness = 0.0;
  Curve damping_curve{};  // as of a joint
  Curve stiffness_curve{};
  double rest_lower = 0.0;  // the spring is slack between these lengths
  double rest_upper = 0.0;
  double armature = 0.0;
  double frictionloss = 0.0;
  bool limited = false;
  double lower = 0.0;
  double upper = 0.0;
  LimitScale limit;
  double inertia = 1.0;  // what a unit force along it meets in the pose of the file
};

// The box of the same mass and inertia, which MuJoCo's fluid forces act on.
struct FluidBody {
  int link = 0;
  Pose in_link;  // its centre and principal axes
  Vec3<double> box;
};

// How soft MuJoCo makes a constraint: its solref and solimp.
struct Softness {
  double time = 0.02;   // s; both negative: −stiffness and −damping themselves
  double ratio = 1.0;   // of damping to what is critical
  bool is_safe = true;  // a time below two steps counts as two steps
  double least = 0.9;   // impedance where it holds, and further than `width` away from that
  double most = 0.95;
  double width = 0.001;
  double midpoint = 0.5;
  double power = 2.0;
};

// What has to be equal. Joints and tendons: x = Σ polynomial[k]·yᵏ, both from where they are in the pose of the file.
// Bodies: a point of one is one of the other, and welded frames are turned alike.
enum class EqualityType : std::uint8_t { kConnect, kWeld, kJoint, kTendon };  // in MuJoCo's order
struct Equality {
  struct End {
    int id = -1;  // joint, tendon or body; −1: none, y = 0
    double reference = 0.0;
    Pose in_body;
    int link = -1;
    Pose in_link;  // or in the world
  };
  std::string name;
  EqualityType type = EqualityType::kConnect;
  std::array<End, 2> ends;
  std::array<double, 5> polynomial{};
  double torque_scale = 1.0;     // m: a weld's angle counts as this times the sine of its half
  double inverse_inertia = 1.0;  // what a unit force meets in the pose of the file
  double inverse_turn_inertia = 1.0;
  Softness softness;
};

// A part of a link's weight that a force at this point of the link takes away.
struct GravityCompensation {
  int body = 0;
  double mass = 0.0;
  int link = 0;
  Vec3<double> link_position;
};

struct Model {
  std::string name;
  int nq = 0;
  int nv = 0;
  int nu = 0;
  int na = 0;  // activations, those of actuators that are not supported too
  std::vector<Body> bodies;
  std::vector<Joint> joints;
  std::vector<Link> links;
  std::vector<int> dof_parent;  // −1: none
  std::vector<Actuator> actuators;
  std::vector<ContactPoint> contacts;  // with planes
  std::vector<GeomPair> pairs;         // between bodies, and with other things that stand still
  std::vector<Geom> geoms;
  std::vector<Site> sites;
  std::vector<Tendon> tendons;          // in MuJoCo's order
  std::vector<Equality> equalities;     // those that are active and supported
  std::vector<FluidBody> fluid_bodies;  // none without a fluid
  std::vector<GravityCompensation> gravity_compensations;
  Vec3<double> gravity;
  double density = 0.0;
  double viscosity = 0.0;
  Vec3<double> wind;
  double timestep = 0.0;
  std::vector<double> q0;                // the pose of the file
  std::vector<double> q_spring;          // where springs are at rest
  std::vector<std::string> unsupported;  // elements that the dynamics leaves out, by name
  std::vector<std::string> warnings;     // what MuJoCo would also do, usually harmless
  std::vector<std::string> notes;        // what is done in another way than MuJoCo's, and is no reason to refuse

  double total_mass() const;
  int body_id(const std::string& wanted) const;   // UserError with a suggestion if there is none
  int joint_id(const std::string& wanted) const;  // same
};

// Through MuJoCo's compiler. UserError, naming file and element, if it cannot be read or nothing in it moves.
Model load_model(const std::string& path);
Model load_model_from_text(const std::string& xml, const std::string& name = "model");

// Fills links, and what refers to them, from bodies, joints, contacts, sites, equalities and fluid; the loader's last
// stage.
void build_links(Model& model);

}  // namespace cgpo
