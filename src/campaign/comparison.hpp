// What several runs of several algorithms on one task show together: tables, learning curves, JSON. Reads logs, runs
// nothing.
#pragma once

#include <cstdint>
#include <filesystem>
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
};

// One entry of --algos.
struct ComparedAlgorithm {
  std::string label;  // as it was typed: "cgpo@paper", "ppo-lag:finite_horizon=true"
  std::string algorithm;
  std::string preset;
  std::vector<ComparedRun> runs;
};

struct Comparison {
  std::string task;
  std::vector<std::string> costs;
  std::vector<double> limits;
  MetricSettings settings;
  int jobs = 1;     // runs at a time
  int threads = 1;  // of each
  std::vector<ComparedAlgorithm> algorithms;
};

// A line an algorithm, as Markdown.
std::string comparison_table(const Comparison& comparison);
// The runs that did not finish, with the reason, below a heading; empty if all did.
std::string unfinished_runs(const Comparison& comparison);
// Both tables with the settings they were made with, and what failed.
std::string comparison_markdown(const Comparison& comparison);
Json comparison_json(const Comparison& comparison);

// A line an iteration: mean over the seeds and 95 % interval. Seeds are averaged at the same iteration, and so are the
// steps and seconds they had taken by then.
std::string curve_csv(const Comparison& comparison, const ComparedAlgorithm& algorithm);
std::string curve_file(const ComparedAlgorithm& algorithm);  // its name

// Draws curves.svg from the CSV files beside it: return and each cost, against steps and against seconds.
std::string curve_script(const Comparison& comparison);

}  // namespace cgpo
