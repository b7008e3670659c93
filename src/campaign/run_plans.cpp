#include "cgpo/campaign/run_plans.hpp"

#include <fmt/format.h>

#include "cgpo/algorithms/staged.hpp"
#include "cgpo/base/error.hpp"
#include "cgpo/base/file.hpp"
#include "cgpo/base/thread_pool.hpp"
#include "cgpo/run/run_folder.hpp"
#include "cgpo/run/run_log.hpp"
#include "cgpo/tasks/registry.hpp"

namespace cgpo {
namespace {

namespace fs = std::filesystem;

// Looks at what there is of a run; reads only. Throws UserError if it is another process's, or was made with other
// settings.
RunPlan plan_run(const RunPaths& paths, const Configuration& configuration) {
  const std::string name = paths.folder.string();
  std::error_code ignored;
  if (FolderLock::is_held(paths.folder)) {
    throw UserError("another process is writing '{}'; wait for it, or give --out another folder", name);
  }
  if (!fs::exists(paths.config(), ignored)) return {};
  for (const SettingDifference& difference :
       differences(read_configuration(paths.config(), configuration), configuration)) {
    if (difference.key == "iterations") continue;  // fewer or more of the same
    if (difference.key == "task.checksum") {
      throw UserError("'{}' was made with another task file than '{}' is now; give --out another folder", name,
                      task_word(configuration));
    }
    throw UserError("'{}' was made with other settings: {} is {} there, not {}; give --out another folder", name,
                    difference.key, difference.before, difference.after);
  }
  const bool logged = fs::exists(paths.log(), ignored) && find_lines(paths.log(), 1, LineKind::kLog).count > 0;
  if (!fs::exists(paths.checkpoint(), ignored)) {
    return {Begin::kAnew, 0, logged ? "it has a log and no checkpoint" : ""};
  }
  RunPlan plan;
  try {
    plan.done = iteration_of(read_checkpoint(paths.checkpoint(), configuration));
  } catch (const UserError& error) {
    return {Begin::kNew, 0, error.what()};
  }
  const int lines = find_lines(paths.log(), plan.done, LineKind::kLog).count;
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

}  // namespace

ComparisonPaths paths_of(const CompareRequest& request) {
  return {request.out ? fs::path(*request.out) : fs::path("runs") / ("compare-" + task_name(request.task))};
}

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
    const Json marker = parse_json(read_file(paths.marker()));
    const bool names_it = marker.is_object() && marker.contains("task") && marker["task"].is_string();
    const std::string found = names_it ? marker["task"].get<std::string>() : "";
    if (found.empty()) throw UserError("'{}' does not name the task of its comparison", paths.marker().string());
    if (found != task) {
      throw UserError("'{}' compares on task '{}', not '{}'; give --out another folder", name, found, task);
    }
    return;
  }
  for (const fs::directory_entry& entry : fs::directory_iterator(paths.folder, ignored)) {
    if (entry.path() == RunPaths{paths.folder}.lock()) continue;
    if (name_behind_temporary(entry.path().filename().string()) == paths.marker().filename()) continue;
    throw UserError("'{}' holds other files and no comparison; give --out a folder that is empty or new", name);
  }
}

void check_that_they_can_begin(const std::vector<Variant>& variants, const ComparisonPaths& paths) {
  ThreadPool pool(1);
  for (const Variant& variant : variants) {
    const Configuration& configuration = variant.configurations.front();
    std::error_code ignored;
    if (fs::exists(RunPaths{paths.folder / run_name(variant.label, configuration.seed)}.config(), ignored)) continue;
    if (!entry_of(configuration).needs.empty()) continue;
    make_algorithm(configuration.algorithm, context_of(configuration, pool));
  }
}

RunPlans plan_runs(const std::vector<Variant>& variants, const ComparisonPaths& paths) {
  RunPlans plans;
  for (const Variant& variant : variants) {
    for (const Configuration& configuration : variant.configurations) {
      const std::string name = run_name(variant.label, configuration.seed);
      plans[name] = plan_run(RunPaths{paths.folder / name}, configuration);
    }
  }
  return plans;
}

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
  std::vector<std::string> words = {"train",     task_word(configuration),  "--out", folder.string(),
                                    "--threads", fmt::format("{}", threads)};
  if (begin == Begin::kResume) {
    words.insert(words.end(), {"--resume", "--set", fmt::format("iterations={}", configuration.settings.iterations)});
    // What the user gave to this command is given again; what the folder says would not be started.
    for (const Assignment& assignment : consent_to_same(configuration).given) {
      words.push_back(fmt::format("{}={}", assignment.key, format_value(assignment.value)));
    }
    return words;
  }
  words.insert(words.end(), {"--algo", configuration.algorithm, "--preset", configuration.preset, "--seed",
                             fmt::format("{}", configuration.seed)});
  if (begin == Begin::kAnew) words.emplace_back("--force");
  for (const std::string& text : variant.sets) words.insert(words.end(), {"--set", text});
  return words;
}

}  // namespace cgpo
