#include "cgpo/judge/evaluation_report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <limits>

#include "cgpo/base/error.hpp"
#include "cgpo/base/numbers.hpp"
#include "cgpo/base/statistics.hpp"
#include "cgpo/base/table.hpp"
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

// The first of these that one has is what is said of all.
constexpr std::array kWorstFirst = {Verdict::kDiverged, Verdict::kExceeded, Verdict::kUnknown, Verdict::kTooClose};

Verdict worst_of(const std::vector<Verdict>& verdicts) {
  for (const Verdict bad : kWorstFirst) {
    if (std::find(verdicts.begin(), verdicts.end(), bad) != verdicts.end()) return bad;
  }
  return Verdict::kHolds;
}

// Of these episodes alone, whatever the deployed ones say.
Verdict own_verdict(const EvaluationReport& report) {
  if (too_many_diverged(report)) return Verdict::kDiverged;
  std::vector<Verdict> verdicts;
  for (const CostReport& cost : report.costs) verdicts.push_back(cost.verdict());
  return worst_of(verdicts);
}

bool own_feasible(const EvaluationReport& report) {
  return !too_many_diverged(report) &&
         std::all_of(report.costs.begin(), report.costs.end(), [](const CostReport& cost) {
           return cost.verdict() != Verdict::kUnknown && cost.estimate.mean <= cost.limit;
         });
}

// Which of the two a verdict on both is about, if it is not about both alike.
struct Blamed {
  const EvaluationReport& report;
  const char* words;
};
Blamed blamed_of(const EvaluationReport& report) {
  if (!report.deployed) return {report, ""};
  const EvaluationReport& deployed = *report.deployed;
  const auto is_bad = [&](const EvaluationReport& one) {
    return own_verdict(one) == report.verdict() && (report.feasible || !own_feasible(one));
  };
  if (is_bad(report) == is_bad(deployed)) return {report, ""};
  return is_bad(deployed) ? Blamed{deployed, " when deployed"} : Blamed{report, " with noise"};
}

std::string diverged_sentence(const Blamed& blamed) {
  const EvaluationReport& report = blamed.report;
  return fmt::format("not feasible{}: {}{}", blamed.words, diverged_words(report.diverged, report.all_episodes()),
                     report.episodes == 0           ? ""
                     : report.all_episodes() >= 100 ? ", more than 1 %"
                                                    : ", more than one");
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
  const Verdict verdict = report.verdict();
  const bool has_limit = std::any_of(report.costs.begin(), report.costs.end(),
                                     [](const CostReport& cost) { return !std::isinf(cost.limit); });
  if (!has_limit && verdict != Verdict::kDiverged) {
    return report.costs.empty() ? "feasible: there are no constraints" : "feasible: no cost has a limit to keep";
  }
  const Blamed blamed = blamed_of(report);
  switch (verdict) {
    case Verdict::kHolds: return "feasible, with 95 % confidence";
    case Verdict::kTooClose:
      return report.feasible
                 ? "feasible on average, but within the uncertainty of these episodes"
                 : fmt::format("not feasible{} on average, but within the uncertainty of these episodes", blamed.words);
    case Verdict::kExceeded: return fmt::format("not feasible{}, with 95 % confidence", blamed.words);
    case Verdict::kUnknown: return kNoError;
    case Verdict::kDiverged: return diverged_sentence(blamed);
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
  const Verdict own = own_verdict(*this);
  return deployed ? worst_of({own, deployed->verdict()}) : own;
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
  for (std::size_t i = 0; i < constraints.names.size(); ++i) {
    const std::vector<double>& samples = evaluation.costs[i];
    CostReport cost{constraints.names[i], estimate_mean(samples, evaluation.lattice), constraints.limits[i],
                    spread_over_episodes(samples, constraints.limits[i]), diverged};
    report.costs.push_back(std::move(cost));
  }
  report.feasible = own_feasible(report);
  return report;
}

EvaluationReport summarise(const BothEvaluations& evaluations, const Constraints& constraints) {
  EvaluationReport report = summarise(evaluations.noisy, constraints);
  const auto deployed = std::make_shared<const EvaluationReport>(summarise(evaluations.deployed, constraints));
  report.feasible = report.feasible && deployed->feasible;
  report.deployed = deployed;
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
  if (report.deployed) result["deployed"] = to_json(*report.deployed);
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

std::string title_of(const CostReport& cost) {
  return std::isinf(cost.limit) ? fmt::format("cost {}, no limit", cost.name)
                                : fmt::format("cost {} <= {:.5g}", cost.name, cost.limit);
}

std::string mean_text(const CostReport& cost) {
  if (std::isinf(cost.limit)) return plus_minus(cost.estimate);
  return fmt::format("{}, {}", plus_minus(cost.estimate), verdict_word(cost.verdict()));
}

std::string interval_text(const CostReport& cost) {
  if (!std::isfinite(cost.estimate.se)) return "unknown";
  return fmt::format("{:.5g} to {:.5g}", cost.estimate.low(), cost.estimate.high());
}

std::string over_text(const CostReport& cost) {
  return std::isfinite(cost.spread.over) ? fmt::format("{:.1f} %", 100.0 * cost.spread.over) : "unknown";
}

}  // namespace

std::string to_text(const EvaluationReport& report) {
  std::vector<const EvaluationReport*> shown = {&report};
  std::vector<std::vector<std::string>> rows;
  if (report.deployed) {
    shown.push_back(report.deployed.get());
    rows.push_back({"", "with noise", "deployed: the mean action"});
  }
  const auto add = [&](const std::string& title, const std::function<std::string(const EvaluationReport&)>& cell) {
    rows.push_back({title});
    for (const EvaluationReport* one : shown) rows.back().push_back(cell(*one));
  };
  const auto has_own_paper_return = [](const EvaluationReport* one) {
    return one->episodes > 0 && one->return_paper.mean != one->return_optimised.mean;
  };
  add("return", [](const EvaluationReport& one) { return plus_minus(one.return_optimised); });
  if (std::any_of(shown.begin(), shown.end(), has_own_paper_return)) {
    add("return, paper", [](const EvaluationReport& one) { return plus_minus(one.return_paper); });
  }
  for (std::size_t i = 0; i < report.costs.size(); ++i) {
    const CostReport& cost = report.costs[i];
    add(title_of(cost), [i](const EvaluationReport& one) { return mean_text(one.costs[i]); });
    if (std::isinf(cost.limit)) continue;
    add("  95 % interval", [i](const EvaluationReport& one) { return interval_text(one.costs[i]); });
    add("  episodes over it", [i](const EvaluationReport& one) { return over_text(one.costs[i]); });
  }
  add("episodes", episodes_text);
  // Not a row: it is about all columns.
  std::size_t width = 0;
  for (const std::vector<std::string>& row : rows) width = std::max(width, row.front().size());
  return text_table(rows) + fmt::format("{:<{}}{}\n", "verdict", width + 2, overall_sentence(report));
}

EvaluationReport judge(const AlgorithmContext& context, const Tensors& checkpoint, int episodes, bool deterministic) {
  const Constraints constraints = resolve_constraints(*context.task, context.settings);
  if (deterministic) return summarise(evaluate(context, checkpoint, episodes, deterministic), constraints);
  return summarise(evaluate_both(context, checkpoint, episodes), constraints);
}

}  // namespace cgpo
