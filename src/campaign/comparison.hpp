// What several runs of several algorithms on one task show together. Reads logs, runs nothing.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "cgpo/judge/metrics.hpp"
#include "cgpo/run/run_log.hpp"

namespace cgpo {

// One seed of one algorithm.
struct ComparedRun {
  std::uint64_t seed = 0;
  std::filesystem::path folder;
  std::string problem;        // why it did not finish; empty: it did
  std::vector<LogEntry> log;  // of a run that finished; others take no part in any number
  Json evaluation = {};       // of its last policy, as `eval` has it in JSON; null: it was not asked for
};

// One entry of --algos, or one of its values of --vary.
struct ComparedAlgorithm {
  std::string label;  // as it was typed: "cgpo@paper", "ppo-lag:finite_horizon=true"
  std::string algorithm;
  std::string preset;
  std::vector<ComparedRun> runs;
  std::vector<double> limits;
};

struct Comparison {
  std::string task;
  std::vector<std::string> costs;
  std::vector<double> limits;  // that all algorithms have; NaN: theirs differ
  MetricSettings settings;
  int jobs = 1;       // runs at a time
  int threads = 1;    // of each
  int evaluated = 0;  // episodes for each run's last policy; 0: none
  std::vector<ComparedAlgorithm> algorithms;
};

std::vector<const ComparedRun*> finished_runs(const ComparedAlgorithm& algorithm);
// Iterations that all of them have.
std::size_t common_length(const ComparedAlgorithm& algorithm);

// Something of every run that finished, over the seeds.
SeedMean over_seeds(const ComparedAlgorithm& algorithm, const std::function<double(const ComparedRun&)>& value);
// Something of their last iterations.
SeedMean last_over_seeds(const ComparedAlgorithm& algorithm, const std::function<double(const LogEntry&)>& value);

// Mean, and the ends of its interval; those of one seed are the mean.
std::array<double, 3> band_of(const SeedMean& mean);

// NaN: it has none.
double cost_of(const LogEntry& entry, std::size_t cost);

// How good the last policies are on fresh episodes. Worst: the smallest return, the largest cost; NaN if one of them is
// not known.
struct EvaluatedSignal {
  SeedMean mean;
  double worst = 0.0;
};
struct EvaluatedSignals {
  EvaluatedSignal returns;
  std::vector<EvaluatedSignal> costs;
};
struct EvaluationSummary {
  EvaluatedSignals noisy;
  EvaluatedSignals deployed;  // by their mean actions
  int runs = 0;
  int feasible = 0;  // of these, with noise and deployed
};
EvaluationSummary summarise_evaluations(const ComparedAlgorithm& algorithm, std::size_t costs);

}  // namespace cgpo
