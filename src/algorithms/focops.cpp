// FOCOPS, first-order constrained optimisation in policy space (Zhang, Vuong and Ross, 2020): the best policy in a KL
// ball round the one that acted is known in closed form, π* ∝ π_k exp((A_R − Σν_i A_Ci)/λ), and the network's policy is
// drawn to it sample by sample.
#include "cgpo/algorithms/baselines.hpp"
#include "cgpo/updates/lagrange.hpp"
#include "cgpo/updates/on_policy.hpp"
#include "cgpo/updates/surrogate.hpp"

namespace cgpo {
namespace {

struct Focops {
  explicit Focops(const OnPolicy& machine)
      : duals(machine.settings().dual, machine.parts.constraints.limits, machine.parts.horizon) {}

  // min E[1{KL ≤ δ} (KL − ρ(A_R − Σν_i A_Ci)/λ)] with KL = KL(π_θ‖π_k) of each sample: up to a factor the gradient of
  // KL(π_θ‖π*), where the policy has not left the ball.
  void update(OnPolicy& machine, IterationReport& report) {
    duals.ascend(machine.costs_to_keep());
    report.nu = duals.values();
    std::vector<double> coefficients = penalised_coefficients(duals.values());
    for (double& value : coefficients) value /= machine.settings().focops.temperature;
    const double ball = machine.settings().update.kl;
    machine.ascend(
        weighted_sum(coefficients), machine.adam,
        {.furthest = ball, .anchor = Anchor{.parameters = machine.samples.behaviour(), .weight = 1.0, .reach = ball}},
        report);
  }

  void save(Tensors& tensors) const { duals.save(tensors); }
  void load(const Tensors& tensors) { duals.load(tensors); }

  DualVariables duals;
};

}  // namespace

std::unique_ptr<Algorithm> make_focops(const AlgorithmContext& context) {
  return std::make_unique<OnPolicyAlgorithm<Focops>>(context);
}

}  // namespace cgpo
