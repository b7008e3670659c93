// CPO, constrained policy optimisation (Achiam et al., 2017): the best step of the linearised problem within a KL ball.
//
//   max gᵀδ   s.t.   c_i + b_iᵀδ ≤ 0,   ½ δᵀFδ ≤ update.kl
//
// with g = ∇E[ρA_R], b_i = ∇E[ρA_Ci] and c_i = (J_Ci − limit_i)/κ: means over steps have to be compared with a step's
// share of the violation. The sub-problem is CGPO's, in the metric of the Fisher matrix, and has the same exact solver.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "cgpo/algorithms/baselines.hpp"
#include "cgpo/base/error.hpp"
#include "cgpo/base/numbers.hpp"
#include "cgpo/subproblem/trust_region.hpp"
#include "cgpo/updates/natural_gradient.hpp"

namespace cgpo {
namespace {

// gᵀF⁻¹b and bᵀF⁻¹g are one number; if they differ by a larger share, conjugate gradients have not converged.
constexpr double kAsymmetry = 0.05;

struct Cpo {
  explicit Cpo(const OnPolicy& machine)
      : fisher(machine.parts.policy, machine.settings().update.states, machine.settings().update.damping) {
    const std::vector<double>& limits = machine.parts.constraints.limits;
    for (std::size_t i = 0; i < limits.size(); ++i) {
      if (std::isfinite(limits[i])) active.push_back(i);
    }
    if (machine.settings().cpo.kappa == CpoKappa::kDiscount && machine.settings().finite_horizon)
      throw UserError(
          "cpo.kappa = \"discount\" needs finite_horizon = false: without a discount there is no 1/(1 - discount)");
  }

  void update(OnPolicy& machine, IterationReport& report) {
    const UpdateSettings& update = machine.settings().update;
    const TrustRegionProblem problem = linearise(machine, report);
    const TrustRegionStep step = solve(problem);
    report.update_case = case_name(step.which);
    if (step.which == StepCase::kRefused) {
      report.warning = "update refused: a gradient or a J is not finite";
      return;
    }
    if (step.unsteerable) report.warning = "a broken constraint has no gradient: nothing the policy does changes it";
    report.lambda = step.lambda;
    report.nu.assign(report.costs.size(), 0.0);
    for (std::size_t i = 0; i < active.size(); ++i) report.nu[active[i]] = step.nu[i];
    if (step.which == StepCase::kNone) return;

    std::vector<double> delta(directions[0].size(), 0.0);
    for (std::size_t i = 0; i < directions.size(); ++i) {
      for (std::size_t p = 0; p < delta.size(); ++p) delta[p] += step.coefficients[i] * directions[i][p];
    }
    // Costs may grow up to their limits and not at all beyond; the reward must not fall unless that is to be repaired.
    const bool broken = std::any_of(problem.slack.begin(), problem.slack.end(), [](double c) { return c > 0.0; });
    const auto before = machine.samples.evaluate(machine.parts.parameters, machine.pool());
    const bool taken = backtrack(machine, delta, update.backtracks, report, [&](const auto& now) {
      if (now.kl > update.kl || (!broken && now.means[0] < before.means[0])) return false;
      for (std::size_t i = 0; i < active.size(); ++i) {
        const std::size_t k = active[i] + 1;
        if (now.means[k] - before.means[k] > std::max(-problem.slack[i], 0.0)) return false;
      }
      return true;
    });
    if (!taken) report.update_case = case_name(StepCase::kNone);
  }

  // Fills directions = F⁻¹[g B] and returns the problem that is left of it, in the units of the scaled advantages.
  TrustRegionProblem linearise(OnPolicy& machine, IterationReport& report) {
    const std::size_t size = active.size() + 1;
    std::vector<std::vector<double>> gradients(size);
    fisher.rebuild(machine.samples, machine.parts.context.seed, machine.iteration(), machine.pool());
    directions.resize(size);
    for (std::size_t i = 0; i < size; ++i) {
      std::vector<double> coefficients(report.costs.size() + 1, 0.0);
      coefficients[i == 0 ? 0 : active[i - 1] + 1] = 1.0;
      gradients[i] = surrogate_gradient(machine, coefficients);
      directions[i] = conjugate_gradients(
          [&](std::span<const double> v, std::span<double> result) { fisher.multiply(v, result, machine.pool()); },
          gradients[i], machine.settings().update.conjugate);
      report.gradient_norms.push_back(std::sqrt(dot(gradients[i], gradients[i])));
    }
    TrustRegionProblem problem;
    problem.radius = 2.0 * machine.settings().update.kl;
    problem.gram.assign(size * size, 0.0);
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t j = 0; j < size; ++j) {
        const double one = dot(gradients[i], directions[j]);
        const double other = dot(gradients[j], directions[i]);
        problem.gram[i * size + j] = 0.5 * (one + other);
        const double scale = std::sqrt(dot(gradients[i], directions[i]) * dot(gradients[j], directions[j]));
        if (std::abs(one - other) > kAsymmetry * scale)
          report.warning = "conjugate gradients have not converged; more update.conjugate or update.damping would help";
      }
    }
    const std::vector<double> costs = machine.costs_to_keep();
    for (const std::size_t i : active) {
      const double scale = kappa(machine) * machine.samples.scale(static_cast<int>(i) + 1);
      problem.slack.push_back((costs[i] - report.limits[i]) / scale);
    }
    return problem;
  }

  static double kappa(const OnPolicy& machine) {
    switch (machine.settings().cpo.kappa) {
      case CpoKappa::kHorizon: return machine.steps_per_episode();
      case CpoKappa::kDiscount: return 1.0 / (1.0 - machine.discount());
      case CpoKappa::kOne: return 1.0;
    }
    return 1.0;
  }

  void save(Tensors&) const {}
  void load(const Tensors&) {}

  FisherMatrix fisher;
  std::vector<std::size_t> active;  // costs that have a limit
  std::vector<std::vector<double>> directions;
};

}  // namespace

std::unique_ptr<Algorithm> make_cpo(const AlgorithmContext& context) {
  return std::make_unique<OnPolicyAlgorithm<Cpo>>(context);
}

}  // namespace cgpo
