#include "cgpo/algorithms/cgpo.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>

#include "cgpo/base/error.hpp"
#include "cgpo/base/numbers.hpp"
#include "cgpo/gradient/products.hpp"
#include "cgpo/rollout/divergence.hpp"
#include "cgpo/subproblem/trust_region.hpp"
#include "cgpo/updates/action_metric.hpp"
#include "cgpo/updates/actor_critic.hpp"
#include "cgpo/updates/noise_free_problem.hpp"
#include "cgpo/updates/radius.hpp"

namespace cgpo {
namespace {

// One episode has no standard error. Then nothing is put down to chance; the report says that it is not known.
double known_or_none(double standard_error) { return std::isfinite(standard_error) ? standard_error : 0.0; }

// Where the last step began, and all that is needed to take it again with another radius.
struct StepOrigin {
  std::vector<double> parameters;
  InputScale scale;  // of the normaliser then
  double return_mean = 0.0;
  double return_se = 0.0;
  std::vector<double> costs;
  std::vector<double> costs_se;
  std::vector<double> margins;
  std::vector<std::vector<double>> directions;  // [1 + limited costs]: H⁻¹ of the gradients
  TrustRegionProblem problem;
  std::vector<double> unbiased_gram;  // the problem's, without what sampling noise adds to it

  void save(Tensors& tensors) const {
    if (parameters.empty()) return;
    tensors.put("origin.parameters", std::span<const double>(parameters));
    tensors.put("origin.input_mean", std::span<const double>(scale.mean));
    tensors.put("origin.input_std", std::span<const double>(scale.std));
    tensors.put("origin.return", std::span<const double>(std::array{return_mean, return_se}));
    tensors.put("origin.costs", std::span<const double>(costs));
    tensors.put("origin.costs_se", std::span<const double>(costs_se));
    tensors.put("origin.margins", std::span<const double>(margins));
    for (std::size_t i = 0; i < directions.size(); ++i)
      tensors.put(fmt::format("origin.direction{}", i), std::span<const double>(directions[i]));
    tensors.put("origin.gram", std::span<const double>(problem.gram));
    tensors.put("origin.unbiased_gram", std::span<const double>(unbiased_gram));
    tensors.put("origin.slack", std::span<const double>(problem.slack));
  }

  void load(const Tensors& tensors) {
    if (!tensors.contains("origin.parameters")) return;
    parameters = tensors.numbers("origin.parameters");
    scale = {tensors.numbers("origin.input_mean"), tensors.numbers("origin.input_std")};
    return_mean = tensors.numbers("origin.return").at(0);
    return_se = tensors.numbers("origin.return").at(1);
    costs = tensors.numbers("origin.costs");
    costs_se = tensors.numbers("origin.costs_se");
    margins = tensors.numbers("origin.margins");
    problem.gram = tensors.numbers("origin.gram");
    unbiased_gram = tensors.numbers("origin.unbiased_gram");
    problem.slack = tensors.numbers("origin.slack");
    directions.clear();
    for (std::size_t i = 0; i <= problem.slack.size(); ++i)
      directions.push_back(tensors.numbers(fmt::format("origin.direction{}", i)));
  }
};

class Cgpo final : public Algorithm {
 public:
  Cgpo(const AlgorithmContext& context, const GradientSourceMaker& make_source)
      : settings_(context.settings), parts_(context), radius_(context.settings.radius), source_(make_source(parts_)) {
    if (settings_.critic.sobolev > 0.0 && !settings_.critic.fit_first) {
      // After the update the sweep would mix the batch's actions with another policy's slopes.
      throw UserError(
          "critic.sobolev needs critic.fit_first = true: its targets belong to the policy before the update");
    }
    const RadiusSettings& radius = settings_.radius;
    if (radius.test == RadiusTest::kPaired) {
      trial_.emplace(*parts_.simulator, settings_.environments, parts_.horizon, settings_.kernel.block, Keep::kOutcome);
    }
    for (std::size_t i = 0; i < parts_.constraints.limits.size(); ++i) {
      if (!std::isfinite(parts_.constraints.limits[i])) continue;
      active_.push_back(i);
      signals_.push_back(i + 1);
    }
    if (radius.metric == RadiusMetric::kAction) {
      metric_.emplace(parts_.policy, radius.rows, radius.damping);
      metric_memory_.assign(std::max(parts_.batch.blocks.size(), active_.size() + 1), ActionMetric::Memory(*metric_));
    }
    parts_.warm_up_normaliser();
  }

