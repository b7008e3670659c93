#include "cgpo/algorithms/cgpo.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "cgpo/algorithms/actor_critic.hpp"
#include "cgpo/algorithms/radius.hpp"
#include "cgpo/base/error.hpp"
#include "cgpo/gradient/first_order.hpp"
#include "cgpo/gradient/zeroth_order.hpp"
#include "cgpo/subproblem/trust_region.hpp"

namespace cgpo {
namespace {

constexpr double kDivergedShare = 0.01;  // an update from a batch with more diverged environments is refused

class Cgpo final : public Algorithm {
 public:
  explicit Cgpo(const AlgorithmContext& context)
      : settings_(context.settings), parts_(context), radius_(context.settings.radius) {
    const GradientSettings& gradient = settings_.gradient;
    if (gradient.source == GradientSource::kZobg) {
      zeroth_order_.emplace(*parts_.simulator, parts_.policy, parts_.batch, gradient.baseline == ZobgBaseline::kStep);
    } else if (!parts_.simulator->differentiable()) {
      throw UserError(
          "task {} is not differentiable, so cgpo cannot use {} gradients on it; gradient.source = \"zobg\" needs none",
          context.task->spec().name, gradient.source == GradientSource::kShac ? "shac" : "bptt");
    } else {
      const int window = gradient.source == GradientSource::kShac ? settings_.window : 0;
      first_order_.emplace(*parts_.simulator, parts_.policy, parts_.batch, window);
    }
    if (settings_.critic.sobolev > 0.0 && !settings_.critic.fit_first) {
      // After the update the sweep would mix the batch's actions with another policy's slopes.
      throw UserError(
          "critic.sobolev needs critic.fit_first = true: its targets belong to the policy before the update");
    }
    parts_.warm_up_normaliser();
  }

  IterationReport iterate() override {
    IterationReport report;

    // Sample N episodes under π_θ; J_R and J_C are their means.
    parts_.collect_episodes(iteration_);
    const BatchStatistics statistics = summarise(parts_.batch);
    fill_statistics(statistics, report);

    // Was the last step as good as it promised? (Eq. 12)
    if (const auto test = radius_.observe(report.return_mean, report.costs, report.limits)) {
      report.rho = test->rho;
      report.zeta = test->zeta;
    }
    report.radius = radius_.value();

    // V_R and V_C close the windows of the gradient.
    if (uses_critics() && settings_.critic.fit_first) fit_critics(report);

    // g = ∇J_R and q_i = ∇J_Ci, from one sweep. (Eqs. 13, 14)
    const GradientEstimate& gradient = estimate();
    for (std::size_t k = 0; k < gradient.gradients.size(); ++k) report.gradient_norms.push_back(gradient.norm(k));

    // The step of the surrogate sub-problem. (Eq. 8 and Algorithm 2)
    TrustRegionProblem problem = surrogate_problem(gradient, report);
    TrustRegionStep step = solve(problem);
    if (settings_.radius.cutoff > 0.0) step = drop_tangential(problem, std::move(step), settings_.radius.cutoff);
    if (statistics.diverged > kDivergedShare * parts_.batch.environments)
      step = refused(step, statistics.diverged, report);

    // θ ← θ + δ
    apply(step, gradient, report);

    if (uses_critics() && !settings_.critic.fit_first) fit_critics(report);
    parts_.update_normaliser();
    ++iteration_;
    return report;
  }

  int iteration() const override { return iteration_; }

  void save(Tensors& tensors) const override {
    parts_.save(tensors);
    radius_.save(tensors);
    tensors.put("iteration", static_cast<std::int64_t>(iteration_));
  }

  void load(const Tensors& tensors) override {
    parts_.load(tensors);
    radius_.load(tensors);
    iteration_ = static_cast<int>(tensors.integer("iteration"));
  }

  void warm_start(const Tensors& tensors) override { parts_.load(tensors); }

 private:
  bool uses_critics() const { return settings_.gradient.source == GradientSource::kShac; }

  void fill_statistics(const BatchStatistics& statistics, IterationReport& report) const {
    report.iteration = iteration_;
    report.steps = static_cast<std::int64_t>(iteration_ + 1) * parts_.batch.environments * parts_.horizon;
    report.return_mean = statistics.mean[0];
    report.return_se = statistics.standard_error[0];
    report.return_paper = statistics.return_paper;
    report.costs.assign(statistics.mean.begin() + 1, statistics.mean.end());
    report.costs_se.assign(statistics.standard_error.begin() + 1, statistics.standard_error.end());
    report.limits = parts_.constraints.limits;
    report.episode_length = statistics.episode_length;
    report.diverged = statistics.diverged;
  }

