#include "cgpo/judge/explain.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/ranges.h>
#include <limits>

#include "cgpo/base/program_name.hpp"
#include "cgpo/updates/report.hpp"

namespace cgpo {
namespace {

// Thresholds; docs/guide/diagnostics.md has the runs behind them.
constexpr double kManyDiverged = 0.01;     // share of episodes; above it updates are refused
constexpr double kManyFailed = 0.3;        // share of updates refused or taken back
constexpr double kExplosion = 5.0;         // growth of the gradient's noise, in multiples of the window's
constexpr double kDrowned = 0.1;           // share of the gradient's squared length that is no noise
constexpr double kNear = 0.2;              // of the limit: a constraint this close may bind
constexpr double kFlat = 1e-3;             // change of J within the radius, as a share of it
constexpr double kUselessCritic = 0.3;     // explained variance
constexpr double kUselessSlope = 0.03;     // cosine; a robot whose contacts shake the adjoint learns well with 0.1
constexpr double kManySteps = 50.0;        // updates that it would take to repair a constraint
constexpr double kUndelivered = 0.3;       // share of the promised change that came
constexpr double kDelivered = 0.5;         // share that is most of it
constexpr double kPoorModel = 0.3;         // error one step ahead, in standard deviations of the change
constexpr int kFewestUpdates = 5;          // to judge promises by
constexpr double kOften = 0.5;             // share of iterations with the radius at a bound
constexpr double kEarly = 0.9;             // of the horizon
constexpr double kWide = 0.25;             // of the limit: by how much the worst twentieth exceeds it
constexpr double kFarInput = 5.0;          // standard deviations
constexpr double kMostlySaturated = 0.5;   // share of actions
constexpr double kWhite = 0.25;            // share of white noise's power in the upper quarter of frequencies
constexpr double kNoticeable = 0.05;       // root mean square of an action's jitter
constexpr double kNoContact = 0.01;        // share of steps
constexpr double kFallenBack = 0.3;        // share of the run's range of returns
constexpr std::size_t kReturnsOfLast = 5;  // iterations whose mean return is the recent one
constexpr int kFewestIterations = 10;      // of a run that can fall back
constexpr int kRecentAtLeast = 20;

double percent(double share) { return 100.0 * share; }

class Search {
 public:
  explicit Search(const Explanation& explanation)
      : all_(explanation),
        settings_(explanation.settings),
        evaluation_(explanation.evaluation),
        diagnosis_(explanation.diagnosis),
        history_(explanation.history) {}

  std::vector<Finding> run() {
    divergence();
    failed_updates();
    explosion();
    drowned_gradients();
    flat_return();
    critics();
    unsteerable_constraints();
    broken_promises();
    poor_model();
    radius_bounds();
    early_ends();
    wide_costs();
    far_inputs();
    saturation();
    jitter();
    contact();
    fall_back();
    warnings();
    return std::move(found_);
  }

 private:
  void add(std::string cause, std::string text, std::string advice, bool problem = true) {
    found_.push_back({std::move(cause), problem, std::move(text), std::move(advice)});
  }
  std::string name(std::size_t k) const { return k == 0 ? "the return" : "cost " + diagnosis_.signals[k]; }
  // Whether anything depends on J_k: a cost without a limit is only watched.
  bool matters(std::size_t k) const { return k == 0 || std::isfinite(evaluation_.costs.at(k - 1).limit); }
  // Whether updates follow its gradient now: a constraint that is kept by far does not bind.
  bool steers(std::size_t k) const {
    if (k == 0 || !matters(k)) return k == 0;
    const CostReport& cost = evaluation_.costs[k - 1];
    return cost.estimate.mean > cost.limit - kNear * std::max(std::abs(cost.limit), 1.0);
  }
  bool windowed() const { return settings_.gradient.source == GradientSource::kShac; }
  bool offers(const std::string& cost) const {
    return std::find(all_.offered_costs.begin(), all_.offered_costs.end(), cost) != all_.offered_costs.end();
  }
  std::string limit_energy() const {
    return offers("energy") ? "limit the task's cost \"energy\" too (costs=[…, \"energy\"])"
                            : "let the reward or a cost weigh the actions' squares";
  }

