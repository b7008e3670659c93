// CUP, constrained update projection (Yang et al., 2022): improve the reward as if there were no constraints, then
// project the new policy back to where costs are lower.
#include <algorithm>

#include "cgpo/algorithms/baselines.hpp"
#include "cgpo/updates/lagrange.hpp"
#include "cgpo/updates/on_policy.hpp"
#include "cgpo/updates/surrogate.hpp"

namespace cgpo {
namespace {

// κ = (1 − γλ)/(1 − γ), and for γ = 1 its limit over T steps, (1 − λ)T; at least 1, as for λ = 1.
double cup_kappa(const OnPolicy& machine) {
  const double lambda = machine.settings().critic.lambda;
  const double discount = machine.discount();
  if (discount < 1.0) return (1.0 - discount * lambda) / (1.0 - discount);
  return std::max(1.0, (1.0 - lambda) * machine.parts.horizon);
}

struct Cup {
  explicit Cup(const OnPolicy& machine)
      : duals(machine.settings().dual, machine.parts.constraints.limits, machine.parts.horizon),
        kappa(cup_kappa(machine)),
        projection(machine.parts.policy.parameter_count()) {}

  void update(OnPolicy& machine, IterationReport& report) {
    duals.ascend(machine.costs_to_keep());
    report.nu = duals.values();

    // θ_{k+½}: max E[min(ρA_R, clip(ρ)A_R)].
    machine.ascend(clipped_sum({1.0}, machine.settings().update.clip), report);
    if (!duals.any()) return;  // θ_{k+½} is its own projection

    // θ_{k+1}: min E[KL(π_θ‖π_{k+½}) + κ Σν_i ρA_Ci], ρ = π_θ/π_k, with an Adam of its own: the momentum of the first
    // step would carry θ on. A_C is divided by the deviation of A_R, so that ν is a price in units of reward. Two steps
    // have twice the way: with one bound for both, each would undo the other, and θ stay.
    improved.assign(machine.parts.parameters.begin(), machine.parts.parameters.end());
    std::vector<double> coefficients = {0.0};
    for (const double nu : duals.values()) coefficients.push_back(-kappa * nu);
    machine.ascend(weighted_sum(coefficients), projection,
                   {.furthest = 2.0 * machine.settings().update.kl, .stage = 1, .anchor = Anchor{improved, 1.0}},
                   report);
  }

  void save(Tensors& tensors) const {
    duals.save(tensors);
    projection.save(tensors, "cup.adam");
  }
  void load(const Tensors& tensors) {
    duals.load(tensors);
    projection.load(tensors, "cup.adam");
  }

  DualVariables duals;
  double kappa;
  Adam<float> projection;
  std::vector<float> improved;  // θ_{k+½}
};

}  // namespace

std::unique_ptr<Algorithm> make_cup(const AlgorithmContext& context) {
  return std::make_unique<OnPolicyAlgorithm<Cup>>(context);
}

}  // namespace cgpo
