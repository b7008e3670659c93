#include "cgpo/run/run.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fmt/ranges.h>
#include <new>
#include <string>
#include <utility>

#include "cgpo/base/file.hpp"
#include "cgpo/run/folder_life.hpp"
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

// What write_tensors() asks for, roughly: the data as a file's text, and its header.
std::size_t bytes_to_write(const Tensors& tensors) {
  std::size_t sum = 1 << 16;
  for (const auto& [name, tensor] : tensors.entries) sum += 2 * tensor.bytes.size() + 1024;
  return sum;
}

double return_of(const Tensors& best, const std::filesystem::path& path) {
  const auto found = best.metadata.find("return");
  try {
    if (found != best.metadata.end()) return std::stod(found->second);
  } catch (const std::logic_error&) {  // not a number
  }
  throw UserError("'{}' does not say which return it reached", path.string());
}

const std::string kLogStd = "policy.log_std";
const std::string kInitialStd = "policy.initial_std";

// The policy's σ, on average over the actions, with as many digits as a file should show and in the range that
// policy.initial_std has.
double mean_noise(std::span<const float> log_std) {
  double sum = 0.0;
  for (const float value : log_std) sum += std::exp(static_cast<double>(value));
  return std::clamp(std::stod(fmt::format("{:.6g}", sum / static_cast<double>(log_std.size()))), 1e-12, 10.0);
}

// The noise of another run's policy, or the one that was given in its place. A run that was ended before its first
// checkpoint begins again from its file, where every key is given: the same mean is no reason to make all σ alike.
std::string settle_noise(Tensors& tensors, Configuration& configuration) {
  const auto found = tensors.entries.find(kLogStd);
  if (found == tensors.entries.end() || found->second.shape.empty()) return "";
  std::vector<float> log_std(static_cast<std::size_t>(found->second.shape.front()));
  if (log_std.empty()) return "";
  tensors.get(kLogStd, std::span(log_std));
  const double there = mean_noise(log_std);
  double& here = configuration.settings.policy.initial_std;
  if (is_given(configuration, kInitialStd)) {
    if (here == there) return "";
    std::fill(log_std.begin(), log_std.end(), static_cast<float>(std::log(here)));
    tensors.put(kLogStd, std::span<const float>(log_std));
    return "";
  }
  here = there;
  configuration.origins[kInitialStd] = {"--init", "The noise of the policy that the run began with"};
  return fmt::format("the policy of '{}' keeps its noise of {}; --set {}=… gives it another", configuration.init, there,
                     kInitialStd);
}

// Versions up to 0.1.0 took policies for the best whose episodes had all diverged, or that may not be deployed. Such a
// one stands in nobody's way.
bool still_counts(const Tensors& best, const std::vector<LogEntry>& log) {
  const auto measured = std::find_if(log.begin(), log.end(), [iteration = iteration_of(best)](const LogEntry& entry) {
    return entry.report.iteration == iteration;
  });
  return measured == log.end() || is_deployable(measured->report);
}

}  // namespace

void load_into(Algorithm& algorithm, const Tensors& tensors, const std::filesystem::path& path) {
  try {
    algorithm.load(tensors);
  } catch (const UserError& error) {
    throw UserError("'{}' does not fit this run: {}", path.string(), error.what());
  }
}

FirstPolicy read_first_policy(Configuration& configuration) {
  const RunPaths run = find_run(configuration.init);
  FirstPolicy first;
  first.path = is_there(run.best()) ? run.best() : run.checkpoint();
  first.tensors = read_checkpoint(first.path, configuration, /*own=*/false);
  first.note = settle_noise(first.tensors, configuration);
  return first;
}

void start_from(Algorithm& algorithm, const FirstPolicy& first) {
  try {
    algorithm.warm_start(first.tensors);
  } catch (const UserError& error) {
    throw UserError("--init: the policy in '{}' does not fit this run: {}", first.path.string(), error.what());
  }
}

IterationFailed::IterationFailed(const std::string& cause, int iterations)
    : UserError("{}; the run is kept as it was after {} iteration{}", cause, iterations, iterations == 1 ? "" : "s"),
      iterations_(iterations) {}

Run::Run(RunParts parts) : parts_(std::move(parts)), paths_(parts_.folder->paths()), data_(paths_) {}

Run Run::start(RunParts parts) {
  Run run(std::move(parts));
  run.notes_ = run.parts_.folder->notes();
  run.notes_.insert(run.notes_.end(), run.parts_.notes.begin(), run.parts_.notes.end());
  run.take_state();
  run.parts_.folder->begin(run.configuration(), [&] {
    run.keep_snapshot();
    write_tensors(run.paths_.checkpoint(), run.state_);
  });
  return run;
}

