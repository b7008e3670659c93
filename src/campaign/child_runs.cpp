#include "cgpo/campaign/child_runs.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <sstream>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "cgpo/base/error.hpp"
#include "cgpo/base/file.hpp"
#include "cgpo/base/program_name.hpp"
#include "cgpo/base/stop_signal.hpp"
#include "cgpo/base/text.hpp"
#include "cgpo/run/run_log.hpp"

namespace cgpo {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

enum class State { kWaiting, kRunning, kDone, kFailed };

struct Child {
  const ChildRun* run = nullptr;
  State state = State::kWaiting;
  pid_t process = -1;
  int iterations = 0;  // as far as is known
};

struct ProcessPlan {
  const char* file = nullptr;
  std::vector<std::string> words;  // words[0] is the name that it is told
  fs::path folder;                 // empty: this one
  fs::path output;
  bool own_group = false;  // out of reach of the terminal's Ctrl-C, and ended when this process ends
};

// −1, with errno, if there is no new process.
pid_t start_process(const ProcessPlan& plan) {
  // All memory is taken before the fork: the child only calls the system.
  std::vector<std::string> words = plan.words;
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const int output = ::open(plan.output.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (output < 0) return -1;
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  const std::string folder = plan.folder.string();
  const pid_t parent = ::getpid();
  const pid_t process = ::fork();
  if (process == 0) {
    if (plan.own_group) {
      ::setpgid(0, 0);
      ::prctl(PR_SET_PDEATHSIG, SIGTERM);
      if (::getppid() != parent) ::_exit(126);  // it died before it could be watched
    }
    if (!folder.empty() && ::chdir(folder.c_str()) != 0) ::_exit(126);
    if (::dup2(nothing, 0) < 0 || ::dup2(output, 1) < 0 || ::dup2(output, 2) < 0) ::_exit(126);
    ::execvp(plan.file, pointers.data());
    ::_exit(127);
  }
  const int error = errno;
  ::close(output);
  ::close(nothing);
  errno = error;
  return process;
}

// How many iterations a run's log shows, and the last of them.
struct LogEnd {
  int iterations = 0;
  std::string line;
};

LogEnd end_of_log(const fs::path& path) {
  LogEnd end;
  // A run that starts anew takes its log away for a moment: no log is an empty one.
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  end.iterations = static_cast<int>(std::count(text.begin(), text.end(), '\n'));
  if (end.iterations == 0) return end;
  const std::size_t last = text.rfind('\n');
  const std::size_t before = last == 0 ? std::string::npos : text.rfind('\n', last - 1);
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  end.line = text.substr(begin, last - begin);
  return end;
}

std::string last_line(const fs::path& path) {
  std::istringstream text(read_file(path));
  std::string last;
  for (std::string line; std::getline(text, line);) {
    if (!line.empty()) last = line;
  }
  const std::string prefix = program_name() + ": ";
  return last.starts_with(prefix) ? last.substr(prefix.size()) : last;
}

std::string describe_failure(int status, const ChildRun& run) {
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    return fmt::format("ended by signal {} ({}); its output is in '{}'", signal, ::strsignal(signal),
                       run.output.string());
  }
  const std::string line = last_line(run.output);
  return line.empty() ? fmt::format("ended with exit code {} and said nothing", WEXITSTATUS(status)) : line;
}

std::string summary_of(const ChildRun& run) {
  const LogEnd end = end_of_log(run.log);
  std::string text = fmt::format("{} iterations", end.iterations);
  try {
    const LogEntry entry = from_json(Json::parse(end.line));
    text += fmt::format(" in {}, return {:.5g}", format_duration(entry.seconds), entry.report.return_mean);
    for (std::size_t i = 0; i < entry.report.costs.size() && i < entry.report.limits.size(); ++i) {
      const bool holds = entry.report.costs[i] <= entry.report.limits[i];
      text += fmt::format(", cost {:.5g} {} {:.5g}", entry.report.costs[i], holds ? "<=" : ">", entry.report.limits[i]);
    }
  } catch (const Json::exception&) {
  }  // no line that can be read: the count says what there is to say
  return text;
}

// All runs in one line: redrawn on a terminal, else printed now and then.
class AllProgress {
 public:
  AllProgress(const std::vector<Child>& children, int finished_before)
      : children_(children), finished_before_(finished_before), terminal_(::isatty(STDERR_FILENO) != 0) {}

  void event(const std::string& text) {
    fmt::print(stderr, "{}{}\n", terminal_ ? "\r\x1b[2K" : "", text);
    std::fflush(stderr);
  }

