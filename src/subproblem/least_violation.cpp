#include "cgpo/subproblem/least_violation.hpp"

#include <algorithm>
#include <cmath>

#include "cgpo/base/numbers.hpp"

namespace cgpo::subproblem {
namespace {

constexpr int kMostSteps = 200;
constexpr double kEps = 2.3e-16;
constexpr double kStill = 1e-14;

// Columns of a matrix made orthogonal by plane rotations (one-sided Jacobi): rows·V = U·diag(σ). Keeps the small σ
// accurate, which the eigenvalues of rowsᵀ·rows would not.
struct Rotated {
  std::vector<std::vector<double>> columns;    // σ_k u_k
  std::vector<std::vector<double>> rotations;  // v_k
};

Rotated rotate(const std::vector<std::span<const double>>& rows, int dimension) {
  const auto size = static_cast<std::size_t>(dimension);
  Rotated result;
  for (std::size_t k = 0; k < size; ++k) {
    std::vector<double> column;
    for (const auto& row : rows) column.push_back(row[k]);
    result.columns.push_back(std::move(column));
    result.rotations.emplace_back(size, 0.0);
    result.rotations[k][k] = 1.0;
  }
  const auto turn = [](std::vector<double>& a, std::vector<double>& b, double cosine, double sine) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      const double first = a[i];
      a[i] = cosine * first - sine * b[i];
      b[i] = sine * first + cosine * b[i];
    }
  };
  for (int sweep = 0; sweep < 40; ++sweep) {
    bool turned = false;
    for (std::size_t k = 0; k < size; ++k) {
      for (std::size_t l = k + 1; l < size; ++l) {
        std::vector<double>& a = result.columns[k];
        std::vector<double>& b = result.columns[l];
        const double aa = dot(a, a);
        const double bb = dot(b, b);
        const double ab = dot(a, b);
        // Columns below kParallel are nothing but rounding; turning them further would not end.
        if (std::abs(ab) <= kEps * std::sqrt(aa * bb) || std::abs(ab) <= kEps * kParallel) continue;
        turned = true;
        const double cotangent = (bb - aa) / (2.0 * ab);
        const double tangent = std::copysign(1.0, cotangent) / (std::abs(cotangent) + std::hypot(1.0, cotangent));
        const double cosine = 1.0 / std::hypot(1.0, tangent);
        turn(a, b, cosine, cosine * tangent);
        turn(result.rotations[k], result.rotations[l], cosine, cosine * tangent);
      }
    }
    if (!turned) break;
  }
  return result;
}

// min ½ Σ_{j in planes} (d_j + n_jᵀy)² over ‖y‖ ≤ 1; of several minimisers the shortest. y_k = −b_k/(σ_k² + μ) in the
// rotated axes, with μ = 0 if that is inside the ball, else the root of the secular equation ‖y(μ)‖ = 1.
std::vector<double> piece_minimiser(const ScaledProblem& problem, const std::vector<int>& planes, double& mu) {
  std::vector<std::span<const double>> rows;
  std::vector<double> offsets;
  for (const int j : planes) {
    rows.push_back(problem.vector(j));
    offsets.push_back(problem.offset[static_cast<std::size_t>(j)]);
  }
  const Rotated rotated = rotate(rows, problem.dimension);
  std::vector<double> square;
  std::vector<double> slope;
  std::vector<std::size_t> kept;
  double largest = 0.0;
  double slope_squared = 0.0;
  for (std::size_t k = 0; k < rotated.columns.size(); ++k) {
    const double sigma_squared = dot(rotated.columns[k], rotated.columns[k]);
    if (sigma_squared <= kParallel) continue;
    kept.push_back(k);
    square.push_back(sigma_squared);
    slope.push_back(dot(rotated.columns[k], offsets));
    largest = std::max(largest, sigma_squared);
    slope_squared += slope.back() * slope.back();
  }

  // 1/‖y(μ)‖ is concave and rises, so Newton's method on it from the left never passes the root.
  mu = std::max(0.0, std::sqrt(slope_squared) - largest);
  double norm_squared = 0.0;
  for (int step = 0; step < 100; ++step) {
    norm_squared = 0.0;
    double fall = 0.0;  // −½ d‖y‖²/dμ
    for (std::size_t k = 0; k < kept.size(); ++k) {
      const double y = slope[k] / (square[k] + mu);
      norm_squared += y * y;
      fall += y * y / (square[k] + mu);
    }
    if (norm_squared <= 1.0) break;
    const double norm = std::sqrt(norm_squared);
    const double next = mu + (norm - 1.0) * norm_squared / fall;
    if (next <= mu) break;
    mu = next;
  }

  std::vector<double> y(static_cast<std::size_t>(problem.dimension), 0.0);
  for (std::size_t k = 0; k < kept.size(); ++k) add(y, -slope[k] / (square[k] + mu), rotated.rotations[kept[k]]);
  if (mu > 0.0) {
    const double norm = std::sqrt(dot(y, y));
    for (double& value : y) value /= norm;
  }
  return y;
}

