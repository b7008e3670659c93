// TRPO-Lag (Ray et al., 2019): the Lagrangian's advantage, and a natural-gradient step on it.
#include "cgpo/algorithms/baselines.hpp"
#include "cgpo/updates/lagrange.hpp"
#include "cgpo/updates/natural_gradient.hpp"

namespace cgpo {
namespace {

struct TrpoLag {
  explicit TrpoLag(const OnPolicy& machine)
      : duals(machine.settings().dual, machine.parts.constraints.limits, machine.parts.horizon), step(machine) {}

  // max E[ρ(A_R − Σλ_i A_Ci)]/(1 + Σλ) within KL(π_k‖π_θ) ≤ update.kl.
  void update(OnPolicy& machine, IterationReport& report) {
    duals.ascend(machine.costs_to_keep());
    report.nu = duals.values();
    step.take(machine, lagrangian_coefficients(duals.values()), report);
  }

  void save(Tensors& tensors) const { duals.save(tensors); }
  void load(const Tensors& tensors) { duals.load(tensors); }

  DualVariables duals;
  NaturalStep step;
};

}  // namespace

std::unique_ptr<Algorithm> make_trpo_lag(const AlgorithmContext& context) {
  return std::make_unique<OnPolicyAlgorithm<TrpoLag>>(context);
}

}  // namespace cgpo
