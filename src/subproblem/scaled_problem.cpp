#include "cgpo/subproblem/scaled_problem.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cgpo/base/numbers.hpp"

namespace cgpo::subproblem {

void add(std::span<double> a, double factor, std::span<const double> b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += factor * b[i];
}

ScaledProblem::ScaledProblem(const TrustRegionProblem& problem) {
  const int m = static_cast<int>(problem.slack.size());
  const auto gram = [&](int i, int j) { return problem.gram[row_start(i, m + 1) + static_cast<std::size_t>(j)]; };
  // A square that is not a normal number has lost its digits; a negative one (estimated products) has no root.
  const auto root = [](double square) {
    return square >= std::numeric_limits<double>::min() ? std::sqrt(square) : 0.0;
  };

  root_radius = std::sqrt(problem.radius);
  origin.push_back(-1);
  length.push_back(root(gram(0, 0)));
  offset.push_back(0.0);
  for (int i = 0; i < m; ++i) {
    const double slack = problem.slack[static_cast<std::size_t>(i)];
    const double size = root(gram(i + 1, i + 1));
    if (size == 0.0) {
      unsteerable = unsteerable || slack > 0.0;
      continue;
    }
    origin.push_back(i);
    length.push_back(size);
    offset.push_back(std::clamp(slack / size / root_radius, -kFarthest, kFarthest));
  }
  count = static_cast<int>(origin.size()) - 1;

  const int n = count + 1;
  cosines.assign(row_start(n, n), 0.0);
  for (int i = 0; i < n; ++i) {
    const double length_i = length[static_cast<std::size_t>(i)];
    if (length_i == 0.0) continue;
    for (int j = 0; j < n; ++j) {
      const double length_j = length[static_cast<std::size_t>(j)];
      if (length_j == 0.0) continue;
      const int a = origin[static_cast<std::size_t>(i)] + 1;
      const int b = origin[static_cast<std::size_t>(j)] + 1;
      const double product = (0.5 * gram(a, b) + 0.5 * gram(b, a)) / length_i / length_j;
      cosines[row_start(i, n) + static_cast<std::size_t>(j)] = i == j ? 1.0 : std::clamp(product, -1.0, 1.0);
    }
  }

  // left[j]: the squared length of vector j outside the axes so far.
  dimension = n;
  axes.assign(row_start(n, n), 0.0);
  const auto axis = [&](int j, int k) -> double& { return axes[row_start(j, n) + static_cast<std::size_t>(k)]; };
  std::vector<double> left(static_cast<std::size_t>(n), 1.0);
  left[0] = has_objective() ? 1.0 : 0.0;
  std::vector<bool> taken(static_cast<std::size_t>(n), false);
  for (int k = 0; k < count; ++k) {
    int pivot = -1;
    for (int j = 1; j < n; ++j) {
      const auto at = static_cast<std::size_t>(j);
      if (!taken[at] && left[at] > kParallel && (pivot < 0 || left[at] > left[static_cast<std::size_t>(pivot)])) {
        pivot = j;
      }
    }
    if (pivot < 0) break;
    taken[static_cast<std::size_t>(pivot)] = true;
    pivots.push_back(pivot);
    const double height = std::sqrt(left[static_cast<std::size_t>(pivot)]);
    for (int j = 0; j < n; ++j) {
      if (taken[static_cast<std::size_t>(j)]) continue;
      double rest = cosine(j, pivot);
      for (int l = 0; l < k; ++l) rest -= axis(j, l) * axis(pivot, l);
      axis(j, k) = rest / height;
      left[static_cast<std::size_t>(j)] -= axis(j, k) * axis(j, k);
    }
    axis(pivot, k) = height;
  }
  if (left[0] > kParallel) axis(0, count) = std::sqrt(left[0]);
}

std::vector<double> ScaledProblem::combination(std::span<const double> x) const {
  std::vector<double> factors(static_cast<std::size_t>(count + 1), 0.0);
  std::vector<double> rest(x.begin(), x.end());
  for (std::size_t k = pivots.size(); k-- > 0;) {
    const std::span<const double> pivot = vector(pivots[k]);
    const double factor = rest[k] / pivot[k];
    factors[static_cast<std::size_t>(pivots[k])] = factor;
    add(rest, -factor, pivot);
  }
  return factors;
}

}  // namespace cgpo::subproblem
