#include "cgpo/campaign/child_runs.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fmt/format.h>
#include <optional>
#include <sstream>
#include <system_error>
#include <thread>

#include "cgpo/base/file.hpp"
#include "cgpo/base/process.hpp"
#include "cgpo/base/program_name.hpp"
#include "cgpo/base/text.hpp"
#include "cgpo/rollout/divergence.hpp"
#include "cgpo/run/line_tail.hpp"
#include "cgpo/run/run_log.hpp"

namespace cgpo {
namespace {

namespace fs = std::filesystem;

enum class State { kWaiting, kRunning, kDone, kFailed };

// How many iterations a run's log shows, and the last of them. Looks less and less often while nothing comes: a run may
// take minutes for an iteration.
class LogWatch {
 public:
  explicit LogWatch(const fs::path& log) : lines_(log) {}

  void look() {
    LineTail::News news = lines_.read();
    if (news.from_the_start) {
      iterations_ = 0;
      line_.clear();
    }
    iterations_ += static_cast<int>(news.lines.size());
    if (!news.lines.empty()) line_ = std::move(news.lines.back());
    const bool changed = news.from_the_start || !news.lines.empty();
    pause_ = changed ? kShortestPause : std::min(2 * pause_, kLongestPause);
    next_ = Clock::now() + pause_;
  }
  void look_if_due() {
    if (Clock::now() >= next_) look();
  }

  int iterations() const { return iterations_; }
  const std::string& line() const { return line_; }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kShortestPause{50};
  static constexpr std::chrono::milliseconds kLongestPause{1600};

  LineTail lines_;
  int iterations_ = 0;
  std::string line_;
  std::chrono::milliseconds pause_ = kShortestPause;
  Clock::time_point next_ = Clock::time_point::min();
};

struct Child {
  const ChildRun* run = nullptr;
  LogWatch log;
  State state = State::kWaiting;
  std::optional<Process> process = {};
  int iterations = 0;  // as far as is known
};

std::string last_line(const fs::path& path) {
  std::istringstream text(read_file(path));
  std::string last;
  for (std::string line; std::getline(text, line);) {
    if (!line.empty()) last = line;
  }
  const std::string prefix = program_name() + ": ";
  return last.starts_with(prefix) ? last.substr(prefix.size()) : last;
}

std::string describe_failure(const ProcessEnd& end, const ChildRun& run) {
  if (end.signal != 0) return fmt::format("{}; its output is in '{}'", end.words(), run.output.string());
  const std::string line = last_line(run.output);
  return line.empty() ? fmt::format("{} and said nothing", end.words()) : line;
}

std::string summary_of(const ChildRun& run, const LogWatch& log) {
  std::string text = fmt::format("{} iterations", log.iterations());
  const std::optional<LogEntry> entry = parse_log_line(log.line(), run.environments);
  if (!entry) return text;  // no line that can be read: the count says what there is to say
  const IterationReport& report = entry->report;
  text += fmt::format(" in {}, return {}", format_duration(entry->seconds), number_or_unknown(report.return_mean));
  for (std::size_t i = 0; i < report.costs.size() && i < report.limits.size(); ++i) {
    text +=
        fmt::format(", cost {} {} {:.5g}", number_or_unknown(report.costs[i]), limit_sign(report, i), report.limits[i]);
  }
  if (too_many_diverged(report)) text += ", " + diverged_words(report.diverged, report.episodes);
  return text;
}

// All runs in one line, after so many seconds.
std::string describe_progress(const std::vector<Child>& children, int finished_before, double seconds) {
  int finished = finished_before;
  int failed = 0;
  double done = 0.0;  // iterations of this session
  double left = 0.0;
  std::string running;
  for (const Child& child : children) {
    finished += child.state == State::kDone ? 1 : 0;
    failed += child.state == State::kFailed ? 1 : 0;
    done += std::max(0, child.iterations - child.run->done);
    if (child.state == State::kWaiting || child.state == State::kRunning) {
      left += child.run->iterations - child.iterations;
    }
    if (child.state == State::kRunning) {
      running += fmt::format(", {} {}/{}", child.run->name, child.iterations, child.run->iterations);
    }
  }
  std::string text =
      fmt::format("{}/{} runs done", finished, children.size() + static_cast<std::size_t>(finished_before));
  if (failed > 0) text += fmt::format(", {} failed", failed);
  text += running;
  if (done > 0.0) text += fmt::format(", {} left", format_duration(seconds / done * left));
  return text;
}

// Takes note of children that have ended.
void reap(std::vector<Child>& children, ChildRunsResult& result, const Listener& listener) {
  const bool stopping = result.stopped != 0;
  for (std::size_t i = 0; i < children.size(); ++i) {
    Child& child = children[i];
    if (child.state != State::kRunning) continue;
    const std::optional<ProcessEnd> end = child.process->wait_for(0.0);
    if (!end) continue;
    child.log.look();
    child.iterations = child.log.iterations();
    if (end->good()) {
      child.state = State::kDone;
      listener.event(fmt::format("{}: {}", child.run->name, summary_of(*child.run, child.log)));
    } else {
      child.state = State::kFailed;
      result.outcomes[i].problem = stopping ? "stopped" : describe_failure(*end, *child.run);
      listener.event(fmt::format("{}: {}{}", child.run->name, stopping ? "" : "failed: ", result.outcomes[i].problem));
    }
  }
}

void start(Child& child, ChildOutcome& outcome, const Listener& listener) {
  const OwnProgram own = own_program();
  ProcessPlan plan{.words = own.words, .program = own.file, .output = child.run->output};
  plan.words.insert(plan.words.end(), child.run->arguments.begin(), child.run->arguments.end());
  try {
    child.process.emplace(plan);
    child.state = State::kRunning;
  } catch (const std::system_error& error) {
    child.state = State::kFailed;
    outcome.problem = fmt::format("cannot be started: {}", error.code().message());
    listener.event(fmt::format("{}: failed: {}", child.run->name, outcome.problem));
  }
}

}  // namespace

ChildRunsResult run_children(const std::vector<ChildRun>& runs, int jobs, int finished_before,
                             const Listener& listener) {
  const auto begin = std::chrono::steady_clock::now();
  ChildRunsResult result;
  result.outcomes.resize(runs.size());
  std::vector<Child> children;
  for (const ChildRun& run : runs) children.push_back({.run = &run, .log = LogWatch(run.log), .iterations = run.done});
  const auto running = [&] {
    return std::count_if(children.begin(), children.end(), [](const Child& c) { return c.state == State::kRunning; });
  };
  std::size_t next = 0;
  while (true) {
    const int signal = listener.stop();
    if (result.stopped == 0 && signal != 0) {
      result.stopped = signal;
      listener.event("stopping: every run ends its iteration and writes its checkpoint");
      // Once: a child takes a second signal for a wish to end at once.
      for (const Child& child : children) {
        if (child.state == State::kRunning) child.process->send_signal(SIGTERM);
      }
    }
    while (result.stopped == 0 && next < children.size() && running() < jobs) {
      start(children[next], result.outcomes[next], listener);
      ++next;
    }
    reap(children, result, listener);
    if (running() == 0 && (result.stopped != 0 || next == children.size())) break;
    for (Child& child : children) {
      if (child.state != State::kRunning) continue;
      child.log.look_if_due();
      child.iterations = child.log.iterations();
    }
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
    listener.status(describe_progress(children, finished_before, spent.count()));
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  for (std::size_t i = next; i < children.size(); ++i) result.outcomes[i].problem = "not started";
  listener.status("");
  return result;
}

}  // namespace cgpo
