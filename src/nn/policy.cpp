#include "cgpo/nn/policy.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "cgpo/base/error.hpp"
#include "cgpo/math/elementary.hpp"
#include "cgpo/nn/dense.hpp"

namespace cgpo {

template <class Real>
Policy<Real>::Policy(int observations, std::vector<int> hidden, int actions, bool learn_std)
    : mlp_({observations, std::move(hidden), actions}), learn_std_(learn_std) {}

template <class Real>
std::span<const Real> Policy<Real>::weights(std::span<const Real> parameters) const {
  check(std::ssize(parameters) == parameter_count(), "parameters fit the policy");
  return parameters.first(mlp_.parameter_count());
}

template <class Real>
Real Policy<Real>::sigma(std::span<const Real> parameters, int action) const {
  return elementary::exp<Real>(parameters[log_std_offset() + action]);
}

template <class Real>
void Policy<Real>::initialise(std::span<Real> parameters, std::uint64_t seed, double initial_std,
                              double last_layer_scale) const {
  check(std::ssize(parameters) == parameter_count(), "parameters fit the policy");
  mlp_.initialise(parameters.first(mlp_.parameter_count()), RandomStream(seed, Purpose::kPolicyInit), last_layer_scale);
  const Real log_std = static_cast<Real>(std::log(initial_std));
  for (int a = 0; a < actions(); ++a) parameters[log_std_offset() + a] = log_std;
}

template <class Real>
void Policy<Real>::forward(std::span<const Real> parameters, Rows<const Real> x, Rows<const Real> noise,
                           Rows<Real> units, Rows<Real> actions_out, int samples) const {
  mlp_.forward(weights(parameters), x, units, samples);
  for (int a = 0; a < actions(); ++a) {
    const Real* mu = mean(units).row(a);
    Real* action = actions_out.row(a);
    if (noise.data == nullptr) {
      std::copy(mu, mu + samples, action);
      continue;
    }
    const Real std = sigma(parameters, a);
    const Real* eps = noise.row(a);
    for (int j = 0; j < samples; ++j) action[j] = mu[j] + std * eps[j];
  }
  dense::tanh_rows<Real>(actions_out, actions(), samples);
}

template <class Real>
void Policy<Real>::backward(std::span<const Real> parameters, Rows<const Real> units, Rows<const Real> actions_in,
                            Rows<const Real> action_adjoint, Rows<Real> deltas, int samples,
                            InputAdjoint<Real> dx) const {
  const Rows<Real> du = deltas.from_row(mlp_.output_offset());
  for (int a = 0; a < actions(); ++a) std::copy_n(action_adjoint.row(a), samples, du.row(a));
  dense::tanh_adjoint<Real>(actions_in, du, actions(), samples);
  mlp_.backward(weights(parameters), units, deltas, samples, dx);
}

template <class Real>
void Policy<Real>::accumulate_gradient(std::span<const Real> parameters, Rows<const Real> x, Rows<const Real> noise,
                                       Rows<const Real> units, Rows<const Real> deltas, std::span<double> gradient,
                                       int samples) const {
  check(std::ssize(gradient) == parameter_count(), "the gradient fits the policy");
  mlp_.accumulate_gradient(x, units, deltas, gradient.first(mlp_.parameter_count()), samples);
  if (!learn_std_ || noise.data == nullptr) return;
  for (int a = 0; a < actions(); ++a) {
    const Real* du = deltas.row(mlp_.output_offset() + a);
    const Real* eps = noise.row(a);
    double sum = 0.0;
    for (int j = 0; j < samples; ++j) sum += static_cast<double>(du[j]) * static_cast<double>(eps[j]);
    gradient[log_std_offset() + a] += sum * static_cast<double>(sigma(parameters, a));
  }
}

// log pi(a) = sum over actions of -eps^2/2 - log sigma - log(2 pi)/2 - log(1 - tanh^2 u), where
// log(1 - tanh^2 u) = 2 (log 2 - |u| - log(1 + exp(-2|u|))) keeps its digits for large |u|.
template <class Real>
void Policy<Real>::log_probability(std::span<const Real> parameters, Rows<const Real> units, Rows<const Real> noise,
                                   Real* out, int samples) const {
  check(std::ssize(parameters) == parameter_count(), "parameters fit the policy");
  std::fill_n(out, samples, Real(0));
  constexpr Real kLog2 = std::numbers::ln2_v<Real>;
  const Real half_log_two_pi = static_cast<Real>(0.5 * std::log(2.0 * std::numbers::pi));
  for (int a = 0; a < actions(); ++a) {
    const Real* mu = mean(units).row(a);
    const Real* eps = noise.row(a);
    const Real log_std = parameters[log_std_offset() + a];
    const Real std = sigma(parameters, a);
    for (int j = 0; j < samples; ++j) {
      const Real u = mu[j] + std * eps[j];
      const Real size = u < Real(0) ? -u : u;
      const Real tail = elementary::log<Real>(Real(1) + elementary::exp<Real>(Real(-2) * size));
      out[j] -= Real(0.5) * eps[j] * eps[j] + log_std + half_log_two_pi + Real(2) * (kLog2 - size - tail);
    }
  }
}

template <class Real>
void Policy<Real>::accumulate_score(std::span<const Real> parameters, Rows<const Real> x, Rows<const Real> noise,
                                    const Real* sample_weights, Rows<const Real> units, Rows<Real> deltas,
                                    std::span<double> gradient, int samples) const {
  check(std::ssize(gradient) == parameter_count(), "the gradient fits the policy");
  for (int a = 0; a < actions(); ++a) {
    const Real* eps = noise.row(a);
    Real* du = deltas.row(mlp_.output_offset() + a);
    const Real inverse = Real(1) / sigma(parameters, a);
    for (int j = 0; j < samples; ++j) du[j] = sample_weights[j] * (eps[j] * inverse);
    if (!learn_std_) continue;
    double sum = 0.0;
    for (int j = 0; j < samples; ++j) {
      const double e = static_cast<double>(eps[j]);
      sum += static_cast<double>(sample_weights[j]) * (e * e - 1.0);
    }
    gradient[log_std_offset() + a] += sum;
  }
  mlp_.backward(weights(parameters), units, deltas, samples);
  mlp_.accumulate_gradient(x, units, deltas, gradient.first(mlp_.parameter_count()), samples);
}

template <class Real>
void Policy<Real>::noise_of(std::span<const Real> parameters, Rows<const Real> units, Rows<const Real> u,
                            Rows<Real> noise, int samples) const {
  for (int a = 0; a < actions(); ++a) {
    const Real* mu = mean(units).row(a);
    const Real* chosen = u.row(a);
    const Real inverse = Real(1) / sigma(parameters, a);
    for (int j = 0; j < samples; ++j) noise.row(a)[j] = (chosen[j] - mu[j]) * inverse;
  }
}

template <class Real>
void Policy<Real>::mean_jacobian(std::span<const Real> parameters, Rows<const Real> x, Rows<const Real> units,
                                 Rows<Real> deltas, int samples, Real* jacobian) const {
  const std::ptrdiff_t row_size = parameter_count();
  for (int a = 0; a < actions(); ++a) {
    for (int other = 0; other < actions(); ++other) {
      std::fill_n(deltas.row(mlp_.output_offset() + other), samples, Real(other == a ? 1 : 0));
    }
    mlp_.backward(weights(parameters), units, deltas, samples);
    mlp_.sample_gradients(x, units, deltas, jacobian + a * row_size, row_size * actions(), samples);
  }
  for (std::ptrdiff_t row = 0; row < static_cast<std::ptrdiff_t>(samples) * actions(); ++row) {
    std::fill_n(jacobian + row * row_size + log_std_offset(), actions(), Real(0));
  }
}

template <class Real>
void Policy<Real>::fold_input_change(std::span<Real> parameters, const InputScale& before,
                                     const InputScale& after) const {
  mlp_.fold_input_change(parameters.first(mlp_.parameter_count()), before, after);
}

template <class Real>
void Policy<Real>::save(Tensors& tensors, const std::string& prefix, std::span<const Real> parameters) const {
  mlp_.save(tensors, prefix, weights(parameters));
  tensors.put(prefix + ".log_std", parameters.subspan(log_std_offset()));
}

template <class Real>
void Policy<Real>::load(const Tensors& tensors, const std::string& prefix, std::span<Real> parameters) const {
  check(std::ssize(parameters) == parameter_count(), "parameters fit the policy");
  mlp_.load(tensors, prefix, parameters.first(mlp_.parameter_count()));
  tensors.get(prefix + ".log_std", parameters.subspan(log_std_offset()));
}

template class Policy<float>;
template class Policy<double>;

}  // namespace cgpo