  std::string shorter_steps() const {
    const double radius = 0.25 * diagnosis_.radius;
    return radius >= settings_.radius.lower
               ? fmt::format("shorter steps (radius.upper={0:.2g} with radius.initial={0:.2g})", radius)
               : fmt::format("shorter steps (radius.lower={:.2g})", radius);
  }

  void divergence() {
    const int all = evaluation_.episodes + evaluation_.diverged;
    if (!(evaluation_.diverged > kManyDiverged * all)) return;
    add("diverged",
        fmt::format(
            "{} of {} episodes diverged ({:.1f} %): their states left the finite numbers or the task's bound. An "
            "update from a batch with more than 1 % of them is refused.",
            evaluation_.diverged, all, percent(static_cast<double>(evaluation_.diverged) / all)),
        all_.substeps > 0
            ? fmt::format("smaller physics steps (task.substeps={}){}", 2 * all_.substeps,
                          diagnosis_.contact ? ", or a softer floor (a smaller task.contact_stiffness)" : "")
            : fmt::format("`{} check {}`, and bounds on what the task's own step may return", program_name(),
                          all_.task));
  }

  void failed_updates() {
    if (history_.refused >= kManyFailed) {
      add("refused",
          fmt::format("{:.0f} % of the last {} updates were refused, so the policy did not move.{}",
                      percent(history_.refused), history_.recent,
                      history_.last_warning.empty() ? "" : fmt::format(" The log says: {}.", history_.last_warning)),
          "whatever the log's \"warning\" names; a non-finite gradient calls for a shorter window");
    }
    if (history_.retreated >= kManyFailed) {
      add("retreated",
          fmt::format("{:.0f} % of the last {} steps were taken back: they missed what they had promised by more than "
                      "{:g} times the promised change.",
                      percent(history_.retreated), history_.recent, settings_.radius.retreat),
          shorter_steps());
    }
  }

  // Gradients without critics over the run's own window.
  const WindowGradients* own_window() const {
    for (const WindowGradients& entry : diagnosis_.windows) {
      if (entry.window == diagnosis_.window) return &entry;
    }
    return nullptr;
  }

  void explosion() {
    if (settings_.gradient.source == GradientSource::kZobg) return;
    const WindowGradients* const own = own_window();
    if (own == nullptr) return;
    for (std::size_t k = 0; k < own->signals.size(); ++k) {
      if (!matters(k)) continue;
      const WindowGradients* const first = std::find_if(
          diagnosis_.windows.data(), own, [k](const WindowGradients& entry) { return entry.signals[k].error > 0.0; });
      if (first == own) continue;
      const GradientLength& now = own->signals[k];
      const double growth = now.error / first->signals[k].error;
      const double longer = static_cast<double>(own->window) / first->window;
      const bool drowned = !(now.signal_to_noise() >= 1.0);  // a NaN is no signal
      if (growth <= kExplosion * longer || !drowned) continue;
      // The longest window that still stands out of its noise.
      int window = first->window;
      for (const WindowGradients* entry = first; entry != own; ++entry) {
        if (entry->signals[k].signal_to_noise() >= 2.0) window = entry->window;
      }
      add("gradient-explodes",
          fmt::format("The gradient of {} explodes with the window: from {} to {} steps its noise grows {}, where "
                      "{:.3g}-fold could be expected, and signal to noise falls from {:.2g} to {:.2g}.",
                      name(k), first->window, own->window,
                      !std::isfinite(growth) ? "beyond all numbers"
                      : growth < 1e5         ? fmt::format("{:.0f}-fold", growth)
                                             : fmt::format("{:.0e}-fold", growth),
                      longer, first->signals[k].signal_to_noise(), now.signal_to_noise()),
          fmt::format("{}window={}{}", windowed() ? "" : "gradient.source=shac with ", window,
                      diagnosis_.contact ? ", or a softer floor (a larger task.contact_width)" : ""));
      exploded_ = true;
      return;
    }
  }

