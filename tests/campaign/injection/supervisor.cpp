// Runs a program and stands at every system call that it makes (ptrace): the n-th of some kind is where the program is
// killed, or where the call fails. Unlike a library that is loaded first, this sees the calls that libraries make among
// themselves, and it needs nothing of the program.
//
//   supervisor [--kinds files,changes,…] [--at N] [--do ACTION] [--report FILE] [--list FILE] -- PROGRAM WORDS…
//
// ACTION is `kill`; `half`, which lets a write do half of its work and then kills; `fail=ERRNO`; `fail-on=ERRNO`, from
// the N-th on; `short`, a write that does half; `signal=N`, a signal before the call; `signal-on=N`, from the N-th on.
// The calls of the loader, before the program's first instruction, are not counted, nor are those of other programs
// that it starts. It ends as the program did.
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <fstream>
#include <map>
#include <sched.h>
#include <string>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "call_table.hpp"

namespace cgpo {
namespace {

struct Plan {
  unsigned kinds = kAll;
  long at = 0;  // 0: only count
  std::string action;
  int number = 0;  // of the error or of the signal
  std::string report, list;
  char** words = nullptr;
};

[[noreturn]] void give_up(const std::string& what) {
  std::fprintf(stderr, "supervisor: %s: %s\n", what.c_str(), std::strerror(errno));
  std::_Exit(125);
}

const std::map<std::string, unsigned> kKinds = {
    {"files", kFiles},         {"looks", kLooks},     {"changes", kChanges}, {"output", kOutput}, {"pipes", kPipes},
    {"processes", kProcesses}, {"threads", kThreads}, {"memory", kMemory},   {"opens", kOpens},   {"all", kAll}};
const std::map<std::string, int> kErrors = {{"ENOSPC", ENOSPC}, {"EIO", EIO},       {"EMFILE", EMFILE},
                                            {"EAGAIN", EAGAIN}, {"ENOMEM", ENOMEM}, {"EACCES", EACCES}};

Plan parse(int argc, char** argv) {
  Plan plan;
  int i = 1;
  for (; i + 1 < argc && std::string(argv[i]) != "--"; i += 2) {
    const std::string flag = argv[i];
    std::string value = argv[i + 1];
    if (flag == "--kinds") {
      plan.kinds = 0;
      for (std::size_t begin = 0; begin < value.size();) {
        const std::size_t end = std::min(value.find(',', begin), value.size());
        plan.kinds |= kKinds.at(value.substr(begin, end - begin));
        begin = end + 1;
      }
    } else if (flag == "--at") {
      plan.at = std::stol(value);
    } else if (flag == "--do") {
      const std::size_t equals = value.find('=');
      plan.action = value.substr(0, equals);
      if (equals != std::string::npos) {
        value = value.substr(equals + 1);
        plan.number = plan.action.starts_with("fail") ? kErrors.at(value) : std::stoi(value);
      }
    } else if (flag == "--report") {
      plan.report = value;
    } else if (flag == "--list") {
      plan.list = value;
    } else {
      break;
    }
  }
  if (i + 1 >= argc || std::string(argv[i]) != "--") {
    std::fprintf(stderr, "supervisor: see the head of its source\n");
    std::_Exit(125);
  }
  plan.words = argv + i + 1;
  return plan;
}

struct Call {
  CallRow row;
  unsigned kind;
  const std::uint64_t* words;  // as the call got them
};

// What a call was turned into, until it returns.
struct Altered {
  bool fails = false;
  bool kills = false;
  unsigned long long count = 0;  // of bytes, as the program had asked for
};

class Supervisor {
 public:
  Supervisor(const Plan& plan, pid_t process) : plan_(plan), process_(process) {
    if (!plan.list.empty()) list_.open(plan.list);
  }
  int run();

 private:
  void enter(pid_t thread, const __ptrace_syscall_info& info);
  void leave(pid_t thread);
  void act(pid_t thread, const Call& call);
  void kill_now() const { ::kill(process_, SIGKILL); }
  void stop_at_first_instruction();
  void begin_counting(pid_t thread);

  unsigned kind_of(const CallRow& row, const std::uint64_t* words) const;
  std::string describe(const Call& call) const;
  std::string link_of(std::uint64_t file) const;
  std::string text_at(std::uint64_t address) const;
  void write_report(int status) const;
  static void set(pid_t thread, std::size_t offset, unsigned long long value) {
    ptrace(PTRACE_POKEUSER, thread, offset, value);
  }

