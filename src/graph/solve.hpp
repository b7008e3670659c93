// Symmetric linear systems A x = b inside a graph, sparse by pattern, factored once as A = Lᵀ D L.
//
// Elimination runs from the last row to the first. For the inertia matrix of a kinematic tree whose parents stand
// before their children it makes no entry that A does not have. Entries that are the constant zero are left out.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "cgpo/graph/traced.hpp"

namespace cgpo {

// Where entry (i, j) of a lower triangle stands that is stored row by row; (size, 0): how many there are.
constexpr std::size_t triangle_index(int i, int j) {
  const auto row = static_cast<std::size_t>(i);
  return row * (row + 1) / 2 + static_cast<std::size_t>(j);
}

// Lower triangle of a symmetric matrix, row by row.
template <class S>
class SymmetricMatrix {
 public:
  explicit SymmetricMatrix(int size) : size_(size), entries_(triangle_index(size, 0), S(0.0)) {}
  int size() const { return size_; }
  S& operator()(int i, int j) { return entries_[index(i, j)]; }
  const S& operator()(int i, int j) const { return entries_[index(i, j)]; }
  const std::vector<S>& entries() const { return entries_; }

 private:
  static std::size_t index(int i, int j) {
    if (i < j) std::swap(i, j);
    return triangle_index(i, j);
  }
  int size_;
  std::vector<S> entries_;
};

template <class S>
struct SymmetricFactor {
  SymmetricMatrix<S> lower;  // L below the diagonal; what stands on it is not used
  std::vector<S> inverse_diagonal;
};

template <class S>
SymmetricFactor<S> factor_values(SymmetricMatrix<S> matrix) {
  const int n = matrix.size();
  std::vector<S> inverse(static_cast<std::size_t>(n), S(0.0));
  for (int k = n - 1; k >= 0; --k) {
    inverse[static_cast<std::size_t>(k)] = reciprocal(matrix(k, k));
    for (int i = k - 1; i >= 0; --i) {
      if (is_structural_zero(matrix(k, i))) continue;
      const S factor = matrix(k, i) * inverse[static_cast<std::size_t>(k)];
      for (int j = i; j >= 0; --j) {
        if (!is_structural_zero(matrix(k, j))) matrix(i, j) = matrix(i, j) - factor * matrix(k, j);
      }
      matrix(k, i) = factor;
    }
  }
  return {std::move(matrix), std::move(inverse)};
}

template <class S>
std::vector<S> solve_values(const SymmetricFactor<S>& factor, std::vector<S> x) {
  const int n = factor.lower.size();
  const auto at = [](int i) { return static_cast<std::size_t>(i); };
  for (int k = n - 1; k >= 0; --k) {  // Lᵀ y = b
    if (is_structural_zero(x[at(k)])) continue;
    for (int i = k - 1; i >= 0; --i) {
      if (!is_structural_zero(factor.lower(k, i))) x[at(i)] = x[at(i)] - factor.lower(k, i) * x[at(k)];
    }
  }
  for (int k = 0; k < n; ++k) {  // D z = y, L x = z
    if (!is_structural_zero(x[at(k)])) x[at(k)] = x[at(k)] * factor.inverse_diagonal[at(k)];
    for (int i = 0; i < k; ++i) {
      if (!is_structural_zero(factor.lower(k, i)) && !is_structural_zero(x[at(i)])) {
        x[at(k)] = x[at(k)] - factor.lower(k, i) * x[at(i)];
      }
    }
  }
  return x;
}

// x = A⁻¹ b. In a graph the derivative is the implicit-function rule on the factors made here:
//   b̄ = A⁻¹ x̄,  Ā = −b̄ xᵀ    and    ẋ = A⁻¹ (ḃ − Ȧ x).
// A must be invertible with non-zero pivots, as a positive definite matrix has.
std::vector<Traced> solve_symmetric(const SymmetricMatrix<Traced>& matrix, std::span<const Traced> rhs);
inline std::vector<double> solve_symmetric(const SymmetricMatrix<double>& matrix, std::span<const double> rhs) {
  return solve_values(factor_values(matrix), std::vector<double>(rhs.begin(), rhs.end()));
}

// Adds A⁻¹ rhs for a factor that the graph has; for differentiation. rhs may hold kNoNode for zero.
std::vector<NodeId> add_solve(Graph& graph, int factor, const std::vector<NodeId>& rhs);

}  // namespace cgpo
