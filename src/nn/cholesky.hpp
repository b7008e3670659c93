// A = L Lᵀ of a symmetric positive definite matrix, in double.
#pragma once

#include <span>
#include <vector>

namespace cgpo {

// `matrix` is [size x size], row-major; only its lower triangle is read, and L takes its place. Returns false, with the
// matrix in no defined state, if it is not positive definite. The same bits with every instruction set.
bool cholesky_factor(std::span<double> matrix, int size);

// x becomes A⁻¹ x.
void cholesky_solve(std::span<const double> factor, int size, std::span<double> x);

}  // namespace cgpo