  IterationReport iterate() override {
    // Sample N episodes under π_θ; J_R and J_C are their means.
    parts_.collect_episodes(iteration_);
    steps_ += std::int64_t{parts_.batch.environments} * parts_.horizon;
    const BatchStatistics statistics = summarise(parts_.batch);
    IterationReport report = report_of(parts_, statistics, iteration_, steps_);

    source_->learn(parts_, iteration_, report);  // a model, if there is one

    // Was the last step as good as it promised? (Eq. 12)
    const Outcome now = outcome(statistics);
    fill_changes(now, report);
    if (radius_.retreats(now, report.limits)) {  // never with a trial: it has judged already
      retreat(report);
      if (too_many_diverged(report)) {
        report.warning = "last step taken back: " + diverged_words(report.diverged, report.episodes);
      }
      ++iteration_;
      return report;
    }
    if (!trial_) judge(now, report);
    report.radius = radius_.value();
    if (parts_.batch.intact_environments() == 0) {  // nothing to learn from
      refuse_batch(report);
      ++iteration_;
      return report;
    }

    // V_R and V_C close the windows of the gradient.
    if (source_->uses_critics() && settings_.critic.fit_first) fit_critics(report);

    // g = ∇J_R and q_i = ∇J_Ci, from one sweep. (Eqs. 13, 14)
    const GradientEstimate& gradient = source_->estimate(parts_);
    for (std::size_t k = 0; k < gradient.gradients.size(); ++k) {
      report.gradient_norms.push_back(gradient.norm(k));
      report.gradient_errors.push_back(gradient_error(gradient, k));
    }
    report.gradient_mixture = source_->mixture();
    report.critic_cosines = gradient.critic_cosines;

    // The step of the surrogate sub-problem, θ ← θ + δ. (Eq. 8 and Algorithm 2)
    origin_.parameters.assign(parts_.parameters.begin(), parts_.parameters.end());
    origin_.scale = parts_.normaliser.scale();
    origin_.return_mean = report.return_mean;
    origin_.return_se = known_or_none(report.return_se);
    origin_.costs = report.costs;
    origin_.costs_se = report.costs_se;
    for (double& se : origin_.costs_se) se = known_or_none(se);
    measure(gradient);
    for (std::size_t i = 0; settings_.radius.debias && i <= active_.size(); ++i) {
      const std::size_t at = i * (active_.size() + 2);
      report.gradient_signals.push_back(origin_.unbiased_gram[at] / origin_.problem.gram[at]);
    }
    origin_.margins = margins(report);
    origin_.problem.slack = slacks(report);
    origin_.problem.radius = radius_.value();
    if (!refuse_batch(report)) take_step(report);
    if (trial_) try_step(report);

    if (source_->uses_critics() && !settings_.critic.fit_first) fit_critics(report);
    parts_.update_normaliser();
    ++iteration_;
    return report;
  }

  int iteration() const override { return iteration_; }

  void save(Tensors& tensors) const override {
    parts_.save(tensors);
    radius_.save(tensors);
    origin_.save(tensors);
    source_->save(tensors);
    tensors.put("iteration", static_cast<std::int64_t>(iteration_));
    tensors.put("steps", steps_);
  }

  void load(const Tensors& tensors) override {
    parts_.load(tensors);
    radius_.load(tensors);
    origin_.load(tensors);
    source_->load(tensors);
    iteration_ = static_cast<int>(tensors.integer("iteration"));
    steps_ = tensors.integer("steps");
  }

  void warm_start(const Tensors& tensors) override { parts_.load(tensors); }

  std::shared_ptr<const Tensors> take_new_data() override { return source_->take_new_data(); }
  int first_data_needed() const override { return source_->first_data_needed(); }
  void load_data(const Tensors& data) override { source_->load_data(data); }