// The t in [0, 1] where Σ max(0, r_j + t s_j)² is least: its slope is continuous, rises and is linear between kinks.
double line_minimum(const std::vector<double>& residual, const std::vector<double>& rate) {
  const auto slope = [&](double t) {
    double sum = 0.0;
    for (std::size_t j = 1; j < rate.size(); ++j) sum += std::max(0.0, residual[j] + t * rate[j]) * rate[j];
    return sum;
  };
  if (slope(1.0) <= 0.0) return 1.0;
  std::vector<double> kinks = {0.0, 1.0};
  for (std::size_t j = 1; j < rate.size(); ++j) {
    const double kink = -residual[j] / rate[j];
    if (kink > 0.0 && kink < 1.0) kinks.push_back(kink);
  }
  std::sort(kinks.begin(), kinks.end());
  double left = 0.0;
  double left_slope = slope(0.0);
  for (const double kink : kinks) {
    const double kink_slope = slope(kink);
    if (kink_slope > 0.0)
      return left_slope < 0.0 ? left + (kink - left) * left_slope / (left_slope - kink_slope) : left;
    left = kink;
    left_slope = kink_slope;
  }
  return 1.0;
}

}  // namespace

LeastViolation least_violation(const ScaledProblem& problem) {
  const auto count = static_cast<std::size_t>(problem.count);
  LeastViolation result;
  result.x.assign(static_cast<std::size_t>(problem.dimension), 0.0);
  const auto residuals = [&](const std::vector<double>& x) {
    std::vector<double> values(count + 1, 0.0);
    for (int j = 1; j <= problem.count; ++j) {
      values[static_cast<std::size_t>(j)] = problem.offset[static_cast<std::size_t>(j)] + dot(problem.vector(j), x);
    }
    return values;
  };
  const auto violated_by = [](const std::vector<double>& values) {
    std::vector<int> planes;
    for (std::size_t j = 1; j < values.size(); ++j) {
      if (values[j] > 0.0) planes.push_back(static_cast<int>(j));
    }
    return planes;
  };

  std::vector<double> residual = residuals(result.x);
  double moved_before = 1.0;
  for (int step = 0; step < kMostSteps; ++step) {
    const std::vector<int> planes = violated_by(residual);
    if (planes.empty()) break;
    double mu = 0.0;
    std::vector<double> target = piece_minimiser(problem, planes, mu);
    std::vector<double> ahead = residuals(target);
    if (violated_by(ahead) == planes) {
      result.x = std::move(target);
      residual = std::move(ahead);
      break;
    }
    std::vector<double> rate(count + 1, 0.0);
    for (int j = 1; j <= problem.count; ++j) {
      const auto at = static_cast<std::size_t>(j);
      rate[at] = dot(problem.vector(j), target) - dot(problem.vector(j), result.x);
    }
    const double t = line_minimum(residual, rate);
    double moved = 0.0;
    for (std::size_t k = 0; k < target.size(); ++k) {
      const double change = t * (target[k] - result.x[k]);
      moved = std::max(moved, std::abs(change));
      result.x[k] = t == 1.0 ? target[k] : result.x[k] + change;
    }
    residual = residuals(result.x);
    // A step may end at once where a plane begins to count, and the next go on from there; two such are the end.
    if (moved <= kStill && moved_before <= kStill) break;
    moved_before = moved;
  }

  result.violated.assign(count + 1, 0.0);
  std::vector<double> pull(result.x.size(), 0.0);
  double total = 0.0;
  for (int j = 1; j <= problem.count; ++j) {
    const double violation = std::max(0.0, residual[static_cast<std::size_t>(j)]);
    result.violated[static_cast<std::size_t>(j)] = violation;
    add(pull, -violation, problem.vector(j));
    total += violation;
  }
  const double along = dot(pull, result.x);
  // The violations pull against each other: what is left is rounding.
  result.lambda = along > kOverstep * total ? along / dot(result.x, result.x) : 0.0;
  return result;
}

}  // namespace cgpo::subproblem
