// How good a trained policy is, on fresh episodes.
#pragma once

#include <vector>

#include "cgpo/algorithms/algorithm.hpp"

namespace cgpo {

// One entry an episode that did not diverge.
struct Evaluation {
  std::vector<double> returns;
  std::vector<double> returns_paper;
  std::vector<std::vector<double>> costs;  // [cost][episode]
  std::vector<double> lengths;
  int lattice = 0;  // episodes in a row whose starts were spread over a lattice (base/statistics); 0: independent
  int diverged = 0;
};

// Runs the policy in `checkpoint` (as Algorithm::save wrote it) for `episodes` episodes over the settings' horizon.
Evaluation evaluate(const AlgorithmContext& context, const Tensors& checkpoint, int episodes, bool deterministic);

}  // namespace cgpo
