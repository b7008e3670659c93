// Everything that can be chosen about a training, as plain numbers. run/ reads it from configuration files; the keys
// are the names below, with a dot for each struct.
#pragma once

#include <string>
#include <vector>

#include "cgpo/kernel/kernel.hpp"
#include "cgpo/world/world_model.hpp"

namespace cgpo {

struct PolicySettings {
  std::vector<int> hidden = {64, 64};  // tanh layers
  double initial_std = 0.1;            // σ of the noise before squashing
  bool learn_std = false;              // whether log σ is part of θ's update
  double last_layer_scale = 0.01;      // the first actions are near zero
};

enum class CriticTargets { kWindow, kEpisode };  // how far a λ-return runs

struct CriticSettings {
  std::vector<int> hidden = {64, 64};
  double learning_rate = 1e-3;
  int steps = 256;  // of Adam, an iteration
  int batch = 512;  // samples a step
  double lambda = 0.95;
  CriticTargets targets = CriticTargets::kWindow;
  double sobolev = 0.0;   // weight of the slope's error beside the value's; 0: values only
  bool fit_first = true;  // before the gradient of the same iteration is taken; false: after the update, as printed
};

// How the radius follows what came of the predictions: by the paper's ρ and ζ; by one-sided ones, which mind only what
// came out worse; by those on the same start states and noise, at the price of a second rollout; not at all.
enum class RadiusTest { kPaper, kOneSided, kPaired, kFixed };
enum class RadiusMetric { kEuclid, kAction };

struct RadiusSettings {
  double initial = 1e-3;  // δ̂ bounds the squared length of a step
  double lower = 1e-6;
  double upper = 1e-2;
  double shrink = 0.8;     // β₁
  double grow = 1.25;      // β₂
  double eta_low = 0.25;   // η₁: below, the radius shrinks
  double eta_high = 0.75;  // η₂: from here on, it grows
  RadiusTest test = RadiusTest::kOneSided;
  RadiusMetric metric = RadiusMetric::kAction;
  bool debias = true;        // predict only what the batch's blocks agree on; noise would promise gains of its own
  double damping = 0.3;      // ε of the action metric, in units of its mean diagonal
  int rows = 512;            // states × actions at which the action metric is taken
  double margin = 0.02;      // aim below the limit by this share of max(|b|, 1)
  double margin_se = 1.0;    // and by this many standard errors of J_C
  double chance_se = 0.0;    // an excess of J_C is judged against at least this many of its standard errors
  double margin_miss = 1.0;  // and by this many times the mean by which J_C came out above its prediction lately
  double retreat = 3.0;      // a step that misses its prediction by this many times the predicted change is taken back
  double certainty = 2.0;    // standard errors of the return by which a change of the radius must be called for
  bool sidestep = false;     // whether a broken constraint leaves room for a step along it
  double cutoff =
      0.01;  // drop the part of the step along the constraint if reward and cost gradients are this parallel
};

enum class GradientSource { kShac, kBptt, kZobg };
enum class ZobgBaseline { kNone, kStep };

struct GradientSettings {
  GradientSource source = GradientSource::kShac;
  ZobgBaseline baseline = ZobgBaseline::kNone;  // of the score-function estimate
  double discount = 1.0;                        // of what follows a step, where the horizon is finite; J has none
};

// How advantages are brought to a common size: reward centred and divided by its deviation, and then each cost centred
// and divided by the same number, by none, or nothing done at all.
enum class AdvantageScale { kShared, kReward, kRaw };

// The policy's update of every algorithm but cgpo.
struct UpdateSettings {
  double learning_rate = 3e-4;  // of Adam
  bool anneal = false;          // the learning rate falls linearly to 0 over the iterations
  int passes = 10;              // over the batch
  int batch = 2048;             // samples a step of Adam
  double clip = 0.2;            // ε of the clipped surrogates
  double kl = 0.02;       // first order: passes end beyond this KL(π_k‖π_θ); second order: δ, the trust region
  double entropy = 0.0;   // weight of the entropy before squashing
  double max_norm = 0.0;  // longer gradients are cut to this length; 0: never
  AdvantageScale advantages = AdvantageScale::kShared;
  double damping = 0.1;  // added to the Fisher matrix
  int states = 4096;     // at which the Fisher matrix is taken
  int conjugate = 15;    // steps of conjugate gradients
  int backtracks = 15;   // tries of the line search, each 0.8 of the one before
};

enum class DualOptimiser { kPlain, kAdam };

// The multipliers λ_i, which follow the violations (J_Ci − b_i)/T.
struct DualSettings {
  DualOptimiser optimiser = DualOptimiser::kPlain;
  double learning_rate = 0.2;
  double initial = 0.0;
  double upper = 100.0;
  double penalty = 5.0;          // σ of the augmented Lagrangian, in units of the learning rate
  double penalty_growth = 0.0;   // σ grows by this share after an iteration whose violation did not shrink
  double penalty_upper = 500.0;  // and not beyond this, in the same units
};

enum class PdoStep { kClipped, kWeighted, kNatural };
enum class CpoKappa { kHorizon, kDiscount, kOne };

struct KernelSettings {
  Backend backend = Backend::kBest;
  int block = 32;  // environments of a task for one thread; part of the result's bits, unlike the number of threads
};

struct Settings {
  int iterations = 100;
  int environments = 128;          // N, episodes an iteration
  int horizon = 0;                 // T; 0: the task's own
  int window = 10;                 // h
  std::vector<std::string> costs;  // by name; empty: the task's standard ones
  std::vector<double> limits;      // b, one a cost; empty: the task's own
  double discount = 0.99;          // γ, if the horizon is not taken as finite
  bool finite_horizon = true;      // no discount, critics that know the time, nothing after T; false: T only truncates
  PolicySettings policy;
  CriticSettings critic;
  RadiusSettings radius;
  GradientSettings gradient;
  UpdateSettings update;
  DualSettings dual;
  int bptt_window = 0;                      // key bptt.window: steps of bptt-lag's gradients; 0: all
  PdoStep pdo_step = PdoStep::kClipped;     // key pdo.step
  CpoKappa cpo_kappa = CpoKappa::kHorizon;  // key cpo.kappa: from an advantage's mean to a change of J_C
  WorldSettings world;                      // of mb-cgpo
  KernelSettings kernel;
  int snapshots = 5;  // policies that a run keeps for its replay, evenly over its iterations
};

}  // namespace cgpo
