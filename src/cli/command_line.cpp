#include "cgpo/cli/command_line.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <exception>
#include <fmt/ranges.h>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "cgpo/base/error.hpp"
#include "cgpo/base/file.hpp"
#include "cgpo/base/json.hpp"
#include "cgpo/base/program_name.hpp"
#include "cgpo/base/text.hpp"
#include "cgpo/base/version.hpp"
#include "cgpo/cli/bench_command.hpp"
#include "cgpo/cli/compare_command.hpp"
#include "cgpo/cli/listings.hpp"
#include "cgpo/cli/model_command.hpp"
#include "cgpo/cli/replay_command.hpp"
#include "cgpo/cli/reproduce_command.hpp"
#include "cgpo/cli/settings_command.hpp"
#include "cgpo/cli/train_command.hpp"
#include "cgpo/config/configuration.hpp"
#include "cgpo/config/keys.hpp"
#include "cgpo/judge/evaluation_report.hpp"
#include "cgpo/studies/derivative_check.hpp"
#include "cgpo/view/live_view.hpp"
#include "cgpo/view/report.hpp"

namespace cgpo {
namespace {

constexpr std::int64_t kLargestSeed = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMostSeeds = 10'000;  // of a comparison

std::string overview() {
  const std::string& program = program_name();
  return fmt::format(
      R"(Safe policy optimisation with analytic gradients through a differentiable simulator.

Try:  {:<42} what can be trained
      {:<42} train; the run goes to runs/function-cgpo-s0
      {:<42} how good it is, and whether its limits hold)",
      program + " tasks", program + " train function", program + " eval runs/function-cgpo-s0");
}

std::string listed_by(const char* command) { return fmt::format("as listed by `{} {}`", program_name(), command); }

std::int64_t parse_integer(const std::string& flag, const std::string& text, std::int64_t low, std::int64_t high) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < low || value > high) {
    throw UserError("{} must be a whole number from {} to {}, not '{}'", flag, low, high, text);
  }
  return value;
}

// A whole number within bounds, with a message like those of the configuration's keys.
template <class Target>
CLI::Option* add_integer(CLI::App& app, const std::string& flag, Target& target, std::int64_t low, std::int64_t high,
                         const std::string& help) {
  return app
      .add_option_function<std::string>(
          flag,
          [flag, &target, low, high](const std::string& text) {
            const std::int64_t value = parse_integer(flag, text, low, high);
            if constexpr (std::is_integral_v<Target>) {
              target = static_cast<Target>(value);
            } else {
              target = value;
            }
          },
          help)
      ->type_name("N");
}

// The same for any number.
void add_number(CLI::App& app, const std::string& flag, double& target, double low, double high,
                const std::string& help) {
  app.add_option_function<std::string>(
         flag,
         [flag, &target, low, high](const std::string& text) {
           double value = 0.0;
           const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
           if (error != std::errc() || end != text.data() + text.size() || !(value >= low && value <= high)) {
             throw UserError("{} must be a number from {} to {}, not '{}'", flag, low, high, text);
           }
           target = value;
         },
         help)
      ->type_name("X");
}

// A text that may be left out, but not be empty: that is a shell variable without a value.
CLI::Option* add_text(CLI::App& app, const std::string& name, std::optional<std::string>& target,
                      const std::string& help) {
  return app.add_option_function<std::string>(
      name,
      [&target, name](const std::string& text) {
        if (text.empty()) throw UserError("{} must not be empty", name);
        target = text;
      },
      help);
}

void add_threads(CLI::App& app, int& threads) {
  threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  add_integer(app, "--threads", threads, 1, 1024, "threads to use; results do not depend on it (all cores)");
}

void add_json(CLI::App& app, bool& json) {
  app.add_flag("--json", json, "print one JSON object on standard output, and nothing else there");
}

void add_sets(CLI::App& app, std::vector<std::string>& sets) {
  app.add_option("--set", sets, "set keys of the configuration, as TOML: --set iterations=50 radius.test=fixed")
      ->type_name("KEY=VALUE");
}

void add_file_and_sets(ConfigurationRequest& request, const std::string& file, const std::vector<std::string>& sets) {
  if (!file.empty()) request.file = parse_document(read_file(file), file);
  for (const std::string& text : sets) request.sets.push_back(parse_assignment(text));
}

// What a command needs between parsing and running; it lives as long as the parser.
struct Command {
  CLI::App* app = nullptr;
  std::function<int()> run;
};

