// From bodies to links: welded bodies are lumped, frames are chosen so that constants vanish.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "cgpo/base/error.hpp"
#include "cgpo/base/text.hpp"
#include "cgpo/physics/model/model.hpp"

namespace cgpo {
namespace {

// Rounding of the compiler (1e-17 where a zero was meant) would hide the pattern of zeros from the graph.
double snap(double x, double scale) {
  if (std::abs(x) < 1e-14 * scale) return 0.0;
  if (std::abs(std::abs(x) - 1.0) < 1e-15) return std::copysign(1.0, x);
  return x;
}
Vec3<double> snap(Vec3<double> a, double scale) {
  for (double& x : a.at) x = snap(x, scale);
  return a;
}
Pose snap(Pose pose) {
  pose.position = snap(pose.position, 1.0);
  for (Vec3<double>& row : pose.rotation.rows) row = snap(row, 1.0);
  return pose;
}

double norm(const Vec3<double>& a) { return std::sqrt(dot(a, a)); }

// Eigenvalues and eigenvectors (columns) of a symmetric matrix by Jacobi's rotations.
std::pair<Vec3<double>, Mat3<double>> eigen(Mat3<double> a) {
  Mat3<double> vectors = Mat3<double>::identity();
  for (int sweep = 0; sweep < 60; ++sweep) {
    for (int p = 0; p < 2; ++p) {
      for (int q = p + 1; q < 3; ++q) {
        if (std::abs(a(p, q)) < 1e-18 * (std::abs(a(0, 0)) + std::abs(a(1, 1)) + std::abs(a(2, 2)))) continue;
        const double theta = 0.5 * std::atan2(2.0 * a(p, q), a(q, q) - a(p, p));
        Mat3<double> turn = Mat3<double>::identity();
        turn(p, p) = turn(q, q) = std::cos(theta);
        turn(p, q) = std::sin(theta);
        turn(q, p) = -turn(p, q);
        a = transpose(turn) * (a * turn);
        a(p, q) = a(q, p) = 0.0;
        vectors = vectors * turn;
      }
    }
  }
  return {vec3(a(0, 0), a(1, 1), a(2, 2)), vectors};
}

AxialInertia axial_inertia(const Mat3<double>& inertia) {
  const auto [moments, axes] = eigen(inertia);
  const double scale = std::max({moments[0], moments[1], moments[2]});
  const auto same = [&, m = moments](int i, int j) { return std::abs(m[i] - m[j]) < 1e-13 * scale; };
  int base = 0;  // the moment that two axes share, if there is one
  if (!same(0, 1) && !same(0, 2)) base = 1;
  AxialInertia result{.isotropic = moments[base], .terms = {}};
  for (int i = 0; i < 3; ++i) {
    if (i != base && !same(i, base)) result.terms.push_back({moments[i] - moments[base], snap(axes.column(i), 1.0)});
  }
  return result;
}

// m(|c|² 1 − c cᵀ)
Mat3<double> point_inertia(double mass, const Vec3<double>& c) {
  Mat3<double> result;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) result(i, j) = mass * ((i == j ? dot(c, c) : 0.0) - c[i] * c[j]);
  }
  return result;
}

// Mass, centre and inertia of a link in the frame of its first body.
struct Lump {
  double mass = 0.0;
  Vec3<double> moment;   // m c
  Mat3<double> inertia;  // about the origin
};

void add_body(Lump& lump, const Body& body, const Pose& in_first) {
  if (body.mass == 0.0) return;
  const Pose inertial = in_first * Pose{body.inertial_position, rotation_of(body.inertial_orientation)};
  Mat3<double> principal;
  for (int i = 0; i < 3; ++i) principal(i, i) = body.inertia[i];
  lump.mass += body.mass;
  lump.moment = lump.moment + scale(body.mass, inertial.position);
  lump.inertia = lump.inertia + inertial.rotation * (principal * transpose(inertial.rotation)) +
                 point_inertia(body.mass, inertial.position);
}

// The inertia about another origin, in turned axes.
Mat3<double> moved_inertia(const Lump& lump, const Pose& frame) {
  const Vec3<double> centre = scale(1.0 / lump.mass, lump.moment);
  Mat3<double> about_centre = lump.inertia;
  const Mat3<double> old_part = point_inertia(lump.mass, centre);
  for (int i = 0; i < 3; ++i) about_centre.rows[i] = about_centre.rows[i] - old_part.rows[i];
  const Mat3<double> about = about_centre + point_inertia(lump.mass, centre - frame.position);
  Mat3<double> turned = transpose(frame.rotation) * (about * frame.rotation);
  const double size = turned(0, 0) + turned(1, 1) + turned(2, 2);
  for (Vec3<double>& row : turned.rows) row = snap(row, 0.1 * size);
  return turned;
}

