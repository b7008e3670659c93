// PPO (Schulman et al., 2017), which knows no constraints, and PPO-Lag, which feeds the Lagrangian's advantage to the
// same clipped surrogate (Ray et al., 2019).
#include "cgpo/algorithms/baselines.hpp"
#include "cgpo/updates/lagrange.hpp"
#include "cgpo/updates/on_policy.hpp"
#include "cgpo/updates/surrogate.hpp"

namespace cgpo {
namespace {

struct Ppo {
  explicit Ppo(const OnPolicy&) {}

  // max E[min(ρA_R, clip(ρ)A_R)].
  void update(OnPolicy& machine, IterationReport& report) {
    machine.ascend(clipped_sum({1.0}, machine.settings().update.clip), report);
  }

  void save(Tensors&) const {}
  void load(const Tensors&) {}
};

struct PpoLag {
  explicit PpoLag(const OnPolicy& machine)
      : duals(machine.settings().dual, machine.parts.constraints.limits, machine.parts.horizon) {}

  // λ first, from the J_C of this very batch; then max E[min(ρA, clip(ρ)A)] with A = (A_R − Σλ_i A_Ci)/(1 + Σλ).
  void update(OnPolicy& machine, IterationReport& report) {
    duals.ascend(machine.costs_to_keep());
    report.nu = duals.values();
    machine.ascend(clipped_sum(lagrangian_coefficients(duals.values()), machine.settings().update.clip), report);
  }

  void save(Tensors& tensors) const { duals.save(tensors); }
  void load(const Tensors& tensors) { duals.load(tensors); }

  DualVariables duals;
};

}  // namespace

std::unique_ptr<Algorithm> make_ppo(const AlgorithmContext& context) {
  return std::make_unique<OnPolicyAlgorithm<Ppo>>(context);
}
std::unique_ptr<Algorithm> make_ppo_lag(const AlgorithmContext& context) {
  return std::make_unique<OnPolicyAlgorithm<PpoLag>>(context);
}

}  // namespace cgpo
