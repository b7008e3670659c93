#include "cgpo/nn/critic.hpp"

#include <algorithm>
#include <cmath>

#include "cgpo/base/error.hpp"
#include "cgpo/base/random.hpp"
#include "cgpo/nn/dense.hpp"

namespace cgpo {
namespace {

constexpr int kReported = 64;  // minibatches behind FitReport::explained_variance

MlpShape critic_shape(int observations, std::vector<int> hidden) { return {observations + 1, std::move(hidden), 1}; }

}  // namespace

template <class Real>
CriticWorkspace<Real>::CriticWorkspace(const Mlp<Real>& mlp, int columns_in)
    : columns(columns_in),
      inputs(mlp.shape().inputs, columns),
      units(mlp.unit_count(), columns),
      deltas(mlp.unit_count(), columns),
      gradient(mlp.parameter_count()),
      targets(columns),
      index(columns) {}

template <class Real>
void CriticWorkspace<Real>::add_slope_memory(const Mlp<Real>& mlp) {
  slope.resize(mlp.shape().inputs, columns);
  direction.resize(mlp.shape().inputs, columns);
  slope_deltas.resize(mlp.unit_count(), columns);
  tangents.resize(mlp.unit_count(), columns);
  tangent_units.resize(mlp.unit_count(), columns);
}

template <class Real>
std::size_t CriticWorkspace<Real>::bytes(const Mlp<Real>& mlp, int columns) {
  return RowStore<Real>::bytes(mlp.shape().inputs, columns) + 2 * RowStore<Real>::bytes(mlp.unit_count(), columns) +
         static_cast<std::size_t>(mlp.parameter_count()) * sizeof(double) +
         static_cast<std::size_t>(columns) * (sizeof(Real) + sizeof(std::uint32_t));
}

template <class Real>
Critic<Real>::Critic(int observations, std::vector<int> hidden, int horizon)
    : mlp_(critic_shape(observations, std::move(hidden))),
      horizon_(horizon),
      parameters_(mlp_.parameter_count(), Real(0)),
      adam_(mlp_.parameter_count()) {
  check(horizon > 0, "a horizon has steps");
}

template <class Real>
void Critic<Real>::initialise(std::uint64_t seed, std::uint32_t critic) {
  mlp_.initialise(parameters_, RandomStream(seed, Purpose::kCriticInit, 0, critic), kLastLayerScale);
  adam_ = Adam<Real>(mlp_.parameter_count());
  offset_ = 0.0;
  scale_ = 1.0;
  scaled_ = false;
}

// offset + scale y = offset' + scale' y' for all x: y' = (scale y + offset - offset') / scale'.
template <class Real>
void Critic<Real>::rescale(double mean, double std) {
  const double new_scale = std::max(std, kSmallestScale);
  const int last = mlp_.layers() - 1;
  const int bias = mlp_.bias_offset(last);
  for (int i = mlp_.weight_offset(last); i < bias; ++i) {
    parameters_[i] = static_cast<Real>(static_cast<double>(parameters_[i]) * (scale_ / new_scale));
  }
  parameters_[bias] = static_cast<Real>((scale_ * static_cast<double>(parameters_[bias]) + offset_ - mean) / new_scale);
  offset_ = mean;
  scale_ = new_scale;
  scaled_ = true;
}

template <class Real>
void Critic<Real>::rescale_to(const FitSamples<Real>& samples) {
  const std::uint32_t count = samples.count();
  if (count == 0) return;
  const auto target = [&](std::uint32_t i) { return static_cast<double>(samples.targets[samples.sample(i)]); };
  double sum = 0.0;
  for (std::uint32_t i = 0; i < count; ++i) sum += target(i);
  const double mean = sum / count;
  double deviation = 0.0;
  for (std::uint32_t i = 0; i < count; ++i) deviation += (target(i) - mean) * (target(i) - mean);
  const double std = std::sqrt(deviation / count);
  if (scaled_) {
    rescale(mean, std);
  } else {
    offset_ = mean;
    scale_ = std::max(std, kSmallestScale);
    scaled_ = true;
  }
}

template <class Real>
void Critic<Real>::forward(Rows<const Real> x, const StepColumns& steps, std::ptrdiff_t begin, int samples,
                           CriticWorkspace<Real>& workspace) const {
  const Rows<Real> inputs = workspace.inputs.view();
  for (int f = 0; f < observations(); ++f) std::copy_n(x.row(f), samples, inputs.row(f));
  Real* const time = inputs.row(observations());
  int t = steps.first + static_cast<int>(begin / steps.lanes);
  int lane = static_cast<int>(begin % steps.lanes);
  for (int j = 0; j < samples; ++j) {
    time[j] = steps.timed ? time_feature(t) : Real(0);
    if (++lane < steps.lanes) continue;
    lane = 0;
    ++t;
  }
  mlp_.forward(parameters_, inputs, workspace.units.view(), samples);
}

template <class Real>
void Critic<Real>::value(Rows<const Real> x, int t, Real* out, int samples, CriticWorkspace<Real>& workspace) const {
  value(x, {.first = t, .count = 1, .lanes = samples}, out, workspace);
}

template <class Real>
void Critic<Real>::value(Rows<const Real> x, const StepColumns& steps, Real* out,
                         CriticWorkspace<Real>& workspace) const {
  const std::ptrdiff_t samples = std::ptrdiff_t{steps.count} * steps.lanes;
  const Real offset = static_cast<Real>(offset_);
  const Real scale = static_cast<Real>(scale_);
  for (std::ptrdiff_t begin = 0; begin < samples; begin += workspace.columns) {
    const int count = static_cast<int>(std::min<std::ptrdiff_t>(workspace.columns, samples - begin));
    forward(x.from_column(begin), steps, begin, count, workspace);
    const Real* y = workspace.units.view().row(mlp_.output_offset());
    for (int j = 0; j < count; ++j) out[begin + j] = offset + scale * y[j];
  }
}

template <class Real>
void Critic<Real>::value_gradient(Rows<const Real> x, int t, const Real* weights, Rows<Real> adjoint, int samples,
                                  CriticWorkspace<Real>& workspace, Real* out) const {
  const Real offset = static_cast<Real>(offset_);
  const Real scale = static_cast<Real>(scale_);
  for (int begin = 0; begin < samples; begin += workspace.columns) {
    const int count = std::min(workspace.columns, samples - begin);
    forward(x.from_column(begin), {.first = t, .count = 1, .lanes = samples}, begin, count, workspace);
    const Real* y = workspace.units.view().row(mlp_.output_offset());
    Real* dy = workspace.deltas.view().row(mlp_.output_offset());
    for (int j = 0; j < count; ++j) dy[j] = weights == nullptr ? scale : scale * weights[begin + j];
    if (out != nullptr) {
      for (int j = 0; j < count; ++j) out[begin + j] = offset + scale * y[j];
    }
    mlp_.backward(parameters_, workspace.units.view(), workspace.deltas.view(), count,
                  {adjoint.from_column(begin), /*add=*/true, /*wanted=*/observations()});
  }
}

// loss = mean of (y - z)^2, z = (target - offset)/scale, so dy = 2 (y - z) / samples. A Sobolev term, which also fits
// dV/dx, would add its own seed here (a second backward pass through the input adjoint).
template <class Real>
double Critic<Real>::minibatch_gradient(int samples, CriticWorkspace<Real>& workspace,
                                        SlopeLoss<Real>* slope_loss) const {
  const Rows<Real> units = workspace.units.view();
  const Rows<Real> deltas = workspace.deltas.view();
  mlp_.forward(parameters_, workspace.inputs.view(), units, samples);
  const Real* y = units.row(mlp_.output_offset());
  Real* dy = deltas.row(mlp_.output_offset());
  const Real offset = static_cast<Real>(offset_);
  const Real inverse_scale = static_cast<Real>(1.0 / scale_);
  const Real seed = static_cast<Real>(2.0 / samples);
  double squares = 0.0;
  for (int j = 0; j < samples; ++j) {
    const Real error = y[j] - (workspace.targets[j] - offset) * inverse_scale;
    squares += static_cast<double>(error) * static_cast<double>(error);
    dy[j] = seed * error;
  }
  std::fill(workspace.gradient.begin(), workspace.gradient.end(), 0.0);
  if (slope_loss == nullptr) {
    mlp_.backward(parameters_, units, deltas, samples);
  } else {
    if (workspace.slope.columns() == 0) workspace.add_slope_memory(mlp_);
    const Rows<Real> slope_deltas = workspace.slope_deltas.view();
    std::fill_n(slope_deltas.row(mlp_.output_offset()), samples, Real(1));
    mlp_.backward(parameters_, units, slope_deltas, samples, {.rows = workspace.slope.view()});
    slope_loss->evaluate(workspace.slope.view(), std::span<const std::uint32_t>(workspace.index).first(samples), scale_,
                         workspace.direction.view());  // the row of t/T stays 0
    mlp_.backward_with_slope(parameters_, units, slope_deltas, workspace.direction.view(), workspace.tangents.view(),
                             workspace.tangent_units.view(), deltas, workspace.gradient, samples);
  }
  mlp_.accumulate_gradient(workspace.inputs.view(), units, deltas, workspace.gradient, samples);
  return squares / samples;
}

template <class Real>
void Critic<Real>::draw(const FitSamples<Real>& samples, const FitKey& key, int step, int batch,
                        CriticWorkspace<Real>& workspace) const {
  RandomStream stream(key.seed, Purpose::kMinibatch, key.iteration, key.critic, static_cast<std::uint32_t>(step));
  const std::uint32_t count = samples.count();
  for (int j = 0; j < batch; ++j) {
    const std::uint32_t sample = samples.sample(stream.below(count));
    workspace.index[j] = sample;
    workspace.targets[j] = samples.targets[sample];
  }
  dense::gather<Real>(samples.table.data(), samples.table.width(), workspace.index.data(), workspace.inputs.view(),
                      mlp_.shape().inputs, batch);
}

template <class Real>
FitReport Critic<Real>::fit(const FitSamples<Real>& samples, const FitOptions& options, const FitKey& key,
                            CriticWorkspace<Real>& workspace, SlopeLoss<Real>* slope_loss) {
  check(samples.table.features() == mlp_.shape().inputs, "the table holds [x; t/T]");
  check(std::ssize(samples.targets) == samples.table.samples(), "every sample has a target");
  check(options.batch > 0 && options.batch <= workspace.columns, "a minibatch fits the workspace");
  if (samples.count() == 0 || options.steps <= 0) return {};

  double loss_sum = 0.0;
  double recent_loss = 0.0;
  double target_sum = 0.0;  // of the recent targets, less the offset, over the scale
  double target_squares = 0.0;
  const int first_reported = std::max(0, options.steps - kReported);
  for (int step = 0; step < options.steps; ++step) {
    draw(samples, key, step, options.batch, workspace);
    const double loss = minibatch_gradient(options.batch, workspace, slope_loss);
    adam_.step(parameters_, workspace.gradient, options.learning_rate);
    loss_sum += loss;
    if (step < first_reported) continue;
    recent_loss += loss;
    for (int j = 0; j < options.batch; ++j) {
      const double z = (static_cast<double>(workspace.targets[j]) - offset_) / scale_;
      target_sum += z;
      target_squares += z * z;
    }
  }
  const double reported = options.steps - first_reported;
  const double drawn = reported * options.batch;
  const double variance = target_squares / drawn - (target_sum / drawn) * (target_sum / drawn);
  FitReport report;
  report.loss = loss_sum / options.steps * scale_ * scale_;
  report.explained_variance = variance > 1e-12 * target_squares / drawn ? 1.0 - recent_loss / reported / variance : 0.0;
  return report;
}

template <class Real>
void Critic<Real>::fold_input_change(const InputScale& before, const InputScale& after) {
  mlp_.fold_input_change(parameters_, before, after);
}

template <class Real>
void Critic<Real>::save(Tensors& tensors, const std::string& prefix) const {
  mlp_.save(tensors, prefix, parameters_);
  adam_.save(tensors, prefix + ".adam");
  tensors.put(prefix + ".offset", offset_);
  tensors.put(prefix + ".scale", scale_);
  tensors.put(prefix + ".scaled", std::int64_t{scaled_});
}

template <class Real>
void Critic<Real>::load(const Tensors& tensors, const std::string& prefix) {
  mlp_.load(tensors, prefix, parameters_);
  adam_.load(tensors, prefix + ".adam");
  offset_ = tensors.number(prefix + ".offset");
  scale_ = tensors.number(prefix + ".scale");
  scaled_ = tensors.integer(prefix + ".scaled") != 0;
}

template struct CriticWorkspace<float>;
template struct CriticWorkspace<double>;
template class Critic<float>;
template class Critic<double>;

}  // namespace cgpo
