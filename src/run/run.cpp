#include "cgpo/run/run.hpp"

#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fmt/ranges.h>
#include <string>
#include <utility>

#include "cgpo/updates/report.hpp"

namespace cgpo {
namespace {

using Clock = std::chrono::steady_clock;

// A checkpoint that is flushed to the disk costs some 10 ms, as much as an iteration of a small task. After a sudden
// death at most this much work is done again, with the same result. The environment variable CGPO_CHECKPOINT_SECONDS
// changes it: at 0 every iteration has its checkpoint, and what a kill costs does not depend on a clock.
double seconds_between_checkpoints() {
  const char* const wish = std::getenv("CGPO_CHECKPOINT_SECONDS");
  double seconds = 1.0;
  if (wish != nullptr) std::from_chars(wish, wish + std::strlen(wish), seconds);  // what is no number changes nothing
  return seconds;
}

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

IterationFailed::IterationFailed(const std::string& cause, int iterations)
    : UserError("{}; the run is kept as it was after {} iteration{}", cause, iterations, iterations == 1 ? "" : "s"),
      iterations_(iterations) {}

Run::Run(RunParts parts) : parts_(std::move(parts)), paths_(parts_.folder->paths()), data_(paths_.data()) {}

Run Run::start(RunParts parts) {
  parts.folder->begin(parts.configuration);
  Run run(std::move(parts));
  run.take_state();
  run.keep_snapshot();
  write_tensors(run.paths_.checkpoint(), run.state_);
  return run;
}

Run Run::resume(RunParts parts) {
  Run run(std::move(parts));
  const RunPaths& paths = run.paths_;
  Algorithm& algorithm = *run.parts_.algorithm;
  const Tensors checkpoint = read_checkpoint(paths.checkpoint(), run.configuration());
  run.data_.load(algorithm, static_cast<int>(checkpoint.integer("iteration")));
  load_into(algorithm, checkpoint, paths.checkpoint());
  run.take_state();

  const int done = run.iteration();
  const KeptLines kept = find_lines(paths.log(), done);
  if (kept.count < done) {
    throw UserError("'{}' has {} whole lines, but the checkpoint stands after {} iterations; --force starts anew",
                    paths.log().string(), kept.count, done);
  }
  try {
    if (kept.last) run.last_ = from_json(*kept.last);
  } catch (const Json::exception&) {
    throw UserError("'{}', line {}: not a line of a run's log", paths.log().string(), done);
  }

  if (std::error_code ignored; std::filesystem::exists(paths.best(), ignored)) {
    const Tensors best = read_checkpoint(paths.best(), run.configuration());
    try {
      run.best_return_ = std::stod(best.metadata.at("return"));
    } catch (const std::logic_error&) {  // no such entry, or not a number
      throw UserError("'{}' does not say which return it reached", paths.best().string());
    }
  }
  return run;
}

struct Run::Session {
  Session(const RunPaths& paths, const std::optional<LogEntry>& last, int iteration, Clock::time_point start)
      : log(paths.log()),
        timing(paths.timing()),
        begin(start),
        seconds_before(last ? last->seconds : 0.0),
        steps_before(last ? last->report.steps : 0),
        saved(iteration) {}

