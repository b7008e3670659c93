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
  bool limited = false;
  double lower = 0.0;
  double upper = 0.0;
  double inertia = 1.0;      // what a unit force meets in the pose of the file; scales the limits
  Vec3<double> link_axis;    // in the link's frame
  Vec3<double> link_anchor;  // in the link's frame
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

// force = (gain[0] + gain[1]·l + gain[2]·l̇)·control + bias[0] + bias[1]·l + bias[2]·l̇ with length l = gear·q
struct Actuator {
  std::string name;
  int joint = 0;
  std::array<double, 6> gear{};  // of a slide or hinge the first; ball: torque in the body's frame; free: force, torque
  std::array<double, 3> gain{};
  std::array<double, 3> bias{};
  bool control_limited = false;
  double control_lower = 0.0;
  double control_upper = 0.0;
  bool force_limited = false;
  double force_lower = 0.0;
  double force_upper = 0.0;
  double turn = 0.0;  // not 0: the control is an angle on a circle of this length, and means the turn nearest to l
};

// A sphere fixed to a link that a plane of the world holds up.
struct ContactPoint {
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
  double friction = 0.0;
  double margin = 0.0;  // the surface is this much higher
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
};

// The box of the same mass and inertia, which MuJoCo's fluid forces act on.
struct FluidBody {
  int link = 0;
  Pose in_link;  // its centre and principal axes
  Vec3<double> box;
};

struct Model {
  std::string name;
  int nq = 0;
  int nv = 0;
  int nu = 0;
  std::vector<Body> bodies;
  std::vector<Joint> joints;
  std::vector<Link> links;
  std::vector<int> dof_parent;  // −1: none
  std::vector<Actuator> actuators;
  std::vector<ContactPoint> contacts;
  std::vector<Geom> geoms;
  std::vector<Site> sites;
  std::vector<FluidBody> fluid_bodies;  // none without a fluid
  Vec3<double> gravity;
  double density = 0.0;
  double viscosity = 0.0;
  Vec3<double> wind;
  double timestep = 0.0;
  std::vector<double> q0;                // the pose of the file
  std::vector<double> q_spring;          // where springs are at rest
  std::vector<std::string> unsupported;  // elements that the dynamics leaves out, by name
  std::vector<std::string> warnings;     // what MuJoCo would also do, usually harmless

  double total_mass() const;
  int body_id(const std::string& wanted) const;   // UserError with a suggestion if there is none
  int joint_id(const std::string& wanted) const;  // same
};

// Through MuJoCo's compiler. UserError, naming file and element, if it cannot be read or nothing in it moves.
Model load_model(const std::string& path);
Model load_model_from_text(const std::string& xml, const std::string& name = "model");

// Fills links, and what refers to them, from bodies, joints, contacts and fluid; the loader's last stage.
void build_links(Model& model);

}  // namespace cgpo
