// Rules about gradients and critics.
#include <algorithm>
#include <cmath>
#include <fmt/ranges.h>

#include "cgpo/judge/explain_rules.hpp"

namespace cgpo::explain_rules {
namespace {

// Thresholds; docs/guide/diagnostics.md has the runs behind them.
constexpr double kExplosion = 5.0;      // growth of the gradient's noise, in multiples of the window's
constexpr double kDrowned = 0.1;        // share of the gradient's squared length that is no noise
constexpr double kUselessCritic = 0.3;  // explained variance
constexpr double kUselessSlope = 0.03;  // cosine; a robot whose contacts shake the adjoint learns well with 0.1
constexpr double kManySteps = 50.0;     // updates that it would take to repair a constraint

}  // namespace

void explosion(const Case& c, Findings& found) {
  if (c.settings.gradient.source == GradientSource::kZobg) return;
  const WindowGradients* const own = c.own_window();
  if (own == nullptr) return;
  for (std::size_t k = 0; k < own->signals.size(); ++k) {
    if (!c.matters(k)) continue;
    const WindowGradients* const first = std::find_if(
        c.diagnosis.windows.data(), own, [k](const WindowGradients& entry) { return entry.signals[k].error > 0.0; });
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
    found.add(kExplodes,
              fmt::format("The gradient of {} explodes with the window: from {} to {} steps its noise grows {}, where "
                          "{:.3g}-fold could be expected, and signal to noise falls from {:.2g} to {:.2g}.",
                          c.name(k), first->window, own->window,
                          !std::isfinite(growth) ? "beyond all numbers"
                          : growth < 1e5         ? fmt::format("{:.0f}-fold", growth)
                                                 : fmt::format("{:.0e}-fold", growth),
                          longer, first->signals[k].signal_to_noise(), now.signal_to_noise()),
              fmt::format("{}window={}{}", c.windowed() ? "" : "gradient.source=shac with ", window,
                          c.diagnosis.contact ? ", or a softer floor (a larger task.contact_width)" : ""));
    return;
  }
}

void drowned_gradients(const Case& c, Findings& found) {
  if (found.has(kExplodes)) return;  // it is the same
  for (std::size_t k = 0; k < c.diagnosis.gradient_signals.size(); ++k) {
    if (!c.steers(k) || !(c.diagnosis.gradient_signals[k] < kDrowned) || c.is_flat(k)) continue;
    std::vector<std::string> advice = {c.more_episodes(4)};
    if (c.settings.gradient.source == GradientSource::kZobg) {
      if (c.settings.gradient.baseline == ZobgBaseline::kNone) advice.emplace_back("gradient.baseline=step");
    } else if (c.diagnosis.window > 1) {
      advice.push_back(fmt::format("{}window={}", c.windowed() ? "" : "gradient.source=shac with ",
                                   c.windowed() ? std::max(1, c.diagnosis.window / 2) : 10));
    }
    // The same windows without critics tell whose noise it is.
    const WindowGradients* const bare = c.own_window();
    const double with = c.diagnosis.gradient[k].signal_to_noise();
    const double without = c.windowed() && bare != nullptr ? bare->signals[k].signal_to_noise() : 0.0;
    const bool by_critics = without > 2.0 && without > 3.0 * with;
    found.add(
        "gradient-drowned",
        fmt::format("The gradient of {} is drowned in noise: {:.0f} % of its squared length is signal, measured as the "
                    "trust region does; in plain length signal to noise is {:.2g}.{}",
                    c.name(k), percent(std::max(c.diagnosis.gradient_signals[k], 0.0)), with,
                    by_critics
                        ? fmt::format(" Without critics it is {:.2g} over the same windows: the noise comes in with "
                                      "the critics' slopes.",
                                      without)
                        : ""),
        fmt::format("{}", fmt::join(advice, ", or ")));
  }
}

void flat_return(const Case& c, Findings& found) {
  if (c.diagnosis.reach.empty() || !c.history.trust_region || !c.is_flat(0)) return;
  const double reach = c.diagnosis.reach[0];
  found.add(
      "return-flat",
      fmt::format("The return is flat here: a step within the radius ({:.2g}) changes it by {:.2g} at most, of {:.4g}.",
                  c.diagnosis.radius, reach, c.mean_of(0)),
      reach > 0.0 ? "nothing if the task is solved; else longer steps (a larger radius.lower and radius.upper), or "
                    "another start (another --seed, a larger policy.initial_std)"
                  : "a reward that depends on what the policy does within the window, or better critics",
      /*problem=*/false);
}

void critics(const Case& c, Findings& found) {
  for (std::size_t k = 0; k < c.diagnosis.critic_explained.size(); ++k) {
    if (!c.matters(k)) continue;
    const double explained = c.diagnosis.critic_explained[k];
    const double cosine = k < c.diagnosis.critic_cosines.size() ? c.diagnosis.critic_cosines[k] : 1.0;
    const bool values = explained < kUselessCritic;
    const bool slopes = cosine < kUselessSlope && !found.has(kExplodes);  // an adjoint that explodes is no measure
    if (!values && !slopes) continue;
    const std::string slope =
        fmt::format("its slope at a window's end has cosine {:.2f} with what the next window says", cosine);
    std::string text;
    if (!values) {
      text =
          fmt::format("The critic of {} points nowhere: though it explains {:.0f} % of the variance of what came, {}",
                      c.name(k), percent(explained), slope);
    } else if (explained > 0.0) {
      text = fmt::format("The critic of {} is of little use: it explains {:.0f} % of the variance of what came",
                         c.name(k), percent(explained));
    } else {
      text = fmt::format("The critic of {} is of no use: it foresees what comes no better than a constant", c.name(k));
    }
    if (values && std::isfinite(cosine)) text += "; " + slope;
    std::vector<std::string> advice;
    if (c.settings.critic.steps < 1024) {
      advice.push_back(fmt::format("critic.steps={}", std::max(256, 4 * c.settings.critic.steps)));
    }
    if (c.settings.critic.targets == CriticTargets::kWindow) advice.emplace_back("critic.targets=episode");
    if (slopes && c.settings.critic.sobolev == 0.0) {
      advice.push_back(fmt::format("critic.sobolev=1{} (it fits the slope itself)",
                                   c.settings.critic.fit_first ? "" : " with critic.fit_first=true"));
    }
    if (advice.empty()) advice.emplace_back("wider networks (critic.hidden=[128, 128])");
    found.add("critic-useless", text + ".", fmt::format("{}", fmt::join(advice, ", or ")));
  }
}

void unsteerable_constraints(const Case& c, Findings& found) {
  for (std::size_t k = 1; k < c.diagnosis.reach.size(); ++k) {
    const CostReport& cost = c.evaluation.costs[k - 1];
    if (!c.matters(k) || cost.verdict() != Verdict::kExceeded) continue;
    const double signal = c.diagnosis.gradient_signals[k];
    const double reach = c.diagnosis.reach[k] * (std::isnan(signal) ? 1.0 : std::sqrt(std::max(signal, 0.0)));
    const double excess = cost.estimate.mean - cost.limit;
    if (reach > 0.0 && (!c.history.trust_region || excess <= kManySteps * reach)) continue;
    found.add(
        "not-steerable",
        reach > 0.0
            ? fmt::format("Cost {} is {:.3g} above its limit, and a step within the radius ({:.2g}) can lower it by "
                          "{:.2g} at most: {:.0f} updates.",
                          cost.name, excess, c.diagnosis.radius, reach, excess / reach)
            : fmt::format("Cost {} is {:.3g} above its limit, and nothing that the policy does changes it.", cost.name,
                          excess),
        reach > 0.0 ? "longer steps (a larger radius.lower and radius.upper), or a limit that can be kept"
                    : "a cost that depends on the actions within a window, or another limit");
  }
}

}  // namespace cgpo::explain_rules
