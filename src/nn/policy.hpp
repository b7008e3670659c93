// Tanh-squashed Gaussian policy: u = mu(x) + sigma * eps, a = tanh(u), sigma = exp(log_std), one for each action.
//
// Parameters are one flat vector, [mlp …, log_std]. x is the normalised observation, eps the noise; both, and the
// blocks of rows that a pass fills, are the caller's (mlp.hpp says how they lie). With no noise rows (data null) the
// policy is deterministic, a = tanh(mu).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cgpo/nn/mlp.hpp"

namespace cgpo {

template <class Real>
class Policy {
 public:
  static constexpr double kLastLayerScale = 0.01;

  // With learn_std off, log_std's gradient is 0 everywhere, so that it never moves.
  Policy(int observations, std::vector<int> hidden, int actions, bool learn_std);

  const Mlp<Real>& mlp() const { return mlp_; }
  int observations() const { return mlp_.shape().inputs; }
  int actions() const { return mlp_.shape().outputs; }
  bool learns_std() const { return learn_std_; }
  int parameter_count() const { return mlp_.parameter_count() + actions(); }
  int log_std_offset() const { return mlp_.parameter_count(); }
  int unit_count() const { return mlp_.unit_count(); }

  void initialise(std::span<Real> parameters, std::uint64_t seed, double initial_std,
                  double last_layer_scale = kLastLayerScale) const;

  // The rows of mu, before squashing, in a block of units.
  Rows<const Real> mean(Rows<const Real> units) const { return units.from_row(mlp_.output_offset()); }

  // actions = tanh(mu(x) + sigma eps), units as in Mlp::forward.
  void forward(std::span<const Real> parameters, Rows<const Real> x, Rows<const Real> noise, Rows<Real> units,
               Rows<Real> actions, int samples) const;

  // From the adjoint of the actions, for one seed: deltas (the output's rows hold the adjoint of u) and dx.
  void backward(std::span<const Real> parameters, Rows<const Real> units, Rows<const Real> actions,
                Rows<const Real> action_adjoint, Rows<Real> deltas, int samples, InputAdjoint<Real> dx = {}) const;

  // gradient += sum over samples of what backward() left in deltas; d log_std = sum of du sigma eps.
  void accumulate_gradient(std::span<const Real> parameters, Rows<const Real> x, Rows<const Real> noise,
                           Rows<const Real> units, Rows<const Real> deltas, std::span<double> gradient,
                           int samples) const;

  // log pi(a|x) of a = tanh(mu + sigma eps), squash correction included; units from forward().
  void log_probability(std::span<const Real> parameters, Rows<const Real> units, Rows<const Real> noise, Real* out,
                       int samples) const;

  // gradient += sum over samples of weight * grad log pi(a|x), u held fixed: d mu = eps / sigma, d log_std = eps^2 - 1.
  // The squash correction does not depend on the parameters. deltas is working memory.
  void accumulate_score(std::span<const Real> parameters, Rows<const Real> x, Rows<const Real> noise,
                        const Real* weights, Rows<const Real> units, Rows<Real> deltas, std::span<double> gradient,
                        int samples) const;

  // eps = (u - mu) / sigma: the noise that would make these parameters choose u. With it log_probability and
  // accumulate_score serve actions that other parameters chose (importance ratios).
  void noise_of(std::span<const Real> parameters, Rows<const Real> units, Rows<const Real> u, Rows<Real> noise,
                int samples) const;

  // Row s * actions + a of jacobian [samples actions x parameters], row-major: d mu_a(x_s) / d theta (0 for log_std).
  // Needs units from forward(); deltas is working memory.
  void mean_jacobian(std::span<const Real> parameters, Rows<const Real> x, Rows<const Real> units, Rows<Real> deltas,
                     int samples, Real* jacobian) const;

  void fold_input_change(std::span<Real> parameters, const InputScale& before, const InputScale& after) const;

  void save(Tensors& tensors, const std::string& prefix, std::span<const Real> parameters) const;
  void load(const Tensors& tensors, const std::string& prefix, std::span<Real> parameters) const;

 private:
  std::span<const Real> weights(std::span<const Real> parameters) const;  // checked, without log_std
  Real sigma(std::span<const Real> parameters, int action) const;

  Mlp<Real> mlp_;
  bool learn_std_;
};

extern template class Policy<float>;
extern template class Policy<double>;

}  // namespace cgpo
