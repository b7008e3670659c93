// Policies from the course of a training, for studies that look at more than the last one.
#pragma once

#include <vector>

#include "cgpo/algorithms/registry.hpp"
#include "cgpo/studies/tick.hpp"

namespace cgpo {

// What is studied are estimates of plain sums, critics included, whatever the task's default.
AlgorithmContext without_discount(AlgorithmContext context);

// The algorithm's state after each of these numbers of iterations, which must grow; the settings' own number of
// iterations is not looked at.
std::vector<Tensors> training_stages(const AlgorithmContext& context, const AlgorithmEntry& algorithm,
                                     const std::vector<int>& iterations, const Tick& tick);

// The same numbers in double precision: trainings run in float, studies do not.
Tensors widened(const Tensors& tensors);

}  // namespace cgpo
