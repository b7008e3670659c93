#include "cgpo/campaign/compare_command.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <sstream>
#include <thread>
#include <utility>

#include "cgpo/algorithms/registry.hpp"
#include "cgpo/base/error.hpp"
#include "cgpo/base/file.hpp"
#include "cgpo/base/program_name.hpp"
#include "cgpo/base/thread_pool.hpp"
#include "cgpo/campaign/child_runs.hpp"
#include "cgpo/campaign/comparison.hpp"
#include "cgpo/campaign/gnuplot.hpp"
#include "cgpo/config/configuration.hpp"
#include "cgpo/run/run_folder.hpp"
#include "cgpo/tasks/registry.hpp"

namespace cgpo {
namespace {

namespace fs = std::filesystem;

// What a folder of a comparison holds beside its runs.
struct ComparisonPaths {
  fs::path folder;

  fs::path marker() const { return folder / "comparison.json"; }  // says that it is one, and of which task
  fs::path table() const { return folder / "table.md"; }
  fs::path json() const { return folder / "table.json"; }
};

// One entry of --algos, NAME[@PRESET][:KEY=VALUE]…, with the configuration of each of its seeds.
struct Variant {
  std::string label;
  std::vector<std::string> sets;  // KEY=VALUE: those for all, then its own
  std::vector<Configuration> configurations;
};

// How a run is brought to its end.
enum class Begin { kFinished, kNew, kAnew, kResume };
struct Plan {
  Begin begin = Begin::kNew;
  int done = 0;        // iterations
  std::string damage;  // not empty: why what is there cannot be continued; it is moved aside
};

std::string algorithm_names() {
  std::vector<std::string> names;
  for (const AlgorithmEntry& entry : algorithm_registry()) names.push_back(entry.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text + separator);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

Variant resolve_variant(const std::string& label, const CompareRequest& request) {
  const std::vector<std::string> parts = split(label, ':');
  const std::string& name = parts.front();
  const std::size_t at = name.find('@');
  Variant variant{label, request.sets, {}};
  variant.sets.insert(variant.sets.end(), parts.begin() + 1, parts.end());
  const bool own_sets = std::all_of(parts.begin() + 1, parts.end(),
                                    [](const std::string& part) { return part.find('=') != std::string::npos; });
  if (name.empty() || at == 0 || at + 1 == name.size() || !own_sets || label.find('/') != std::string::npos) {
    throw UserError("--algos takes NAME, NAME@PRESET or NAME:KEY=VALUE, with commas between, not '{}'; there are: {}",
                    request.algorithms, algorithm_names());
  }
  ConfigurationRequest configuration;
  configuration.task = request.task;
  configuration.algorithm = name.substr(0, at);
  configuration.preset = at == std::string::npos ? request.preset : std::optional(name.substr(at + 1));
  for (const std::string& text : variant.sets) configuration.sets.push_back(parse_assignment(text));
  Configuration resolved = resolve_configuration(configuration);
  for (int seed = 0; seed < request.seeds; ++seed) {
    resolved.seed = static_cast<std::uint64_t>(seed);
    variant.configurations.push_back(resolved);
  }
  return variant;
}

std::string run_name(const std::string& label, std::uint64_t seed) { return fmt::format("{}-{}", label, seed); }

// Refuses what cannot be compared: the same thing twice, and different limits.
void check_variants(const std::vector<Variant>& variants) {
  for (std::size_t i = 0; i < variants.size(); ++i) {
    const Configuration& configuration = variants[i].configurations.front();
    for (std::size_t j = 0; j < i; ++j) {
      if (!differences(variants[j].configurations.front(), configuration).empty()) continue;
      throw UserError("--algos names the same twice: '{}' and '{}'; entries must differ in name, preset or settings",
                      variants[j].label, variants[i].label);
    }
    for (const SettingDifference& difference : differences(variants.front().configurations.front(), configuration)) {
      const std::string& key = difference.key;
      if (key != "costs" && key != "limits" && key != "horizon" && !key.starts_with("task.")) continue;
      throw UserError("{} and {} cannot be compared: {} is {} for one and {} for the other; --set {}=… sets it for all",
                      variants.front().label, variants[i].label, key, difference.before, difference.after, key);
    }
  }
}

// What an algorithm cannot do with a task it says when it is made. One that has begun here before can, and a simulator
// outside is not started for that.
void check_that_they_can_begin(const std::vector<Variant>& variants, const ComparisonPaths& paths) {
  ThreadPool pool(1);
  for (const Variant& variant : variants) {
    const Configuration& configuration = variant.configurations.front();
    std::error_code ignored;
    if (fs::exists(RunPaths{paths.folder / run_name(variant.label, configuration.seed)}.config(), ignored)) continue;
    if (!find_task(configuration.task).needs.empty()) continue;
    find_algorithm(configuration.algorithm).make(context_of(configuration, pool));
  }
}

// Reads only. Throws UserError unless the folder is new, empty or a comparison of this task.
void check_folder(const ComparisonPaths& paths, const std::string& task) {
  std::error_code ignored;
  const std::string name = paths.folder.string();
  if (!fs::exists(paths.folder, ignored)) return;
  if (!fs::is_directory(paths.folder, ignored)) throw UserError("'{}' is a file, not a folder for runs", name);
  if (fs::exists(RunPaths{paths.folder}.config(), ignored)) {
    throw UserError("'{}' is the folder of a single run; give --out a folder that is empty, new or a comparison's",
                    name);
  }
  if (fs::exists(paths.marker(), ignored)) {
    const Json marker = Json::parse(read_file(paths.marker()), nullptr, /*allow_exceptions=*/false);
    const std::string found = marker.is_object() ? marker.value("task", "") : "";
    if (found.empty()) throw UserError("'{}' does not name the task of its comparison", paths.marker().string());
    if (found != task) {
      throw UserError("'{}' compares on task '{}', not '{}'; give --out another folder", name, found, task);
    }
    return;
  }
  for (const fs::directory_entry& entry : fs::directory_iterator(paths.folder, ignored)) {
    if (entry.path() == RunPaths{paths.folder}.lock()) continue;
    throw UserError("'{}' holds other files and no comparison; give --out a folder that is empty or new", name);
  }
}

// Looks at what there is of a run; reads only. Throws UserError if it is another process's, or was made with other
// settings.
Plan plan_run(const RunPaths& paths, const Configuration& configuration) {
  const std::string name = paths.folder.string();
  std::error_code ignored;
  if (FolderLock::is_held(paths.folder)) {
    throw UserError("another process is writing '{}'; wait for it, or give --out another folder", name);
  }
  if (!fs::exists(paths.config(), ignored)) return {};
  for (const SettingDifference& difference :
       differences(read_configuration(paths.config(), configuration), configuration)) {
    if (difference.key == "iterations") continue;  // fewer or more of the same
    throw UserError("'{}' was made with other settings: {} is {} there, not {}; give --out another folder", name,
                    difference.key, difference.before, difference.after);
  }
  const bool logged = fs::exists(paths.log(), ignored) && find_lines(paths.log(), 1).count > 0;
  if (!fs::exists(paths.checkpoint(), ignored)) {
    return {Begin::kAnew, 0, logged ? "it has a log and no checkpoint" : ""};
  }
  Plan plan;
  try {
    plan.done = std::stoi(read_checkpoint(paths.checkpoint(), configuration).metadata.at("iteration"));
  } catch (const UserError& error) {
    return {Begin::kNew, 0, error.what()};
  } catch (const std::logic_error&) {  // no such entry, or not a number
    return {Begin::kNew, 0, "its checkpoint does not say after which iteration it was written"};
  }
  const int lines = fs::exists(paths.log(), ignored) ? find_lines(paths.log(), plan.done).count : 0;
  if (lines < plan.done) {
    return {Begin::kNew, 0,
            fmt::format("its log has {} whole lines, but its checkpoint stands after {} iterations", lines, plan.done)};
  }
  const int iterations = configuration.settings.iterations;
  if (plan.done > iterations) {
    throw UserError("'{}' has done {} iterations already, more than the {} asked for; give --out another folder", name,
                    plan.done, iterations);
  }
  plan.begin = plan.done == iterations ? Begin::kFinished : Begin::kResume;
  return plan;
}

// Out of the way, but not lost.
fs::path move_aside(const fs::path& folder) {
  std::error_code ignored;
  for (int i = 1;; ++i) {
    fs::path target = folder.string() + fmt::format(".damaged-{}", i);
    if (fs::exists(target, ignored)) continue;
    fs::rename(folder, target);
    return target;
  }
}

std::vector<std::string> train_words(const Variant& variant, const Configuration& configuration, const fs::path& folder,
                                     Begin begin, int threads) {
  std::vector<std::string> words = {"train",         configuration.task, "--out",
                                    folder.string(), "--threads",        fmt::format("{}", threads)};
  if (begin == Begin::kResume) {
    words.insert(words.end(), {"--resume", "--set", fmt::format("iterations={}", configuration.settings.iterations)});
    return words;
  }
  words.insert(words.end(), {"--algo", configuration.algorithm, "--preset", configuration.preset, "--seed",
                             fmt::format("{}", configuration.seed)});
  if (begin == Begin::kAnew) words.emplace_back("--force");
  for (const std::string& text : variant.sets) words.insert(words.end(), {"--set", text});
  return words;
}

void write_marker(const ComparisonPaths& paths, const CompareRequest& request) {
  Json marker;
  marker["task"] = request.task;
  marker["algos"] = request.algorithms;
  marker["seeds"] = request.seeds;
  if (request.preset) marker["preset"] = *request.preset;
  marker["set"] = request.sets;
  write_file_atomically(paths.marker(), marker.dump(2) + "\n");
}

// The CSV files, the script and, if gnuplot is there, the picture. Returns what went wrong.
std::string write_curves(const ComparisonPaths& paths, const Comparison& comparison) {
  for (const ComparedAlgorithm& algorithm : comparison.algorithms) {
    write_file_atomically(paths.folder / curve_file(algorithm), curve_csv(comparison, algorithm));
  }
  const bool any = std::any_of(comparison.algorithms.begin(), comparison.algorithms.end(), [](const auto& algorithm) {
    return std::any_of(algorithm.runs.begin(), algorithm.runs.end(),
                       [](const ComparedRun& run) { return run.problem.empty(); });
  });
  if (any) return draw_picture(paths.folder, "curves", curve_script(comparison));
  std::error_code ignored;
  fs::remove(paths.folder / "curves.svg", ignored);  // one of older numbers would be worse than none
  return "no run finished, so there are no curves";
}

ComparisonPaths paths_of(const CompareRequest& request) {
  return {request.out ? fs::path(*request.out) : fs::path("runs") / ("compare-" + request.task)};
}

std::vector<Variant> resolve_variants(const CompareRequest& request) {
  if (request.algorithms.empty()) {
    throw UserError("compare needs algorithms, as in --algos a,b; there are: {}", algorithm_names());
  }
  std::vector<Variant> variants;
  for (const std::string& label : split(request.algorithms, ',')) variants.push_back(resolve_variant(label, request));
  check_variants(variants);
  return variants;
}

}  // namespace

std::vector<PendingRun> pending_runs(const CompareRequest& request) {
  std::vector<PendingRun> result;
  const ComparisonPaths paths = paths_of(request);
  check_folder(paths, request.task);
  for (const Variant& variant : resolve_variants(request)) {
    for (const Configuration& configuration : variant.configurations) {
      const Plan plan = plan_run(RunPaths{paths.folder / run_name(variant.label, configuration.seed)}, configuration);
      const int left = configuration.settings.iterations - plan.done;
      if (plan.begin != Begin::kFinished) result.push_back({variant.label, configuration, left});
    }
  }
  return result;
}

int threads_of_each(int jobs, int runs) {
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()) / std::max(1, std::min(jobs, runs)));
}

