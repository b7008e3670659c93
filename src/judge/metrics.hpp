// How fast a run converged and how often it broke its limits, from its log alone. The paper gives neither window,
// threshold, radius nor margin, so they are settings here, the same for every algorithm of a table.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cgpo/run/run_log.hpp"

namespace cgpo {

// All of them shares, so that one choice serves runs of any length, return and limit.
struct MetricSettings {
  double window = 0.10;     // of the run's iterations: how many must follow a point of convergence
  double threshold = 0.05;  // of the run's range of returns: how far these may be from it
  double near_best = 0.05;  // of the same range: how far strict ones may be below the best feasible return
  double radius = 0.10;     // of max(|b|, 1): how far below its limit b a cost is critical
  double margin = 0.01;     // of max(|b|, 1): how far above its limit b a cost is a violation
};

// The settings by name, for tables that vary them.
struct MetricSetting {
  std::string name;
  double MetricSettings::*field;
  std::string unit;  // "of the iterations"
};
const std::vector<MetricSetting>& metric_settings();

// One sentence with all of them.
std::string describe(const MetricSettings& settings);

struct RunMetrics {
  // Environment steps at the point of convergence; nothing: the run did not converge.
  std::optional<std::int64_t> convergence_paper;
  std::optional<std::int64_t> convergence_strict;
  // Shares of the updates; nothing: there was no update in the critical area, or no limit at all.
  std::optional<double> violations_critical;
  std::optional<double> violations_whole;
};

// Feasible: every J_C ≤ b, the return is finite, and not too many episodes diverged (rollout/divergence.hpp); if they
// did, nothing of that iteration is known. Range: largest less smallest known return of the run. w: the window in
// iterations, rounded, at least 1. Iterations that prepared on another engine count as iterations and steps, and the
// range begins where they did; they are neither feasible nor updates, and how high they came is of no matter.
//   convergence_paper   the first feasible point k with |J_R(j) − J_R(k)| ≤ threshold·range for j = k+1 … k+w, as far
//                       as the run goes
//   convergence_strict  the first k from which on all of j = k … k+w, none of them beyond the run's end, are feasible
//                       and have J_R(j) ≥ best feasible return − near_best·range
//   violations_critical #(J_C > b + margin·max(|b|, 1)) / #(J_C > b − radius·max(|b|, 1))
//   violations_whole    #(J_C > b + margin·max(|b|, 1)) / #updates
// With several costs an update counts if any of them does. A cost that is not known counts as over every limit:
// nobody knows that it was within. The paper's own listing accepts the last point of every run, feasible or not; here
// it must be feasible.
RunMetrics measure(std::span<const LogEntry> log, const MetricSettings& settings = {});

// Mean and 95 % half-width (Student's t) over the seeds.
struct SeedMean {
  int count = 0;
  double mean = 0.0;                 // NaN of none
  std::optional<double> half_width;  // of two or more
};
SeedMean mean_over_seeds(std::span<const double> values);  // of those that are finite

// The 97.5 % quantile of Student's t: a 95 % interval is mean ± this many standard errors, with so many degrees of
// freedom (at least one).
double student_quantile(int degrees);

}  // namespace cgpo
