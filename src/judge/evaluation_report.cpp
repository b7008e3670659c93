#include "cgpo/judge/evaluation_report.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

#include "cgpo/base/error.hpp"
#include "cgpo/base/numbers.hpp"
#include "cgpo/base/statistics.hpp"
#include "cgpo/judge/metrics.hpp"
#include "cgpo/rollout/divergence.hpp"

namespace cgpo {
namespace {

constexpr const char* kNoError = "cannot be judged: one episode has no standard error";

Json to_json(const Estimate& estimate) {
  Json result;
  result["mean"] = estimate.mean;
  result["se"] = estimate.se;
  return result;
}

}  // namespace

const char* verdict_word(Verdict verdict) {
  switch (verdict) {
    case Verdict::kHolds: return "holds";
    case Verdict::kTooClose: return "too close to call";
    case Verdict::kExceeded: return "exceeded";
    case Verdict::kUnknown: return "cannot be judged";
    case Verdict::kDiverged: return "diverged";
  }
  return "";
}

std::string verdict_sentence(const CostReport& cost) {
  if (std::isinf(cost.limit)) return "there is none";
  const std::string interval = fmt::format("95 % interval {:.5g} to {:.5g}", cost.estimate.low(), cost.estimate.high());
  switch (cost.verdict()) {
    case Verdict::kHolds: return fmt::format("the limit holds ({})", interval);
    case Verdict::kTooClose: return fmt::format("too close to the limit to call ({})", interval);
    case Verdict::kExceeded: return fmt::format("the limit is exceeded ({})", interval);
    case Verdict::kUnknown: return kNoError;
    case Verdict::kDiverged: return "cannot be judged: too many episodes diverged";
  }
  return "";
}

std::string overall_sentence(const EvaluationReport& report) {
  if (report.costs.empty() && !too_many_diverged(report)) return "feasible: there are no constraints";
  switch (report.verdict()) {
    case Verdict::kHolds: return "feasible, with 95 % confidence";
    case Verdict::kTooClose:
      return report.feasible ? "feasible on average, but within the uncertainty of these episodes"
                             : "not feasible on average, but within the uncertainty of these episodes";
    case Verdict::kExceeded: return "not feasible, with 95 % confidence";
    case Verdict::kUnknown: return kNoError;
    case Verdict::kDiverged:
      return fmt::format("not feasible: {}{}", diverged_words(report.diverged, report.all_episodes()),
                         report.episodes == 0           ? ""
                         : report.all_episodes() >= 100 ? ", more than 1 %"
                                                        : ", more than one");
  }
  return "";
}

Estimate estimate_mean(const std::vector<double>& samples, int lattice) {
  if (samples.empty()) return {kNan, kNan};
  double sum = 0.0;
  for (const double sample : samples) sum += sample;
  return {sum / static_cast<double>(samples.size()),
          lattice > 0 ? standard_error_of_lattice(samples, lattice) : standard_error(samples),
          student_quantile(std::max(1, static_cast<int>(samples.size()) - 1))};
}

Verdict CostReport::verdict() const {
  if (limit == kInfinity) return Verdict::kHolds;
  if (diverged) return Verdict::kDiverged;
  if (!std::isfinite(estimate.se)) return Verdict::kUnknown;
  if (estimate.high() <= limit) return Verdict::kHolds;
  return estimate.low() > limit ? Verdict::kExceeded : Verdict::kTooClose;
}

Verdict EvaluationReport::verdict() const {
  if (too_many_diverged(*this)) return Verdict::kDiverged;
  // The first of these that a cost has.
  for (const Verdict bad : {Verdict::kExceeded, Verdict::kUnknown, Verdict::kTooClose}) {
    if (std::any_of(costs.begin(), costs.end(), [bad](const CostReport& cost) { return cost.verdict() == bad; })) {
      return bad;
    }
  }
  return Verdict::kHolds;
}

bool too_many_diverged(const EvaluationReport& report) {
  return too_many_diverged(report.diverged, report.all_episodes());
}

EvaluationReport summarise(const Evaluation& evaluation, const Constraints& constraints) {
  check(evaluation.costs.size() == constraints.names.size(), "an evaluation has the constraints' costs");
  EvaluationReport report;
  report.episodes = static_cast<int>(evaluation.returns.size());
  report.diverged = evaluation.diverged;
  report.return_optimised = estimate_mean(evaluation.returns, evaluation.lattice);
  report.return_paper = estimate_mean(evaluation.returns_paper, evaluation.lattice);
  report.episode_length = estimate_mean(evaluation.lengths).mean;
  const bool diverged = too_many_diverged(report);
  report.feasible = !diverged;
  for (std::size_t i = 0; i < constraints.names.size(); ++i) {
    const std::vector<double>& samples = evaluation.costs[i];
    CostReport cost{constraints.names[i], estimate_mean(samples, evaluation.lattice), constraints.limits[i],
                    spread_over_episodes(samples, constraints.limits[i]), diverged};
    report.feasible = report.feasible && cost.verdict() != Verdict::kUnknown && cost.estimate.mean <= cost.limit;
    report.costs.push_back(std::move(cost));
  }
  return report;
}

Json to_json(const EvaluationReport& report) {
  Json result;
  result["episodes"] = report.episodes;
  result["diverged"] = report.diverged;
  result["return"] = to_json(report.return_optimised);
  result["return_paper"] = to_json(report.return_paper);
  result["costs"] = Json::array();
  for (const CostReport& cost : report.costs) {
    Json entry;
    entry["name"] = cost.name;
    entry["mean"] = cost.estimate.mean;
    entry["se"] = cost.estimate.se;
    entry["limit"] = cost.limit;
    entry["violation_rate"] = cost.spread.over;
    entry["low"] = cost.spread.low;  // 5 % quantile
    entry["median"] = cost.spread.median;
    entry["high"] = cost.spread.high;  // 95 %
    entry["verdict"] = verdict_word(cost.verdict());
    result["costs"].push_back(std::move(entry));
  }
  result["episode_length"] = report.episode_length;
  result["feasible"] = report.feasible;
  result["verdict"] = verdict_word(report.verdict());
  return result;
}

namespace {

std::string plus_minus(const Estimate& estimate) {
  if (!std::isfinite(estimate.mean)) return "unknown";
  return std::isfinite(estimate.se) ? fmt::format("{:.5g} ± {:.2g}", estimate.mean, estimate.se)
                                    : fmt::format("{:.5g} in one episode", estimate.mean);
}

std::string episodes_text(const EvaluationReport& report) {
  const std::string length =
      report.episodes > 0 ? fmt::format(" of {:.5g} steps on average", report.episode_length) : "";
  const std::string left_out = report.diverged > 0 ? fmt::format("; {} more diverged and {} left out", report.diverged,
                                                                 report.diverged == 1 ? "is" : "are")
                                                   : "";
  return fmt::format("{}{}{}", report.episodes, length, left_out);
}

}  // namespace

std::string to_text(const EvaluationReport& report) {
  std::string text = fmt::format("return         {}\n", plus_minus(report.return_optimised));
  if (report.episodes > 0 && report.return_paper.mean != report.return_optimised.mean) {
    text += fmt::format("return, paper  {}\n", plus_minus(report.return_paper));
  }
  for (const CostReport& cost : report.costs) {
    text += fmt::format("cost {:<9} {}, limit {:.5g}: {}", cost.name, plus_minus(cost.estimate), cost.limit,
                        verdict_sentence(cost));
    if (report.episodes > 0) text += fmt::format("; {:.1f} % of the episodes are over it", 100.0 * cost.spread.over);
    text += "\n";
  }
  text += fmt::format("episodes       {}\n", episodes_text(report));
  text += fmt::format("verdict        {}\n", overall_sentence(report));
  return text;
}

EvaluationReport judge(const AlgorithmContext& context, const Tensors& checkpoint, int episodes, bool deterministic) {
  return summarise(evaluate(context, checkpoint, episodes, deterministic),
                   resolve_constraints(*context.task, context.settings));
}

}  // namespace cgpo