int zeros(const Vec3<double>& a) { return static_cast<int>(std::count(a.at.begin(), a.at.end(), 0.0)); }

class LinkBuilder {
 public:
  explicit LinkBuilder(Model& model) : model_(model), joints_of_(model.bodies.size()) {}

  void build() {
    for (std::size_t j = 0; j < model_.joints.size(); ++j) {
      joints_of_[model_.joints[j].body].push_back(static_cast<int>(j));
    }
    group_bodies();
    for (std::size_t i = 0; i < model_.links.size(); ++i) origins_.push_back(origin_of(model_.links[i]));
    for (std::size_t i = 0; i < model_.links.size(); ++i) finish(static_cast<int>(i));
    place_what_is_attached();
  }

 private:
  void group_bodies() {
    for (std::size_t b = 0; b < model_.bodies.size(); ++b) {
      Body& body = model_.bodies[b];
      if (b == 0) continue;
      const Body& parent = model_.bodies[body.parent];
      const Pose pose = snap(Pose{body.position, rotation_of(body.orientation)});
      if (joints_of_[b].empty()) {
        body.link = parent.link;
        body.in_link = snap(parent.in_link * pose);
      } else {
        body.link = static_cast<int>(model_.links.size());
        body.in_link = {};
        model_.links.push_back({.body = static_cast<int>(b),
                                .parent = parent.link,
                                .placement = {},
                                .joints = joints_of_[b],
                                .mass = 0.0,
                                .centre = {},
                                .inertia = {}});
        lumps_.emplace_back();
        for (const int j : joints_of_[b]) model_.joints[j].link = body.link;
      }
      if (body.link >= 0) add_body(lumps_[body.link], body, body.in_link);
    }
  }

  bool has_orientation(const Link& link) const {
    return std::any_of(link.joints.begin(), link.joints.end(),
                       [&](int j) { return model_.joints[j].type <= JointType::kBall; });
  }

  // The anchor of the last hinge; rotating about the origin costs nothing.
  Vec3<double> origin_of(const Link& link) const {
    if (has_orientation(link)) return {};
    for (auto j = link.joints.rbegin(); j != link.joints.rend(); ++j) {
      if (model_.joints[*j].type == JointType::kHinge) return snap(model_.joints[*j].position, 1.0);
    }
    return {};
  }

  // Where the parent link's frame sees this body's frame.
  Pose body_in_parent(const Link& link) const {
    const Body& body = model_.bodies[link.body];
    return model_.bodies[body.parent].in_link * snap(Pose{body.position, rotation_of(body.orientation)});
  }

  // How many constants vanish if the link's frame stands so in its body's frame.
  int score(int index, const Pose& frame) const {
    const Link& link = model_.links[index];
    const Pose back = inverse(frame);
    const auto seen = [&](const Vec3<double>& point) { return zeros(snap(back * point, 1.0)); };
    int count = seen(scale(1.0 / lumps_[index].mass, lumps_[index].moment));
    const Mat3<double> inertia = moved_inertia(lumps_[index], frame);
    count += zeros(vec3(inertia(0, 1), inertia(0, 2), inertia(1, 2)));
    for (const int j : link.joints) count += zeros(snap(back.rotation * model_.joints[j].axis, 1.0));
    for (const Link& child : model_.links) {
      const Body& body = model_.bodies[child.body];
      if (child.parent == index && body.parent == link.body) {
        const Vec3<double> origin = origins_[body.link];
        count += seen(Pose{body.position, rotation_of(body.orientation)} * origin);
      }
    }
    for (const ContactPoint& point : model_.contacts) {
      if (point.body == link.body) count += seen(point.body_position);
    }
    const Pose placement = snap(body_in_parent(link) * frame);
    for (const Vec3<double>& row : placement.rotation.rows) count += zeros(row);
    return count;
  }

  // The body's own axes, or axes along the hinge and towards the centre of mass, whichever leaves more zeros.
  Pose choose_frame(int index) const {
    const Link& link = model_.links[index];
    Pose plain{origins_[index], Mat3<double>::identity()};
    if (has_orientation(link) || model_.joints[link.joints.back()].type != JointType::kHinge) return plain;
    const Vec3<double> axis = model_.joints[link.joints.back()].axis;
    const Vec3<double> centre = scale(1.0 / lumps_[index].mass, lumps_[index].moment) - plain.position;
    const Vec3<double> across = centre - scale(dot(centre, axis), axis);
    if (norm(across) < 1e-9) return plain;
    const Vec3<double> x = scale(1.0 / norm(across), across);
    const Pose turned{plain.position, Mat3<double>::from_columns(x, axis, cross(x, axis))};
    return score(index, turned) > score(index, plain) ? snap(turned) : plain;
  }