  void drowned_gradients() {
    if (exploded_) return;  // it is the same
    for (std::size_t k = 0; k < diagnosis_.gradient_signals.size(); ++k) {
      if (!steers(k) || !(diagnosis_.gradient_signals[k] < kDrowned) || is_flat(k)) continue;
      std::vector<std::string> advice = {fmt::format("environments={}", 4 * settings_.environments)};
      if (settings_.gradient.source == GradientSource::kZobg) {
        if (settings_.gradient.baseline == ZobgBaseline::kNone) advice.emplace_back("gradient.baseline=step");
      } else if (diagnosis_.window > 1) {
        advice.push_back(fmt::format("{}window={}", windowed() ? "" : "gradient.source=shac with ",
                                     windowed() ? std::max(1, diagnosis_.window / 2) : 10));
      }
      if (!settings_.radius.debias) advice.emplace_back("radius.debias=true");
      // The same windows without critics tell whose noise it is.
      const WindowGradients* const bare = own_window();
      const double with = diagnosis_.gradient[k].signal_to_noise();
      const double without = windowed() && bare != nullptr ? bare->signals[k].signal_to_noise() : 0.0;
      const bool by_critics = without > 2.0 && without > 3.0 * with;
      add("gradient-drowned",
          fmt::format(
              "The gradient of {} is drowned in noise: {:.0f} % of its squared length is signal, measured as the "
              "trust region does; in plain length signal to noise is {:.2g}.{}",
              name(k), percent(std::max(diagnosis_.gradient_signals[k], 0.0)), with,
              by_critics ? fmt::format(" Without critics it is {:.2g} over the same windows: the noise comes in with "
                                       "the critics' slopes.",
                                       without)
                         : ""),
          fmt::format("{}", fmt::join(advice, ", or ")));
    }
  }

  double mean_of(std::size_t k) const {
    return k == 0 ? evaluation_.return_optimised.mean : evaluation_.costs[k - 1].estimate.mean;
  }
  bool is_flat(std::size_t k) const { return diagnosis_.reach[k] < kFlat * std::max(std::abs(mean_of(k)), 1.0); }

  void flat_return() {
    if (diagnosis_.reach.empty() || !history_.trust_region || !is_flat(0)) return;
    const double reach = diagnosis_.reach[0];
    add("return-flat",
        fmt::format(
            "The return is flat here: a step within the radius ({:.2g}) changes it by {:.2g} at most, of {:.4g}.",
            diagnosis_.radius, reach, mean_of(0)),
        reach > 0.0 ? "nothing if the task is solved; else longer steps (a larger radius.lower and radius.upper), or "
                      "another start (another --seed, a larger policy.initial_std)"
                    : "a reward that depends on what the policy does within the window, or better critics",
        /*problem=*/false);
  }