Command add_tasks(CLI::App& root) {
  CLI::App* app = root.add_subcommand("tasks", "list the tasks with their sizes, horizons, limits and options");
  const auto json = std::make_shared<bool>(false);
  add_json(*app, *json);
  return {app, [json] { return tasks_command(*json); }};
}

Command add_algorithms(CLI::App& root) {
  CLI::App* app = root.add_subcommand("algorithms", "list the algorithms");
  const auto json = std::make_shared<bool>(false);
  add_json(*app, *json);
  return {app, [json] { return algorithms_command(*json); }};
}

Command add_settings(CLI::App& root) {
  struct Arguments {
    ConfigurationRequest request;
    std::vector<std::string> sets;
    bool json = false;
  };
  const auto arguments = std::make_shared<Arguments>();
  CLI::App* app = root.add_subcommand("settings", "list every setting, with the defaults of a task and algorithm");
  add_text(*app, "TASK", arguments->request.task, listed_by("tasks") + "; none: the program's defaults");
  add_text(*app, "--algo", arguments->request.algorithm, listed_by("algorithms") + " (cgpo)")->type_name("NAME");
  add_text(*app, "--preset", arguments->request.preset, "best or paper (best)")->type_name("NAME");
  add_sets(*app, arguments->sets);
  add_json(*app, arguments->json);
  return {app, [arguments] {
            add_file_and_sets(arguments->request, "", arguments->sets);
            return settings_command(arguments->request, arguments->json);
          }};
}

Command add_model(CLI::App& root) {
  const auto request = std::make_shared<ModelRequest>();
  CLI::App* app = root.add_subcommand("model", "what was read from an MJCF file, and how far it is from MuJoCo");
  app->add_option("FILE", request->file, "a robot, as MJCF");
  add_integer(*app, "--states", request->states, 1, 1'000'000, "random states to compare on (1000)");
  add_integer(*app, "--seed", request->seed, 0, kLargestSeed, "of the random states (0)");
  add_json(*app, request->json);
  return {app, [request] {
            if (request->file.empty()) throw UserError("model needs an MJCF file: {} model FILE.xml", program_name());
            return model_command(*request);
          }};
}

Command add_check(CLI::App& root) {
  struct Arguments {
    std::string task;
    int states = 32;
    int window = 10;
    std::int64_t seed = 0;
    std::vector<std::string> sets;
    bool json = false;
  };
  const auto arguments = std::make_shared<Arguments>();
  CLI::App* app = root.add_subcommand("check", "compare a task's derivatives with central differences");
  app->add_option("TASK", arguments->task, listed_by("tasks"));
  add_integer(*app, "--states", arguments->states, 1, 1'000'000, "random states to start from (32)");
  add_integer(*app, "--window", arguments->window, 1, 1'000'000, "steps from each of them (10)");
  add_integer(*app, "--seed", arguments->seed, 0, kLargestSeed, "of the random states and actions (0)");
  add_sets(*app, arguments->sets);
  add_json(*app, arguments->json);
  return {
      app, [arguments] {
        ConfigurationRequest request;
        if (!arguments->task.empty()) request.task = arguments->task;
        add_file_and_sets(request, "", arguments->sets);
        const std::shared_ptr<const Task> task = task_of(resolve_configuration(request));
        const DerivativeCheck check =
            check_derivatives(task, arguments->states, arguments->window, static_cast<std::uint64_t>(arguments->seed));
        const bool agree = check.max_relative_error <= kDerivativeTolerance;
        if (arguments->json) {
          Json result;
          result["task"] = task->spec().name;
          result["max_relative_error"] = check.max_relative_error;
          result["states"] = check.states;
          result["window"] = check.window;
          fmt::print("{}\n", result.dump());
        } else {
          fmt::print(
              "{}: derivatives and central differences {} on {} windows of {} steps; largest relative error {:.2e}\n",
              task->spec().name, agree ? "agree" : "DO NOT agree", check.states, check.window,
              check.max_relative_error);
        }
        return agree ? 0 : 1;
      }};
}

