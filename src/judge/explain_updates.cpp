// Rules about updates and the course of the run.
#include <algorithm>
#include <cmath>
#include <fmt/ranges.h>

#include "cgpo/base/program_name.hpp"
#include "cgpo/judge/explain_rules.hpp"

namespace cgpo::explain_rules {
namespace {

// Thresholds; docs/guide/diagnostics.md has the runs behind them.
constexpr double kManyFailed = 0.3;    // share of updates refused or taken back
constexpr double kUndelivered = 0.3;   // share of the promised change that came
constexpr double kDelivered = 0.5;     // share that is most of it
constexpr double kPoorTwin = 0.35;     // error one step ahead, in units of the change
constexpr double kOpposed = 0.3;       // cosine of a twin's gradient with that of scores
constexpr double kPoorModel = 0.3;     // error one step ahead, in standard deviations of the change
constexpr int kFewestUpdates = 5;      // to judge promises by
constexpr double kOften = 0.5;         // share of iterations with the radius at a bound
constexpr double kFallenBack = 0.3;    // share of the run's range of returns
constexpr int kFewestIterations = 10;  // of a run that can fall back

}  // namespace

void divergence(const Case& c, Findings& found) {
  const int all = c.evaluation.all_episodes();
  if (!too_many_diverged(c.evaluation)) return;
  found.add(
      "diverged",
      fmt::format("{} of {} episodes diverged ({:.1f} %): their states left the finite numbers or the task's bound. "
                  "Nothing can be judged by those that are left, and an update from such a batch is refused.",
                  c.evaluation.diverged, all, percent(static_cast<double>(c.evaluation.diverged) / all)),
      c.all.substeps > 0
          ? fmt::format("smaller physics steps (task.substeps={}){}", 2 * c.all.substeps,
                        c.diagnosis.contact ? ", or a softer floor (a smaller task.contact_stiffness)" : "")
          : fmt::format("`{} check {}`, and bounds on what the task's own step may return", program_name(),
                        c.all.task));
}

void failed_updates(const Case& c, Findings& found) {
  if (c.history.refused >= kManyFailed) {
    found.add(
        "refused",
        fmt::format("{:.0f} % of the last {} updates were refused, so the policy did not move.{}",
                    percent(c.history.refused), c.history.recent,
                    c.history.last_warning.empty() ? "" : fmt::format(" The log says: {}.", c.history.last_warning)),
        "whatever the log's \"warning\" names; a non-finite gradient calls for a shorter window");
  }
  if (c.history.retreated >= kManyFailed) {
    found.add(
        "retreated",
        fmt::format("{:.0f} % of the last {} steps were taken back: they missed what they had promised by more than "
                    "{:g} times the promised change.",
                    percent(c.history.retreated), c.history.recent, c.settings.radius.retreat),
        c.shorter_steps());
  }
}

void broken_promises(const Case& c, Findings& found) {
  for (std::size_t k = 0; k < c.history.deliveries.size(); ++k) {
    const Delivery& delivery = c.history.deliveries[k];
    if (!c.matters(k) || delivery.updates < kFewestUpdates) continue;
    if (!(delivery.share + 2.0 * delivery.se < kUndelivered)) continue;
    const std::string text = fmt::format(
        "Updates do not deliver: of the change of {} that the last {} promised ({:.3g} each), {:.0f} ± "
        "{:.0f} % came.",
        c.name(k), delivery.updates, delivery.predicted, percent(delivery.share), percent(delivery.se));
    if (found.has(kExplodes)) {
      found.add("not-delivered", text, "first the gradient that explodes, above");
      continue;
    }
    std::vector<std::string> advice = {c.shorter_steps()};
    if (c.settings.radius.metric == RadiusMetric::kEuclid) advice.emplace_back("radius.metric=action");
    advice.push_back(c.more_episodes(2));
    found.add("not-delivered", text, fmt::format("{}", fmt::join(advice, ", or ")));
  }
}

void poor_model(const Case& c, Findings& found) {
  if (!c.history.model) return;
  const ModelErrors& model = *c.history.model;
  const std::vector<std::string> better = {fmt::format("world.minibatches={}", 2 * c.settings.world.minibatches),
                                           fmt::format("world.members={}", c.settings.world.members + 2)};
  if (model.step > kPoorModel) {
    found.add(
        "model-poor",
        fmt::format("The model knows little of the task: one step ahead it is off by {:.2g} of the standard deviation "
                    "of what changes, on episodes it has not seen (1 is no better than the mean).",
                    model.step),
        fmt::format("{}, or more environments", fmt::join(better, ", or ")));
    return;
  }
  const bool judged = !c.history.deliveries.empty() && c.history.deliveries[0].updates >= kFewestUpdates;
  if (!judged || !(c.history.deliveries[0].share + 2.0 * c.history.deliveries[0].se < kDelivered)) return;
  found.add(
      "model-misleads",
      fmt::format("Updates bring {:.0f} % of the return that the model's derivatives promise. Its predictions are "
                  "off by {:.2g} standard deviations after one step and {:.2g} after a window of {}.",
                  percent(c.history.deliveries[0].share), model.step, model.window, c.settings.window),
      fmt::format("{}, or {}", fmt::join(better, ", or "),
                  c.settings.world.states == WorldStates::kModel
                      ? "world.states=real, where errors do not add up"
                      : fmt::format("window={}", std::max(1, c.settings.window / 2))));
}

void poor_twin(const Case& c, Findings& found) {
  if (!c.diagnosis.twin) return;
  const TwinDiagnosis& twin = *c.diagnosis.twin;
  std::vector<std::string> better;
  if (!c.all.twin_fitted) better.emplace_back("twin.fit=true");
  better.push_back(fmt::format("twin.substeps={}", 2 * c.all.twin_substeps));
  if (c.all.twin_fitted && c.settings.twin.prior > 0.0)
    better.push_back(fmt::format("twin.prior={:.1g}", 0.1 * c.settings.twin.prior));
  const std::string advice = fmt::format(
      "{}, shorter windows (window={}), or twin.* nearer to what the model file says of joint limits and contact",
      fmt::join(better, ", or "), std::max(1, c.settings.window / 2));
  for (std::size_t k = 0; k < twin.cosines.size(); ++k) {
    const GradientCosine& of = twin.cosines[k];
    if (!c.steers(k) || !(of.cosine + 2.0 * of.error < kOpposed)) continue;
    found.add("twin-misleads",
              fmt::format("The twin's gradient of {} is not the engine's: its cosine with that of scores over {} "
                          "episodes is {:.2f} ± {:.2f}. One step ahead the twin is off by {:.0f} % of the change.",
                          c.name(k), twin.episodes, of.cosine, of.error, percent(twin.error)),
              advice + ", or gradient.source=zobg with many episodes");
  }
  if (found.has("twin-misleads") || !(twin.error > kPoorTwin)) return;
  found.add("twin-poor",
            fmt::format("The twin is another robot: one step ahead it is off by {:.0f} % of what the engine changes, "
                        "and by {:.0f} % after a window of {}.",
                        percent(twin.error), percent(twin.window_error), c.settings.window),
            advice);
}

void radius_bounds(const Case& c, Findings& found) {
  const RadiusSettings& radius = c.settings.radius;
  if (c.history.recent == 0 || !c.history.trust_region || radius.test == RadiusTest::kFixed) return;
  if (radius.lower >= radius.upper) {
    found.add(
        "radius-pinned",
        fmt::format("The radius cannot move: radius.lower={:g} and radius.upper={:g}.", radius.lower, radius.upper),
        fmt::format("leave both to their defaults ({:g} and {:g}), or say radius.test=fixed if it is meant",
                    RadiusSettings().lower, RadiusSettings().upper));
    return;
  }
  const auto pinned = [&](double share, const char* bound, double value) {
    return fmt::format("The radius stood at its {} bound, radius.{}={:g}, in {:.0f} % of the last {} iterations", bound,
                       bound, value, percent(share), c.history.recent);
  };
  if (c.history.at_lower >= kOften) {
    const bool flat = !c.diagnosis.reach.empty() && c.is_flat(0);
    const bool delivers =
        !c.history.deliveries.empty() && c.history.deliveries[0].share - c.history.deliveries[0].se > kDelivered;
    const std::string text = pinned(c.history.at_lower, "lower", radius.lower);
    const std::string raise = fmt::format("radius.lower={:.1g}", 10.0 * radius.lower);
    if (flat) {
      found.add("radius-lower", text + ", and the return is flat: steps are short where there is little to gain.",
                "nothing if the task is solved; else " + raise, /*problem=*/false);
    } else if (delivers) {
      found.add("radius-lower",
                text + ", though updates bring most of what they promise: progress is slower than it could be.", raise);
    } else {
      found.add("radius-lower", text + ": even short steps do not do what their gradients promise.",
                "better gradients first (the other findings say which), then a smaller radius.lower");
    }
  }
  if (c.history.at_upper >= kOften) {
    found.add("radius-upper",
              pinned(c.history.at_upper, "upper", radius.upper) + ": steps do what they promise and could be longer.",
              fmt::format("radius.upper={:.1g} if the return was still rising", 4.0 * radius.upper), /*problem=*/false);
  }
}

void fall_back(const Case& c, Findings& found) {
  if (!c.history.best_return || c.history.iterations < kFewestIterations) return;
  const double recent = c.history.recent_return;
  const double least = *c.history.best_return - kFallenBack * c.history.return_range;
  if (recent >= least || c.history.last_return >= least) return;  // the last alone: of a run that still rises
  found.add("fell-back",
            fmt::format("The run had a better feasible policy: return {:.4g} at iteration {}, {}.",
                        *c.history.best_return, c.history.best_iteration + 1,
                        std::isnan(recent) ? "while in the last ones too many episodes diverged"
                                           : fmt::format("against {:.4g} over the last ones", recent)),
            fmt::format("`{} eval RUN --checkpoint best`, and to go on from it `{} train --init RUN`{}", program_name(),
                        program_name(), c.settings.radius.retreat == 0.0 ? " with radius.retreat=3" : ""));
}

void warnings(const Case& c, Findings& found) {
  if (c.history.warnings == 0 || c.history.refused >= kManyFailed) return;
  found.add("warnings",
            fmt::format("{} of the last {} iterations ended with a warning; the last: {}.", c.history.warnings,
                        c.history.recent, c.history.last_warning),
            "the lines of log.jsonl that have a \"warning\"", /*problem=*/false);
}

}  // namespace cgpo::explain_rules