  void finish(int index) {
    Link& link = model_.links[index];
    const Pose frame = choose_frame(index);
    const Pose back = inverse(frame);
    link.placement = snap(body_in_parent(link) * frame);
    link.mass = lumps_[index].mass;
    check(link.mass > 0.0, "MuJoCo's compiler refuses a moving body without mass");
    link.centre = snap(back * scale(1.0 / link.mass, lumps_[index].moment), 1.0);
    link.inertia = axial_inertia(moved_inertia(lumps_[index], frame));
    for (Body& body : model_.bodies) {
      if (body.link == index) body.in_link = snap(back * body.in_link);
    }
    for (const int j : link.joints) {
      Joint& joint = model_.joints[j];
      joint.link_axis = snap(back.rotation * joint.axis, 1.0);
      joint.link_anchor = snap(back * joint.position, 1.0);
    }
  }

  void place_what_is_attached() {
    for (ContactPoint& point : model_.contacts) {
      const Body& body = model_.bodies[point.body];
      point.link = body.link;
      point.link_position = snap(body.in_link * point.body_position, 1.0);
      point.link_axes = snap(Pose{{}, body.in_link.rotation * point.body_axes}).rotation;
    }
    for (GeomPair& pair : model_.pairs) {
      for (PairGeom* const geom : {&pair.first, &pair.second}) {
        const Body& body = model_.bodies[geom->body];
        geom->link = body.link;
        geom->in_link = snap(body.in_link * geom->in_body);
      }
    }
    for (Site& site : model_.sites) {
      const Body& body = model_.bodies[site.body];
      site.link = body.link;
      const Pose in_link = snap(body.in_link * Pose{site.position, rotation_of(site.orientation)});
      site.link_position = in_link.position;
      site.link_axes = in_link.rotation;
    }
    for (Equality& equality : model_.equalities) {
      if (equality.type > EqualityType::kWeld) continue;
      for (Equality::End& end : equality.ends) {
        const Body& body = model_.bodies[end.id];
        end.link = body.link;
        end.in_link = snap(body.in_link * end.in_body);
      }
    }
    std::erase_if(model_.equalities, [](const Equality& equality) {  // within one rigid piece
      return equality.type <= EqualityType::kWeld && equality.ends[0].link == equality.ends[1].link;
    });
    std::erase_if(model_.gravity_compensations,
                  [&](const GravityCompensation& lift) { return model_.bodies[lift.body].link < 0; });
    for (GravityCompensation& lift : model_.gravity_compensations) {
      const Body& body = model_.bodies[lift.body];
      lift.link = body.link;
      lift.link_position = snap(body.in_link * body.inertial_position, 1.0);
    }
    if (model_.density == 0.0 && model_.viscosity == 0.0) return;
    for (const Body& body : model_.bodies) {
      if (body.link < 0 || body.mass < 1e-15) continue;
      const auto edge = [&](int i, int j, int k) {
        return std::sqrt(std::max(1e-15, body.inertia[j] + body.inertia[k] - body.inertia[i]) / body.mass * 6.0);
      };
      const Pose inertial{body.inertial_position, rotation_of(body.inertial_orientation)};
      model_.fluid_bodies.push_back(
          {body.link, snap(body.in_link * inertial), vec3(edge(0, 1, 2), edge(1, 2, 0), edge(2, 0, 1))});
    }
  }

  Model& model_;
  std::vector<std::vector<int>> joints_of_;  // by body
  std::vector<Lump> lumps_;                  // by link
  std::vector<Vec3<double>> origins_;        // by link, in its body's frame
};

}  // namespace

Pose operator*(const Pose& a, const Pose& b) { return {a.rotation * b.position + a.position, a.rotation * b.rotation}; }

Vec3<double> operator*(const Pose& a, const Vec3<double>& x) { return a.rotation * x + a.position; }

Pose inverse(const Pose& a) {
  const Mat3<double> back = transpose(a.rotation);
  return {back * -a.position, back};
}

void build_links(Model& model) { LinkBuilder(model).build(); }

double Model::total_mass() const {
  return std::accumulate(links.begin(), links.end(), 0.0, [](double sum, const Link& link) { return sum + link.mass; });
}

namespace {

template <class Element>
int find_by_name(const std::vector<Element>& list, const std::string& wanted, const char* kind,
                 const std::string& model) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i].name == wanted) return static_cast<int>(i);
    names.push_back(list[i].name);
  }
  throw UserError("{} has no {} named '{}'{}", model, kind, wanted, did_you_mean(wanted, names));
}

}  // namespace

int Model::body_id(const std::string& wanted) const { return find_by_name(bodies, wanted, "body", name); }
int Model::joint_id(const std::string& wanted) const { return find_by_name(joints, wanted, "joint", name); }

}  // namespace cgpo