Command add_bench(CLI::App& root) {
  struct Arguments {
    BenchRequest request;
    bool kernels = false, windows = false, training = false;
  };
  const auto arguments = std::make_shared<Arguments>();
  CLI::App* app = root.add_subcommand("bench", "how fast this machine simulates and trains, beside MuJoCo");
  app->add_option("TASK", arguments->request.tasks, "tasks to time (all)");
  app->add_flag("--kernels", arguments->kernels, "only the simulation, beside MuJoCo");
  app->add_flag("--windows", arguments->windows, "only short windows with a policy, and their gradients");
  app->add_flag("--training", arguments->training, "only whole iterations");
  add_json(*app, arguments->request.json);
  return {app, [arguments] {
            const auto& [request, kernels, windows, training] = *arguments;
            if (kernels || windows || training) {
              arguments->request.kernels = kernels;
              arguments->request.windows = windows;
              arguments->request.training = training;
            }
            return bench_command(request);
          }};
}

Command add_train(CLI::App& root) {
  struct Arguments {
    TrainRequest request;
    std::string config;
    std::vector<std::string> sets;
  };
  const auto arguments = std::make_shared<Arguments>();
  TrainRequest& request = arguments->request;
  CLI::App* app = root.add_subcommand("train", "train a policy");
  ConfigurationRequest& configuration = request.configuration;
  add_text(*app, "TASK", configuration.task, listed_by("tasks") + "; may also come from --config or --resume");
  add_text(*app, "--algo", configuration.algorithm, listed_by("algorithms") + " (cgpo)")->type_name("NAME");
  add_text(*app, "--preset", configuration.preset, "best, or paper: the letter of the paper (best)")->type_name("NAME");
  add_integer(*app, "--seed", configuration.seed, 0, kLargestSeed, "of all random numbers (0)");
  add_sets(*app, arguments->sets);
  app->add_option("--config", arguments->config, "read keys from a TOML file; --set wins over it")->type_name("FILE");
  add_text(*app, "--init", configuration.init, "start from the best policy of another run of this task (a folder)")
      ->type_name("RUN");
  add_text(*app, "--out", request.out, "the run's folder (runs/TASK-ALGO-sSEED)")->type_name("FOLDER");
  add_threads(*app, request.threads);
  CLI::Option* resume = app->add_flag(
      "--resume", request.resume, "continue a run from its checkpoint; of its settings only `iterations` may change");
  app->add_flag("--force", request.force, "replace the run that is in the folder")->excludes(resume);
  app->add_flag("--allow-unsupported", request.allow_unsupported,
                "train a robot without those of its elements that the own engine does not know");
  app->add_flag("--live", request.live, "serve a page on this machine that shows the run while it trains");
  add_integer(*app, "--port", request.port, 0, 65535,
              fmt::format("of that page ({}); 0: any that is free", LiveView::kUsualPort));
  add_json(*app, request.json);
  return {app, [arguments] {
            TrainRequest& train = arguments->request;
            add_file_and_sets(train.configuration, arguments->config, arguments->sets);
            return train_command(train);
          }};
}

Command add_eval(CLI::App& root) {
  const auto request = std::make_shared<EvaluationRequest>();
  CLI::App* app = root.add_subcommand("eval", "how good a trained policy is, on fresh episodes");
  app->add_option("RUN", request->run, "the folder of a run");
  add_integer(*app, "--episodes", request->episodes, 1, 100'000'000, "how many (4096)");
  app->add_option("--checkpoint", request->checkpoint, "last, or best: the best feasible policy of the run (last)")
      ->type_name("WHICH");
  app->add_flag("--deterministic", request->deterministic, "without action noise");
  add_integer(*app, "--seed", request->seed, 0, kLargestSeed, "of start states and noise (the run's own)");
  app->add_option("--engine", request->engine, "simulate with own or mujoco, whatever the policy was trained on")
      ->type_name("NAME");
  add_integer(*app, "--substeps", request->substeps, 1, 1000, "physics steps of an environment step (the engine's)");
  const auto sets = std::make_shared<std::vector<std::string>>();
  app->add_option("--set", *sets, "change options of the task: --set task.contact_stiffness=5e3")
      ->type_name("task.KEY=VALUE");
  app->add_flag("--explain", request->explain,
                "also look into gradients, critics, updates and actions, and say what looks wrong and what to try");
  add_threads(*app, request->threads);
  add_json(*app, request->json);
  return {app, [request, sets] {
            if (request->run.empty()) throw UserError("eval needs the folder of a run: {} eval RUN", program_name());
            if (request->checkpoint != "last" && request->checkpoint != "best") {
              throw UserError("--checkpoint must be last or best, not '{}'", request->checkpoint);
            }
            for (const std::string& text : *sets) request->task_sets.push_back(parse_assignment(text));
            return eval_command(*request);
          }};
}

