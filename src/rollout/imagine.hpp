// Episodes in a model beside real ones: short windows that each begin where a real episode was.
//
// Window w of an episode begins in the real state s_{wh}, or, if the model's state is what the policy observes, in the
// real observation, and runs h steps in the model with the noise that the real episode had: a model without error
// repeats the real episode. Windows tile the episode, so that sums over an imagined episode are comparable with real
// ones, and the sweep of gradient/first_order.hpp runs over them as over real ones.
//
// When an episode ends is taken from the real one: the model is not asked. What follows from the moment of the end is
// the critics' affair there as here. An environment that diverged, really or in the model, is left out.
#pragma once

#include "cgpo/rollout/collect.hpp"

namespace cgpo {

enum class Replay : std::uint8_t {
  kNoise,    // the policy acts on what the model predicts
  kActions,  // the real actions: how well the model predicts, apart from how the policy answers
  kStates,   // every step begins in the real state: the model's derivatives along the real episode
};

// `imagined` has the shape of `real`; window = 0: whole episodes.
template <class Real>
void imagine(const Simulator<Real>& model, const Actor<Real>& actor, const Batch<Real>& real, int window, Replay replay,
             ThreadPool& pool, Batch<Real>& imagined);

// Root mean square errors of step j+1 after a window's start, over all windows and all steps that count.
struct PredictionErrors {
  std::vector<double> state;                 // [h], in units of `unit`, mean over the observations
  std::vector<std::vector<double>> signals;  // [1+m][h], in the signals' own units
  std::vector<double> samples;               // [h], how many steps are behind each
};
template <class Real>
PredictionErrors prediction_errors(const Batch<Real>& real, const Batch<Real>& imagined, int window,
                                   std::span<const double> unit);

}  // namespace cgpo
