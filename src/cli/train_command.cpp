// `cgpo train`: from what was asked to the summary.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "cgpo/algorithms/staged.hpp"
#include "cgpo/base/cpu.hpp"
#include "cgpo/base/file.hpp"
#include "cgpo/base/numbers.hpp"
#include "cgpo/base/program_name.hpp"
#include "cgpo/base/stop_signal.hpp"
#include "cgpo/base/text.hpp"
#include "cgpo/base/version.hpp"
#include "cgpo/cli/commands.hpp"
#include "cgpo/cli/progress.hpp"
#include "cgpo/cli/terminal.hpp"
#include "cgpo/kernel/kernel.hpp"
#include "cgpo/rollout/divergence.hpp"
#include "cgpo/run/rehearsal.hpp"
#include "cgpo/tasks/robots/robot.hpp"
#include "cgpo/view/live_view.hpp"

namespace cgpo {
namespace {

namespace fs = std::filesystem;

struct TrainRequest {
  ConfigurationRequest configuration;
  std::string config;  // a file
  std::vector<std::string> sets;
  std::optional<std::string> out;
  std::optional<std::string> then;  // the engine of a second stage
  bool resume = false;
  bool force = false;
  bool allow_unsupported = false;
  int threads = 1;
  bool dry = false;         // only say what it would take
  bool live = false;        // serve a page about the run while it trains
  std::optional<int> port;  // of that page; 0: any that is free
  bool json = false;
};

std::string describe_backend(const Task& task, Backend backend) {
  const std::unique_ptr<Kernel<float>> kernel = compile<float>(task.trace_observation(), backend);
  const bool slow = best_isa() == Isa::kBaseline;
  return fmt::format("{} kernels, {}{}", kernel->backend(), isa_name(best_isa()),
                     slow ? " (no AVX2 here: this will be slow)" : "");
}

// Whose the episodes are, if not ours.
std::string other_engine(const Task& task) {
  if (task.find_robot() == nullptr || task.find_robot()->engine == Engine::kOwn) return "";
  return task.find_robot()->engine == Engine::kMujoco ? "MuJoCo's" : "the simulator's";
}

void print_header(std::FILE* stream, const Configuration& configuration, const Task& task, const fs::path& folder,
                  int threads) {
  const Settings& settings = configuration.settings;
  say(stream, "{}: {} on {}, seed {}, preset {}, in {}\n", kVersion, configuration.algorithm, configuration.task,
      configuration.seed, configuration.preset, folder.string());
  say(stream, "{} iterations of {}{} episodes of {} steps; {}, {} thread{}\n", settings.iterations,
      settings.batch.adaptive ? "at most " : "", settings.environments, settings.horizon,
      describe_backend(task, settings.kernel.backend), threads, threads == 1 ? "" : "s");
  const std::string other = other_engine(task);
  if (other.empty()) return;
  const int first = preparing_iterations(configuration.algorithm, settings, task);
  if (first > 0) say(stream, "{} iterations prepare on our engine; then episodes, limits and verdict are ", first);
  say(stream, "{}{}\n", first > 0 ? "" : "episodes, limits and verdict are ", other);
}

// What a command that opens the run's folder needs if its simulator is a program.
const char* allowed_again(const Configuration& configuration) {
  return consent_to_same(configuration).given.empty() ? "" : " --allow-command";
}

// The words of a command that continues this run.
std::string resume_words(const Configuration& configuration, const fs::path& folder) {
  // A task file is kept in the folder, and may have changed where it was.
  const std::string task = configuration.definition == nullptr ? configuration.task + " " : "";
  return fmt::format("{} train {}--resume --out {}{}", program_name(), task, folder.string(),
                     allowed_again(configuration));
}

std::string plus_minus(double mean, double standard_error) {
  if (std::isnan(mean)) return "unknown";
  if (std::isnan(standard_error)) return fmt::format("{:.5g} in one episode", mean);
  return fmt::format("{:.5g} ± {:.2g}", mean, standard_error);
}

const char* limit_words(const IterationReport& report, double mean, double standard_error, double limit) {
  if (std::isinf(limit)) return "there is none";
  if (is_preparation(report)) return "not judged, since this is our engine";
  if (too_many_diverged(report)) return "cannot be judged: too many episodes diverged";
  if (!(mean <= limit)) return "over the limit";
  if (std::isnan(standard_error)) return "cannot be judged: one episode has no standard error";
  return mean + 1.96 * standard_error > limit ? "holds, within the uncertainty" : "holds";
}

void print_last_episodes(std::FILE* stream, const IterationReport& report, const std::vector<std::string>& costs) {
  if (is_preparation(report)) {
    say(stream,
        "\nthe last episodes, on our engine, where the run prepares; of the task's own nothing is known yet:\n");
  } else {
    say(stream, "\nthe last episodes, before the last update (eval judges the policy that came of it):\n");
  }
  say(stream, "return  {}\n", plus_minus(report.return_mean, report.return_se));
  for (std::size_t i = 0; i < report.costs.size(); ++i) {
    const double limit = report.limits[i];
    say(stream, "cost    {}, limit {:.5g}: {} ({})\n", plus_minus(report.costs[i], report.costs_se[i]), limit,
        limit_words(report, report.costs[i], report.costs_se[i], limit), costs[i]);
    if (i >= report.costs_deployed.size() || std::isinf(limit)) continue;
    const double se = i < report.costs_deployed_se.size() ? report.costs_deployed_se[i] : kNan;
    say(stream, "        {} as it is deployed, by its mean action: {}\n", plus_minus(report.costs_deployed[i], se),
        limit_words(report, report.costs_deployed[i], se, limit));
  }
  if (report.diverged == 0) return;
  say(stream, "verdict {}{}\n", too_many_diverged(report) ? "not feasible: " : "",
      diverged_words(report.diverged, report.episodes));
}

void print_summary(std::FILE* stream, const TrainingResult& result, const Configuration& configuration,
                   const fs::path& folder) {
  const Settings& settings = configuration.settings;
  say(stream, "\n{} of {} iterations done", result.iterations, settings.iterations);
  if (result.last) {
    const IterationReport& report = result.last->report;
    say(stream, ", {} steps in {}", report.steps, format_duration(result.last->seconds));
    if (result.steps_per_second > 0.0) say(stream, ", {} steps/s", format_rate(result.steps_per_second));
    print_last_episodes(stream, report, settings.costs);
  }
  if (!result.last) say(stream, "\n");
  say(stream, "folder  {}\n", folder.string());
  if (result.finished) {
    std::error_code ignored;
    const bool best = fs::exists(RunPaths{folder}.best(), ignored);
    const char* const allowed = allowed_again(configuration);
    const bool failed = result.last && too_many_diverged(result.last->report);
    say(stream, "next    {} eval {}{}{}{}\n", program_name(), folder.string(), allowed, failed ? " --explain" : "",
        best ? " [--checkpoint best]" : "");
    say(stream, "        {} report {}{}\n", program_name(), folder.string(), allowed);
    say(stream, "        {} --set iterations={}\n", resume_words(configuration, folder), 2 * settings.iterations);
  } else {
    say(stream, "stopped; to go on: {}\n", resume_words(configuration, folder));
  }
}

Json summary_json(const TrainingResult& result, const fs::path& folder, const std::vector<std::string>& notes) {
  Json summary = result.last ? to_json(*result.last) : Json::object();
  if (result.last) {
    summary["environments"] = result.last->report.episodes;
    summary["feasible"] = is_deployable(result.last->report);
  }
  summary["out"] = folder.string();
  summary["iterations"] = result.iterations;
  summary["finished"] = result.finished;
  if (!notes.empty()) summary["notes"] = notes;
  return summary;
}

// The sentence for someone at a command line.
[[noreturn]] void refuse_unsupported(const UnsupportedElements& error) {
  constexpr std::size_t kNamed = 12;  // a sentence can be read; hundreds of contacts of a large robot cannot
  const std::vector<std::string>& elements = error.elements();
  const std::size_t named = std::min(kNamed, elements.size());
  const std::size_t more = elements.size() - named;
  throw UserError(
      "task {}: the own engine does not support {}{}; --allow-unsupported trains without, --set "
      "task.engine=mujoco on MuJoCo's step, with it but for the derivatives",
      error.task(), fmt::join(elements.begin(), elements.begin() + static_cast<std::ptrdiff_t>(named), "; "),
      more == 0 ? "" : fmt::format("; and {} more, which `{} model FILE` lists", more, program_name()));
}

RunOptions options_of(const TrainRequest& request) {
  RunOptions options{.mode = request.resume  ? FolderMode::kResume
                             : request.force ? FolderMode::kForce
                                             : FolderMode::kNew,
                     .allow_unsupported = request.allow_unsupported,
                     .threads = request.threads};
  if (request.out) options.folder = *request.out;
  return options;
}

Run open(const TrainRequest& request) {
  RunOptions options = options_of(request);
  if (request.resume) {
    options.folder = request.out ? fs::path(*request.out) : folder_to_resume(request.configuration);
    for (const std::string& note : mend_run(options.folder)) say(stderr, "note: {}\n", note);
    return open_run(continue_configuration(find_run(options.folder).config(), request.configuration), options);
  }
  try {
    return open_run(resolve_configuration(request.configuration), options);
  } catch (const UnsupportedElements& error) {
    refuse_unsupported(error);
  }
}

constexpr double kHalf = 0.5;

// --then ENGINE: our engine first, then that one, in shares of the iterations that the task or the user has chosen.
void add_stages(const std::string& engine, ConfigurationRequest& request) {
  if (engine != "mujoco") throw UserError("--then is mujoco, the engine that the run goes on with, not '{}'", engine);
  bool chosen = false;  // the share, by the user
  for (const Assignment& said : request.sets) {
    const std::string value = format_value(said.value);
    if (said.key == "task.engine" && value != "\"mujoco\"")
      throw UserError("--then mujoco is task.engine=mujoco, so it does not go with --set task.engine={}", value);
    chosen = chosen || said.key == "twin.first";
  }
  const Configuration asked = resolve_configuration(request);
  if (asked.task_options.values().count("engine") == 0)
    throw UserError("--then is for tasks with two engines; task {} has no task.engine", asked.task);
  request.sets.push_back({"task.engine", {std::string("mujoco")}, "--then"});
  const Configuration configuration = resolve_configuration(request);
  if (configuration.settings.twin.first > 0.0) return;
  if (chosen) throw UserError("--then is for a first stage, so twin.first must be above 0");
  request.sets.push_back({"twin.first", {kHalf}, "--then"});
}

int show_rehearsal(const TrainRequest& request) {
  Rehearsal rehearsal;
  try {
    rehearsal = rehearse(resolve_configuration(request.configuration), options_of(request));
  } catch (const UnsupportedElements& error) {
    refuse_unsupported(error);
  }
  if (request.json) {
    Json result = {{"out", rehearsal.folder.string()},
                   {"memory", rehearsal.memory.total()},
                   {"iterations", rehearsal.iterations},
                   {"seconds_per_iteration", rehearsal.seconds_per_iteration},
                   {"seconds", rehearsal.seconds()}};
    for (const MemoryPart& part : rehearsal.memory.parts) result["memory_parts"][part.name] = part.bytes;
    result["memory_available"] = rehearsal.available ? Json(rehearsal.available->bytes) : Json();
    say_json(result);
    return 0;
  }
  say("memory  about {}", format_bytes(rehearsal.memory.total()));
  if (rehearsal.available) say("; {} are {}", format_bytes(rehearsal.available->bytes), rehearsal.available->who);
  say("\n");
  for (const MemoryPart& part : rehearsal.memory.parts)
    say("        {:>10}  {}\n", format_bytes(part.bytes), part.name);
  say("time    about {}: {} iterations of {:.3g} s with {} thread{}\n", format_duration(rehearsal.seconds()),
      rehearsal.iterations, rehearsal.seconds_per_iteration, request.threads, request.threads == 1 ? "" : "s");
  say("folder  {}, where nothing was written\n", rehearsal.folder.string());
  return 0;
}

void print_opening(std::FILE* stream, const Run& run, const TrainRequest& request) {
  for (const std::string& note : run.notes()) say(stderr, "note: {}\n", note);
  if (!request.resume) {
    const TaskSpec& spec = run.task().spec();
    for (const std::string& element : spec.unsupported) say(stderr, "left out: {}\n", element);
    for (const std::string& warning : spec.warnings) say(stderr, "warning: {}\n", warning);
  }
  if (request.resume && run.is_finished()) return;
  print_header(stream, run.configuration(), run.task(), run.paths().folder, request.threads);
  if (run.configuration().settings.environments == 1) {
    say(stderr,
        "warning: one environment has no standard error: no limit can be judged, and the radius puts nothing "
        "down to chance\n");
  }
  if (request.resume) say(stream, "going on after iteration {}\n", run.iteration());
}

int train(TrainRequest& request) {
  if (!request.config.empty()) {
    request.configuration.file = parse_document(read_file(request.config), request.config);
    request.configuration.folder = fs::path(request.config).parent_path();
  }
  for (const std::string& text : request.sets) request.configuration.sets.push_back(parse_assignment(text));
  if (request.then && request.resume) throw UserError("--then is for a run that begins; --resume goes on as it was");
  if (request.then) add_stages(*request.then, request.configuration);
  if (request.port && !request.live) throw UserError("--port is that of the live view; it needs --live");
  if (request.dry) return show_rehearsal(request);
  std::optional<LiveView> live;  // first of all, so that a port in use stops a run before anything is written
  if (request.live) live.emplace(request.port.value_or(LiveView::kUsualPort));

  Run run = open(request);
  const fs::path& folder = run.paths().folder;
  std::FILE* const stream = request.json ? stderr : stdout;
  const StopSignal stop;  // from here on a reader of the output that goes (`train | head`) does not end the training
  print_opening(stream, run, request);
  if (live) {
    live->begin(folder, run.configuration());
    say(stream, "live: {}\n", live->address());
  }
  Progress progress(stream, ::isatty(::fileno(stream)) != 0, run.configuration().settings.iterations);
  TrainingResult result;
  try {
    result = run.train([&](const LogEntry& entry, double speed) { progress.show(entry, speed); },
                       [] { return StopSignal::flag() != 0; });
    progress.finish();
  } catch (const IterationFailed& error) {
    progress.finish();
    throw UserError("{}: `{}` goes on", error.what(), resume_words(run.configuration(), folder));
  }
  if (live) live->finish();
  print_summary(stream, result, run.configuration(), folder);
  if (request.json) say_json(summary_json(result, folder, run.notes()));
  return result.finished ? 0 : 128 + StopSignal::flag();
}

}  // namespace

Command make_train_command() {
  const auto owned = std::make_shared<TrainRequest>();
  TrainRequest& request = *owned;
  ConfigurationRequest& configuration = request.configuration;
  return {{{"TASK", FilledText{&configuration.task}, task_words() + "; may also come from --config or --resume"},
           {"--algo", FilledText{&configuration.algorithm}, listed_by("algorithms") + " (cgpo)", "NAME"},
           {"--preset", FilledText{&configuration.preset}, "best, or paper: the letter of the paper (best)", "NAME"},
           {"--seed", seed(configuration.seed), "of all random numbers (0)"},
           sets_flag(request.sets),
           {"--config", Text{&request.config}, "read keys from a TOML file; --set wins over it", "FILE"},
           {"--init", FilledText{&configuration.init},
            "start from the best policy of another run of this task (a folder), with its noise if policy.initial_std "
            "is not given",
            "RUN"},
           {"--then", FilledText{&request.then}, "train on our engine first and go on with this one: mujoco", "ENGINE"},
           {"--out", FilledText{&request.out}, "the run's folder (runs/TASK-ALGO-sSEED)", "FOLDER"},
           threads_flag(request.threads),
           {"--resume", Switch{&request.resume},
            "continue a run from its checkpoint; of its settings only `iterations` may change"},
           {"--force", Switch{&request.force, "--resume"}, "replace the run that is in the folder"},
           {"--dry-run", Switch{&request.dry, "--resume"},
            "say what memory and time it would take, after some iterations, and write nothing"},
           {"--allow-unsupported", Switch{&request.allow_unsupported},
            "train a robot without those of its elements that the own engine does not know"},
           allow_command_flag(configuration.allow_commands),
           {"--live", Switch{&request.live}, "serve a page on this machine that shows the run while it trains"},
           {"--port", whole(request.port, 0, 65535),
            fmt::format("of that page ({}); 0: any that is free", LiveView::kUsualPort)},
           json_flag(request.json)},
          [owned](const Given&) { return train(*owned); }};
}

}  // namespace cgpo
