// How far a mean of samples is from what it estimates.
#pragma once

#include <span>

namespace cgpo {

// Standard error of the mean of independent samples. NaN for fewer than two.
double standard_error(std::span<const double> samples);

// Of samples whose starts were spread evenly over the square (i/N folded, i/φ), i = 0 … N−1 in every group of N =
// `group` samples. Sample i has neighbours i ± F, F the largest Fibonacci number up to √N: F/φ is nearly whole and F/N
// small. What varies smoothly over the square the lattice has averaged out; what is left to chance is what neighbours
// do not share:
//   se² = mean of (x_{i−F} − 2 x_i + x_{i+F})² / 6 / count
// For independent samples its mean is the usual one. Groups too small for that are taken as independent.
double standard_error_of_lattice(std::span<const double> samples, int group);

// z with P(standard normal ≤ z) = probability, for probabilities between 0 and 1.
double normal_quantile(double probability);

}  // namespace cgpo
