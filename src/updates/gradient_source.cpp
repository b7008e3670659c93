#include "cgpo/updates/gradient_source.hpp"

#include <algorithm>
#include <optional>

#include "cgpo/base/error.hpp"
#include "cgpo/gradient/corrected.hpp"
#include "cgpo/gradient/missed.hpp"
#include "cgpo/gradient/mixture.hpp"
#include "cgpo/gradient/zeroth_order.hpp"
#include "cgpo/rollout/imagine.hpp"

namespace cgpo {
namespace {

// Whether an episode ended by itself before the horizon.
bool any_ends_early(const Batch<float>& batch) {
  return std::any_of(batch.blocks.begin(), batch.blocks.end(), [](const auto& block) {
    for (int lane = 0; lane < block.lanes(); ++lane) {
      const int length = block.length[static_cast<std::size_t>(lane)];
      if (length > 0 && ends_early(block, /*stops=*/true, length - 1, lane)) return true;
    }
    return false;
  });
}

// What a twin promises of single steps, from every real state and with the real noise, and by scores what came instead.
class TwinPromises {
 public:
  explicit TwinPromises(const ActorCritic<float>& parts)
      : twin_(make_simulator<float>(parts.context.task->twin(), parts.constraints.costs,
                                    parts.context.settings.kernel.backend)),
        predicted_(*twin_, parts.context.settings.environments, parts.horizon, parts.context.settings.kernel.block),
        corrected_(*parts.simulator, *twin_, parts.policy, predicted_, predicted_, horizon_rule(parts.context.settings),
                   parts.context.settings.critic.lambda, Ends::kClosed) {}

  const GradientEstimate& estimate(const ActorCritic<float>& parts, std::span<const Critic<float>> critics) {
    ThreadPool& pool = *parts.context.pool;
    if (parts.twin != nullptr && parts.twin->has_parameters()) twin_->set_parameters(parts.twin->parameters());
    predicted_.use(parts.batch.environments);
    imagine(*twin_, parts.actor(), parts.batch, 1, Replay::kNoise, pool, predicted_);
    return corrected_.estimate(parts.batch, predicted_, parts.actor(), critics, pool);
  }

 private:
  std::unique_ptr<Simulator<float>> twin_;
  Batch<float> predicted_;
  CorrectedGradient<float> corrected_;
};

class SimulatorGradient final : public PolicyGradientSource {
 public:
  explicit SimulatorGradient(const ActorCritic<float>& parts)
      : uses_critics_(parts.context.settings.gradient.source == GradientSource::kShac),
        correction_(parts.context.settings.gradient.correction),
        gradient_(*parts.simulator, parts.policy, parts.batch, uses_critics_ ? parts.context.settings.window : 0,
                  horizon_rule(parts.context.settings)),
        mixture_(parts.signals()) {
    if (!uses_critics_) correction_ = GradientCorrection::kNone;  // bptt has no windows that could miss anything
    if (correction_ == GradientCorrection::kNone) return;
    if (parts.context.task->twin() != nullptr) return;
    const Settings& settings = parts.context.settings;
    missed_.emplace(*parts.simulator, parts.policy, parts.batch, settings.window, horizon_rule(settings),
                    settings.critic.lambda);
  }

  // The critics before they have seen the batch: what they say of it is no echo of its own noise.
  void learn(const ActorCritic<float>& parts, int /*iteration*/, IterationReport& report) override {
    parts.fit_twin(report);
    if (correction_ != GradientCorrection::kNone) critics_before_ = parts.critics;
  }
  bool uses_critics() const override { return uses_critics_; }
  SlopeSource<float> slopes(const ActorCritic<float>& parts) override {
    return {parts.simulator.get(), &parts.batch,
            &gradient_.state_slopes(parts.batch, parts.actor(), parts.critics, *parts.context.pool)};
  }
  const GradientEstimate& estimate(const ActorCritic<float>& parts) override {
    const std::span<const Critic<float>> critics =
        uses_critics_ ? std::span<const Critic<float>>(parts.critics) : std::span<const Critic<float>>();
    mixed_ = corrects(parts.batch);
    if (!mixed_) return gradient_.estimate(parts.batch, parts.actor(), critics, *parts.context.pool);
    find_unbiased(parts);
    const GradientEstimate& steady = gradient_.estimate(parts.batch, parts.actor(), critics, *parts.context.pool);
    return mixture_.mix(steady, unbiased_);
  }
  std::vector<double> mixture() const override { return mixed_ ? mixture_.asked() : std::vector<double>(); }

  void save(Tensors& tensors) const override {
    if (correction_ != GradientCorrection::kNone) mixture_.save(tensors, "mixture");
  }
  void load(const Tensors& tensors) override {
    if (correction_ != GradientCorrection::kNone) mixture_.load(tensors, "mixture");
  }

 private:
  // Whether anything is put right this time. If so it is every signal, not only those that stop: an end changes what
  // comes after it, too, and a step is made of differences between gradients, in which scores that they share cancel.
  bool corrects(const Batch<float>& batch) const {
    switch (correction_) {
      case GradientCorrection::kNone: return false;
      case GradientCorrection::kEnds: return any_ends_early(batch);
      case GradientCorrection::kAll: return true;
    }
    return false;
  }

  // Sweep and scores with one and the same V (missed.hpp), that of critics that have not seen the batch. Where the
  // sweep's derivatives are a twin's, its windows have more in them than V that may be wrong: then all that it promises
  // is held against what came (corrected.hpp).
  void find_unbiased(const ActorCritic<float>& parts) {
    if (parts.context.task->twin() != nullptr) {
      if (!promises_) promises_.emplace(parts);
      unbiased_ = promises_->estimate(parts, critics_before_);
      return;
    }
    ThreadPool& pool = *parts.context.pool;
    unbiased_ = gradient_.estimate(parts.batch, parts.actor(), critics_before_, pool, Ends::kClosed);
    add_sums(missed_->estimate(parts.batch, parts.actor(), critics_before_, pool), unbiased_);
    unbiased_.average();
  }

  bool uses_critics_;
  GradientCorrection correction_;
  FirstOrderGradient<float> gradient_;
  std::optional<MissedGradient<float>> missed_;
  std::optional<TwinPromises> promises_;  // made when it is needed first
  GradientMixture mixture_;
  std::vector<Critic<float>> critics_before_;
  GradientEstimate unbiased_;
  bool mixed_ = false;  // the last estimate
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
    const bool may_have_twin = parts.context.task->prelude() != nullptr;
    throw UserError(
        "task {} is not differentiable, so {} cannot use {} gradients on it: {}--algo mb-cgpo takes them from a model "
        "that it learns of the task, and gradient.source = \"zobg\" needs none",
        parts.context.task->spec().name, algorithm, source == GradientSource::kShac ? "shac" : "bptt",
        may_have_twin ? "gradient.twin=true takes them from our own engine, " : "");
  }
  return std::make_unique<SimulatorGradient>(parts);
}

}  // namespace cgpo
