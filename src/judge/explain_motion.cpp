// Rules about what the policy does.
#include <algorithm>
#include <cmath>
#include <fmt/ranges.h>

#include "cgpo/judge/explain_rules.hpp"

namespace cgpo::explain_rules {
namespace {

// Thresholds; docs/guide/diagnostics.md has the runs behind them.
constexpr double kEarly = 0.9;            // of the horizon
constexpr double kWide = 0.25;            // of the limit: by how much the worst twentieth exceeds it
constexpr double kFarInput = 5.0;         // standard deviations
constexpr double kMostlySaturated = 0.5;  // share of actions
constexpr double kWhite = 0.25;           // share of white noise's power in the upper quarter of frequencies
constexpr double kNoticeable = 0.05;      // root mean square of an action's jitter
constexpr double kNoContact = 0.01;       // share of steps

}  // namespace

void early_ends(const Case& c, Findings& found) {
  if (!(c.evaluation.episode_length < kEarly * c.diagnosis.horizon)) return;
  found.add("ends-early",
            fmt::format(
                "Episodes end early: after {:.4g} of {} steps on average. What stops with the episode has no gradient "
                "through its end; only the critics know of it.",
                c.evaluation.episode_length, c.diagnosis.horizon),
            c.settings.critic.targets == CriticTargets::kWindow
                ? "critic.targets=episode, or more environments"
                : "more environments, or a reward that falls before the end");
}

// Such that the worst twentieth would come down to the limit, if it follows the mean.
std::string lowered_limits(const Case& c, const CostReport& wide) {
  std::vector<std::string> limits;
  for (const CostReport& cost : c.evaluation.costs) {
    const double lower =
        cost.limit > 0.0 ? cost.limit * cost.limit / cost.spread.high : 2.0 * cost.limit - cost.spread.high;
    limits.push_back(fmt::format("{:.4g}", &cost == &wide ? lower : cost.limit));
  }
  return fmt::format("limits=[{}]", fmt::join(limits, ", "));
}

void wide_costs(const Case& c, Findings& found) {
  for (const CostReport& cost : c.evaluation.costs) {
    if (!std::isfinite(cost.limit) || cost.verdict() == Verdict::kExceeded) continue;
    const double beyond = cost.spread.high - cost.limit;
    if (!(beyond > kWide * std::max(std::abs(cost.limit), 1.0))) continue;
    found.add(
        "cost-spread",
        fmt::format("The mean of cost {} hides violations: it is {:.4g} with a limit of {:.4g}, but {:.0f} % of the "
                    "episodes are over it and one in twenty is above {:.4g}.",
                    cost.name, cost.estimate.mean, cost.limit, percent(cost.spread.over), cost.spread.high),
        fmt::format("a lower limit ({}): the constraint is on the mean alone", lowered_limits(c, cost)));
  }
}

void noisy_limit(const Case& c, Findings& found) {
  if (!c.evaluation.deployed) return;
  for (std::size_t i = 0; i < c.evaluation.costs.size(); ++i) {
    const CostReport& noisy = c.evaluation.costs[i];
    const CostReport& deployed = c.evaluation.deployed->costs[i];
    if (deployed.verdict() != Verdict::kExceeded || noisy.verdict() == Verdict::kExceeded) continue;
    found.add("deployed-over",
              fmt::format("Only its noise keeps cost {} within its limit of {:.4g}: it is {:.4g} with noise and {:.4g} "
                          "without, and it is deployed without.",
                          noisy.name, noisy.limit, noisy.estimate.mean, deployed.estimate.mean),
              fmt::format("longer training, in which the noise becomes less, or a limit lower by {:.3g}",
                          deployed.estimate.mean - noisy.estimate.mean));
  }
}

void far_inputs(const Case& c, Findings& found) {
  for (const InputDiagnosis& input : c.diagnosis.inputs) {
    if (!(input.root_mean_square > kFarInput)) continue;
    found.add(
        "observation-far",
        fmt::format("Observation {} is outside what the normaliser saw in training: {:.3g} of its standard deviations "
                    "from its mean, as root mean square.",
                    input.index, input.root_mean_square),
        "longer training from here (--init), or start states and an engine like those of the training");
  }
}

void saturation(const Case& c, Findings& found) {
  if (!(c.diagnosis.actions.saturated > kMostlySaturated)) return;
  found.add(
      "policy-saturated",
      fmt::format("The policy is saturated: {:.0f} % of its actions are at the end of their range (|a| > 0.98), where "
                  "the gradient hardly gets through.",
                  percent(c.diagnosis.actions.saturated)),
      c.all.substeps > 0 ? "a larger task.action_scale if the motors allow it, or " + c.limit_energy()
                         : c.limit_energy());
}

void jitter(const Case& c, Findings& found) {
  const Spectrum& spectrum = c.diagnosis.actions.spectrum;
  if (!(spectrum.share(3) > kWhite) || !(std::sqrt(spectrum.quarters[3]) > kNoticeable)) return;
  const double frequency = c.diagnosis.actions.upper_frequency;
  found.add("action-jitter",
            fmt::format(
                "The actions jitter: {:.0f} % of their power is in the upper quarter of frequencies{}, more than white "
                "noise has there (25 %).",
                percent(spectrum.share(3)), frequency > 0.0 ? fmt::format(" (above {:.3g} Hz)", frequency) : ""),
            fmt::format("more noise in training (policy.initial_std={:g}), or {}", 3.0 * c.settings.policy.initial_std,
                        c.limit_energy()));
}

void contact(const Case& c, Findings& found) {
  if (!c.diagnosis.contact || !(c.diagnosis.contact->any < kNoContact)) return;
  found.add("no-contact",
            fmt::format(
                "Nothing is in contact: the robot touches in {:.1f} % of {} states, so its motors have nothing to push "
                "against.",
                percent(c.diagnosis.contact->any), c.diagnosis.contact->states),
            "start states nearer to the floor, or an end of the episode before the robot leaves it");
}

}  // namespace cgpo::explain_rules
