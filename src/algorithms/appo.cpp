// APPO, augmented proximal policy optimisation (Dai et al., 2023): the Lagrangian plus a penalty on the squared
// violation, which damps the swings of the multipliers.
#include <algorithm>
#include <cmath>

#include "cgpo/algorithms/baselines.hpp"
#include "cgpo/updates/lagrange.hpp"
#include "cgpo/updates/on_policy.hpp"
#include "cgpo/updates/surrogate.hpp"

namespace cgpo {
namespace {

struct Appo {
  explicit Appo(const OnPolicy& machine)
      : duals(machine.settings().dual, machine.parts.constraints.limits, machine.parts.horizon),
        penalty(machine.settings().dual.penalty) {}

  // max (E[min(ρA_R, clip(ρ)A_R)] − Σ f_i E[max(ρA_Ci, clip(ρ)A_Ci)]) / (1 + Σf),  f_i = max(0, λ_i + σ violation_i).
  void update(OnPolicy& machine, IterationReport& report) {
    duals.ascend(machine.costs_to_keep());
    const std::vector<double> violations = duals.violations(machine.costs_to_keep());
    grow_penalty(machine.settings().dual, violations);
    report.nu = augmented_multipliers(duals.values(), penalty * machine.settings().dual.learning_rate, violations);
    machine.ascend(sum_of_clipped(lagrangian_coefficients(report.nu), machine.settings().update.clip), report);
  }

  // σ grows only while the worst violation does not shrink.
  void grow_penalty(const DualSettings& dual, const std::vector<double>& violations) {
    double worst = 0.0;
    for (const double violation : violations) worst = std::max(worst, violation);
    if (worst > 0.0 && worst >= worst_before)
      penalty = std::max(penalty, std::min(penalty * (1.0 + dual.penalty_growth), dual.penalty_upper));
    worst_before = worst;
  }

  void save(Tensors& tensors) const {
    duals.save(tensors);
    tensors.put("appo.penalty", penalty);
    tensors.put("appo.worst_before", worst_before);
  }
  void load(const Tensors& tensors) {
    duals.load(tensors);
    penalty = tensors.number("appo.penalty");
    worst_before = tensors.number("appo.worst_before");
  }

  DualVariables duals;
  double penalty;             // σ / η
  double worst_before = 0.0;  // the largest violation of the iteration before
};

}  // namespace

std::unique_ptr<Algorithm> make_appo(const AlgorithmContext& context) {
  return std::make_unique<OnPolicyAlgorithm<Appo>>(context);
}

}  // namespace cgpo