  void critics() {
    for (std::size_t k = 0; k < diagnosis_.critic_explained.size(); ++k) {
      if (!matters(k)) continue;
      const double explained = diagnosis_.critic_explained[k];
      const double cosine = k < diagnosis_.critic_cosines.size() ? diagnosis_.critic_cosines[k] : 1.0;
      const bool values = explained < kUselessCritic;
      const bool slopes = cosine < kUselessSlope && !exploded_;  // an adjoint that explodes is no measure
      if (!values && !slopes) continue;
      const std::string slope =
          fmt::format("its slope at a window's end has cosine {:.2f} with what the next window says", cosine);
      std::string text;
      if (!values) {
        text =
            fmt::format("The critic of {} points nowhere: though it explains {:.0f} % of the variance of what came, {}",
                        name(k), percent(explained), slope);
      } else if (explained > 0.0) {
        text = fmt::format("The critic of {} is of little use: it explains {:.0f} % of the variance of what came",
                           name(k), percent(explained));
      } else {
        text = fmt::format("The critic of {} is of no use: it foresees what comes no better than a constant", name(k));
      }
      if (values && std::isfinite(cosine)) text += "; " + slope;
      std::vector<std::string> advice;
      if (settings_.critic.steps < 1024) {
        advice.push_back(fmt::format("critic.steps={}", std::max(256, 4 * settings_.critic.steps)));
      }
      if (settings_.critic.targets == CriticTargets::kWindow) advice.emplace_back("critic.targets=episode");
      if (slopes && settings_.critic.sobolev == 0.0) {
        advice.push_back(fmt::format("critic.sobolev=1{} (it fits the slope itself)",
                                     settings_.critic.fit_first ? "" : " with critic.fit_first=true"));
      }
      if (advice.empty()) advice.emplace_back("wider networks (critic.hidden=[128, 128])");
      add("critic-useless", text + ".", fmt::format("{}", fmt::join(advice, ", or ")));
    }
  }

  void unsteerable_constraints() {
    for (std::size_t k = 1; k < diagnosis_.reach.size(); ++k) {
      const CostReport& cost = evaluation_.costs[k - 1];
      if (!matters(k) || cost.verdict() != Verdict::kExceeded) continue;
      const double signal = diagnosis_.gradient_signals[k];
      const double reach = diagnosis_.reach[k] * (std::isnan(signal) ? 1.0 : std::sqrt(std::max(signal, 0.0)));
      const double excess = cost.estimate.mean - cost.limit;
      if (reach > 0.0 && (!history_.trust_region || excess <= kManySteps * reach)) continue;
      add("not-steerable",
          reach > 0.0
              ? fmt::format("Cost {} is {:.3g} above its limit, and a step within the radius ({:.2g}) can lower it by "
                            "{:.2g} at most: {:.0f} updates.",
                            cost.name, excess, diagnosis_.radius, reach, excess / reach)
              : fmt::format("Cost {} is {:.3g} above its limit, and nothing that the policy does changes it.",
                            cost.name, excess),
          reach > 0.0 ? "longer steps (a larger radius.lower and radius.upper), or a limit that can be kept"
                      : "a cost that depends on the actions within a window, or another limit");
    }
  }

  void broken_promises() {
    for (std::size_t k = 0; k < history_.deliveries.size(); ++k) {
      const Delivery& delivery = history_.deliveries[k];
      if (!matters(k) || delivery.updates < kFewestUpdates) continue;
      if (!(delivery.share + 2.0 * delivery.se < kUndelivered)) continue;
      const std::string text = fmt::format(
          "Updates do not deliver: of the change of {} that the last {} promised ({:.3g} each), {:.0f} ± "
          "{:.0f} % came.",
          name(k), delivery.updates, delivery.predicted, percent(delivery.share), percent(delivery.se));
      if (exploded_) {
        add("not-delivered", text, "first the gradient that explodes, above");
        continue;
      }
      std::vector<std::string> advice = {shorter_steps()};
      if (!settings_.radius.debias) advice.emplace_back("radius.debias=true");
      if (settings_.radius.metric == RadiusMetric::kEuclid) advice.emplace_back("radius.metric=action");
      advice.push_back(fmt::format("environments={}", 2 * settings_.environments));
      add("not-delivered", text, fmt::format("{}", fmt::join(advice, ", or ")));
    }
  }

