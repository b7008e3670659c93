#include "cgpo/cli/train_command.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>
#include <unistd.h>
#include <utility>

#include "cgpo/algorithms/registry.hpp"
#include "cgpo/base/cpu.hpp"
#include "cgpo/base/error.hpp"
#include "cgpo/base/file.hpp"
#include "cgpo/base/program_name.hpp"
#include "cgpo/base/text.hpp"
#include "cgpo/base/version.hpp"
#include "cgpo/kernel/kernel.hpp"
#include "cgpo/run/progress.hpp"
#include "cgpo/run/run_folder.hpp"
#include "cgpo/run/stop_signal.hpp"
#include "cgpo/run/training.hpp"
#include "cgpo/view/live_view.hpp"

namespace cgpo {
namespace {

namespace fs = std::filesystem;

// A new run takes --out or the default place. One that is resumed is looked for where a new one would have been put.
fs::path choose_folder(const TrainRequest& request) {
  if (request.out) return *request.out;
  if (!request.resume) return default_folder(resolve_configuration(request.configuration));
  Configuration identity;
  if (!request.configuration.task) throw UserError("--resume needs the run's folder in --out, or its TASK");
  identity.task = *request.configuration.task;
  if (request.configuration.algorithm) identity.algorithm = *request.configuration.algorithm;
  if (request.configuration.seed) identity.seed = static_cast<std::uint64_t>(*request.configuration.seed);
  return default_folder(identity);
}

std::string describe_backend(const Task& task, Backend backend) {
  const std::unique_ptr<Kernel<float>> kernel = compile<float>(task.trace_observation(), backend);
  const bool slow = best_isa() == Isa::kBaseline;
  return fmt::format("{} kernels, {}{}", kernel->backend(), isa_name(best_isa()),
                     slow ? " (no AVX2 here: this will be slow)" : "");
}

void print_header(std::FILE* stream, const Configuration& configuration, const Task& task, const fs::path& folder,
                  int threads) {
  const Settings& settings = configuration.settings;
  fmt::print(stream, "{}: {} on {}, seed {}, preset {}, in {}\n", kVersion, configuration.algorithm, configuration.task,
             configuration.seed, configuration.preset, folder.string());
  fmt::print(stream, "{} iterations of {} episodes of {} steps; {}, {} thread{}\n", settings.iterations,
             settings.environments, settings.horizon, describe_backend(task, settings.kernel.backend), threads,
             threads == 1 ? "" : "s");
  std::fflush(stream);
}

// The words of a command that continues this run.
std::string resume_words(const Configuration& configuration, const fs::path& folder) {
  return fmt::format("{} train {} --resume --out {}", program_name(), configuration.task, folder.string());
}

void print_summary(std::FILE* stream, const TrainingResult& result, const Configuration& configuration,
                   const fs::path& folder) {
  const Settings& settings = configuration.settings;
  fmt::print(stream, "\n{} of {} iterations done", result.iterations, settings.iterations);
  if (result.last) {
    const IterationReport& report = result.last->report;
    fmt::print(stream, ", {} steps in {}", report.steps, format_duration(result.last->seconds));
    if (result.steps_per_second > 0.0) fmt::print(stream, ", {} steps/s", format_rate(result.steps_per_second));
    fmt::print(stream,
               "\nthe last episodes, before the last update (eval judges the policy that came of it):\nreturn  {:.5g} "
               "± {:.2g}\n",
               report.return_mean, report.return_se);
    for (std::size_t i = 0; i < report.costs.size(); ++i) {
      const char* verdict = !(report.costs[i] <= report.limits[i]) ? "over the limit"
                            : report.costs[i] + 1.96 * report.costs_se[i] > report.limits[i]
                                ? "holds, within the uncertainty"
                                : "holds";
      fmt::print(stream, "cost    {:.5g} ± {:.2g}, limit {:.5g}: {} ({})\n", report.costs[i], report.costs_se[i],
                 report.limits[i], verdict, settings.costs[i]);
    }
  }
  fmt::print(stream, "{}folder  {}\n", result.last ? "" : "\n", folder.string());
  if (result.finished) {
    std::error_code ignored;
    const bool best = fs::exists(RunPaths{folder}.best(), ignored);
    fmt::print(stream, "next    {} eval {}{}\n", program_name(), folder.string(), best ? " [--checkpoint best]" : "");
    fmt::print(stream, "        {} report {}\n", program_name(), folder.string());
    fmt::print(stream, "        {} --set iterations={}\n", resume_words(configuration, folder),
               2 * settings.iterations);
  } else {
    fmt::print(stream, "stopped; to go on: {}\n", resume_words(configuration, folder));
  }
}

Json summary_json(const TrainingResult& result, const fs::path& folder) {
  Json summary = result.last ? to_json(*result.last) : Json::object();
  summary["out"] = folder.string();
  summary["iterations"] = result.iterations;
  summary["finished"] = result.finished;
  return summary;
}

int run_training(Training training, const Configuration& configuration, const fs::path& folder,
                 const TrainRequest& request, LiveView* live) {
  std::FILE* stream = request.json ? stderr : stdout;
  if (live != nullptr) {
    live->begin(folder, configuration);
    fmt::print(stream, "live: {}\n", live->address());
    std::fflush(stream);
  }
  const StopSignal stop;
  Progress progress(stream, ::isatty(::fileno(stream)) != 0, configuration.settings.iterations);
  const TrainingResult result = training.run(progress, StopSignal::flag());
  if (live != nullptr) live->finish();
  print_summary(stream, result, configuration, folder);
  if (request.json) fmt::print("{}\n", summary_json(result, folder).dump());
  return result.finished ? 0 : 128 + StopSignal::flag();
}

std::unique_ptr<Algorithm> make_algorithm(const Configuration& configuration, std::shared_ptr<const Task> task,
                                          ThreadPool& pool) {
  return find_algorithm(configuration.algorithm)
      .make({std::move(task), configuration.settings, configuration.seed, &pool});
}

// A robot is trained as it is or, when told so, without what the engine does not know; never silently.
void report_unsupported(const Task& task, const TrainRequest& request) {
  const TaskSpec& spec = task.spec();
  if (!spec.unsupported.empty() && !request.allow_unsupported) {
    constexpr std::size_t kNamed = 12;  // a sentence can be read; hundreds of contacts of a large robot cannot
    const std::size_t named = std::min(kNamed, spec.unsupported.size());
    const std::size_t more = spec.unsupported.size() - named;
    throw UserError(
        "task {}: the own engine does not support {}{}; --allow-unsupported trains without, --set "
        "task.engine=mujoco on MuJoCo's step, with it but without derivatives",
        spec.name,
        fmt::join(spec.unsupported.begin(), spec.unsupported.begin() + static_cast<std::ptrdiff_t>(named), "; "),
        more == 0 ? "" : fmt::format("; and {} more, which `{} model FILE` lists", more, program_name()));
  }
  for (const std::string& element : spec.unsupported) fmt::print(stderr, "left out: {}\n", element);
  for (const std::string& warning : spec.warnings) fmt::print(stderr, "warning: {}\n", warning);
}

int start_run(const TrainRequest& request, const fs::path& folder, LiveView* live) {
  const FolderMode mode = request.force ? FolderMode::kForce : FolderMode::kNew;
  const Configuration configuration = resolve_configuration(request.configuration);
  RunFolder::check_usable(folder, mode);

  // All that can be refused is refused before anything is written.
  ThreadPool pool(request.threads);
  const std::shared_ptr<const Task> task = task_of(configuration);
  report_unsupported(*task, request);
  std::unique_ptr<Algorithm> algorithm = make_algorithm(configuration, task, pool);
  if (!configuration.init.empty()) start_from(*algorithm, configuration);

  const RunFolder lock(folder, mode);
  print_header(request.json ? stderr : stdout, configuration, *task, folder, request.threads);
  lock.begin(configuration);
  return run_training(Training::start(std::move(algorithm), configuration, lock), configuration, folder, request, live);
}

int resume_run(const TrainRequest& request, const fs::path& folder, LiveView* live) {
  const RunFolder lock(folder, FolderMode::kResume);
  const Configuration configuration = continue_configuration(lock.paths().config(), request.configuration);
  const bool changed =
      !differences(read_configuration(lock.paths().config(), configuration.made), configuration).empty();

  ThreadPool pool(request.threads);
  const std::shared_ptr<const Task> task = task_of(configuration);
  Training training = Training::resume(make_algorithm(configuration, task, pool), configuration, lock);
  const int iterations = configuration.settings.iterations;
  if (iterations < training.iteration()) {
    throw UserError("iterations cannot become {}: '{}' has done {} already", iterations, folder.string(),
                    training.iteration());
  }
  if (changed) lock.write_configuration(configuration);
  if (training.iteration() < iterations) {
    print_header(request.json ? stderr : stdout, configuration, *task, folder, request.threads);
    fmt::print(request.json ? stderr : stdout, "going on after iteration {}\n", training.iteration());
  }
  return run_training(std::move(training), configuration, folder, request, live);
}

}  // namespace

int train_command(const TrainRequest& request) {
  const fs::path folder = choose_folder(request);
  if (request.port && !request.live) throw UserError("--port is that of the live view; it needs --live");
  std::optional<LiveView> live;  // first of all, so that a port in use stops a run before anything is written
  if (request.live) live.emplace(request.port.value_or(LiveView::kUsualPort));
  LiveView* const view = live ? &*live : nullptr;
  return request.resume ? resume_run(request, folder, view) : start_run(request, folder, view);
}

}  // namespace cgpo
