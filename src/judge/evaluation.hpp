// How good a trained policy is, on fresh episodes.
#pragma once

#include <vector>

#include "cgpo/updates/algorithm.hpp"

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

// The same with noise and without, so many episodes of each, from the same start states.
struct BothEvaluations {
  Evaluation noisy;
  Evaluation deployed;
};
BothEvaluations evaluate_both(const AlgorithmContext& context, const Tensors& checkpoint, int episodes);

// One episode, step by step.
struct RecordedEpisode {
  std::vector<std::vector<double>> states;        // [step], the start included
  std::vector<std::vector<double>> observations;  // [step], in which the policy chose
  std::vector<std::vector<double>> actions;       // [step]
  std::vector<std::vector<double>> signals;       // [reward, then each cost][step]
  int length = 0;                                 // steps until the episode's end; the simulation may have gone on
  bool ended = false;                             // by itself, before its horizon
  bool diverged = false;
};

// Episodes of the same kind, kept whole. The same seed gives the same start states to every checkpoint.
std::vector<RecordedEpisode> record_episodes(const AlgorithmContext& context, const Tensors& checkpoint, int episodes,
                                             bool deterministic);

}  // namespace cgpo