Run Run::resume(RunParts parts) {
  if (parts.folder->has_only_begun()) return start(std::move(parts));
  Run run(std::move(parts));
  run.notes_ = run.parts_.folder->notes();
  const RunPaths& paths = run.paths_;
  if (!is_there(paths.checkpoint())) {
    throw UserError("'{}' has lost its checkpoint, and a run cannot go on without; --force starts anew",
                    paths.folder.string());
  }
  Algorithm& algorithm = *run.parts_.algorithm;
  const Tensors checkpoint = read_checkpoint(paths.checkpoint(), run.configuration());
  for (std::string& note : doubts_about(checkpoint, paths.checkpoint())) run.notes_.push_back(std::move(note));
  check_finite(checkpoint, "critic", paths.checkpoint());
  run.data_.load(algorithm, iteration_of(checkpoint), checkpoint);
  load_into(algorithm, checkpoint, paths.checkpoint());
  run.take_state();

  run.look_at_lines();
  run.look_at_best();
  return run;
}

void Run::look_at_lines() {
  const int done = iteration();
  const auto tell = [&](const std::filesystem::path& path, const KeptLines& kept) {
    if (!kept.damaged) return;
    notes_.push_back(fmt::format(
        "'{}' has whole lines of {} of the {} iterations before the checkpoint; the run goes on from its checkpoint, "
        "and what cannot be read is kept beside the file",
        path.string(), kept.count, done));
  };
  const KeptLines kept = find_lines(paths_.log(), done, LineKind::kLog);
  tell(paths_.log(), kept);
  tell(paths_.timing(), find_lines(paths_.timing(), done, LineKind::kTiming));
  if (kept.last) last_ = from_json(*kept.last, configuration().settings.environments);
}

void Run::look_at_best() {
  if (!is_there(paths_.best())) return;
  try {
    const Tensors best = read_checkpoint(paths_.best(), configuration());
    const double reached = return_of(best, paths_.best());
    if (still_counts(best, read_log(paths_.log(), configuration().settings.environments))) best_return_ = reached;
  } catch (const UserError& error) {
    best_is_damaged_ = true;
    notes_.push_back(fmt::format("{}; it is kept beside, and the next feasible policy is the best", error.what()));
  }
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
  std::unique_ptr<std::byte[]> reserve;  // that writing a checkpoint can have when there is no memory left
  int saved;                             // after how many iterations the checkpoint was written,
  Clock::time_point written = begin;     // and when
  Clock::time_point iteration_begin = begin;
  double seconds_writing = 0.0;  // after the iteration before
  double steps_per_second = 0.0;
};

void Run::take_state() {
  Tensors state;  // if there is no memory for it, the one of before stays whole
  parts_.algorithm->save(state);
  if (identity_.empty()) {  // for it does not change, and is text of every setting
    describe_checkpoint(state, configuration(), iteration());
    identity_ = state.metadata;
  }
  state.metadata = identity_;
  state.metadata["iteration"] = fmt::format("{}", iteration());
  state_ = std::move(state);
}

void Run::keep_if_best(const IterationReport& report) {
  if (!is_deployable(report) || (best_return_ && !(report.return_mean > *best_return_))) return;
  if (!is_policy_finite(state_)) return;
  best_return_ = report.return_mean;
  // The report measured the policy as it was before the update, and that is what state_ holds.
  Tensors best = state_;
  best.metadata["return"] = fmt::format("{}", report.return_mean);
  best.metadata["costs"] = fmt::format("{}", fmt::join(report.costs, " "));
  if (!report.costs_deployed.empty()) {
    best.metadata["costs_deployed"] = fmt::format("{}", fmt::join(report.costs_deployed, " "));
  }
  best.metadata["limits"] = fmt::format("{}", fmt::join(report.limits, " "));
  write_tensors(paths_.best(), best);
}

void Run::write_state() {
  data_.write(state_);
  write_tensors(paths_.checkpoint(), state_);
}

void Run::keep_snapshot() const {
  const Settings& settings = configuration().settings;
  if (!keeps_snapshot(iteration(), settings.iterations, settings.snapshots)) return;
  Tensors snapshot;  // what acts, and nothing of what trains
  snapshot.metadata = state_.metadata;
  for (const auto& [name, tensor] : state_.entries) {
    if (is_of_policy(name)) snapshot.entries[name] = tensor;
  }
  create_folder(paths_.snapshots());
  write_tensors(paths_.snapshot(iteration()), snapshot);
}

void Run::cut_back() {
  cut_lines(paths_.log(), iteration(), LineKind::kLog);
  cut_lines(paths_.timing(), iteration(), LineKind::kTiming);
  if (best_is_damaged_) {
    rename_entry(paths_.best(), damaged_name(paths_.best()));
    sync_folder(paths_.folder);
    best_is_damaged_ = false;
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
                                            static_cast<double>(entry.report.steps - steps) / seconds,
                                            entry.report.seconds_outside, entry.report.stage}));
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
    session.reserve = std::make_unique_for_overwrite<std::byte[]>(bytes_to_write(state_));
    do {
      IterationReport report;
      try {
        report = parts_.algorithm->iterate();
      } catch (const UserError& error) {
        // state_ is from before it. The algorithm is not: which data it still needs is not what state_ does.
        if (session.saved != iteration()) write_state();
        throw IterationFailed(error.what(), iteration());
      } catch (const std::bad_alloc&) {
        session.reserve.reset();
        if (session.saved != iteration()) write_state();
        throw IterationFailed("not enough memory for another iteration", iteration());
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
