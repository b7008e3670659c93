// Products of gradients, and the same without the noise that the gradients share.
//
// Gradients are averages over N episodes, so a product carries the noise's own length: with a metric M,
//   E gᵀMq = ḡᵀMq̄ + tr(M Σ_gq) / N.
// Groups of episodes have independent noise, so products of *different* groups are unbiased:
//   Ĝ_ij = (N² G_ij − Σ_g S_giᵀ M S_gj) / (N² − Σ_g n_g²),   S_g a group's sum over its n_g episodes.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "cgpo/gradient/estimate.hpp"

namespace cgpo {

// result = M v, both of the gradient's length; workers 0 … max(gradients, groups) − 1 call it side by side.
using GradientMetric =
    std::function<void(const std::vector<double>& v, std::vector<double>& result, std::size_t worker)>;

struct GradientProducts {
  std::vector<std::vector<double>> directions;  // [n][parameters]: M times each gradient
  std::vector<double> gram;                     // [n × n]
  std::vector<double> unbiased_gram;            // Ĝ; equal to `gram` if not asked for, or if there is one episode
  // Working memory, kept so that products of the same shape allocate nothing.
  std::vector<std::vector<double>> turned;  // [group][parameters]
  std::vector<std::vector<double>> own;     // [group][n × n]
};

// Of the gradients of `signals` (0: the reward), in this order.
void multiply_gradients(const GradientEstimate& estimate, const std::vector<std::size_t>& signals,
                        const GradientMetric& metric, bool unbiased, ThreadPool& pool, GradientProducts& products);

// aᵀb of the gradients of signals i and j from two estimates of one batch, in the Euclidean metric. NaN for the
// unbiased one of one episode.
struct GradientProduct {
  double plain = 0.0;
  double unbiased = 0.0;
};
GradientProduct multiply_gradients(const GradientEstimate& a, std::size_t i, const GradientEstimate& b, std::size_t j);

// Length of the standard error of gradient k, √(tr Σ / N): what noise alone would leave of a gradient that is 0. NaN of
// one episode.
double gradient_error(const GradientEstimate& estimate, std::size_t k);

}  // namespace cgpo
