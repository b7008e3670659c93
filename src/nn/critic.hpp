// Value function V(x, t) = offset + scale * mlp([x; t/T]), its scale following the targets (PopArt, van Hasselt et al.
// 2016), fitted by Adam on random minibatches.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cgpo/base/aligned.hpp"
#include "cgpo/nn/adam.hpp"
#include "cgpo/nn/mlp.hpp"
#include "cgpo/nn/row_store.hpp"
#include "cgpo/nn/sample_table.hpp"

namespace cgpo {

// Working memory, one for each thread. Larger batches than its columns are cut into pieces.
template <class Real>
struct CriticWorkspace {
  CriticWorkspace(const Mlp<Real>& mlp, int columns);
  void add_slope_memory(const Mlp<Real>& mlp);
  static std::size_t bytes(const Mlp<Real>& mlp, int columns);  // without that of slopes

  int columns;
  RowStore<Real> inputs;  // [observations + 1 x columns]
  RowStore<Real> units;
  RowStore<Real> deltas;
  // For a loss on the slope; sized when one is first used.
  RowStore<Real> slope, direction;  // [observations + 1 x columns]
  RowStore<Real> slope_deltas, tangents, tangent_units;
  AlignedVector<double> gradient;
  AlignedVector<Real> targets;
  std::vector<std::uint32_t> index;
};

struct FitOptions {
  int steps = 256;
  int batch = 512;
  double learning_rate = 1e-3;
};

// What to fit: targets[i] belongs to sample i of the table. `chosen`, if there, lists the samples that take part (a
// signal that has stopped, a diverged environment do not).
template <class Real>
struct FitSamples {
  const SampleTable<Real>& table;
  std::span<const Real> targets;
  std::optional<std::span<const std::uint32_t>> chosen = {};

  std::uint32_t count() const { return static_cast<std::uint32_t>(chosen ? chosen->size() : targets.size()); }
  std::uint32_t sample(std::uint32_t i) const { return chosen ? (*chosen)[i] : i; }
};

// A further term of the loss: what is known of V's slope (Sobolev training).
template <class Real>
class SlopeLoss {
 public:
  virtual ~SlopeLoss() = default;
  // slope [observations x count] is the network's dmlp/dx at these samples, in scaled units (dV/dx / scale). Fills
  // direction, the derivative of the term with respect to it, and returns the term.
  virtual double evaluate(Rows<const Real> slope, std::span<const std::uint32_t> samples, double scale,
                          Rows<Real> direction) = 0;
};

// Which numbers the fit draws: streams (seed, kMinibatch, iteration, critic, step).
struct FitKey {
  std::uint64_t seed = 0;
  std::uint32_t iteration = 0;
  std::uint32_t critic = 0;
};

struct FitReport {
  double loss = 0.0;                // mean squared error over all minibatches, each before its step, in target units^2
  double explained_variance = 0.0;  // 1 - error / variance of the targets over the last 64; 0 if these do not vary
};

// Columns of steps that follow each other: column j belongs to step first + j / lanes.
struct StepColumns {
  int first = 0;
  int count = 0;
  int lanes = 0;
  bool timed = true;  // else the time feature is always 0
};

template <class Real>
class Critic {
 public:
  static constexpr double kSmallestScale = 1e-6;
  // V starts near 0: the first targets are then sums of signals, not of an untrained network.
  static constexpr double kLastLayerScale = 0.01;

  Critic(int observations, std::vector<int> hidden, int horizon);

  const Mlp<Real>& mlp() const { return mlp_; }
  int observations() const { return mlp_.shape().inputs - 1; }
  double offset() const { return offset_; }
  double scale() const { return scale_; }
  std::span<Real> parameters() { return parameters_; }
  std::span<const Real> parameters() const { return parameters_; }
  Real time_feature(int t) const { return static_cast<Real>(static_cast<double>(t) / horizon_); }  // t/T

  void initialise(std::uint64_t seed, std::uint32_t critic);

  // offset = mean, scale = max(std, 1e-6); the last layer is rewritten so that V stays the same function.
  void rescale(double mean, double std);
  // The same, to the mean and standard deviation of these targets; no change if there are none. The first time, when V
  // is still noise, the last layer is left alone: V starts around the targets' mean, not hundreds of steps away from
  // it.
  void rescale_to(const FitSamples<Real>& samples);

  // out[j] = V(x_j, t), x [observations x samples].
  void value(Rows<const Real> x, int t, Real* out, int samples, CriticWorkspace<Real>& workspace) const;
  // The same for several steps in turn, as many columns each.
  void value(Rows<const Real> x, const StepColumns& steps, Real* out, CriticWorkspace<Real>& workspace) const;

  // adjoint[:, j] += weights[j] dV/dx (x_j, t); weights null: 1. If out is not null, also out[j] = V(x_j, t).
  void value_gradient(Rows<const Real> x, int t, const Real* weights, Rows<Real> adjoint, int samples,
                      CriticWorkspace<Real>& workspace, Real* out = nullptr) const;

  // One minibatch, already in workspace.inputs, .index and .targets (target units): returns the mean squared error in
  // scaled units, (mlp - (target - offset)/scale)^2, and leaves its gradient in workspace.gradient, that of slope_loss
  // included if there is one.
  double minibatch_gradient(int samples, CriticWorkspace<Real>& workspace, SlopeLoss<Real>* slope_loss = nullptr) const;

  // `steps` steps of Adam on minibatches drawn with replacement; the workspace must have `batch` columns.
  FitReport fit(const FitSamples<Real>& samples, const FitOptions& options, const FitKey& key,
                CriticWorkspace<Real>& workspace, SlopeLoss<Real>* slope_loss = nullptr);

  void fold_input_change(const InputScale& before, const InputScale& after);

  void save(Tensors& tensors, const std::string& prefix) const;
  void load(const Tensors& tensors, const std::string& prefix);

 private:
  // Of columns `begin` on; x begins there.
  void forward(Rows<const Real> x, const StepColumns& steps, std::ptrdiff_t begin, int samples,
               CriticWorkspace<Real>& workspace) const;
  void draw(const FitSamples<Real>& samples, const FitKey& key, int step, int batch,
            CriticWorkspace<Real>& workspace) const;

  Mlp<Real> mlp_;
  double horizon_;
  AlignedVector<Real> parameters_;
  Adam<Real> adam_;
  double offset_ = 0.0;
  double scale_ = 1.0;
  bool scaled_ = false;  // rescale() or rescale_to() was called
};

extern template struct CriticWorkspace<float>;
extern template struct CriticWorkspace<double>;
extern template class Critic<float>;
extern template class Critic<double>;

}  // namespace cgpo
