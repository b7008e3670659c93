#include "cgpo/base/process.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>

namespace cgpo {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kNotStarted = 126;  // exit codes as the shell has them
constexpr int kNoProgram = 127;
constexpr int kAboveStandard = 10;  // file numbers that no plan asks for

// Files that close with the scope, unless they are taken out.
class OpenFile {
 public:
  explicit OpenFile(int file = -1) : file_(file) {}
  ~OpenFile() {
    if (file_ >= 0) ::close(file_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int get() const { return file_; }
  int take() { return std::exchange(file_, -1); }
  void set(int file) { file_ = file; }

 private:
  int file_;
};

[[noreturn]] void throw_system_error() { throw std::system_error(errno, std::generic_category()); }

// What is written to `in` is read from `out`.
void open_pipe(OpenFile& out, OpenFile& in) {
  int files[2];
  if (::pipe2(files, O_CLOEXEC) != 0) throw_system_error();
  out.set(files[0]);
  in.set(files[1]);
}

// The same as a socket: writing to a process that has gone is then an error and no signal.
void open_socket(OpenFile& out, OpenFile& in) {
  int files[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, files) != 0) throw_system_error();
  out.set(files[0]);
  in.set(files[1]);
}

// All that the child needs, made before the fork: after it, it only calls the system.
struct Child {
  std::string program;
  std::string folder;
  std::vector<char*> words;
  std::vector<char*> environment;
  pid_t parent = -1;
  bool own_group = false;
  int nothing = -1, output = -1, input_pipe = -1, output_pipe = -1;
  int reads_at = -1, writes_at = -1;

  [[noreturn]] void run() const {
    if (own_group) {
      ::setpgid(0, 0);
      ::prctl(PR_SET_PDEATHSIG, SIGTERM);
      if (::getppid() != parent) ::_exit(kNotStarted);  // it died before it could be watched
    }
    if (!folder.empty() && ::chdir(folder.c_str()) != 0) ::_exit(kNotStarted);
    // The pipes first go where none of the files below lies.
    const int in = input_pipe < 0 ? -1 : ::fcntl(input_pipe, F_DUPFD_CLOEXEC, kAboveStandard);
    const int out = output_pipe < 0 ? -1 : ::fcntl(output_pipe, F_DUPFD_CLOEXEC, kAboveStandard);
    bool good = ::dup2(nothing, 0) >= 0;
    if (output >= 0) good = good && ::dup2(output, 1) >= 0 && ::dup2(output, 2) >= 0;
    if (reads_at >= 0) good = good && ::dup2(in, reads_at) >= 0;
    if (writes_at >= 0) good = good && ::dup2(out, writes_at) >= 0;
    if (!good) ::_exit(kNotStarted);
    // What this program ignores or holds back is its own affair.
    ::signal(SIGPIPE, SIG_DFL);
    ::signal(SIGCHLD, SIG_DFL);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::execve(program.c_str(), words.data(), environment.data());
    ::_exit(kNoProgram);
  }
};

// A variable of the environment that no other process has.
std::string new_mark() {
  static std::atomic<int> count{0};
  return fmt::format("CGPO_CHILD_{}_{}_{}=1", ::getpid(), Clock::now().time_since_epoch().count(), ++count);
}

bool has_mark(pid_t id, const std::string& mark) {
  std::ifstream file(fmt::format("/proc/{}/environ", id), std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const std::string entry = mark + '\0';
  return text.starts_with(entry) || text.find('\0' + entry) != std::string::npos;
}

// Kills those that have the mark; how many there were. A process is held by its file while it is looked at, so that the
// signal cannot reach another one that has got its number since.
int kill_marked(const std::string& mark) {
  int found = 0;
  std::error_code ignored;
  for (std::filesystem::directory_iterator at("/proc", ignored), none; !ignored && at != none; at.increment(ignored)) {
    const std::string name = at->path().filename().string();
    pid_t id = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), id);
    if (error != std::errc() || end != name.data() + name.size() || id <= 1 || id == ::getpid()) continue;
    // By number: the C library of Debian 12 declares both without saying that they are C.
    const OpenFile held(static_cast<int>(::syscall(SYS_pidfd_open, id, 0)));
    if (held.get() < 0 || !has_mark(id, mark)) continue;
    if (::syscall(SYS_pidfd_send_signal, held.get(), SIGKILL, nullptr, 0) == 0) ++found;
  }
  return found;
}

}  // namespace