  const Plan& plan_;
  pid_t process_;
  int memory_ = -1;  // the program's
  bool counting_ = false;
  unsigned long first_ = 0;  // address of the first instruction,
  long first_word_ = 0;      // and what stands there
  long count_ = 0;
  std::string hit_;
  std::map<unsigned, long> counts_;
  std::map<pid_t, Altered> altered_;
  std::ofstream list_;
};

std::string Supervisor::link_of(std::uint64_t file) const {
  if (static_cast<int>(file) == AT_FDCWD) return "";
  char target[4096];
  const std::string link = "/proc/" + std::to_string(process_) + "/fd/" + std::to_string(static_cast<int>(file));
  const ssize_t size = ::readlink(link.c_str(), target, sizeof target);
  return size < 0 ? "?" : std::string(target, static_cast<std::size_t>(size));
}

std::string Supervisor::text_at(std::uint64_t address) const {
  char text[4096];
  const ssize_t size = ::pread(memory_, text, sizeof text, static_cast<off_t>(address));
  return size <= 0 ? "?" : std::string(text, ::strnlen(text, static_cast<std::size_t>(size)));
}

unsigned Supervisor::kind_of(const CallRow& row, const std::uint64_t* words) const {
  const auto opened = [](std::uint64_t flags) { return (flags & (O_CREAT | O_TRUNC | O_WRONLY | O_RDWR)) != 0; };
  const auto cloned = [](std::uint64_t flags) { return (flags & CLONE_THREAD) != 0 ? kThreads : kProcesses; };
  switch (row.shape) {
    case Shape::kOpen: return kOpens | (opened(words[1]) ? kChanges : kLooks);
    case Shape::kOpenAt: return kOpens | (opened(words[2]) ? kChanges : kLooks);
    case Shape::kClone: return cloned(words[0]);
    case Shape::kClone3: {
      std::uint64_t flags = 0;
      if (::pread(memory_, &flags, sizeof flags, static_cast<off_t>(words[0])) != sizeof flags) give_up("clone3");
      return cloned(flags);
    }
    case Shape::kWrite:
    case Shape::kFile: {
      if (row.shape == Shape::kWrite && (words[0] == 1 || words[0] == 2)) return kOutput;
      const std::string target = link_of(words[0]);
      return target.starts_with("/") && !target.starts_with("/dev/") ? row.kind : kPipes;
    }
    case Shape::kPath:
    case Shape::kPathAt:
    case Shape::kTwoPaths:
    case Shape::kTwoPathsAt:
    case Shape::kOther: break;
  }
  return row.kind;
}

std::string Supervisor::describe(const Call& call) const {
  std::string text(call.row.name);
  const auto add = [&](const std::string& word) { (text += ' ') += word; };
  const auto at = [&](int folder, int path) {
    const std::string name = text_at(call.words[path]);
    const std::string base = name.starts_with("/") ? "" : link_of(call.words[folder]);
    add(base + (base.empty() || name.empty() ? "" : "/") + name);
  };
  switch (call.row.shape) {
    case Shape::kTwoPaths: add(text_at(call.words[0])), add(text_at(call.words[1])); break;
    case Shape::kPath:
    case Shape::kOpen: add(text_at(call.words[0])); break;
    case Shape::kPathAt:
    case Shape::kOpenAt: at(0, 1); break;
    case Shape::kTwoPathsAt: at(0, 1), at(2, 3); break;
    case Shape::kFile:
    case Shape::kWrite: add(link_of(call.words[0])); break;
    case Shape::kClone:
    case Shape::kClone3:
    case Shape::kOther: add(std::to_string(call.row.number)); break;
  }
  return text;
}

void Supervisor::act(pid_t thread, const Call& call) {
  const std::string& action = plan_.action;
  const bool halves = call.row.shape == Shape::kWrite && call.words[2] > 1;
  constexpr std::size_t kNumber = offsetof(user, regs.orig_rax);
  if (action == "kill" || (action == "half" && !halves)) {
    set(thread, kNumber, ~0ULL);  // whatever becomes of the signal, the call is not made
    kill_now();
  } else if (action == "half" || action == "short") {
    if (!halves) return;
    altered_[thread] = {.fails = false, .kills = action == "half", .count = call.words[2]};
    set(thread, offsetof(user, regs.rdx), call.words[2] / 2);
  } else if (action.starts_with("fail")) {
    altered_[thread] = {.fails = true};
    // A file is closed even where that reports an error.
    if (call.row.number != SYS_close) set(thread, kNumber, ~0ULL);
  } else if (action.starts_with("signal")) {
    ::kill(process_, plan_.number);
  }
}

void Supervisor::enter(pid_t thread, const __ptrace_syscall_info& info) {
  Call call{find_call(static_cast<long>(info.entry.nr)), 0, &info.entry.args[0]};
  call.kind = kind_of(call.row, call.words);
  ++counts_[call.kind];
  if ((call.kind & plan_.kinds) == 0) return;
  ++count_;
  if (list_.is_open()) list_ << describe(call) << "\n";
  const bool now = plan_.at > 0 && (count_ == plan_.at || (plan_.action.ends_with("-on") && count_ > plan_.at));
  if (!now) return;
  if (hit_.empty()) hit_ = describe(call);
  act(thread, call);
}

void Supervisor::leave(pid_t thread) {
  const auto found = altered_.find(thread);
  if (found == altered_.end()) return;
  const Altered altered = found->second;
  altered_.erase(found);
  if (altered.fails) set(thread, offsetof(user, regs.rax), static_cast<unsigned long long>(-plan_.number));
  if (altered.count > 0) set(thread, offsetof(user, regs.rdx), altered.count);
  if (altered.kills) kill_now();
}

void Supervisor::stop_at_first_instruction() {
  std::ifstream vector("/proc/" + std::to_string(process_) + "/auxv", std::ios::binary);
  for (Elf64_auxv_t entry; vector.read(reinterpret_cast<char*>(&entry), sizeof entry);) {
    if (entry.a_type == AT_ENTRY) first_ = entry.a_un.a_val;
  }
  errno = 0;
  first_word_ = ptrace(PTRACE_PEEKTEXT, process_, first_, 0);
  constexpr long kByte = 0xff, kBreak = 0xcc;
  if (errno != 0 || ptrace(PTRACE_POKETEXT, process_, first_, (first_word_ & ~kByte) | kBreak) != 0) {
    give_up("cannot stop at the program's first instruction");
  }
}

void Supervisor::begin_counting(pid_t thread) {
  ptrace(PTRACE_POKETEXT, thread, first_, first_word_);
  set(thread, offsetof(user, regs.rip), first_);
  memory_ = ::open(("/proc/" + std::to_string(process_) + "/mem").c_str(), O_RDONLY | O_CLOEXEC);
  if (memory_ < 0) give_up("cannot read the program's memory");
  counting_ = true;
}

int Supervisor::run() {
  for (;;) {
    int status = 0;
    const pid_t thread = ::waitpid(-1, &status, __WALL);
    if (thread < 0) give_up("lost the program");
    if (WIFEXITED(status) || WIFSIGNALED(status)) {
      if (thread != process_) continue;
      write_report(status);
      return status;
    }
    const int event = status >> 16;
    int signal = WSTOPSIG(status);
    if (event != 0) {
      if (event == PTRACE_EVENT_EXEC && !counting_) stop_at_first_instruction();
      signal = 0;
    } else if (signal == (SIGTRAP | 0x80)) {
      __ptrace_syscall_info info{};
      ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof info, &info);
      if (info.op == PTRACE_SYSCALL_INFO_ENTRY) enter(thread, info);
      if (info.op == PTRACE_SYSCALL_INFO_EXIT) leave(thread);
      signal = 0;
    } else if (signal == SIGTRAP && !counting_) {
      begin_counting(thread);
      signal = 0;
    }
    ptrace(counting_ ? PTRACE_SYSCALL : PTRACE_CONT, thread, 0, signal);
  }
}

void Supervisor::write_report(int status) const {
  if (plan_.report.empty()) return;
  std::ofstream report(plan_.report);
  report << "count " << count_ << "\nhit " << hit_ << "\nstatus " << status << "\n";
  for (const auto& [name, kind] : kKinds) {
    long sum = 0;
    for (const auto& [one, count] : counts_) sum += (one & kind) != 0 ? count : 0;
    report << name << " " << sum << "\n";
  }
}

pid_t start(const Plan& plan) {
  int go[2];
  if (::pipe2(go, O_CLOEXEC) != 0) give_up("pipe");
  const pid_t process = ::fork();
  if (process < 0) give_up("fork");
  if (process == 0) {
    char byte = 0;
    if (::read(go[0], &byte, 1) != 1) std::_Exit(125);
    ::execvp(plan.words[0], plan.words);
    give_up(plan.words[0]);
  }
  constexpr long kOptions = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
  if (ptrace(PTRACE_SEIZE, process, 0, kOptions) != 0) give_up("ptrace is not permitted here");
  if (::write(go[1], "", 1) != 1) give_up("write");
  ::close(go[0]);
  ::close(go[1]);
  return process;
}

}  // namespace
}  // namespace cgpo

int main(int argc, char** argv) {
  const cgpo::Plan plan = cgpo::parse(argc, argv);
  const int status = cgpo::Supervisor(plan, cgpo::start(plan)).run();
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  const rlimit none{0, 0};  // the program's death is no reason for a core file of ours
  ::setrlimit(RLIMIT_CORE, &none);
  ::signal(WTERMSIG(status), SIG_DFL);
  ::raise(WTERMSIG(status));
  return 125;
}
