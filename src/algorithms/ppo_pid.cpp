// PPO with a PID Lagrangian (Stooke, Achiam and Abbeel, 2020): PPO-Lag, whose multipliers a controller sets that also
// sees the violation itself and the rise of a cost, so that they are there in time and swing less.
#include "cgpo/algorithms/baselines.hpp"
#include "cgpo/updates/on_policy.hpp"
#include "cgpo/updates/pid.hpp"
#include "cgpo/updates/surrogate.hpp"

namespace cgpo {
namespace {

struct PpoPid {
  explicit PpoPid(const OnPolicy& machine)
      : multipliers(machine.settings().dual, machine.settings().pid, machine.parts.constraints.limits,
                    machine.parts.horizon) {}

  // ν first, from the J_C of this very batch; then max E[min(ρA, clip(ρ)A)] with A = A_R − Σν_i A_Ci, by pid.normalise
  // divided by 1 + Σν.
  void update(OnPolicy& machine, IterationReport& report) {
    multipliers.follow(machine.costs_to_keep());
    report.nu = multipliers.values();
    const std::vector<double> coefficients =
        machine.settings().pid.normalise ? lagrangian_coefficients(report.nu) : penalised_coefficients(report.nu);
    machine.ascend(clipped_sum(coefficients, machine.settings().update.clip), report);
  }

  void save(Tensors& tensors) const { multipliers.save(tensors); }
  void load(const Tensors& tensors) { multipliers.load(tensors); }

  PidMultipliers multipliers;
};

}  // namespace

std::unique_ptr<Algorithm> make_ppo_pid(const AlgorithmContext& context) {
  return std::make_unique<OnPolicyAlgorithm<PpoPid>>(context);
}

}  // namespace cgpo