  LineFile log;
  LineFile timing;
  Clock::time_point begin;
  double seconds_before;      // of the sessions before this one
  std::int64_t steps_before;  // and their environment steps
  double checkpoint_seconds = seconds_between_checkpoints();
  int saved;                          // after how many iterations the checkpoint was written,
  Clock::time_point written = begin;  // and when
  Clock::time_point iteration_begin = begin;
  double seconds_writing = 0.0;  // after the iteration before
  double steps_per_second = 0.0;
};

void Run::take_state() {
  state_ = Tensors();
  parts_.algorithm->save(state_);
  describe_checkpoint(state_, configuration(), parts_.algorithm->iteration());
}

void Run::keep_if_best(const IterationReport& report) {
  if (!is_feasible(report) || (best_return_ && !(report.return_mean > *best_return_))) return;
  best_return_ = report.return_mean;
  // The report measured the policy as it was before the update, and that is what state_ holds.
  Tensors best = state_;
  best.metadata["return"] = fmt::format("{}", report.return_mean);
  best.metadata["costs"] = fmt::format("{}", fmt::join(report.costs, " "));
  best.metadata["limits"] = fmt::format("{}", fmt::join(report.limits, " "));
  write_tensors(paths_.best(), best);
}

void Run::write_state() {
  data_.write();
  write_tensors(paths_.checkpoint(), state_);
}

void Run::keep_snapshot() const {
  const Settings& settings = configuration().settings;
  if (!keeps_snapshot(iteration(), settings.iterations, settings.snapshots)) return;
  Tensors snapshot;  // what acts, and nothing of what trains
  snapshot.metadata = state_.metadata;
  for (const auto& [name, tensor] : state_.entries) {
    if (name.starts_with("policy.") || name.starts_with("normaliser.")) snapshot.entries[name] = tensor;
  }
  std::filesystem::create_directories(paths_.snapshots());
  write_tensors(paths_.snapshot(iteration()), snapshot);
}

void Run::cut_back() {
  for (const std::filesystem::path& path : {paths_.log(), paths_.timing()}) {
    if (std::error_code ignored; std::filesystem::exists(path, ignored)) cut_lines(path, iteration());
  }
  data_.cut(iteration());
}

void Run::write_checkpoint(Session& session) {
  if (session.saved == iteration()) return;
  write_state();
  data_.remove_before(parts_.algorithm->first_data_needed());
  session.saved = iteration();
  session.written = Clock::now();
}

void Run::record(IterationReport report, Session& session) {
  const std::int64_t steps = last_ ? last_->report.steps : 0;
  const Clock::time_point iterated = Clock::now();
  LogEntry entry{std::move(report), session.seconds_before + seconds_between(session.begin, iterated)};
  const double seconds = seconds_between(session.iteration_begin, iterated);

  keep_if_best(entry.report);
  session.log.append(to_json(entry));
  session.timing.append(to_json(TimingEntry{entry.report.iteration, seconds, session.seconds_writing,
                                            static_cast<double>(entry.report.steps - steps) / seconds}));
  take_state();
  keep_snapshot();
  data_.add(iteration() - 1, parts_.algorithm->take_new_data());
  if (is_finished() || seconds_between(session.written, Clock::now()) >= session.checkpoint_seconds) {
    write_checkpoint(session);
  }

  last_ = std::move(entry);
  session.iteration_begin = Clock::now();
  session.seconds_writing = seconds_between(iterated, session.iteration_begin);
  session.steps_per_second = static_cast<double>(last_->report.steps - session.steps_before) /
                             seconds_between(session.begin, session.iteration_begin);
}

void Run::tell(const ProgressCallback& progress, Session& session) {
  if (!progress) return;
  try {
    progress(*last_, session.steps_per_second);
  } catch (...) {
    write_checkpoint(session);
    throw;
  }
}

TrainingResult Run::train(const ProgressCallback& progress, const StopTest& stop) {
  const Clock::time_point begin = Clock::now();
  const auto goes_on = [&] { return !is_finished() && !(stop && stop()); };
  TrainingResult result;
  if (goes_on()) {
    cut_back();
    Session session(paths_, last_, iteration(), begin);
    do {
      IterationReport report;
      try {
        report = parts_.algorithm->iterate();
      } catch (const UserError& error) {
        // state_ is from before it. The algorithm is not: which data it still needs is not what state_ does.
        if (session.saved != iteration()) write_state();
        throw IterationFailed(error.what(), iteration());
      }
      record(std::move(report), session);
      tell(progress, session);
    } while (goes_on());
    write_checkpoint(session);
    result.steps_per_second = session.steps_per_second;
  }
  result.iterations = iteration();
  result.finished = is_finished();
  result.last = last_;
  return result;
}

}  // namespace cgpo
