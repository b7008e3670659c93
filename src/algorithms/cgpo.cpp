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
#include "cgpo/updates/monitor.hpp"
#include "cgpo/updates/noise_free_problem.hpp"
#include "cgpo/updates/radius.hpp"

namespace cgpo {
namespace {

constexpr int kTrialEpisodes = 16;  // pairs of episodes tell much more than as many single ones

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
  double noise_factor = 1.0;          // on σ, with the step

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
    tensors.put("origin.noise_factor", noise_factor);
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
    noise_factor = tensors.contains("origin.noise_factor") ? tensors.number("origin.noise_factor") : 1.0;
    directions.clear();
    for (std::size_t i = 0; i <= problem.slack.size(); ++i)
      directions.push_back(tensors.numbers(fmt::format("origin.direction{}", i)));
  }
};

class Cgpo final : public Algorithm {
 public:
  Cgpo(const AlgorithmContext& context, const GradientSourceMaker& make_source)
      : settings_(context.settings),
        parts_(context),
        monitor_(parts_),
        radius_(context.settings.radius),
        source_(make_source(parts_)) {
    if (settings_.critic.sobolev > 0.0 && !settings_.critic.fit_first) {
      // After the update the sweep would mix the batch's actions with another policy's slopes.
      throw UserError(
          "critic.sobolev needs critic.fit_first = true: its targets belong to the policy before the update");
    }
    const RadiusSettings& radius = settings_.radius;
    if (radius.test == RadiusTest::kPaired) {
      trial_.emplace(*parts_.simulator, std::min(kTrialEpisodes, settings_.environments), parts_.horizon,
                     settings_.kernel.block, Keep::kOutcome);
    }
    for (std::size_t i = 0; i < parts_.constraints.limits.size(); ++i) {
      if (!std::isfinite(parts_.constraints.limits[i])) continue;
      active_.push_back(i);
      signals_.push_back(i + 1);
    }
    if (radius.metric == RadiusMetric::kAction) {
      metric_.emplace(parts_.policy, radius.rows, radius.damping);
      metric_memory_.assign(std::max(std::size_t{kGradientGroups}, active_.size() + 1), ActionMetric::Memory(*metric_));
    }
    monitor_.warm_up(parts_);
  }

