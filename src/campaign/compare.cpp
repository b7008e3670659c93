#include "cgpo/campaign/compare.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <thread>
#include <utility>

#include "cgpo/base/error.hpp"
#include "cgpo/base/file.hpp"
#include "cgpo/campaign/child_runs.hpp"
#include "cgpo/campaign/comparison_tables.hpp"
#include "cgpo/campaign/evaluations.hpp"
#include "cgpo/campaign/gnuplot.hpp"
#include "cgpo/campaign/learning_curves.hpp"
#include "cgpo/campaign/pareto.hpp"
#include "cgpo/campaign/run_plans.hpp"
#include "cgpo/campaign/variants.hpp"
#include "cgpo/run/run_folder.hpp"

namespace cgpo {
namespace {

namespace fs = std::filesystem;

void write_marker(const ComparisonPaths& paths, const CompareRequest& request) {
  Json marker;
  marker["task"] = task_name(request.task);
  marker["algos"] = request.algorithms;
  if (!request.vary.empty()) marker["vary"] = request.vary;
  marker["seeds"] = request.seeds;
  if (!request.seeds_of.empty()) marker["seeds_of"] = request.seeds_of;
  if (request.first_seed != 0) marker["first_seed"] = request.first_seed;
  if (request.evaluate != 0) marker["evaluate"] = request.evaluate;
  if (request.preset) marker["preset"] = *request.preset;
  marker["set"] = request.sets;
  write_file_atomically(paths.marker(), json_text(marker, 2) + "\n");
}

// The limits that all have, NaN where they differ.
std::vector<double> common_limits(const std::vector<Variant>& variants) {
  std::vector<double> limits = variants.front().configurations.front().settings.limits;
  for (const Variant& variant : variants) {
    const std::vector<double>& others = variant.configurations.front().settings.limits;
    for (std::size_t i = 0; i < limits.size(); ++i) {
      if (others[i] != limits[i]) limits[i] = std::numeric_limits<double>::quiet_NaN();
    }
  }
  return limits;
}

// All but the algorithms with their runs.
Comparison describe_comparison(const CompareRequest& request, const std::vector<Variant>& variants, int runs) {
  Comparison comparison;
  comparison.task = task_name(request.task);
  comparison.costs = variants.front().configurations.front().settings.costs;
  comparison.limits = common_limits(variants);
  comparison.jobs = std::min(request.jobs, runs);
  comparison.threads = request.threads.value_or(threads_of_each(request.jobs, runs));
  comparison.evaluated = request.evaluate;
  return comparison;
}

// What is yet to be trained. Seed by seed, so that a comparison that is stopped has as many seeds of one algorithm as
// of another. What is damaged is moved aside.
std::vector<ChildRun> list_children(const std::vector<Variant>& variants, const RunPlans& plans,
                                    const ComparisonPaths& paths, int threads, const Listener& listener) {
  std::vector<ChildRun> children;
  std::size_t seeds = 0;
  for (const Variant& variant : variants) seeds = std::max(seeds, variant.configurations.size());
  for (std::size_t i = 0; i < seeds; ++i) {
    for (const Variant& variant : variants) {
      if (i >= variant.configurations.size()) continue;
      const Configuration& configuration = variant.configurations[i];
      const std::string name = run_name(variant.label, configuration.seed);
      const RunPlan& plan = plans.at(name);
      if (plan.begin == Begin::kFinished) continue;
      const fs::path folder = paths.folder / name;
      Begin begin = plan.begin;
      if (!plan.damage.empty()) {
        const fs::path aside = move_aside(folder);
        begin = Begin::kNew;
        listener.event(fmt::format("{} cannot be continued: {}; it is kept as '{}', and starts anew", name, plan.damage,
                                   aside.string()));
      }
      children.push_back({name, train_words(variant, configuration, folder, begin, threads),
                          paths.folder / (name + ".out"), RunPaths{folder}.log(), configuration.settings.environments,
                          configuration.settings.iterations, plan.done});
    }
  }
  return children;
}

ComparedRun read_compared_run(const Configuration& configuration, const fs::path& folder, const std::string& problem) {
  ComparedRun run{configuration.seed, folder, problem, {}, {}};
  if (!problem.empty()) return run;
  const auto iterations = static_cast<std::size_t>(configuration.settings.iterations);
  run.log = read_log(RunPaths{folder}.log(), configuration.settings.environments);
  std::erase_if(run.log,
                [&](const LogEntry& entry) { return entry.report.iteration >= configuration.settings.iterations; });
  if (run.log.size() < iterations) run.problem = fmt::format("its log has only {} whole lines", run.log.size());
  return run;
}

// problems: of those that did not finish, by name.
std::vector<ComparedAlgorithm> gather_runs(const std::vector<Variant>& variants, const ComparisonPaths& paths,
                                           const std::map<std::string, std::string>& problems) {
  std::vector<ComparedAlgorithm> algorithms;
  for (const Variant& variant : variants) {
    const Configuration& first = variant.configurations.front();
    ComparedAlgorithm algorithm{variant.label, first.algorithm, first.preset, {}, first.settings.limits};
    for (const Configuration& configuration : variant.configurations) {
      const std::string name = run_name(variant.label, configuration.seed);
      const auto problem = problems.find(name);
      algorithm.runs.push_back(
          read_compared_run(configuration, paths.folder / name, problem == problems.end() ? "" : problem->second));
    }
    algorithms.push_back(std::move(algorithm));
  }
  return algorithms;
}

// Every run that finished. Returns the signal that ended it early, or 0.
int evaluate_runs(const std::vector<Variant>& variants, Comparison& comparison, const Listener& listener) {
  const int threads = comparison.jobs * comparison.threads;
  for (std::size_t i = 0; i < variants.size(); ++i) {
    ComparedAlgorithm& algorithm = comparison.algorithms[i];
    for (ComparedRun& run : algorithm.runs) {
      if (!run.problem.empty()) continue;
      if (const int signal = listener.stop()) return signal;
      listener.status(fmt::format("evaluating {}", run_name(algorithm.label, run.seed)));
      try {
        run.evaluation = evaluate_run(run, variants[i].configurations.front(), comparison.evaluated, threads);
      } catch (const UserError& error) {
        run.problem = fmt::format("it cannot be evaluated: {}", error.what());
      }
    }
  }
  listener.status("");
  return 0;
}

bool any_run(const Comparison& comparison, bool finished) {
  return std::any_of(comparison.algorithms.begin(), comparison.algorithms.end(), [&](const auto& algorithm) {
    return std::any_of(algorithm.runs.begin(), algorithm.runs.end(),
                       [&](const ComparedRun& run) { return run.problem.empty() == finished; });
  });
}

// Of an iteration of a run that finished.
bool any_return(const Comparison& comparison) {
  return std::any_of(comparison.algorithms.begin(), comparison.algorithms.end(), [](const auto& algorithm) {
    const std::vector<const ComparedRun*> runs = finished_runs(algorithm);
    return std::any_of(runs.begin(), runs.end(), [](const ComparedRun* run) {
      return std::any_of(run->log.begin(), run->log.end(),
                         [](const LogEntry& entry) { return std::isfinite(entry.report.return_mean); });
    });
  });
}

// The CSV files, the script and, if gnuplot is there, the picture. Returns what went wrong.
std::string write_curves(const ComparisonPaths& paths, const Comparison& comparison) {
  for (const ComparedAlgorithm& algorithm : comparison.algorithms) {
    write_file_atomically(paths.folder / curve_file(algorithm), curve_csv(comparison, algorithm));
  }
  if (any_return(comparison)) return draw_picture(paths.folder, "curves", curve_script(comparison));
  std::error_code ignored;
  fs::remove(paths.folder / "curves.svg", ignored);  // one of older numbers would be worse than none
  return any_run(comparison, /*finished=*/true) ? "every episode of every run diverged, so there are no curves"
                                                : "no run finished, so there are no curves";
}

// The same of speed against safety; no picture where there is no limit to keep.
std::string write_pareto(const ComparisonPaths& paths, const Comparison& comparison) {
  for (const ComparedAlgorithm& algorithm : comparison.algorithms) {
    write_file_atomically(paths.folder / pareto_file(algorithm), pareto_csv(comparison, algorithm));
  }
  if (has_pareto(comparison)) return draw_picture(paths.folder, "pareto", pareto_script("pareto", {{&comparison}}));
  std::error_code ignored;
  fs::remove(paths.folder / "pareto.svg", ignored);
  return "";
}

}  // namespace

std::vector<PendingRun> pending_runs(const CompareRequest& request) {
  std::vector<PendingRun> result;
  const ComparisonPaths paths = paths_of(request);
  check_folder(paths, task_name(request.task));
  const std::vector<Variant> variants = resolve_variants(request, {});
  const RunPlans plans = plan_runs(variants, paths);
  for (const Variant& variant : variants) {
    for (const Configuration& configuration : variant.configurations) {
      const RunPlan& plan = plans.at(run_name(variant.label, configuration.seed));
      const int left = configuration.settings.iterations - plan.done;
      if (plan.begin != Begin::kFinished) result.push_back({variant.label, configuration, left});
    }
  }
  return result;
}

int threads_of_each(int jobs, int runs) {
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()) / std::max(1, std::min(jobs, runs)));
}

