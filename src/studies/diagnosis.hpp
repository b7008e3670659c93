// What a user wants to know of a policy that learns less than it should: numbers only. judge/explain.hpp finds words.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cgpo/studies/spectrum.hpp"
#include "cgpo/studies/twin_gradient.hpp"
#include "cgpo/updates/algorithm.hpp"
#include "cgpo/updates/contact_shares.hpp"

namespace cgpo {

struct GradientLength {
  double norm = 0.0;
  double error = 0.0;              // length of the standard error over environments
  double signal_to_noise() const;  // of the mean over the batch; 0: no more than noise, infinite: no noise
};

struct WindowGradients {
  int window = 0;
  std::vector<GradientLength> signals;  // J_R, then each J_C
};

struct ActionDiagnosis {
  double saturated = 0.0;            // share of |a| > 0.98
  Spectrum spectrum;                 // mean over actions and episodes
  std::vector<double> upper_shares;  // of each action, the share of its power in the upper quarter of frequencies
  double upper_frequency = 0.0;      // Hz, where that begins; 0: the task has no clock
};

// Of one observation, as the networks see it: (o − mean) / std.
struct InputDiagnosis {
  int index = 0;
  double root_mean_square = 0.0;
};

// How good a twin stands for the task's engine, fitted as the next iteration would.
struct TwinDiagnosis {
  double error = 0.0;         // as IterationReport::twin_error
  double window_error = 0.0;  // as IterationReport::twin_window_error
  NamedNumbers parameters;
  int episodes = 0;                     // behind the cosines
  std::vector<GradientCosine> cosines;  // of each signal: of its gradient with that of scores
};

// Measured on a batch of fresh episodes with the run's own settings, as its next iteration would see them.
struct Diagnosis {
  std::vector<std::string> signals;  // "return", then the costs
  int environments = 0;
  int horizon = 0;
  int window = 0;                        // of the run's gradient; T for bptt
  double radius = 0.0;                   // δ̂ of the next step
  std::vector<GradientLength> gradient;  // as the run takes it, plain length; empty: there is none on this engine
  // In the metric of the trust region: the most that a step within the radius changes each J by, as the sampled
  // gradient has it, and the share of the squared length that is no noise (NaN: a single episode cannot tell).
  std::vector<double> reach;
  std::vector<double> gradient_signals;
  std::vector<WindowGradients> windows;  // without critics; empty: not differentiable
  std::vector<double> critic_explained;  // share of the variance of what the episodes brought; empty: no critics
  std::vector<double> critic_cosines;    // as in GradientEstimate
  std::optional<TwinDiagnosis> twin;
  std::optional<ContactShares> contact;
  ActionDiagnosis actions;             // of the policy without its noise
  std::vector<InputDiagnosis> inputs;  // the farthest ones first, at most three
};

// `checkpoint` as Algorithm::save wrote it.
Diagnosis diagnose(const AlgorithmContext& context, const Tensors& checkpoint);

}  // namespace cgpo