 private:
  // What the last step was to bring, and what came.
  void fill_changes(const Outcome& now, IterationReport& report) const {
    const std::optional<Prediction>& expected = radius_.expected();
    if (!expected) return;
    report.change_predicted = {expected->return_after - expected->return_before};
    report.change_realised = {now.return_now - expected->return_before};
    const auto known = [](double value, double standard_error) { return std::isfinite(standard_error) ? value : kNan; };
    report.change_se = {known(now.return_se, report.return_se)};
    for (std::size_t i = 0; i < now.costs_now.size(); ++i) {
      // The step of a cost without a limit is not worked out.
      report.change_predicted.push_back(std::isinf(parts_.constraints.limits[i])
                                            ? std::numeric_limits<double>::quiet_NaN()
                                            : expected->costs_after[i] - expected->costs_before[i]);
      report.change_realised.push_back(now.costs_now[i] - expected->costs_before[i]);
      report.change_se.push_back(known(now.costs_se[i], report.costs_se[i]));
    }
  }

  void fit_critics(IterationReport& report) {
    const bool sobolev = settings_.critic.sobolev > 0.0;
    add_fits(parts_.fit_critics(iteration_, sobolev ? source_->slopes(parts_) : SlopeSource<float>()), report);
  }

  void judge(const Outcome& now, IterationReport& report) {
    if (const auto test = radius_.observe(now, report.limits)) {
      report.rho = test->rho;
      report.zeta = test->zeta;
    }
  }

  // The new policy from the start states and with the noise that the old one had; shorter steps until one holds.
  void try_step(IterationReport& report) {
    const EpisodeKey key{.seed = parts_.context.seed, .iteration = static_cast<std::uint32_t>(iteration_)};
    for (;;) {
      collect(*parts_.simulator, parts_.actor(), key, /*deterministic=*/false, *parts_.context.pool, *trial_);
      steps_ += std::int64_t{trial_->environments} * trial_->horizon;
      const Outcome now = outcome(summarise(*trial_));
      fill_changes(now, report);
      if (!radius_.retreats(now, report.limits)) return judge(now, report);
      retreat(report);
    }
  }

  // directions = H⁻¹ of the gradients of J_R and of each limited J_C; in the Euclidean ball the gradients themselves.
  void measure(const GradientEstimate& gradient) {
    if (metric_) {
      metric_->rebuild(parts_.batch, parts_.actor(), stops_of(*parts_.simulator, signals_), parts_.context.seed,
                       iteration_);
    }
    multiply_gradients(
        gradient, signals_,
        [this](const std::vector<double>& v, std::vector<double>& result, std::size_t worker) {
          if (metric_) {
            metric_->solve(v, result, metric_memory_[worker]);
          } else {
            std::copy(v.begin(), v.end(), result.begin());
          }
        },
        settings_.radius.debias, *parts_.context.pool, products_);
    origin_.directions = products_.directions;
    origin_.problem.gram = products_.gram;
    origin_.unbiased_gram = products_.unbiased_gram;
  }

  // By how much a step aims below each limit.
  std::vector<double> margins(const IterationReport& report) const {
    std::vector<double> result;
    for (std::size_t i = 0; i < report.limits.size(); ++i) {
      const double share = std::isinf(report.limits[i]) ? 0.0 : std::max(std::abs(report.limits[i]), 1.0);
      result.push_back(settings_.radius.margin * share +
                       settings_.radius.margin_se * known_or_none(report.costs_se[i]) +
                       settings_.radius.margin_miss * radius_.miss(i));
    }
    return result;
  }

  // c_i = J_Ci − (b_i − margin). A cost without a limit is left to itself.
  std::vector<double> slacks(const IterationReport& report) const {
    std::vector<double> result;
    for (const std::size_t i : active_) result.push_back(report.costs[i] - (report.limits[i] - origin_.margins[i]));
    return result;
  }

  // Below which share of the step along the constraints that part is left out; above 1: always.
  double cutoff(const TrustRegionProblem& problem) const {
    const bool broken = std::any_of(problem.slack.begin(), problem.slack.end(), [](double c) { return c > 0.0; });
    return broken && !settings_.radius.sidestep ? 2.0 : settings_.radius.cutoff;
  }