Deadline::Deadline(double seconds)
    : end_(Clock::now() +
           std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(std::clamp(seconds, 0.0, 1e9)))) {}

int Deadline::milliseconds_left() const {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(end_ - Clock::now()).count();
  return static_cast<int>(std::clamp<long long>(left, 0, 1 << 30));
}

std::string ProcessEnd::words() const {
  if (signal != 0) return fmt::format("was ended by signal {} ({})", signal, ::strsignal(signal));
  if (code == kUnknown) return "ended, nobody knows how";
  if (code == kNoProgram) return fmt::format("could not be started (exit code {})", code);
  return fmt::format("ended with exit code {}", code);
}

Process::Process(const ProcessPlan& plan) : own_group_(plan.own_group) {
  Child child;
  std::vector<std::string> words = plan.words;
  for (std::string& word : words) child.words.push_back(word.data());
  child.words.push_back(nullptr);
  if (plan.own_group) mark_ = new_mark();
  for (char** variable = environ; *variable != nullptr; ++variable) child.environment.push_back(*variable);
  if (!mark_.empty()) child.environment.push_back(mark_.data());
  child.environment.push_back(nullptr);
  child.program = plan.program.empty() ? words.front() : plan.program.string();
  if (child.program.find('/') == std::string::npos) {
    // Here, and not in the folder that it starts in: of what lies there nothing is to be taken for a program.
    child.program = find_on_path(child.program).string();
  }
  child.folder = plan.folder.string();
  child.parent = ::getpid();
  child.own_group = plan.own_group;
  child.reads_at = plan.reads_at;
  child.writes_at = plan.writes_at;

  const OpenFile nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (nothing.get() < 0) throw_system_error();
  OpenFile output, to, their_to, from, their_from;
  if (!plan.output.empty()) {
    output.set(::open(plan.output.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (output.get() < 0) throw_system_error();
  }
  if (plan.reads_at >= 0) open_socket(their_to, to);
  if (plan.writes_at >= 0) open_pipe(from, their_from);
  for (const OpenFile* const ours : {&to, &from}) {
    if (ours->get() >= 0) ::fcntl(ours->get(), F_SETFL, O_NONBLOCK);
  }
  child.nothing = nothing.get();
  child.output = output.get();
  child.input_pipe = their_to.get();
  child.output_pipe = their_from.get();

  id_ = ::fork();
  if (id_ == 0) child.run();
  if (id_ < 0) throw_system_error();
  if (own_group_) ::setpgid(id_, id_);  // whoever comes first
  to_ = to.take();
  from_ = from.take();
}

Process::~Process() { end(0.0); }

Process::Process(Process&& other) noexcept { *this = std::move(other); }

Process& Process::operator=(Process&& other) noexcept {
  if (this == &other) return *this;
  end(0.0);
  id_ = std::exchange(other.id_, -1);
  to_ = std::exchange(other.to_, -1);
  from_ = std::exchange(other.from_, -1);
  own_group_ = other.own_group_;
  mark_ = other.mark_;
  end_ = other.end_;
  return *this;
}

Process::Transfer Process::write(std::span<const char> data, const Deadline& deadline) {
  while (!data.empty()) {
    const ssize_t sent = ::send(to_, data.data(), data.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      data = data.subspan(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (deadline.over()) return Transfer::kTimeout;
      pollfd entry{to_, POLLOUT, 0};
      ::poll(&entry, 1, deadline.milliseconds_left());  // what is wrong shows when it is used
    } else if (errno != EINTR) {
      return Transfer::kClosed;
    }
  }
  return Transfer::kDone;
}

Process::Transfer Process::read_some(std::span<char> data, const Deadline& deadline, std::size_t& size) {
  for (;;) {
    const ssize_t got = ::read(from_, data.data(), data.size());
    if (got > 0) {
      size = static_cast<std::size_t>(got);
      return Transfer::kDone;
    }
    if (got == 0) return Transfer::kClosed;
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (deadline.over()) return Transfer::kTimeout;
      pollfd entry{from_, POLLIN, 0};
      ::poll(&entry, 1, deadline.milliseconds_left());
    } else if (errno != EINTR) {
      return Transfer::kClosed;
    }
  }
}

Process::Transfer Process::read(std::span<char> data, const Deadline& deadline) {
  while (!data.empty()) {
    std::size_t size = 0;
    const Transfer transfer = read_some(data, deadline, size);
    if (transfer != Transfer::kDone) return transfer;
    data = data.subspan(size);
  }
  return Transfer::kDone;
}

// Leaves it unburied: its number, and that of its group, cannot yet be another's.
Process::Life Process::look(bool wait) const {
  siginfo_t info{};
  while (::waitid(P_PID, static_cast<id_t>(id_), &info, WEXITED | WNOWAIT | (wait ? 0 : WNOHANG)) != 0) {
    // Somebody has buried it: a waitpid() for all children, or the system, where SIGCHLD is ignored.
    if (errno != EINTR) return Life::kNotOurs;
  }
  return info.si_pid != 0 ? Life::kEnded : Life::kRuns;
}

std::optional<ProcessEnd> Process::wait_for(double seconds) {
  const Deadline deadline(seconds);
  while (!end_ && id_ > 0) {
    if (look(/*wait=*/false) != Life::kRuns) return wait();
    if (deadline.over()) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(std::min(10, deadline.milliseconds_left())));
  }
  return end_;
}

ProcessEnd Process::wait() {
  if (end_ || id_ <= 0) return end_.value_or(ProcessEnd{});
  int status = 0;
  pid_t buried = -1;
  if (look(/*wait=*/true) == Life::kEnded) {
    if (own_group_) ::kill(-id_, SIGKILL);  // what it started and left behind
    do {
      buried = ::waitpid(id_, &status, 0);
    } while (buried < 0 && errno == EINTR);
  }
  kill_descendants();
  if (buried != id_) {
    end_ = ProcessEnd{.code = ProcessEnd::kUnknown};
  } else {
    end_ = WIFSIGNALED(status) ? ProcessEnd{.code = 0, .signal = WTERMSIG(status)}
                               : ProcessEnd{.code = WEXITSTATUS(status), .signal = 0};
  }
  return *end_;
}

// Those that have left its group. One may start another while they are looked for, so that it takes a look that finds
// none to be done; who starts them faster than they are killed is left alone.
void Process::kill_descendants() const {
  if (mark_.empty()) return;
  try {
    for (int looks = 0; looks < 8 && kill_marked(mark_) > 0; ++looks) {
    }
  } catch (const std::exception&) {  // no memory to look with; nothing else depends on it
  }
}

void Process::send_signal(int signal) const {
  if (!end_ && id_ > 0 && look(/*wait=*/false) == Life::kRuns) ::kill(id_, signal);
}

ProcessEnd Process::end(double seconds) {
  close_pipes();
  if (id_ > 0 && !wait_for(seconds) && look(/*wait=*/false) == Life::kRuns) {
    ::kill(own_group_ ? -id_ : id_, SIGKILL);
  }
  return wait();
}

void Process::close_pipes() {
  if (to_ >= 0) ::close(to_);
  if (from_ >= 0) ::close(from_);
  to_ = from_ = -1;
}

std::filesystem::path find_on_path(const std::string& name) {
  const char* const path = std::getenv("PATH");
  std::string rest = path == nullptr ? "/usr/bin:/bin" : path;
  for (std::error_code ignored;;) {
    const std::size_t colon = rest.find(':');
    const std::string entry = colon == 0 || rest.empty() ? "." : rest.substr(0, colon);
    std::filesystem::path candidate = std::filesystem::absolute(entry, ignored) / name;
    if (std::filesystem::is_regular_file(candidate, ignored) && ::access(candidate.c_str(), X_OK) == 0) {
      return candidate;
    }
    if (colon == std::string::npos) return {};
    rest.erase(0, colon + 1);
  }
}

int run_program(const std::vector<std::string>& words, const std::filesystem::path& folder,
                const std::filesystem::path& output) {
  try {
    return Process({.words = words, .folder = folder, .output = output, .own_group = false}).wait().shell_code();
  } catch (const std::system_error&) {
    return kNotStarted;
  }
}

}  // namespace cgpo