  void fit_critics(IterationReport& report) {
    const std::vector<RowStore<float>>* slopes = nullptr;
    if (settings_.critic.sobolev > 0.0) {
      slopes = &first_order_->state_slopes(parts_.batch, parts_.actor(), parts_.critics, *parts_.context.pool);
    }
    for (const FitReport& fit : parts_.fit_critics(iteration_, slopes)) {
      report.critic_losses.push_back(fit.loss);
      report.critic_explained.push_back(fit.explained_variance);
    }
  }

  const GradientEstimate& estimate() {
    ThreadPool& pool = *parts_.context.pool;
    if (zeroth_order_) return zeroth_order_->estimate(parts_.batch, parts_.actor(), pool);
    const std::span<const Critic<float>> critics =
        uses_critics() ? std::span<const Critic<float>>(parts_.critics) : std::span<const Critic<float>>();
    return first_order_->estimate(parts_.batch, parts_.actor(), critics, pool);
  }

  // Gram matrix of [g q_1 … q_m] and slacks c_i = J_Ci − (b_i − margin). A cost without a limit is left to itself.
  TrustRegionProblem surrogate_problem(const GradientEstimate& gradient, const IterationReport& report) {
    active_.clear();
    TrustRegionProblem problem;
    problem.radius = radius_.value();
    for (std::size_t i = 0; i < report.limits.size(); ++i) {
      const double limit = report.limits[i];
      if (std::isinf(limit) && limit > 0.0) continue;
      active_.push_back(i);
      problem.slack.push_back(report.costs[i] - (limit - settings_.radius.margin * std::max(std::abs(limit), 1.0)));
    }
    const auto vector = [&](std::size_t i) -> const std::vector<double>& {
      return gradient.gradients[i == 0 ? 0 : active_[i - 1] + 1];
    };
    const std::size_t size = active_.size() + 1;
    problem.gram.resize(size * size);
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        const double product = std::inner_product(vector(i).begin(), vector(i).end(), vector(j).begin(), 0.0);
        problem.gram[i * size + j] = product;
        problem.gram[j * size + i] = product;
      }
    }
    return problem;
  }

  TrustRegionStep refused(TrustRegionStep step, int diverged, IterationReport& report) const {
    report.warning = fmt::format("update refused: {} of {} environments diverged", diverged, parts_.batch.environments);
    step.which = StepCase::kRefused;
    std::fill(step.coefficients.begin(), step.coefficients.end(), 0.0);
    return step;
  }

  void apply(const TrustRegionStep& step, const GradientEstimate& gradient, IterationReport& report) {
    report.update_case = case_name(step.which);
    if (step.which == StepCase::kRefused) {
      if (report.warning.empty()) report.warning = "update refused: a gradient or a J is not finite";
      radius_.refuse();
      return;
    }
    if (step.unsteerable) report.warning = "a broken constraint has no gradient: nothing the policy does changes it";
    for (std::size_t p = 0; p < parts_.parameters.size(); ++p) {
      double change = step.coefficients[0] * gradient.gradients[0][p];
      for (std::size_t i = 0; i < active_.size(); ++i)
        change += step.coefficients[i + 1] * gradient.gradients[active_[i] + 1][p];
      parts_.parameters[p] = static_cast<float>(parts_.parameters[p] + change);
    }
    report.lambda = step.lambda;
    report.nu.assign(report.costs.size(), 0.0);
    Prediction prediction{report.return_mean, report.return_mean + step.gain, report.costs};
    for (std::size_t i = 0; i < active_.size(); ++i) {
      report.nu[active_[i]] = step.nu[i];
      prediction.costs_after[active_[i]] += step.change[i];
    }
    radius_.expect(std::move(prediction));
  }

  Settings settings_;
  ActorCritic<float> parts_;
  AdaptiveRadius radius_;
  std::optional<FirstOrderGradient<float>> first_order_;
  std::optional<ZerothOrderGradient<float>> zeroth_order_;
  std::vector<std::size_t> active_;  // costs that have a limit
  int iteration_ = 0;
};

}  // namespace

std::unique_ptr<Algorithm> make_cgpo(const AlgorithmContext& context) { return std::make_unique<Cgpo>(context); }

}  // namespace cgpo
