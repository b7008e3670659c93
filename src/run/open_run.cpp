#include "cgpo/run/open_run.hpp"

#include <fmt/ranges.h>
#include <utility>

#include "cgpo/algorithms/memory.hpp"
#include "cgpo/algorithms/staged.hpp"
#include "cgpo/base/file.hpp"

namespace cgpo {
namespace {

std::unique_ptr<Algorithm> algorithm_of(const Configuration& configuration, ThreadPool& pool) {
  return make_algorithm(configuration.algorithm, context_of(configuration, pool));
}

// Whether the folder's file must be written again. Reading it back makes its task, so that is left out if the words are
// the same.
bool changes_configuration(const RunPaths& paths, const Configuration& configuration) {
  if (read_file(paths.config()) == write_configuration(configuration)) return false;
  const Configuration stored = read_configuration(paths.config(), configuration);
  check_continues(stored, configuration, paths.config());
  return !differences(stored, configuration).empty();
}

// The algorithm of a run that begins, and what is to be known of how.
PreparedRun begin(Configuration& configuration, ThreadPool& pool) {
  if (configuration.init.empty()) return {algorithm_of(configuration, pool), {}};
  const FirstPolicy first = read_first_policy(configuration);
  PreparedRun prepared{algorithm_of(configuration, pool), {}};
  start_from(*prepared.algorithm, first);
  if (!first.note.empty()) prepared.notes.push_back(first.note);
  return prepared;
}

// A run whose policy came from another has its noise in its file. Who goes on with it and gives none means that one.
void take_stored_noise(const RunPaths& paths, Configuration& configuration) {
  const std::string key = "policy.initial_std";
  if (configuration.init.empty() || is_given(configuration, key)) return;
  configuration.settings.policy.initial_std =
      read_configuration(paths.config(), configuration).settings.policy.initial_std;
  configuration.origins[key] = {paths.config().string(), "", /*given=*/true};
}

void take(PreparedRun prepared, RunParts& parts) {
  parts.algorithm = std::move(prepared.algorithm);
  parts.notes = std::move(prepared.notes);
}

Run resume(RunParts parts, const std::filesystem::path& path) {
  parts.folder = std::make_unique<RunFolder>(path, FolderMode::kResume);
  const RunFolder& folder = *parts.folder;
  take_stored_noise(folder.paths(), parts.configuration);
  const bool changed = changes_configuration(folder.paths(), parts.configuration);
  if (folder.has_only_begun()) {
    take(begin(parts.configuration, *parts.pool), parts);
  } else {
    parts.algorithm = algorithm_of(parts.configuration, *parts.pool);
  }
  Run run = Run::resume(std::move(parts));
  const int iterations = run.configuration().settings.iterations;
  if (iterations < run.iteration()) {
    throw UserError("iterations cannot become {}: '{}' has done {} already", iterations, path.string(),
                    run.iteration());
  }
  if (changed) folder.write_configuration(run.configuration());
  return run;
}

}  // namespace

UnsupportedElements::UnsupportedElements(std::string task, std::vector<std::string> elements)
    : UserError("task {}: the own engine does not support {}", task, fmt::join(elements, "; ")),
      task_(std::move(task)),
      elements_(std::move(elements)) {}

std::filesystem::path folder_of(const Configuration& configuration, const RunOptions& options) {
  return options.folder.empty() ? default_folder(configuration) : options.folder;
}

std::filesystem::path folder_to_resume(const ConfigurationRequest& request) {
  if (!request.task) throw UserError("--resume needs the run's folder in --out, or its TASK");
  Configuration identity;
  identity.task = task_name(*request.task);
  if (request.algorithm) identity.algorithm = *request.algorithm;
  if (request.seed) identity.seed = static_cast<std::uint64_t>(*request.seed);
  return default_folder(identity);
}

PreparedRun prepare_new_run(Configuration& configuration, const RunOptions& options, ThreadPool& pool) {
  RunFolder::check_usable(folder_of(configuration, options), options.mode);
  const TaskSpec& spec = configuration.made->spec();
  if (!spec.unsupported.empty() && !options.allow_unsupported) throw UnsupportedElements(spec.name, spec.unsupported);
  return begin(configuration, pool);
}

Run open_run(Configuration configuration, const RunOptions& options) {
  configuration.made = task_of(configuration);
  const std::filesystem::path path = folder_of(configuration, options);
  check_memory(memory_of_training(configuration.algorithm, *configuration.made, configuration.settings), "this run");
  RunParts parts;
  parts.configuration = std::move(configuration);
  parts.pool = std::make_unique<ThreadPool>(options.threads);
  if (options.mode == FolderMode::kResume) return resume(std::move(parts), path);
  take(prepare_new_run(parts.configuration, options, *parts.pool), parts);
  parts.folder = std::make_unique<RunFolder>(path, options.mode);
  return Run::start(std::move(parts));
}

}  // namespace cgpo