  void poor_model() {
    if (!history_.model) return;
    const ModelErrors& model = *history_.model;
    const std::vector<std::string> better = {fmt::format("world.minibatches={}", 2 * settings_.world.minibatches),
                                             fmt::format("world.members={}", settings_.world.members + 2)};
    if (model.step > kPoorModel) {
      add("model-poor",
          fmt::format(
              "The model knows little of the task: one step ahead it is off by {:.2g} of the standard deviation "
              "of what changes, on episodes it has not seen (1 is no better than the mean).",
              model.step),
          fmt::format("{}, or more environments", fmt::join(better, ", or ")));
      return;
    }
    const bool judged = !history_.deliveries.empty() && history_.deliveries[0].updates >= kFewestUpdates;
    if (!judged || !(history_.deliveries[0].share + 2.0 * history_.deliveries[0].se < kDelivered)) return;
    add("model-misleads",
        fmt::format("Updates bring {:.0f} % of the return that the model's derivatives promise. Its predictions are "
                    "off by {:.2g} standard deviations after one step and {:.2g} after a window of {}.",
                    percent(history_.deliveries[0].share), model.step, model.window, settings_.window),
        fmt::format("{}, or {}", fmt::join(better, ", or "),
                    settings_.world.states == WorldStates::kModel
                        ? "world.states=real, where errors do not add up"
                        : fmt::format("window={}", std::max(1, settings_.window / 2))));
  }

  void radius_bounds() {
    const RadiusSettings& radius = settings_.radius;
    if (history_.recent == 0 || !history_.trust_region || radius.test == RadiusTest::kFixed) return;
    if (radius.lower >= radius.upper) {
      add("radius-pinned",
          fmt::format("The radius cannot move: radius.lower={:g} and radius.upper={:g}.", radius.lower, radius.upper),
          fmt::format("leave both to their defaults ({:g} and {:g}), or say radius.test=fixed if it is meant",
                      RadiusSettings().lower, RadiusSettings().upper));
      return;
    }
    const auto pinned = [&](double share, const char* bound, double value) {
      return fmt::format("The radius stood at its {} bound, radius.{}={:g}, in {:.0f} % of the last {} iterations",
                         bound, bound, value, percent(share), history_.recent);
    };
    if (history_.at_lower >= kOften) {
      const bool flat = !diagnosis_.reach.empty() && is_flat(0);
      const bool delivers =
          !history_.deliveries.empty() && history_.deliveries[0].share - history_.deliveries[0].se > kDelivered;
      const std::string text = pinned(history_.at_lower, "lower", radius.lower);
      const std::string raise = fmt::format("radius.lower={:.1g}", 10.0 * radius.lower);
      if (flat) {
        add("radius-lower", text + ", and the return is flat: steps are short where there is little to gain.",
            "nothing if the task is solved; else " + raise, /*problem=*/false);
      } else if (delivers) {
        add("radius-lower",
            text + ", though updates bring most of what they promise: progress is slower than it could be.", raise);
      } else {
        add("radius-lower", text + ": even short steps do not do what their gradients promise.",
            "better gradients first (the other findings say which), then a smaller radius.lower");
      }
    }
    if (history_.at_upper >= kOften) {
      add("radius-upper",
          pinned(history_.at_upper, "upper", radius.upper) + ": steps do what they promise and could be longer.",
          fmt::format("radius.upper={:.1g} if the return was still rising", 4.0 * radius.upper), /*problem=*/false);
    }
  }

  void early_ends() {
    if (!(evaluation_.episode_length < kEarly * diagnosis_.horizon)) return;
    add("ends-early",
        fmt::format(
            "Episodes end early: after {:.4g} of {} steps on average. What stops with the episode has no gradient "
            "through its end; only the critics know of it.",
            evaluation_.episode_length, diagnosis_.horizon),
        settings_.critic.targets == CriticTargets::kWindow
            ? "critic.targets=episode, or more environments"
            : "more environments, or a reward that falls before the end");
  }

  void wide_costs() {
    for (const CostReport& cost : evaluation_.costs) {
      if (!std::isfinite(cost.limit) || cost.verdict() == Verdict::kExceeded) continue;
      const double beyond = cost.spread.high - cost.limit;
      if (!(beyond > kWide * std::max(std::abs(cost.limit), 1.0))) continue;
      add("cost-spread",
          fmt::format("The mean of cost {} hides violations: it is {:.4g} with a limit of {:.4g}, but {:.0f} % of the "
                      "episodes are over it and one in twenty is above {:.4g}.",
                      cost.name, cost.estimate.mean, cost.limit, percent(cost.spread.over), cost.spread.high),
          fmt::format("a lower limit ({}): the constraint is on the mean alone", lowered_limits(cost)));
    }
  }