Command add_report(CLI::App& root) {
  const auto owned = std::make_shared<ReportRequest>();
  ReportRequest& request = *owned;
  CLI::App* app = root.add_subcommand("report", "one page: curves, verdict, the moving robot, the configuration");
  app->add_option("RUN", request.runs, "folders of runs of one task; those that differ in the seed alone are averaged");
  add_text(*app, "--out", request.out, "the page (RUN/report.html; of several runs report.html)")->type_name("FILE");
  add_integer(*app, "--episodes", request.options.episodes, 0, 100'000'000, "of the evaluation (1024); 0: none");
  add_integer(*app, "--replays", request.options.replays, 0, 16, "episodes of each policy that are shown (1); 0: none");
  add_integer(*app, "--seed", request.options.seed, 0, kLargestSeed, "of start states and noise (the run's own)");
  add_threads(*app, request.threads);
  add_json(*app, request.json);
  return {app, [owned] {
            if (owned->runs.empty()) throw UserError("report needs the folder of a run: {} report RUN", program_name());
            return report_command(*owned);
          }};
}

Command add_replay(CLI::App& root) {
  const auto owned = std::make_shared<ReplayFlags>();
  ReplayFlags& request = *owned;
  CLI::App* app = root.add_subcommand("replay", "a page with the robot moving, or a film of it");
  app->add_option("RUN", request.run, "the folder of a run");
  add_text(*app, "--out", request.out, "the page (RUN/replay.html)")->type_name("FILE");
  add_integer(*app, "--episodes", request.replay.episodes, 1, 16, "of each policy (1)");
  add_integer(*app, "--seed", request.replay.seed, 0, kLargestSeed, "of start states and noise (the run's own)");
  app->add_flag("--noise", request.replay.noise, "let the policy act with its noise");
  add_text(*app, "--video", request.video, "a film: .webp, .gif or .mp4; .png: one picture")->type_name("FILE");
  add_text(*app, "--frames", request.frames, "the film as pictures, in a new folder")->type_name("FOLDER");
  app->add_option("--show", request.show, "policies in the film: start, middle, end, best, last (start,middle,end)")
      ->type_name("NAME,…");
  app->add_option("--size", request.size, "of the film, in pixels (720x400)")->type_name("WxH");
  app->add_option("--theme", request.theme, "of the film: light or dark (light)")->type_name("NAME");
  add_integer(*app, "--fps", request.fps, 1, 60, "pictures a second (20)");
  add_number(*app, "--from", request.from, 0.0, 1e6, "seconds into the episode at which the film begins (0)");
  add_number(*app, "--seconds", request.seconds, 0.01, 600.0, "of the film (5)");
  add_threads(*app, request.threads);
  add_json(*app, request.json);
  return {app, [app, owned] {
            const ReplayFlags& replay = *owned;
            if (replay.run.empty()) throw UserError("replay needs the folder of a run: {} replay RUN", program_name());
            for (const char* name : {"--show", "--size", "--theme", "--fps", "--from", "--seconds"}) {
              if (app->count(name) > 0 && !replay.video && !replay.frames) {
                throw UserError("{} is of a film: it needs --video FILE or --frames FOLDER", name);
              }
            }
            return replay_command(replay);
          }};
}

Command add_compare(CLI::App& root) {
  const auto owned = std::make_shared<CompareFlags>();
  CompareFlags& request = *owned;
  CLI::App* app = root.add_subcommand("compare", "train several algorithms on several seeds, and compare them");
  app->add_option("TASK", request.task, listed_by("tasks"));
  app->add_option("--algos", request.algorithms,
                  listed_by("algorithms") + ", with commas between; also NAME@PRESET and NAME:KEY=VALUE")
      ->type_name("NAME,…");
  app->add_option("--vary", request.vary,
                  "train each algorithm once for each value: --vary 'limits=[3],[5]' window=5,10")
      ->type_name("KEY=A,B,…");
  add_integer(*app, "--seeds", request.seeds, 1, kMostSeeds, "how many (5)");
  add_integer(*app, "--first-seed", request.first_seed, 0, kLargestSeed - kMostSeeds, "the others follow it (0)");
  add_integer(*app, "--evaluate", request.evaluate, 1, 100'000'000,
              "also evaluate each run's last policy, as eval does, on so many episodes");
  add_integer(*app, "--jobs", request.jobs, 1, 1024, "runs at a time; they share the cores (1)");
  add_text(*app, "--out", request.out, "the folder of the comparison (runs/compare-TASK)")->type_name("FOLDER");
  add_text(*app, "--preset", request.preset, "best or paper, for algorithms that name none (best)")->type_name("NAME");
  add_sets(*app, request.sets);
  add_json(*app, request.json);
  return {app, [owned] { return compare_command(*owned); }};
}

