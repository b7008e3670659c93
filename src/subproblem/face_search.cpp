#include "cgpo/subproblem/face_search.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "cgpo/base/numbers.hpp"

namespace cgpo::subproblem {
namespace {

// Differences of gains, squared lengths and multipliers below this are ties.
constexpr double kTie = 1e-12;

// A vector in coordinates, and as a combination of u and the n_i.
struct Arrow {
  std::vector<double> at;
  std::vector<double> factors;

  void plus(double factor, const Arrow& other) {
    add(at, factor, other.at);
    add(factors, factor, other.factors);
  }
};

struct Face {
  std::vector<int> planes;   // sorted
  std::vector<Arrow> basis;  // orthonormal, of the span of their normals
  Arrow nearest;             // p_S
  Arrow along;               // u⊥
};

class Search {
 public:
  // Facets that are not considered count as absent.
  Search(const ScaledProblem& problem, const Facets& facets, const std::vector<bool>& considered, bool flat)
      : problem_(problem), facets_(facets), considered_(considered), flat_(flat) {}

  std::optional<FacePoint> run() {
    Face face;
    face.nearest = zero();
    face.along = flat_ ? zero() : arrow(0);
    for (int j = 1; j <= problem_.count; ++j) {
      if (facets_.equality[static_cast<std::size_t>(j)]) narrow(face, j);
    }
    visit(face);
    return std::move(best_);
  }

 private:
  Arrow zero() const {
    return {std::vector<double>(static_cast<std::size_t>(problem_.dimension), 0.0),
            std::vector<double>(static_cast<std::size_t>(problem_.count + 1), 0.0)};
  }

  Arrow arrow(int j) const {
    Arrow result = zero();
    const auto source = problem_.vector(j);
    result.at.assign(source.begin(), source.end());
    result.factors[static_cast<std::size_t>(j)] = 1.0;
    return result;
  }

  // Holds plane j with equality too. False, and nothing changes, if its normal is in the span already.
  bool narrow(Face& face, int j) const {
    Arrow normal = arrow(j);
    for (int pass = 0; pass < 2; ++pass) {  // the second pass removes what rounding left of the first
      for (const Arrow& axis : face.basis) normal.plus(-dot(axis.at, normal.at), axis);
    }
    const double height_squared = dot(normal.at, normal.at);
    if (height_squared <= kParallel) return false;
    const double height = std::sqrt(height_squared);
    for (double& value : normal.at) value /= height;
    for (double& value : normal.factors) value /= height;

    const double distance = facets_.offset[static_cast<std::size_t>(j)] + dot(problem_.vector(j), face.nearest.at);
    face.nearest.plus(-distance / height, normal);
    face.along.plus(-dot(normal.at, face.along.at), normal);
    face.basis.push_back(std::move(normal));
    face.planes.insert(std::lower_bound(face.planes.begin(), face.planes.end(), j), j);
    return true;
  }

  void visit(const Face& face) {
    if (!seen_.insert(face.planes).second) return;
    const double nearest_squared = dot(face.nearest.at, face.nearest.at);
    if (!(nearest_squared <= 1.0 + kOverstep)) return;

    const double along_squared = dot(face.along.at, face.along.at);
    const bool level = along_squared <= kParallel;  // nothing to gain along the face
    const double reach = std::sqrt(std::max(0.0, 1.0 - nearest_squared));
    const double along = std::sqrt(along_squared);
    Arrow point = face.nearest;
    if (!level) point.plus(reach / along, face.along);

    FacePoint found;
    found.gain = flat_ ? 0.0 : dot(problem_.vector(0), point.at);
    found.square = dot(point.at, point.at);
    if (best_ && found.gain < best_->gain - kTie) return;
    if (best_ && level && found.gain < best_->gain + kTie && found.square > best_->square + kTie) return;

    std::vector<int> overstepped;
    for (int j = 1; j <= problem_.count; ++j) {
      const auto at = static_cast<std::size_t>(j);
      if (!considered_[at] || facets_.equality[at]) continue;
      if (std::binary_search(face.planes.begin(), face.planes.end(), j)) continue;
      if (facets_.offset[at] + dot(problem_.vector(j), point.at) > kOverstep) overstepped.push_back(j);
    }
    if (overstepped.empty()) {
      found.planes = face.planes;
      found.at = std::move(point.at);
      found.factors = std::move(point.factors);
      multipliers(face, level, along, reach, found);
      accept(std::move(found));
      return;
    }
    for (const int j : overstepped) {
      Face smaller = face;
      if (narrow(smaller, j)) visit(smaller);
    }
  }

  // u⊥ = u − Σ (u∥)_j n_j and λx = λp_S + u⊥, hence ν = (u∥) − λ (p_S), both as combinations of the planes' normals.
  void multipliers(const Face& face, bool level, double along, double reach, FacePoint& found) const {
    found.nu.assign(found.factors.size(), 0.0);
    if (flat_ || (!level && reach == 0.0)) return;
    found.lambda = level ? 0.0 : along / reach;
    for (const int j : face.planes) {
      const auto at = static_cast<std::size_t>(j);
      found.nu[at] = -face.along.factors[at] - found.lambda * face.nearest.factors[at];
    }
  }

  // Several faces can meet in the optimum; of those the one whose multipliers have the right sign is wanted.
  void accept(FacePoint found) {
    if (best_) {
      const double gain = found.gain - best_->gain;
      const double square = best_->square - found.square;
      const bool better = std::abs(gain) > kTie     ? gain > 0.0
                          : std::abs(square) > kTie ? square > 0.0
                                                    : least_multiplier(found) > least_multiplier(*best_) + kTie;
      if (!better) return;
    }
    best_ = std::move(found);
  }

  double least_multiplier(const FacePoint& point) const {
    double least = 0.0;
    for (int j = 1; j <= problem_.count; ++j) {
      if (!facets_.equality[static_cast<std::size_t>(j)])
        least = std::min(least, point.nu[static_cast<std::size_t>(j)]);
    }
    return least;
  }

  const ScaledProblem& problem_;
  const Facets& facets_;
  const std::vector<bool>& considered_;
  const bool flat_;  // no objective: all points are alike but for their length
  std::set<std::vector<int>> seen_;
  std::optional<FacePoint> best_;
};

}  // namespace

std::optional<FacePoint> best_point(const ScaledProblem& problem, const Facets& facets, Aim aim) {
  const bool flat = aim == Aim::kShortest || !problem.has_objective();
  std::vector<bool> considered(facets.offset.size(), false);
  std::optional<FacePoint> last;
  bool may_forget = true;
  while (true) {
    std::optional<FacePoint> point = Search(problem, facets, considered, flat).run();
    if (!point) return point;
    int worst = 0;
    double most = kOverstep;
    for (int j = 1; j <= problem.count; ++j) {
      const auto at = static_cast<std::size_t>(j);
      if (considered[at] || facets.equality[at]) continue;
      const double over = facets.offset[at] + dot(problem.vector(j), point->at);
      if (over > most) {
        most = over;
        worst = j;
      }
    }
    if (worst == 0) return point;
    // Each round must be strictly worse than the one before, so no set comes back; if rounding or a tie says otherwise
    // the set only grows from there on. Either way the rounds come to an end.
    if (last && !(point->gain < last->gain - kTie || (flat && point->square > last->square + kTie))) may_forget = false;
    if (may_forget) {
      considered.assign(considered.size(), false);
      for (const int j : point->planes) considered[static_cast<std::size_t>(j)] = true;
    }
    considered[static_cast<std::size_t>(worst)] = true;
    last = std::move(point);
  }
}

}  // namespace cgpo::subproblem