  // Such that the worst twentieth would come down to the limit, if it follows the mean.
  std::string lowered_limits(const CostReport& wide) const {
    std::vector<std::string> limits;
    for (const CostReport& cost : evaluation_.costs) {
      const double lower =
          cost.limit > 0.0 ? cost.limit * cost.limit / cost.spread.high : 2.0 * cost.limit - cost.spread.high;
      limits.push_back(fmt::format("{:.4g}", &cost == &wide ? lower : cost.limit));
    }
    return fmt::format("limits=[{}]", fmt::join(limits, ", "));
  }

  void far_inputs() {
    for (const InputDiagnosis& input : diagnosis_.inputs) {
      if (!(input.root_mean_square > kFarInput)) continue;
      add("observation-far",
          fmt::format(
              "Observation {} is outside what the normaliser saw in training: {:.3g} of its standard deviations "
              "from its mean, as root mean square.",
              input.index, input.root_mean_square),
          "longer training from here (--init), or start states and an engine like those of the training");
    }
  }

  void saturation() {
    if (!(diagnosis_.actions.saturated > kMostlySaturated)) return;
    add("policy-saturated",
        fmt::format(
            "The policy is saturated: {:.0f} % of its actions are at the end of their range (|a| > 0.98), where "
            "the gradient hardly gets through.",
            percent(diagnosis_.actions.saturated)),
        all_.substeps > 0 ? "a larger task.action_scale if the motors allow it, or " + limit_energy() : limit_energy());
  }

  void jitter() {
    const Spectrum& spectrum = diagnosis_.actions.spectrum;
    if (!(spectrum.share(3) > kWhite) || !(std::sqrt(spectrum.quarters[3]) > kNoticeable)) return;
    const double frequency = diagnosis_.actions.upper_frequency;
    add("action-jitter",
        fmt::format(
            "The actions jitter: {:.0f} % of their power is in the upper quarter of frequencies{}, more than white "
            "noise has there (25 %).",
            percent(spectrum.share(3)), frequency > 0.0 ? fmt::format(" (above {:.3g} Hz)", frequency) : ""),
        fmt::format("more noise in training (policy.initial_std={:g}), or {}", 3.0 * settings_.policy.initial_std,
                    limit_energy()));
  }

  void contact() {
    if (!diagnosis_.contact || !(diagnosis_.contact->any < kNoContact)) return;
    add("no-contact",
        fmt::format(
            "Nothing is in contact: the robot touches in {:.1f} % of {} states, so its motors have nothing to push "
            "against.",
            percent(diagnosis_.contact->any), diagnosis_.contact->states),
        "start states nearer to the floor, or an end of the episode before the robot leaves it");
  }

  void fall_back() {
    if (!history_.best_return || history_.iterations < kFewestIterations) return;
    const double lost = *history_.best_return - history_.recent_return;
    if (!(lost > kFallenBack * history_.return_range)) return;
    add("fell-back",
        fmt::format("The run had a better feasible policy: return {:.4g} at iteration {}, against {:.4g} over the last "
                    "ones.",
                    *history_.best_return, history_.best_iteration + 1, history_.recent_return),
        fmt::format("`{} eval RUN --checkpoint best`, and to go on from it `{} train --init RUN`{}", program_name(),
                    program_name(), settings_.radius.retreat == 0.0 ? " with radius.retreat=3" : ""));
  }

  void warnings() {
    if (history_.warnings == 0 || history_.refused >= kManyFailed) return;
    add("warnings",
        fmt::format("{} of the last {} iterations ended with a warning; the last: {}.", history_.warnings,
                    history_.recent, history_.last_warning),
        "the lines of log.jsonl that have a \"warning\"", /*problem=*/false);
  }

