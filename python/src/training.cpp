// Training: what `cgpo train` does, with callbacks in place of its output.
#include <algorithm>
#include <chrono>
#include <fmt/ranges.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "cgpo/run/open_run.hpp"
#include "cgpo/run/progress_line.hpp"

#include "bindings.hpp"
#include "threads.hpp"
#include "values.hpp"

namespace cgpo::python {
namespace {

using Clock = std::chrono::steady_clock;

// What `train` was given, all of it as the command line has it.
struct TrainRequest {
  ConfigurationRequest configuration;
  std::optional<std::filesystem::path> out;
  bool resume = false;
  bool force = false;
  bool allow_unsupported = false;
  int threads = 0;
};

Run open(const TrainRequest& request, std::vector<std::string>& notes) {
  RunOptions options{.mode = request.resume  ? FolderMode::kResume
                             : request.force ? FolderMode::kForce
                                             : FolderMode::kNew,
                     .allow_unsupported = request.allow_unsupported,
                     .threads = threads_or_all(request.threads)};
  if (request.out) options.folder = *request.out;
  if (!request.resume) {
    try {
      return open_run(resolve_configuration(request.configuration), options);
    } catch (const UnsupportedElements& error) {
      throw UserError(
          "{}; allow_unsupported=True trains without, settings={{\"task.engine\": \"mujoco\"}} on MuJoCo's step, with "
          "it but "
          "for the derivatives",
          error.what());
    }
  }
  if (!request.out) options.folder = folder_to_resume(request.configuration);
  notes = mend_run(options.folder);
  return open_run(continue_configuration(find_run(options.folder).config(), request.configuration), options);
}

// A training that Python hears of. While it iterates, the GIL is free; it is taken for what is asked and told in
// between.
class Session {
 public:
  Session(const TrainRequest& request, nb::object opened, nb::object told)
      : opened_(std::move(opened)), told_(std::move(told)) {
    const nb::gil_scoped_release free;
    run_.emplace(open(request, notes_));
    notes_.insert(notes_.end(), run_->notes().begin(), run_->notes().end());
  }

  void train() {
    announce();
    try {
      const nb::gil_scoped_release free;
      run_->train([this](const LogEntry& entry, double speed) { tell(entry, speed); });
      run_.reset();  // its folder is free for others from here on
    } catch (const IterationFailed& error) {
      throw UserError("{}: train(..., resume=True) goes on", error.what());
    }
  }

 private:
  void announce() {
    const Configuration& configuration = run_->configuration();
    const TaskSpec& spec = run_->task().spec();
    nb::dict opening;
    opening["folder"] = run_->paths().folder.string();
    opening["task"] = configuration.task;
    opening["algorithm"] = configuration.algorithm;
    opening["seed"] = configuration.seed;
    opening["iterations"] = configuration.settings.iterations;
    opening["done"] = run_->iteration();
    opening["notes"] = notes_;
    opening["left_out"] = spec.unsupported;
    opening["warnings"] = spec.warnings;
    opened_(opening);
    begin_ = Clock::now();
  }

  void tell(const LogEntry& entry, double speed) {
    ++shown_;
    const int iterations = run_->configuration().settings.iterations;
    const double session = std::chrono::duration<double>(Clock::now() - begin_).count();
    const double left = session / shown_ * (iterations - entry.report.iteration - 1);
    const std::string text = progress_line(entry, iterations, speed, left);
    const std::string line = json_text(to_json(entry));
    const nb::gil_scoped_acquire taken;
    told_(line, text);
  }

  nb::object opened_;
  nb::object told_;
  std::optional<Run> run_;
  std::vector<std::string> notes_;
  Clock::time_point begin_;
  int shown_ = 0;
};

}  // namespace

void bind_training(nb::module_& module) {
  module.def(
      "find_run", [](const std::filesystem::path& folder) { find_run(folder); }, nb::arg("folder"),
      "An error, if there is no run.");
  module.def(
      "train",
      [](std::optional<std::string> task, std::optional<std::string> algorithm, std::optional<std::string> preset,
         std::optional<std::string> init, std::optional<std::int64_t> seed, const Settings& settings,
         std::optional<std::filesystem::path> out, bool resume, bool force, bool allow_unsupported, bool allow_command,
         int threads, nb::object opened, nb::object told) {
        TrainRequest request;
        request.out = std::move(out);
        request.resume = resume;
        request.force = force;
        request.allow_unsupported = allow_unsupported;
        request.threads = threads;
        ConfigurationRequest& configuration = request.configuration;
        configuration.task = std::move(task);
        configuration.algorithm = std::move(algorithm);
        configuration.preset = std::move(preset);
        configuration.init = std::move(init);
        configuration.seed = seed;
        configuration.sets = assignments_from(settings);
        configuration.allow_commands = allow_command;
        Session(request, std::move(opened), std::move(told)).train();
      },
      nb::kw_only(), nb::arg("task").none(), nb::arg("algorithm").none(), nb::arg("preset").none(),
      nb::arg("init").none(), nb::arg("seed").none(), nb::arg("settings"), nb::arg("out").none(), nb::arg("resume"),
      nb::arg("force"), nb::arg("allow_unsupported"), nb::arg("allow_command"), nb::arg("threads"), nb::arg("opened"),
      nb::arg("told"),
      "Trains. opened(what) hears of the run once it is open, told(line, text) of every iteration: its line of the "
      "log, "
      "and one for people.");
}

}  // namespace cgpo::python
