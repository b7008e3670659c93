#include "explicit_solver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace cgpo::test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Value, gradient and Hessian of a convex function; the last two only where asked for.
struct Local {
  Local(std::size_t n, bool curved_in) : curved(curved_in) {
    if (!curved) return;
    gradient.assign(n, 0.0);
    hessian.assign(n, Vector(n, 0.0));
  }

  void add_outer(double factor, const Vector& a) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      for (std::size_t j = 0; j < a.size(); ++j) hessian[i][j] += factor * a[i] * a[j];
    }
  }
  // −weight · log(gap), for a gap with the given gradient.
  void add_barrier(double weight, double gap, const Vector& slope) {
    value = gap > 0.0 ? value - weight * std::log(gap) : kInfinity;
    if (!curved) return;
    for (std::size_t i = 0; i < slope.size(); ++i) gradient[i] -= weight / gap * slope[i];
    add_outer(weight / (gap * gap), slope);
  }

  bool curved;
  double value = 0.0;
  Vector gradient;
  std::vector<Vector> hessian;
};

// Damped Newton, down to where the decrement no longer matters.
template <class Function>
void minimise(Vector& x, const Function& function) {
  for (int step = 0; step < 60; ++step) {
    const Local here = function(x, true);
    const Vector move = gauss(here.hessian, here.gradient);
    const double decrement = dot(move, here.gradient);
    if (!(decrement > 1e-14)) return;
    double t = 1.0;
    while (t > 1e-12 && !(function(sum(x, -t, move), false).value <= here.value - 0.25 * t * decrement)) t *= 0.5;
    if (t <= 1e-12) return;
    x = sum(x, -t, move);
  }
}

}  // namespace

double dot(const Vector& a, const Vector& b) {
  double result = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) result += a[i] * b[i];
  return result;
}

double norm(const Vector& a) { return std::sqrt(dot(a, a)); }

Vector sum(const Vector& a, double factor, const Vector& b) {
  Vector result = a;
  for (std::size_t i = 0; i < a.size(); ++i) result[i] += factor * b[i];
  return result;
}

Vector random_vector(RandomStream& random, int dimension) {
  Vector result(static_cast<std::size_t>(dimension));
  for (double& value : result) value = random.normal();
  return result;
}

Vector gauss(std::vector<Vector> a, Vector b) {
  const std::size_t n = b.size();
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < n; ++i) pivot = std::abs(a[i][k]) > std::abs(a[pivot][k]) ? i : pivot;
    std::swap(a[k], a[pivot]);
    std::swap(b[k], b[pivot]);
    for (std::size_t i = k + 1; i < n; ++i) {
      const double factor = a[i][k] / a[k][k];
      for (std::size_t j = k; j < n; ++j) a[i][j] -= factor * a[k][j];
      b[i] -= factor * b[k];
    }
  }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t j = k + 1; j < n; ++j) b[k] -= a[k][j] * b[j];
    b[k] /= a[k][k];
  }
  return b;
}

TrustRegionProblem gram_problem(const ExplicitProblem& problem) {
  std::vector<Vector> vectors = {problem.g};
  vectors.insert(vectors.end(), problem.q.begin(), problem.q.end());
  TrustRegionProblem result;
  for (const Vector& a : vectors) {
    for (const Vector& b : vectors) result.gram.push_back(dot(a, b));
  }
  result.slack = problem.c;
  result.radius = problem.radius;
  return result;
}

Vector step_vector(const ExplicitProblem& problem, const TrustRegionStep& step) {
  Vector delta(problem.g.size(), 0.0);
  delta = sum(delta, step.coefficients[0], problem.g);
  for (std::size_t i = 0; i < problem.q.size(); ++i) delta = sum(delta, step.coefficients[i + 1], problem.q[i]);
  return delta;
}

Reference solve_reference(const ExplicitProblem& problem) {
  const std::size_t n = problem.g.size();
  const std::size_t m = problem.q.size();
  const double root = std::sqrt(problem.radius);
  const Vector u = sum(Vector(n, 0.0), 1.0 / norm(problem.g), problem.g);
  std::vector<Vector> normals;
  std::vector<Vector> inward;
  Vector d;
  for (std::size_t i = 0; i < m; ++i) {
    const double size = norm(problem.q[i]);
    normals.push_back(sum(Vector(n, 0.0), 1.0 / size, problem.q[i]));
    inward.push_back(sum(Vector(n, 0.0), -1.0 / size, problem.q[i]));
    d.push_back(problem.c[i] / (size * root));
  }
  const auto add_ball = [&](Local& local, double weight, const Vector& x) {
    Vector slope(x.size(), 0.0);
    double gap = 1.0;
    for (std::size_t k = 0; k < n; ++k) {
      slope[k] = -2.0 * x[k];
      gap -= x[k] * x[k];
    }
    local.add_barrier(weight, gap, slope);
    if (!local.curved) return;
    for (std::size_t k = 0; k < n; ++k) local.hessian[k][k] += 2.0 * weight / gap;
  };

  // Least s over (x, s) with d_i + n_iᵀx ≤ s.
  Reference result;
  Vector extended(n + 1, 0.0);
  extended[n] = *std::max_element(d.begin(), d.end()) + 1.0;
  for (double weight = 1.0; weight > 1e-9; weight *= 0.1) {
    minimise(extended, [&](const Vector& y, bool curved) {
      Local local(n + 1, curved);
      local.value = y[n] / weight;
      if (curved) local.gradient[n] = 1.0 / weight;
      add_ball(local, 1.0, y);
      for (std::size_t i = 0; i < m; ++i) {
        Vector slope = inward[i];
        slope.push_back(1.0);
        local.add_barrier(1.0, dot(slope, y) - d[i], slope);
      }
      return local;
    });
    if (extended[n] < -1e-3) break;  // well inside: a good start
    // The duality gap on the central path is the weight times the barriers' parameter: surely infeasible.
    if (extended[n] > 2.0 * static_cast<double>(m + 2) * weight) break;
  }
  result.margin = extended[n];
  Vector x(extended.begin(), extended.end() - 1);

  if (result.margin < 0.0) {
    for (double weight = 1.0; weight > 1e-12; weight *= 0.05) {
      minimise(x, [&](const Vector& y, bool curved) {
        Local local(n, curved);
        local.value = -dot(u, y) / weight;
        if (curved) local.gradient = sum(local.gradient, -1.0 / weight, u);
        add_ball(local, 1.0, y);
        for (std::size_t i = 0; i < m; ++i) {
          local.add_barrier(1.0, -d[i] - dot(normals[i], y), inward[i]);
        }
        return local;
      });
    }
  } else {
    x.assign(n, 0.0);
    for (double weight = 1.0; weight > 1e-13; weight *= 0.05) {
      minimise(x, [&](const Vector& y, bool curved) {
        Local local(n, curved);
        add_ball(local, 1.0, y);
        for (std::size_t i = 0; i < m; ++i) {
          const double over = std::max(0.0, d[i] + dot(normals[i], y));
          local.value += 0.5 * over * over / weight;
          if (!curved || over == 0.0) continue;
          local.gradient = sum(local.gradient, over / weight, normals[i]);
          local.add_outer(1.0 / weight, normals[i]);
        }
        return local;
      });
    }
  }
  result.gain = dot(u, x);
  for (std::size_t i = 0; i < m; ++i) {
    result.violation += 0.5 * std::pow(std::max(0.0, d[i] + dot(normals[i], x)), 2);
  }
  result.delta = sum(Vector(n, 0.0), root, x);
  return result;
}

}  // namespace cgpo::test
