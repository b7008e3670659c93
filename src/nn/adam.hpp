// Adam (Kingma and Ba, 2015) on a flat vector, with bias correction; it descends.
#pragma once

#include <cmath>
#include <span>
#include <string>

#include "cgpo/base/aligned.hpp"
#include "cgpo/base/error.hpp"
#include "cgpo/base/tensors.hpp"
#include "cgpo/nn/dense.hpp"

namespace cgpo {

template <class Real>
class Adam {
 public:
  static constexpr double kBeta1 = 0.9;
  static constexpr double kBeta2 = 0.999;
  static constexpr double kEpsilon = 1e-8;

  explicit Adam(int parameters) : m_(parameters, Real(0)), v_(parameters, Real(0)) {}

  // m = b1 m + (1-b1) g, v = b2 v + (1-b2) g^2, p -= rate (m / (1-b1^t)) / (sqrt(v / (1-b2^t)) + epsilon).
  void step(std::span<Real> parameters, std::span<const double> gradient, double rate) {
    check(parameters.size() == m_.size() && gradient.size() == m_.size(), "Adam keeps one moment a parameter");
    power1_ *= kBeta1;
    power2_ *= kBeta2;
    const dense::AdamStep<Real> numbers{static_cast<Real>(kBeta1), static_cast<Real>(kBeta2),
                                        static_cast<Real>(rate / (1.0 - power1_)),
                                        static_cast<Real>(1.0 / std::sqrt(1.0 - power2_)), static_cast<Real>(kEpsilon)};
    dense::kernels<Real>().adam(numbers, gradient.data(), m_.data(), v_.data(), parameters.data(),
                                static_cast<std::ptrdiff_t>(m_.size()));
  }

  void save(Tensors& tensors, const std::string& prefix) const {
    tensors.put(prefix + ".m", std::span<const Real>(m_));
    tensors.put(prefix + ".v", std::span<const Real>(v_));
    const double powers[2] = {power1_, power2_};
    tensors.put(prefix + ".beta_powers", std::span<const double>(powers));
  }
  void load(const Tensors& tensors, const std::string& prefix) {
    tensors.get(prefix + ".m", std::span<Real>(m_));
    tensors.get(prefix + ".v", std::span<Real>(v_));
    double powers[2];
    tensors.get(prefix + ".beta_powers", std::span<double>(powers));
    power1_ = powers[0];
    power2_ = powers[1];
  }

 private:
  AlignedVector<Real> m_;
  AlignedVector<Real> v_;
  double power1_ = 1.0;  // beta1^t, beta2^t
  double power2_ = 1.0;
};

}  // namespace cgpo