CompareResult run_comparison(const CompareRequest& request, const Listener& listener) {
  // All that can be refused is refused before anything is moved or started.
  const std::vector<Variant> variants = resolve_variants(request, listener);
  const ComparisonPaths paths = paths_of(request);
  check_folder(paths, task_name(request.task));
  check_that_they_can_begin(variants, paths);
  const FolderLock lock(paths.folder);
  check_folder(paths, task_name(request.task));  // another process may have filled it in between
  const RunPlans plans = plan_runs(variants, paths);
  remove_leftovers(paths.folder, [&](const std::string& name) {
    return paths.folder / name == paths.marker() || paths.folder / name == paths.table() ||
           paths.folder / name == paths.json() || name.starts_with("curve") || name.starts_with("pareto");
  });
  write_marker(paths, request);

  CompareResult outcome;
  Comparison& comparison = outcome.comparison;
  comparison = describe_comparison(request, variants, static_cast<int>(plans.size()));
  const std::vector<ChildRun> children = list_children(variants, plans, paths, comparison.threads, listener);
  const int finished_before = static_cast<int>(plans.size() - children.size());
  listener.event(fmt::format("{} runs in {}: {} done already, {} to do, {} at a time with {} thread{} each",
                             plans.size(), paths.folder.string(), finished_before, children.size(), comparison.jobs,
                             comparison.threads, comparison.threads == 1 ? "" : "s"));
  const ChildRunsResult result = run_children(children, comparison.jobs, finished_before, listener);
  outcome.stopped = result.stopped;
  if (outcome.stopped != 0) return outcome;
  std::map<std::string, std::string> problems;
  for (std::size_t i = 0; i < children.size(); ++i) problems[children[i].name] = result.outcomes[i].problem;
  comparison.algorithms = gather_runs(variants, paths, problems);
  if (request.evaluate > 0) outcome.stopped = evaluate_runs(variants, comparison, listener);
  if (outcome.stopped != 0) return outcome;
  outcome.failed = any_run(comparison, /*finished=*/false);

  const std::string trouble = write_curves(paths, comparison);
  const std::string no_pareto = write_pareto(paths, comparison);
  outcome.table = comparison_markdown(comparison);
  if (trouble.empty()) outcome.table += "\n![learning curves](curves.svg)\n";
  if (no_pareto.empty() && has_pareto(comparison)) {
    outcome.table += "\n![steps until converged against updates over the limit, one point a seed](pareto.svg)\n";
  }
  outcome.json = json_text(comparison_json(comparison));
  write_file_atomically(paths.table(), outcome.table);
  write_file_atomically(paths.json(), outcome.json + "\n");
  if (!trouble.empty()) listener.event(trouble);
  if (!no_pareto.empty() && no_pareto != trouble) listener.event(no_pareto);
  return outcome;
}

}  // namespace cgpo
