// BPTT-Lag and SHAC-Lag: Adam along the Lagrangian's gradient through the simulator. The gradients are CGPO's own, so a
// comparison with it shows what the trust region and the sub-problem bring.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>
#include <string>

#include "cgpo/algorithms/baselines.hpp"
#include "cgpo/base/error.hpp"
#include "cgpo/gradient/first_order.hpp"
#include "cgpo/nn/adam.hpp"
#include "cgpo/updates/actor_critic.hpp"
#include "cgpo/updates/lagrange.hpp"
#include "cgpo/updates/monitor.hpp"

namespace cgpo {
namespace {

enum class Reach : std::uint8_t { kEpisode, kWindow };  // of a gradient: bptt, shac

class FirstOrderLag final : public Algorithm {
 public:
  FirstOrderLag(const AlgorithmContext& context, Reach reach, const std::string& name)
      : settings_(context.settings),
        reach_(reach),
        parts_(context),
        monitor_(parts_),
        duals_(settings_.dual, parts_.constraints.limits, parts_.horizon),
        adam_(parts_.policy.parameter_count()),
        ascent_(parts_.parameters.size()) {
    if (!parts_.simulator->differentiable())
      throw UserError("task {} is not differentiable, so {} cannot learn it", context.task->spec().name, name);
    first_order_.emplace(*parts_.simulator, parts_.policy, parts_.batch,
                         uses_critics() ? settings_.window : settings_.bptt.window, horizon_rule(settings_));
    monitor_.warm_up(parts_);
  }

  IterationReport iterate() override {
    // Sample N episodes under π_θ; J_R and J_C are their means.
    IterationReport report = monitor_.collect(parts_, iteration_);

    parts_.fit_twin(report);
    if (!parts_.refuses_batch(report)) {
      // λ ← max(0, λ + η violation); then θ along (g − Σλ_i q_i)/(1 + Σλ).
      duals_.ascend(monitor_.costs_to_keep());
      report.nu = duals_.values();
      if (uses_critics()) fit_critics(parts_, *first_order_, iteration_, report);
      ascend(report);
    }
    const double factor = monitor_.noise_factor(parts_);
    parts_.scale_noise(factor);
    monitor_.expect_anything(factor);
    parts_.update_normaliser();
    monitor_.plan(parts_, {});
    ++iteration_;
    return report;
  }

  int iteration() const override { return iteration_; }

  void save(Tensors& tensors) const override {
    parts_.save(tensors);
    duals_.save(tensors);
    adam_.save(tensors, "policy.adam");
    monitor_.save(tensors);
    tensors.put("iteration", static_cast<std::int64_t>(iteration_));
  }
  void load(const Tensors& tensors) override {
    parts_.load(tensors);
    duals_.load(tensors);
    adam_.load(tensors, "policy.adam");
    monitor_.load(tensors);
    iteration_ = static_cast<int>(tensors.integer("iteration"));
  }
  void warm_start(const Tensors& tensors) override { parts_.load(tensors); }

 private:
  bool uses_critics() const { return reach_ == Reach::kWindow; }
  std::span<const Critic<float>> critics() const {
    return uses_critics() ? std::span<const Critic<float>>(parts_.critics) : std::span<const Critic<float>>();
  }

  // Gradients are taken as a step's share of the episode, as the bound on their length is.
  void ascend(IterationReport& report) {
    const GradientEstimate& gradient =
        first_order_->estimate(parts_.batch, parts_.actor(), critics(), *parts_.context.pool);
    const std::vector<double> coefficients = lagrangian_coefficients(duals_.values());
    std::fill(ascent_.begin(), ascent_.end(), 0.0);
    for (std::size_t k = 0; k < coefficients.size(); ++k) {
      report.gradient_norms.push_back(gradient.norm(k));
      if (coefficients[k] == 0.0) continue;  // a cost without a limit may have any gradient
      for (std::size_t p = 0; p < ascent_.size(); ++p)
        ascent_[p] += coefficients[k] / parts_.horizon * gradient.gradients[k][p];
    }
    const double norm = std::sqrt(std::inner_product(ascent_.begin(), ascent_.end(), ascent_.begin(), 0.0));
    if (!std::isfinite(norm)) return refuse("a gradient is not finite", report);
    const UpdateSettings& update = settings_.update;
    const double cut = update.max_norm > 0.0 && norm > update.max_norm ? update.max_norm / norm : 1.0;
    for (double& value : ascent_) value *= -cut;  // Adam descends
    const double left = 1.0 - static_cast<double>(iteration_) / settings_.iterations;
    before_.assign(parts_.parameters.begin(), parts_.parameters.end());
    adam_.step(parts_.parameters, ascent_, update.learning_rate * (update.anneal ? std::max(left, 0.0) : 1.0));
    parts_.restore_if_not_finite(before_, report);
  }

  static void refuse(const std::string& why, IterationReport& report) {
    report.update_case = "refused";
    report.warning = "update refused: " + why;
  }

  Settings settings_;
  Reach reach_;
  ActorCritic<float> parts_;
  PolicyMonitor monitor_;
  DualVariables duals_;
  Adam<float> adam_;
  std::optional<FirstOrderGradient<float>> first_order_;
  std::vector<double> ascent_;
  std::vector<float> before_;  // the parameters of before the update
  int iteration_ = 0;
};

}  // namespace

std::unique_ptr<Algorithm> make_bptt_lag(const AlgorithmContext& context) {
  return std::make_unique<FirstOrderLag>(context, Reach::kEpisode, "bptt-lag");
}
std::unique_ptr<Algorithm> make_shac_lag(const AlgorithmContext& context) {
  return std::make_unique<FirstOrderLag>(context, Reach::kWindow, "shac-lag");
}

}  // namespace cgpo
