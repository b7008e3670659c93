#include "cgpo/run/training.hpp"

#include <chrono>
#include <cmath>
#include <fmt/ranges.h>
#include <string>
#include <utility>

#include "cgpo/base/error.hpp"
#include "cgpo/base/program_name.hpp"
#include "cgpo/updates/report.hpp"

namespace cgpo {
namespace {

using Clock = std::chrono::steady_clock;

// A checkpoint that is flushed to the disk costs some 10 ms, as much as an iteration of a small task. After a sudden
// death at most this much work is done again, with the same result.
constexpr double kSecondsBetweenCheckpoints = 1.0;

double seconds_between(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}

}  // namespace

void load_into(Algorithm& algorithm, const Tensors& tensors, const std::filesystem::path& path) {
  try {
    algorithm.load(tensors);
  } catch (const UserError& error) {
    throw UserError("'{}' does not fit this run: {}", path.string(), error.what());
  }
}

void start_from(Algorithm& algorithm, const Configuration& configuration) {
  const RunPaths run = find_run(configuration.init);
  std::error_code ignored;
  const std::filesystem::path path = std::filesystem::exists(run.best(), ignored) ? run.best() : run.checkpoint();
  const Tensors tensors = read_checkpoint(path, configuration, /*algorithm=*/false);
  try {
    algorithm.warm_start(tensors);
  } catch (const UserError& error) {
    throw UserError("--init: the policy in '{}' does not fit this run: {}", path.string(), error.what());
  }
}

Training::Training(std::unique_ptr<Algorithm> algorithm, const Configuration& configuration, const RunFolder& folder)
    : algorithm_(std::move(algorithm)), configuration_(configuration), paths_(folder.paths()), data_(paths_.data()) {}

Training Training::start(std::unique_ptr<Algorithm> algorithm, const Configuration& configuration,
                         const RunFolder& folder) {
  Training training(std::move(algorithm), configuration, folder);
  training.take_state();
  training.keep_snapshot();
  write_tensors(training.paths_.checkpoint(), training.state_);
  return training;
}

Training Training::resume(std::unique_ptr<Algorithm> algorithm, const Configuration& configuration,
                          const RunFolder& folder) {
  Training training(std::move(algorithm), configuration, folder);
  const RunPaths& paths = training.paths_;
  const Tensors checkpoint = read_checkpoint(paths.checkpoint(), configuration);
  training.data_.load(*training.algorithm_, static_cast<int>(checkpoint.integer("iteration")));
  load_into(*training.algorithm_, checkpoint, paths.checkpoint());
  training.take_state();

  const int done = training.iteration();
  const KeptLines kept = find_lines(paths.log(), done);
  if (kept.count < done) {
    throw UserError("'{}' has {} whole lines, but the checkpoint stands after {} iterations; --force starts anew",
                    paths.log().string(), kept.count, done);
  }
  try {
    if (kept.last) training.last_ = from_json(*kept.last);
  } catch (const Json::exception&) {
    throw UserError("'{}', line {}: not a line of a run's log", paths.log().string(), done);
  }

  if (std::error_code ignored; std::filesystem::exists(paths.best(), ignored)) {
    const Tensors best = read_checkpoint(paths.best(), configuration);
    try {
      training.best_return_ = std::stod(best.metadata.at("return"));
    } catch (const std::logic_error&) {  // no such entry, or not a number
      throw UserError("'{}' does not say which return it reached", paths.best().string());
    }
  }
  return training;
}

void Training::take_state() {
  state_ = Tensors();
  algorithm_->save(state_);
  describe_checkpoint(state_, configuration_, algorithm_->iteration());
}

void Training::keep_if_best(const IterationReport& report) {
  if (!is_feasible(report) || (best_return_ && !(report.return_mean > *best_return_))) return;
  best_return_ = report.return_mean;
  // The report measured the policy as it was before the update, and that is what state_ holds.
  Tensors best = state_;
  best.metadata["return"] = fmt::format("{}", report.return_mean);
  best.metadata["costs"] = fmt::format("{}", fmt::join(report.costs, " "));
  best.metadata["limits"] = fmt::format("{}", fmt::join(report.limits, " "));
  write_tensors(paths_.best(), best);
}

void Training::write_state() {
  data_.write();
  write_tensors(paths_.checkpoint(), state_);
}

void Training::write_checkpoint() {
  write_state();
  data_.remove_before(algorithm_->first_data_needed());
}

void Training::keep_snapshot() const {
  const Settings& settings = configuration_.settings;
  if (!keeps_snapshot(iteration(), settings.iterations, settings.snapshots)) return;
  Tensors snapshot;  // what acts, and nothing of what trains
  snapshot.metadata = state_.metadata;
  for (const auto& [name, tensor] : state_.entries) {
    if (name.starts_with("policy.") || name.starts_with("normaliser.")) snapshot.entries[name] = tensor;
  }
  std::filesystem::create_directories(paths_.snapshots());
  write_tensors(paths_.snapshot(iteration()), snapshot);
}

TrainingResult Training::run(Progress& progress, const std::atomic<int>& stop) {
  const int iterations = configuration_.settings.iterations;
  const double seconds_before = last_ ? last_->seconds : 0.0;
  const std::int64_t steps_before = last_ ? last_->report.steps : 0;
  const Clock::time_point begin = Clock::now();
  TrainingResult result;
  if (iteration() < iterations && stop == 0) {
    for (const std::filesystem::path& path : {paths_.log(), paths_.timing()}) {
      if (std::error_code ignored; std::filesystem::exists(path, ignored)) cut_lines(path, iteration());
    }
    data_.cut(iteration());
    LineFile log(paths_.log());
    LineFile timing(paths_.timing());
    Clock::time_point iteration_begin = begin;
    double seconds_writing = 0.0;
    Clock::time_point written = begin;  // when, and after how many iterations, the checkpoint was written
    int saved = iteration();
    while (iteration() < iterations && stop == 0) {
      const std::int64_t steps = last_ ? last_->report.steps : 0;
      LogEntry entry;
      try {
        entry.report = algorithm_->iterate();
      } catch (const UserError& error) {
        // state_ is from before it. The algorithm is not: which data it still needs is not what state_ does.
        progress.finish();
        if (saved != iteration()) write_state();
        throw UserError("{}; the run is kept as it was after {} iteration{}: `{} train {} --resume --out {}` goes on",
                        error.what(), iteration(), iteration() == 1 ? "" : "s", program_name(), configuration_.task,
                        paths_.folder.string());
      }
      const Clock::time_point iterated = Clock::now();
      entry.seconds = seconds_before + seconds_between(begin, iterated);
      const double seconds = seconds_between(iteration_begin, iterated);

      keep_if_best(entry.report);
      log.append(to_json(entry));
      timing.append(to_json(TimingEntry{entry.report.iteration, seconds, seconds_writing,
                                        static_cast<double>(entry.report.steps - steps) / seconds}));
      take_state();
      keep_snapshot();
      data_.add(iteration() - 1, algorithm_->take_new_data());
      const bool last_one = iteration() >= iterations || stop != 0;
      if (last_one || seconds_between(written, Clock::now()) >= kSecondsBetweenCheckpoints) {
        write_checkpoint();
        written = Clock::now();
        saved = iteration();
      }

      last_ = std::move(entry);
      iteration_begin = Clock::now();
      seconds_writing = seconds_between(iterated, iteration_begin);
      const double session = seconds_between(begin, iteration_begin);
      result.steps_per_second = static_cast<double>(last_->report.steps - steps_before) / session;
      progress.show(*last_, result.steps_per_second);
    }
    if (saved != iteration()) write_checkpoint();  // stopped just after the test above
  }
  progress.finish();
  result.iterations = iteration();
  result.finished = iteration() >= iterations;
  result.last = last_;
  return result;
}

}  // namespace cgpo
