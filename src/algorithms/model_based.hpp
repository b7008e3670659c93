// MB-CGPO: CGPO with gradients through a learned model of the task.
#pragma once

#include <memory>

#include "cgpo/algorithms/algorithm.hpp"
#include "cgpo/rollout/imagine.hpp"

namespace cgpo {

std::unique_ptr<Algorithm> make_mb_cgpo(const AlgorithmContext& context);

// How far the model in a checkpoint of mb-cgpo is from the task after 1 … `steps` steps, on fresh episodes of the
// checkpoint's policy. The model gets the real actions, so that its own error shows; states in standard deviations of
// all observations that it had learned from.
struct HorizonErrors {
  PredictionErrors errors;
  std::vector<double> signal_std;  // of reward and costs, over the same episodes: what their errors compare with
  // Of J_R and each J_C: the cosine of the gradient through the model with the true one, on the same episodes and with
  // the same critics. Empty if the task has no derivatives.
  std::vector<double> gradient_cosines;
};
HorizonErrors measure_horizon(const AlgorithmContext& context, const Tensors& checkpoint, int episodes, int steps);

}  // namespace cgpo
