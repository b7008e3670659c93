#include "cgpo/updates/gradient_source.hpp"

#include "cgpo/base/error.hpp"
#include "cgpo/gradient/zeroth_order.hpp"

namespace cgpo {
namespace {

class SimulatorGradient final : public PolicyGradientSource {
 public:
  explicit SimulatorGradient(const ActorCritic<float>& parts)
      : uses_critics_(parts.context.settings.gradient.source == GradientSource::kShac),
        gradient_(*parts.simulator, parts.policy, parts.batch, uses_critics_ ? parts.context.settings.window : 0,
                  horizon_rule(parts.context.settings)) {}

  bool uses_critics() const override { return uses_critics_; }
  SlopeSource<float> slopes(const ActorCritic<float>& parts) override {
    return {parts.simulator.get(), &parts.batch,
            &gradient_.state_slopes(parts.batch, parts.actor(), parts.critics, *parts.context.pool)};
  }
  const GradientEstimate& estimate(const ActorCritic<float>& parts) override {
    const std::span<const Critic<float>> critics =
        uses_critics_ ? std::span<const Critic<float>>(parts.critics) : std::span<const Critic<float>>();
    return gradient_.estimate(parts.batch, parts.actor(), critics, *parts.context.pool);
  }

 private:
  bool uses_critics_;
  FirstOrderGradient<float> gradient_;
};

class ScoreGradient final : public PolicyGradientSource {
 public:
  explicit ScoreGradient(const ActorCritic<float>& parts)
      : gradient_(*parts.simulator, parts.policy, parts.batch,
                  parts.context.settings.gradient.baseline == ZobgBaseline::kStep) {
    if (!parts.context.settings.finite_horizon) {
      throw UserError(
          "gradient.source = \"zobg\" needs finite_horizon = true: its scores are weighted by plain sums up to the "
          "horizon, with no critic that could speak for what follows");
    }
  }

  bool uses_critics() const override { return false; }
  const GradientEstimate& estimate(const ActorCritic<float>& parts) override {
    return gradient_.estimate(parts.batch, parts.actor(), *parts.context.pool);
  }

 private:
  ZerothOrderGradient<float> gradient_;
};

}  // namespace

std::unique_ptr<PolicyGradientSource> make_gradient_source(const ActorCritic<float>& parts,
                                                           const std::string& algorithm) {
  const GradientSource source = parts.context.settings.gradient.source;
  if (source == GradientSource::kZobg) return std::make_unique<ScoreGradient>(parts);
  if (!parts.simulator->differentiable()) {
    throw UserError(
        "task {} is not differentiable, so {} cannot use {} gradients on it: --algo mb-cgpo takes them from a model "
        "that "
        "it learns of the task, and gradient.source = \"zobg\" needs none",
        parts.context.task->spec().name, algorithm, source == GradientSource::kShac ? "shac" : "bptt");
  }
  return std::make_unique<SimulatorGradient>(parts);
}

}  // namespace cgpo
