// PDO, primal–dual optimisation (Chow et al., 2017). Public code calls four different algorithms so; the default is the
// one of the APPO paper, a PPO whose reward and cost terms are clipped each on its own.
#include "cgpo/algorithms/baselines.hpp"
#include "cgpo/updates/lagrange.hpp"
#include "cgpo/updates/natural_gradient.hpp"
#include "cgpo/updates/surrogate.hpp"

namespace cgpo {
namespace {

struct Pdo {
  explicit Pdo(const OnPolicy& machine)
      : duals(machine.settings().dual, machine.parts.constraints.limits, machine.parts.horizon), step(machine) {}

  // clipped: max (E[min(ρA_R, clip(ρ)A_R)] − Σλ_i E[max(ρA_Ci, clip(ρ)A_Ci)]) / (1 + Σλ)
  // weighted: max E[ρ(A_R − Σλ_i A_Ci)] / (1 + Σλ), natural: the same in one step of a trust region
  void update(OnPolicy& machine, IterationReport& report) {
    duals.ascend(machine.costs_to_keep());
    report.nu = duals.values();
    const std::vector<double> coefficients = lagrangian_coefficients(duals.values());
    switch (machine.settings().pdo.step) {
      case PdoStep::kClipped:
        return machine.ascend(sum_of_clipped(coefficients, machine.settings().update.clip), report);
      case PdoStep::kWeighted: return machine.ascend(weighted_sum(coefficients), report);
      case PdoStep::kNatural: return step.take(machine, coefficients, report);
    }
  }

  void save(Tensors& tensors) const { duals.save(tensors); }
  void load(const Tensors& tensors) { duals.load(tensors); }

  DualVariables duals;
  NaturalStep step;
};

}  // namespace

std::unique_ptr<Algorithm> make_pdo(const AlgorithmContext& context) {
  return std::make_unique<OnPolicyAlgorithm<Pdo>>(context);
}

}  // namespace cgpo
