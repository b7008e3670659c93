// MB-CGPO: CGPO with gradients through a learned model of the task.
#pragma once

#include <memory>

#include "cgpo/rollout/imagine.hpp"
#include "cgpo/updates/algorithm.hpp"

namespace cgpo {

std::unique_ptr<Algorithm> make_mb_cgpo(const AlgorithmContext& context);

// How far the model in a checkpoint of mb-cgpo is from the task after 1 … `steps` steps, on fresh episodes of the
// checkpoint's policy. The model gets the real actions, so that its own error shows; states in standard deviations of
// all observations that it had learned from.
struct GradientAgreement {  // of a gradient through the model with the true one, same episodes and critics
  double cosine = 0.0;
  double true_length = 0.0;
  double model_length = 0.0;
};
struct HorizonErrors {
  PredictionErrors errors;
  std::vector<double> signal_std;  // of reward and costs, over the same episodes: what their errors compare with
  std::vector<GradientAgreement> gradients;  // of J_R and each J_C; empty if the task has no derivatives
};
HorizonErrors measure_horizon(const AlgorithmContext& context, const Tensors& checkpoint, int episodes, int steps);

}  // namespace cgpo