  void show() {
    if (seconds_since(shown_at_) < (terminal_ ? 0.5 : 10.0)) return;
    shown_at_ = Clock::now();
    if (terminal_) {
      winsize size{};
      const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
      fmt::print(stderr, "\r\x1b[2K{}", line().substr(0, known ? size.ws_col - 1U : 1000U));
    } else {
      fmt::print(stderr, "{}\n", line());
    }
    std::fflush(stderr);
  }

  void finish() {
    if (terminal_) fmt::print(stderr, "\r\x1b[2K");
    std::fflush(stderr);
  }

 private:
  std::string line() const {
    int finished = finished_before_;
    int failed = 0;
    double done = 0.0;  // iterations of this session
    double left = 0.0;
    std::string running;
    for (const Child& child : children_) {
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
        fmt::format("{}/{} runs done", finished, children_.size() + static_cast<std::size_t>(finished_before_));
    if (failed > 0) text += fmt::format(", {} failed", failed);
    text += running;
    if (done > 0.0) text += fmt::format(", {} left", format_duration(seconds_since(begin_) / done * left));
    return text;
  }

  const std::vector<Child>& children_;
  const int finished_before_;
  const bool terminal_;
  const Clock::time_point begin_ = Clock::now();
  Clock::time_point shown_at_ = begin_;
};

// Takes note of children that have ended.
void reap(std::vector<Child>& children, ChildRunsResult& result, bool stopping, AllProgress& progress) {
  for (std::size_t i = 0; i < children.size(); ++i) {
    Child& child = children[i];
    int status = 0;
    if (child.state != State::kRunning || ::waitpid(child.process, &status, WNOHANG) != child.process) continue;
    child.iterations = end_of_log(child.run->log).iterations;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
      child.state = State::kDone;
      progress.event(fmt::format("{}: {}", child.run->name, summary_of(*child.run)));
    } else {
      child.state = State::kFailed;
      result.outcomes[i].problem = stopping ? "stopped" : describe_failure(status, *child.run);
      progress.event(fmt::format("{}: {}{}", child.run->name, stopping ? "" : "failed: ", result.outcomes[i].problem));
    }
  }
}

}  // namespace

ChildRunsResult run_children(const std::vector<ChildRun>& runs, int jobs, int finished_before) {
  const StopSignal stop;
  ChildRunsResult result;
  result.outcomes.resize(runs.size());
  std::vector<Child> children;
  for (const ChildRun& run : runs) children.push_back({&run, State::kWaiting, -1, run.done});
  AllProgress progress(children, finished_before);
  const auto running = [&] {
    return std::count_if(children.begin(), children.end(), [](const Child& c) { return c.state == State::kRunning; });
  };
  std::size_t next = 0;
  while (true) {
    if (result.stopped == 0 && StopSignal::flag() != 0) {
      result.stopped = StopSignal::flag();
      progress.event("stopping: every run ends its iteration and writes its checkpoint");
      // Once: a child takes a second signal for a wish to end at once.
      for (const Child& child : children) {
        if (child.state == State::kRunning) ::kill(child.process, SIGTERM);
      }
    }
    while (result.stopped == 0 && next < children.size() && running() < jobs) {
      Child& child = children[next];
      // Not the file's name: a comparison takes hours, and the program may be built anew in the meantime.
      ProcessPlan plan{"/proc/self/exe", {program_name()}, {}, child.run->output, /*own_group=*/true};
      plan.words.insert(plan.words.end(), child.run->arguments.begin(), child.run->arguments.end());
      child.process = start_process(plan);
      child.state = child.process < 0 ? State::kFailed : State::kRunning;
      if (child.process < 0) {
        result.outcomes[next].problem = fmt::format("cannot be started: {}", std::strerror(errno));
        progress.event(fmt::format("{}: failed: {}", child.run->name, result.outcomes[next].problem));
      }
      ++next;
    }
    reap(children, result, result.stopped != 0, progress);
    if (running() == 0 && (result.stopped != 0 || next == children.size())) break;
    for (Child& child : children) {
      if (child.state == State::kRunning) child.iterations = end_of_log(child.run->log).iterations;
    }
    progress.show();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  for (std::size_t i = next; i < children.size(); ++i) result.outcomes[i].problem = "not started";
  progress.finish();
  return result;
}

int run_program(const std::vector<std::string>& words, const fs::path& folder, const fs::path& output) {
  const pid_t process = start_process({words.front().c_str(), words, folder, output, /*own_group=*/false});
  if (process < 0) return 126;
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace cgpo