Command add_reproduce(CLI::App& root) {
  const auto owned = std::make_shared<ReproduceFlags>();
  ReproduceFlags& options = *owned;
  std::string names;
  for (const Reproduction& entry : reproductions()) names += entry.name + ", ";
  CLI::App* app = root.add_subcommand("reproduce", "make a table or figure of the paper, or one beyond it");
  app->add_option("NAME", options.name, names + "or all of them");
  app->add_flag("--quick", options.quick, "a reduced version, in minutes");
  add_text(*app, "--out", options.out, "the folder of its results (runs/reproduce-NAME)")->type_name("FOLDER");
  add_integer(*app, "--seeds", options.seeds, 1, 10'000, "how many: 0, 1, … (5; 2 with --quick)");
  add_integer(*app, "--jobs", options.jobs, 1, 1024, "trainings at a time; they share the threads (1)");
  add_threads(*app, options.threads);
  add_json(*app, options.json);
  return {app, [owned] { return reproduce_command(*owned); }};
}

// A setting that was given like an option: how it is set.
std::string how_to_set(const CLI::App& app, const std::string& flag) {
  if (app.get_option_no_throw("--set") == nullptr) return "";
  const std::size_t begin = std::min(flag.find_first_not_of('-'), flag.size());
  const std::string key = flag.substr(begin, flag.find('=') - begin);
  const auto& keys = settings_keys();
  const bool known = std::any_of(keys.begin(), keys.end(), [&](const Key& entry) { return entry.name == key; });
  return known ? fmt::format(" (it is a setting: --set {}=…)", key) : "";
}

// Names what was not understood, with the nearest thing that would have been.
void refuse_extras(const CLI::App& root, const CLI::App& app) {
  const std::vector<std::string> extras = app.remaining();
  if (extras.empty()) return;
  const auto flag =
      std::find_if(extras.begin(), extras.end(), [](const std::string& text) { return text.starts_with("-"); });
  std::vector<std::string> known;
  if (flag != extras.end()) {
    for (const CLI::Option* option : app.get_options()) {
      for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    }
    const std::string setting = how_to_set(app, *flag);
    throw UserError("unknown option '{}'{}; `{} --help` lists them", *flag,
                    setting.empty() ? did_you_mean(*flag, known) : setting,
                    &root == &app ? program_name() : program_name() + " " + app.get_name());
  }
  if (&root != &app) throw UserError("{} {} does not take '{}'", program_name(), app.get_name(), extras.front());
  for (const CLI::App* command : root.get_subcommands({})) known.push_back(command->get_name());
  throw UserError("unknown command '{}'{}; there are: {}", extras.front(), did_you_mean(extras.front(), known),
                  fmt::join(known, ", "));
}

int parse_and_run(int argc, const char* const* argv) {
  CLI::App root(overview(), program_name());
  root.set_version_flag("--version", kVersion);
  root.require_subcommand(0, 1);
  root.allow_extras();
  const std::vector<Command> commands = {add_tasks(root),  add_algorithms(root), add_settings(root),
                                         add_model(root),  add_check(root),      add_train(root),
                                         add_eval(root),   add_compare(root),    add_bench(root),
                                         add_report(root), add_replay(root),     add_reproduce(root)};
  for (const Command& command : commands) command.app->allow_extras();
  try {
    root.parse(argc, argv);
  } catch (const CLI::Success& request) {  // --help and --version
    return root.exit(request);
  } catch (const CLI::ParseError& error) {
    throw UserError("{}", error.what());
  }
  refuse_extras(root, root);
  for (const Command& command : commands) {
    if (!command.app->parsed()) continue;
    refuse_extras(root, *command.app);
    return command.run();
  }
  fmt::print("{}", root.help());
  return 0;
}

}  // namespace

int run_command_line(int argc, const char* const* argv) {
  if (argc > 0) set_program_name(argv[0]);
  set_command_words(argc, argv);
  try {
    return parse_and_run(argc, argv);
  } catch (const UserError& error) {
    fmt::print(stderr, "{}: {}\n", program_name(), error.what());
    return 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: internal error: {}\n", program_name(), error.what());
    return 1;
  }
}

}  // namespace cgpo
