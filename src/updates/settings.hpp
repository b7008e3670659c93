// Everything that can be chosen about a training, as plain values. A setting's type and default stand here and nowhere
// else; its key is its name, with a dot for each struct; config/settings_table.cpp has the range and the meaning of
// every key, and `cgpo settings` lists them. Comments here say only what that table does not.
#pragma once

#include <string>
#include <vector>

#include "cgpo/kernel/kernel.hpp"
#include "cgpo/world/world_model.hpp"

namespace cgpo {

struct PolicySettings {
  std::vector<int> hidden = {64, 64};
  double initial_std = 0.1;  // σ
  bool learn_std = false;    // whether log σ is part of θ's update
  double last_layer_scale = 0.01;
  double settle = 0.9;
  double least_std = 0.005;
};

enum class CriticTargets { kWindow, kEpisode };

struct CriticSettings {
  std::vector<int> hidden = {64, 64};
  double learning_rate = 1e-3;
  int steps = 256;
  double passes = 16.0;
  int memory = 32;
  int batch = 512;
  double lambda = 0.95;
  CriticTargets targets = CriticTargets::kEpisode;
  double sobolev = 0.0;
  bool fit_first = true;
};

enum class RadiusTest { kPaper, kOneSided, kPaired, kFixed };
enum class RadiusMetric { kEuclid, kAction };

struct RadiusSettings {
  double initial = 1e-3;  // δ̂
  double lower = 1e-6;
  double upper = 1e-2;
  double shrink = 0.8;     // β₁
  double grow = 1.25;      // β₂
  double eta_low = 0.25;   // η₁
  double eta_high = 0.75;  // η₂
  RadiusTest test = RadiusTest::kOneSided;
  RadiusMetric metric = RadiusMetric::kAction;
  double damping = 0.3;  // ε
  int rows = 512;
  bool debias = false;  // what groups of episodes do not agree on is noise, which would promise gains of its own
  double confidence = 0.95;
  double margin = 0.0;
  double retreat = 2.0;
  double certainty = 2.0;
  bool sidestep = false;
  double cutoff = 0.01;
};

enum class GradientSource { kShac, kBptt, kZobg };
enum class ZobgBaseline { kNone, kStep };
enum class GradientCorrection { kNone, kEnds, kAll };

struct GradientSettings {
  GradientSource source = GradientSource::kShac;
  ZobgBaseline baseline = ZobgBaseline::kNone;
  double discount = 1.0;
  GradientCorrection correction = GradientCorrection::kEnds;
};

// How advantages are brought to a common size: reward centred and divided by its deviation, and then each cost centred
// and divided by the same number, by none, or nothing done at all.
enum class AdvantageScale { kShared, kReward, kRaw };

// The policy's update of every algorithm but cgpo.
struct UpdateSettings {
  double learning_rate = 3e-4;
  bool anneal = false;
  int passes = 10;
  int batch = 2048;
  double clip = 0.2;  // ε
  double kl = 0.02;   // of KL(π_k‖π_θ); second order: δ
  double entropy = 0.0;
  double max_norm = 0.0;
  AdvantageScale advantages = AdvantageScale::kShared;
  double damping = 0.1;
  int states = 4096;
  int conjugate = 15;
  int backtracks = 15;
};

enum class DualOptimiser { kPlain, kAdam };

// The multipliers λ_i, which follow the violations (J_Ci − b_i)/T.
struct DualSettings {
  DualOptimiser optimiser = DualOptimiser::kPlain;
  double learning_rate = 0.2;
  double initial = 0.0;
  double upper = 100.0;
  double penalty = 5.0;  // σ of the augmented Lagrangian
  double penalty_growth = 0.0;
  double penalty_upper = 500.0;
};

// Where a task is MuJoCo's and our engine is beside it; the task's own options twin.* say what that one is like.
struct TwinSettings {
  double first = 0.0;
  int smallest = 16;
  double prior = 0.01;
};

struct BpttSettings {
  int window = 0;
};

struct FocopsSettings {
  double temperature = 1.5;  // λ
};

// Gains are in units of dual.learning_rate.
struct PidSettings {
  double proportional = 10.0;  // K_P
  double integral = 1.0;       // K_I
  double derivative = 10.0;    // K_D
  double proportional_memory = 0.5;
  double derivative_memory = 0.95;
  int delay = 10;
  bool normalise = true;
};

enum class PdoStep { kClipped, kWeighted, kNatural };

struct PdoSettings {
  PdoStep step = PdoStep::kClipped;
};

enum class CpoKappa { kHorizon, kDiscount, kOne };

struct CpoSettings {
  CpoKappa kappa = CpoKappa::kHorizon;
};

// How many episodes an iteration has.
struct BatchSettings {
  bool adaptive = true;
  int smallest = 16;
  double signal = 0.6;
  double precision = 0.01;
  double deployed = 0.125;
};

struct KernelSettings {
  Backend backend = Backend::kBest;
  int block = 32;
};

struct Settings {
  int iterations = 100;
  int environments = 128;          // N
  int horizon = 0;                 // T
  int window = 10;                 // h
  std::vector<std::string> costs;  // by name
  std::vector<double> limits;      // b
  int snapshots = 5;
  double discount = 0.99;  // γ
  bool finite_horizon = true;
  BatchSettings batch;
  PolicySettings policy;
  CriticSettings critic;
  RadiusSettings radius;
  GradientSettings gradient;
  UpdateSettings update;
  DualSettings dual;
  TwinSettings twin;
  BpttSettings bptt;
  FocopsSettings focops;
  PidSettings pid;
  PdoSettings pdo;
  CpoSettings cpo;
  WorldSettings world;
  KernelSettings kernel;
};

}  // namespace cgpo