  // Before the first step there is nothing to compare with. What too few episodes speak for is NaN, and worse than
  // anything that a step may bring.
  Outcome outcome(const BatchStatistics& statistics) const {
    Outcome now{statistics.mean[0],
                std::hypot(known_or_none(statistics.standard_error[0]), origin_.return_se),
                {statistics.mean.begin() + 1, statistics.mean.end()},
                {statistics.standard_error.begin() + 1, statistics.standard_error.end()}};
    for (double& se : now.costs_se) se = known_or_none(se);
    for (std::size_t i = 0; i < origin_.costs_se.size(); ++i)
      now.costs_se[i] = std::hypot(now.costs_se[i], origin_.costs_se[i]);
    if (too_many_diverged(statistics.diverged, parts_.batch.environments)) {
      now.return_now = kNan;
      std::fill(now.costs_now.begin(), now.costs_now.end(), kNan);
    }
    return now;
  }

  // Back to where the last step began, and from there a shorter one.
  void retreat(IterationReport& report) {
    report.radius = radius_.value();
    origin_.problem.radius = radius_.value();
    take_step(report);
    parts_.policy.fold_input_change(parts_.parameters, origin_.scale, parts_.normaliser.scale());
    report.update_case = "retreat";
  }

  // Whether too many environments diverged.
  bool refuse_batch(IterationReport& report) {
    if (!parts_.refuses_batch(report)) return false;
    radius_.refuse();
    return true;
  }

  void refuse(const std::string& why, IterationReport& report) {
    report.update_case = case_name(StepCase::kRefused);
    report.warning = "update refused: " + why;
    radius_.refuse();
  }

  void take_step(IterationReport& report) {
    const NoiseFreeProblem noise_free(origin_.problem, origin_.unbiased_gram);
    TrustRegionStep step = solve(noise_free.problem);
    step = drop_tangential(noise_free.problem, std::move(step), cutoff(noise_free.problem));
    if (step.which != StepCase::kRefused) step.coefficients = noise_free.coefficients(step.coefficients);
    report.update_case = case_name(step.which);
    if (step.which == StepCase::kRefused) return refuse("a gradient or a J is not finite", report);
    if (step.unsteerable) report.warning = "a broken constraint has no gradient: nothing the policy does changes it";
    for (std::size_t p = 0; p < parts_.parameters.size(); ++p) {
      double change = 0.0;
      for (std::size_t i = 0; i < step.coefficients.size(); ++i)
        change += step.coefficients[i] * origin_.directions[i][p];
      parts_.parameters[p] = static_cast<float>(origin_.parameters[p] + change);
    }
    if (!parts_.policy_is_finite()) {
      std::transform(origin_.parameters.begin(), origin_.parameters.end(), parts_.parameters.begin(),
                     [](double value) { return static_cast<float>(value); });
      return refuse("the policy that would come of it is not finite", report);
    }
    report.lambda = step.lambda;
    report.nu.assign(report.costs.size(), 0.0);
    Prediction prediction{origin_.return_mean, origin_.return_mean + step.gain, origin_.costs, origin_.costs,
                          origin_.margins};
    for (std::size_t i = 0; i < active_.size(); ++i) {
      report.nu[active_[i]] = step.nu[i];
      prediction.costs_after[active_[i]] += step.change[i];
    }
    radius_.expect(std::move(prediction));
  }

  Settings settings_;
  ActorCritic<float> parts_;
  AdaptiveRadius radius_;
  std::unique_ptr<PolicyGradientSource> source_;
  std::optional<ActionMetric> metric_;
  std::vector<ActionMetric::Memory> metric_memory_;
  GradientProducts products_;
  std::optional<Batch<float>> trial_;  // of the paired test
  StepOrigin origin_;
  std::vector<std::size_t> active_;         // costs that have a limit
  std::vector<std::size_t> signals_ = {0};  // of the problem's vectors: the reward, then those costs
  int iteration_ = 0;
  std::int64_t steps_ = 0;  // of the environments, those of trials too
};

}  // namespace

std::unique_ptr<Algorithm> make_cgpo(const AlgorithmContext& context) {
  return make_cgpo_with(context, [](const ActorCritic<float>& parts) { return make_gradient_source(parts, "cgpo"); });
}

std::unique_ptr<Algorithm> make_cgpo_with(const AlgorithmContext& context, const GradientSourceMaker& make_source) {
  return std::make_unique<Cgpo>(context, make_source);
}

}  // namespace cgpo