  IterationReport iterate() override {
    // Sample N episodes under π_θ, and some without noise; J_R and J_C are what they and all earlier ones tell.
    IterationReport report = monitor_.collect(parts_, iteration_);

    source_->learn(parts_, iteration_, report);  // a model, if there is one

    // Was the last step as good as it promised? (Eq. 12)
    const Outcome now = outcome(monitor_.statistics());
    fill_changes(now, report);
    if (const auto shorter = radius_.retreat(now, report.limits)) {  // never with a trial: it has judged already
      retreat(*shorter, report);
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
    origin_.return_mean = monitor_.estimate(0).mean();
    origin_.return_se = std::sqrt(monitor_.estimate(0).variance());
    origin_.costs_se = report.costs_se;
    for (double& se : origin_.costs_se) se = known_or_none(se);
    origin_.noise_factor = monitor_.noise_factor(parts_);
    monitor_.remember();
    measure(gradient);
    for (std::size_t i = 0; looks_at_noise() && i <= active_.size(); ++i) {
      const std::size_t at = i * (active_.size() + 2);
      report.gradient_signals.push_back(products_.unbiased_gram[at] / products_.gram[at]);
    }
    aim(report);
    report.radius = origin_.problem.radius;
    if (!refuse_batch(report)) take_step(report);
    if (trial_) try_step(report);

    if (source_->uses_critics() && !settings_.critic.fit_first) fit_critics(report);
    parts_.update_normaliser();
    monitor_.plan(parts_, report.gradient_signals);
    ++iteration_;
    return report;
  }

  int iteration() const override { return iteration_; }

  void save(Tensors& tensors) const override {
    parts_.save(tensors);
    radius_.save(tensors);
    origin_.save(tensors);
    source_->save(tensors);
    monitor_.save(tensors);
    tensors.put("iteration", static_cast<std::int64_t>(iteration_));
  }

  void load(const Tensors& tensors) override {
    parts_.load(tensors);
    radius_.load(tensors);
    origin_.load(tensors);
    source_->load(tensors);
    monitor_.load(tensors);
    iteration_ = static_cast<int>(tensors.integer("iteration"));
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

  // The new policy from start states and with the noise that the old one had in some of the batch's episodes; shorter
  // steps until one holds.
  void try_step(IterationReport& report) {
    trial_->use(std::min(trial_->capacity(), parts_.batch.environments));
    for (;;) {
      parts_.repeat_episodes(iteration_, /*deterministic=*/false, *trial_);
      monitor_.count_steps(std::int64_t{trial_->environments} * trial_->horizon);
      const Outcome now = outcome_of_trial();
      fill_changes(now, report);
      const auto shorter = radius_.retreat(now, report.limits);
      if (!shorter) return judge(now, report);
      retreat(*shorter, report);
    }
  }

  // J before the step and what the same episodes changed by, with the standard errors of those differences.
  Outcome outcome_of_trial() const {
    Outcome now{origin_.return_mean, 0.0, origin_.costs, std::vector<double>(origin_.costs.size(), 0.0)};
    const auto lost = std::int64_t{trial_->environments} - trial_->intact_environments();
    const bool diverged = too_many_diverged(lost, trial_->environments);
    for (std::size_t k = 0; k <= origin_.costs.size(); ++k) {
      const PairedSums pairs = pair_episodes(parts_.batch, *trial_, parts_.repeats_every(*trial_), static_cast<int>(k));
      const double change = diverged ? kNan : pairs.mean_difference();
      const double se = known_or_none(pairs.standard_error_of_difference());
      (k == 0 ? now.return_now : now.costs_now[k - 1]) += change;
      (k == 0 ? now.return_se : now.costs_se[k - 1]) = se;
    }
    return now;
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
        looks_at_noise(), *parts_.context.pool, products_);
    origin_.directions = products_.directions;
    origin_.problem.gram = products_.gram;
    origin_.unbiased_gram = settings_.radius.debias ? products_.unbiased_gram : products_.gram;
  }

  // The number of episodes follows it, and with radius.debias the step.
  bool looks_at_noise() const { return settings_.radius.debias || settings_.batch.adaptive; }

  // The largest change of signal k that a step as long as the radius could make, by what of its gradient is no noise.
  double reach(std::size_t k) const {
    constexpr double kLeastSignal = 0.1;
    const std::size_t at = k * (active_.size() + 2);
    const double square = std::max(origin_.unbiased_gram[at], kLeastSignal * origin_.problem.gram[at]);
    return std::sqrt(std::max(origin_.problem.radius * square, 0.0));
  }

  // c_i = J_Ci − (b_i − margin), J_Ci the larger of what it is with noise and deployed. A cost without a limit is left
  // to itself.
  void aim(const IterationReport& report) {
    origin_.costs = outcome(monitor_.statistics()).costs_now;
    origin_.margins.assign(report.limits.size(), 0.0);
    origin_.problem.slack.clear();
    // Near a limit steps are short enough that what their predictions may miss leaves half of the way there.
    origin_.problem.radius = radius_.value();
    for (std::size_t k = 0; k < active_.size(); ++k) {
      const double farthest = monitor_.farthest_reach(active_[k]);
      if (reach(k + 1) > farthest) origin_.problem.radius *= std::pow(farthest / reach(k + 1), 2);
    }
    for (std::size_t k = 0; k < active_.size(); ++k) {
      const std::size_t i = active_[k];
      const double share = std::max(std::abs(report.limits[i]), 1.0);
      origin_.margins[i] = settings_.radius.margin * share + monitor_.margin(i, reach(k + 1));
      const double bend = settings_.radius.confidence > 0.0 ? monitor_.estimate(i + 1).bend() * reach(k + 1) : 0.0;
      origin_.problem.slack.push_back(monitor_.cost(i) + bend - (report.limits[i] - origin_.margins[i]));
    }
  }

  // Below which share of the step along the constraints that part is left out; above 1: always.
  double cutoff(const TrustRegionProblem& problem) const {
    const bool broken = std::any_of(problem.slack.begin(), problem.slack.end(), [](double c) { return c > 0.0; });
    return broken && !settings_.radius.sidestep ? 2.0 : settings_.radius.cutoff;
  }

  // Of the policy with noise: it is what gradients speak of. The deployed one's cost may jump where that of all the
  // noise around it does not, and taking a step back would not undo it. Before the first step there is nothing to
  // compare with. What too few episodes speak for is NaN, and worse than anything that a step may bring.
  Outcome outcome(const BatchStatistics& statistics) const {
    const MovingEstimate& reached = monitor_.estimate(0);
    Outcome now{reached.mean(), std::hypot(std::sqrt(reached.variance()), origin_.return_se), {}, {}};
    for (std::size_t i = 0; i < parts_.constraints.limits.size(); ++i) {
      const MovingEstimate& cost = monitor_.estimate(i + 1);
      now.costs_now.push_back(cost.known() ? cost.mean() : statistics.mean[i + 1]);
      now.costs_se.push_back(known_or_none(statistics.standard_error[i + 1]));
      if (!origin_.costs_se.empty()) now.costs_se[i] = std::hypot(now.costs_se[i], origin_.costs_se[i]);
    }
    if (too_many_diverged(statistics.diverged, parts_.batch.environments)) {
      now.return_now = kNan;
      std::fill(now.costs_now.begin(), now.costs_now.end(), kNan);
    }
    return now;
  }

  // Back to where the last step began, and from there a shorter one.
  void retreat(double radius, IterationReport& report) {
    monitor_.go_back();
    report.radius = radius;
    origin_.problem.radius = radius;
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
    const double by_noise = monitor_.return_by_noise(origin_.noise_factor);
    Prediction prediction{origin_.return_mean, origin_.return_mean + step.gain + by_noise, origin_.costs, origin_.costs,
                          origin_.margins};
    for (std::size_t i = 0; i < active_.size(); ++i) {
      report.nu[active_[i]] = step.nu[i];
      prediction.costs_after[active_[i]] += step.change[i];
    }
    radius_.expect(std::move(prediction), origin_.problem.radius);
    expect(step);
  }

  // What the filters are told of a step.
  void expect(const TrustRegionStep& step) {
    parts_.scale_noise(origin_.noise_factor);
    ExpectedMove move{{step.gain}, {reach(0)}};
    move.change.resize(parts_.constraints.limits.size() + 1, kNan);
    move.reach.resize(move.change.size(), kNan);
    for (std::size_t k = 0; k < active_.size(); ++k) {
      move.change[active_[k] + 1] = step.change[k];
      move.reach[active_[k] + 1] = reach(k + 1);
    }
    monitor_.expect(move, origin_.noise_factor);
  }

  Settings settings_;
  ActorCritic<float> parts_;
  PolicyMonitor monitor_;
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
};

}  // namespace

std::unique_ptr<Algorithm> make_cgpo(const AlgorithmContext& context) {
  return make_cgpo_with(context, [](const ActorCritic<float>& parts) { return make_gradient_source(parts, "cgpo"); });
}

std::unique_ptr<Algorithm> make_cgpo_with(const AlgorithmContext& context, const GradientSourceMaker& make_source) {
  return std::make_unique<Cgpo>(context, make_source);
}

}  // namespace cgpo