  const Explanation& all_;
  const Settings& settings_;
  const EvaluationReport& evaluation_;
  const Diagnosis& diagnosis_;
  const RunHistory& history_;
  std::vector<Finding> found_;
  bool exploded_ = false;
};

Delivery deliver(const std::vector<LogEntry>& log, std::size_t begin, std::size_t k) {
  Delivery result;
  double products = 0.0;
  double squares = 0.0;
  double noise = 0.0;
  double sizes = 0.0;
  for (std::size_t i = begin; i < log.size(); ++i) {
    const IterationReport& report = log[i].report;
    if (k >= report.change_predicted.size() || k >= report.change_realised.size() || k >= report.change_se.size())
      continue;
    const double predicted = report.change_predicted[k];
    const double realised = report.change_realised[k];
    if (!std::isfinite(predicted) || !std::isfinite(realised) || !std::isfinite(report.change_se[k])) continue;
    products += predicted * realised;
    squares += predicted * predicted;
    noise += std::pow(predicted * report.change_se[k], 2);
    sizes += std::abs(predicted);
    ++result.updates;
  }
  if (!(squares > 0.0)) return {};
  result.share = products / squares;
  result.se = std::sqrt(noise) / squares;
  result.predicted = sizes / result.updates;
  return result;
}

}  // namespace

RunHistory summarise_log(const std::vector<LogEntry>& log, const RadiusSettings& radius) {
  RunHistory history;
  history.iterations = static_cast<int>(log.size());
  history.recent = std::min(history.iterations, std::max(kRecentAtLeast, history.iterations / 4));
  if (log.empty()) return history;
  const std::size_t begin = log.size() - static_cast<std::size_t>(history.recent);
  const double share = 1.0 / history.recent;
  constexpr double kRounding = 1e-9;
  history.trust_region = std::any_of(log.begin() + static_cast<std::ptrdiff_t>(begin), log.end(),
                                     [](const LogEntry& entry) { return entry.report.radius.has_value(); });
  for (std::size_t i = begin; i < log.size(); ++i) {
    const IterationReport& report = log[i].report;
    if (report.world) {
      if (!history.model) history.model.emplace();
      history.model->step += share * report.world->state_error;
      history.model->window += share * report.world->window_error;
    }
    if (report.radius && *report.radius <= radius.lower * (1.0 + kRounding)) history.at_lower += share;
    if (report.radius && *report.radius >= radius.upper * (1.0 - kRounding)) history.at_upper += share;
    if (report.update_case == "refused") history.refused += share;
    if (report.update_case == "retreat") history.retreated += share;
    if (!report.warning.empty()) {
      ++history.warnings;
      history.last_warning = report.warning;
    }
  }
  std::size_t signals = 0;
  for (const LogEntry& entry : log) signals = std::max(signals, entry.report.change_predicted.size());
  for (std::size_t k = 0; k < signals; ++k) history.deliveries.push_back(deliver(log, begin, k));

  double lowest = std::numeric_limits<double>::infinity();
  double highest = -lowest;
  for (const LogEntry& entry : log) {
    const IterationReport& report = entry.report;
    if (!std::isfinite(report.return_mean)) continue;
    lowest = std::min(lowest, report.return_mean);
    highest = std::max(highest, report.return_mean);
    if (is_feasible(report) && !(history.best_return && report.return_mean <= *history.best_return)) {
      history.best_return = report.return_mean;
      history.best_iteration = report.iteration;
    }
  }
  history.return_range = std::max(highest - lowest, 0.0);
  const std::size_t last = std::min(log.size(), kReturnsOfLast);
  for (std::size_t i = log.size() - last; i < log.size(); ++i)
    history.recent_return += log[i].report.return_mean / static_cast<double>(last);
  return history;
}

std::vector<Finding> find_causes(const Explanation& explanation) { return Search(explanation).run(); }

}  // namespace cgpo
