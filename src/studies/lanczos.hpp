// The largest curvature of a function of many variables, from products with its Hessian alone.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace cgpo {

// result = A v for a symmetric A.
using SymmetricProduct = std::function<void(std::span<const double> v, std::span<double> result)>;

// max |eigenvalue| of A by Lanczos' method with full reorthogonalisation, from a random start: at most `iterations`
// products, fewer if the Krylov space is exhausted. It comes from below; a dozen products give the first digits of a
// value that stands apart from the others.
double spectral_norm(const SymmetricProduct& product, int size, int iterations, std::uint64_t seed);

// max |eigenvalue| of the symmetric tridiagonal matrix with this diagonal and these off-diagonal entries, by bisection
// on Sturm sequences.
double tridiagonal_norm(std::span<const double> diagonal, std::span<const double> beside);

}  // namespace cgpo
