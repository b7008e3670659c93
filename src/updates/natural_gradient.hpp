// Steps whose length is a KL divergence: the Fisher matrix of the policy, conjugate gradients, and a line search.
//
// KL(π_k‖π_θ) ≈ ½ δᵀFδ near θ_k, with F = mean over states of J_μᵀ diag(1/σ²) J_μ, J_μ = ∂μ/∂θ, and 2 for each log σ:
// KL is summed over the actions and averaged over the states.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "cgpo/updates/on_policy.hpp"

namespace cgpo {

class FisherMatrix {
 public:
  FisherMatrix(const Policy<float>& policy, int states, double damping);

  // Takes F at θ_k, from samples at even distances.
  void rebuild(const PolicySamples& samples, std::uint64_t seed, int iteration, ThreadPool& pool);

  // result = (F + damping·1) v. log σ of a policy that does not learn it stays put: its entries are v's own.
  void multiply(std::span<const double> v, std::span<double> result, ThreadPool& pool);

 private:
  struct Piece {
    RowStore<float> inputs, units, tangents, part;
    std::vector<double> product;
    int count = 0;
  };

  const Policy<float>& policy_;
  int states_;
  double damping_;
  std::vector<float> parameters_;
  std::vector<double> inverse_variance_;  // [actions]
  std::vector<Piece> pieces_;
  int used_ = 0;
  int count_ = 0;
};

// x with A x = b, A symmetric and positive definite, to a residual of `tolerance` · ‖b‖ or after `steps` steps. b is
// brought to length 1 first, so that its size does not matter.
using LinearMap = std::function<void(std::span<const double> v, std::span<double> result)>;
std::vector<double> conjugate_gradients(const LinearMap& multiply, std::span<const double> b, int steps,
                                        double tolerance = 1e-8);

// The first of θ + 0.8^j δ, j < tries, that `accepts` allows; without one θ stays as it was, to the last bit, and the
// result is false. Surrogates that are not finite are never offered.
bool backtrack(OnPolicy& machine, std::span<const double> step, int tries, IterationReport& report,
               const std::function<bool(const PolicySamples::Surrogates& now)>& accepts);

// Gradient of Σ_k coefficient_k E[A_k ρ] at θ_k.
std::vector<double> surrogate_gradient(OnPolicy& machine, const std::vector<double>& coefficients);

// One natural-gradient step on that sum, as TRPO takes it (Schulman et al., 2015): along F⁻¹g, as long as ½ δᵀFδ =
// update.kl allows, and shorter until the sum does not fall and the divergence is within update.kl.
class NaturalStep {
 public:
  explicit NaturalStep(const OnPolicy& machine);
  void take(OnPolicy& machine, const std::vector<double>& coefficients, IterationReport& report);

 private:
  FisherMatrix fisher_;
};

}  // namespace cgpo