CompareResult run_comparison(const CompareRequest& request) {
  const std::vector<Variant> variants = resolve_variants(request);
  const ComparisonPaths paths = paths_of(request);
  check_folder(paths, request.task);
  check_that_they_can_begin(variants, paths);
  const FolderLock lock(paths.folder);
  check_folder(paths, request.task);  // another process may have filled it in between

  // All that can be refused is refused before anything is moved or started.
  std::map<std::string, Plan> plans;
  for (const Variant& variant : variants) {
    for (const Configuration& configuration : variant.configurations) {
      const std::string name = run_name(variant.label, configuration.seed);
      plans[name] = plan_run(RunPaths{paths.folder / name}, configuration);
    }
  }
  write_marker(paths, request);

  CompareResult outcome;
  Comparison& comparison = outcome.comparison;
  const Settings& settings = variants.front().configurations.front().settings;
  comparison.task = request.task;
  comparison.costs = settings.costs;
  comparison.limits = settings.limits;
  comparison.jobs = std::min(request.jobs, static_cast<int>(plans.size()));
  comparison.threads = request.threads.value_or(threads_of_each(request.jobs, static_cast<int>(plans.size())));

  // Seed by seed, so that a comparison that is stopped has as many seeds of one algorithm as of another.
  std::vector<ChildRun> children;
  std::map<std::string, std::string> problems;
  for (int seed = 0; seed < request.seeds; ++seed) {
    for (const Variant& variant : variants) {
      const Configuration& configuration = variant.configurations[static_cast<std::size_t>(seed)];
      const std::string name = run_name(variant.label, configuration.seed);
      const Plan& plan = plans.at(name);
      if (plan.begin == Begin::kFinished) continue;
      const fs::path folder = paths.folder / name;
      Begin begin = plan.begin;
      if (!plan.damage.empty()) {
        const fs::path aside = move_aside(folder);
        begin = Begin::kNew;
        fmt::print(stderr, "{} cannot be continued: {}; it is kept as '{}', and starts anew\n", name, plan.damage,
                   aside.string());
      }
      children.push_back({name, train_words(variant, configuration, folder, begin, comparison.threads),
                          paths.folder / (name + ".out"), RunPaths{folder}.log(), configuration.settings.iterations,
                          plan.done});
    }
  }
  const int finished_before = static_cast<int>(plans.size() - children.size());
  fmt::print(stderr, "{} runs in {}: {} done already, {} to do, {} at a time with {} thread{} each\n", plans.size(),
             paths.folder.string(), finished_before, children.size(), comparison.jobs, comparison.threads,
             comparison.threads == 1 ? "" : "s");
  const ChildRunsResult result = run_children(children, comparison.jobs, finished_before);
  if (result.stopped != 0) {
    outcome.stopped = result.stopped;
    return outcome;
  }
  for (std::size_t i = 0; i < children.size(); ++i) problems[children[i].name] = result.outcomes[i].problem;

  for (const Variant& variant : variants) {
    const Configuration& first = variant.configurations.front();
    ComparedAlgorithm algorithm{variant.label, first.algorithm, first.preset, {}};
    for (const Configuration& configuration : variant.configurations) {
      const std::string name = run_name(variant.label, configuration.seed);
      ComparedRun run{configuration.seed, paths.folder / name, problems[name], {}};
      const auto iterations = static_cast<std::size_t>(configuration.settings.iterations);
      if (run.problem.empty()) {
        run.log = read_log(RunPaths{run.folder}.log());
        if (run.log.size() > iterations) run.log.resize(iterations);
        if (run.log.size() < iterations) run.problem = fmt::format("its log has only {} whole lines", run.log.size());
      }
      outcome.failed = outcome.failed || !run.problem.empty();
      algorithm.runs.push_back(std::move(run));
    }
    comparison.algorithms.push_back(std::move(algorithm));
  }

  const std::string trouble = write_curves(paths, comparison);
  outcome.table = comparison_markdown(comparison);
  if (trouble.empty()) outcome.table += "\n![learning curves](curves.svg)\n";
  outcome.json = comparison_json(comparison).dump();
  write_file_atomically(paths.table(), outcome.table);
  write_file_atomically(paths.json(), outcome.json + "\n");
  if (!trouble.empty()) fmt::print(stderr, "{}\n", trouble);
  return outcome;
}

int compare_command(const CompareRequest& request) {
  const CompareResult result = run_comparison(request);
  if (result.stopped != 0) {
    fmt::print(stderr, "stopped; the same command goes on where it was\n");
    return 128 + result.stopped;
  }
  fmt::print("{}", request.json ? result.json + "\n" : result.table);
  return result.failed ? 1 : 0;
}

}  // namespace cgpo
