// A program that this one starts: it is talked to through pipes or its output goes to a file, it is waited for, and
// when nobody needs it any more it is ended, with all that it started itself. No process but those is ever signalled.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <sys/types.h>
#include <vector>

namespace cgpo {

class Deadline {
 public:
  explicit Deadline(double seconds);
  bool over() const { return milliseconds_left() == 0; }
  int milliseconds_left() const;  // as ::poll takes them, at least 1 until the time is over

 private:
  std::chrono::steady_clock::time_point end_;
};

struct ProcessPlan {
  std::vector<std::string> words;  // program and arguments; words[0] is the name that it is told
  std::filesystem::path program =
      {};                             // what is executed; empty: words[0]. Without a slash it is looked for on the PATH
  std::filesystem::path folder = {};  // where it starts; empty: here
  // Which of its files are pipes to us: we write to the first and read from the second. −1: none.
  int reads_at = -1;
  int writes_at = -1;
  // Takes what it prints to standard output and standard error, less what is a pipe; empty: they are ours, too.
  std::filesystem::path output = {};
  // Out of reach of the terminal's Ctrl-C, and told to end (SIGTERM) when the thread that starts it goes, with it the
  // whole program. When it ends, what it has started and left behind is killed, even if that has left its group: all of
  // them inherit a word of its environment. No: it is a part of this program's group, and lives as long as it likes.
  bool own_group = true;
};

struct ProcessEnd {
  static constexpr int kUnknown = -1;

  int code = 0;    // exit code, if there was no signal; kUnknown: somebody else in this program has asked for it first
  int signal = 0;  // that ended it; 0: none

  bool good() const { return signal == 0 && code == 0; }
  int shell_code() const { return signal == 0 ? code : 128 + signal; }
  std::string words() const;  // "ended with exit code 3", to stand behind the program's name
};

class Process {
 public:
  enum class Transfer { kDone, kTimeout, kClosed };

  // std::system_error if there can be no process or no file for its output. A program that is not there or a folder
  // that cannot be entered show as the exit codes 127 and 126.
  explicit Process(const ProcessPlan& plan);
  // end(0).
  ~Process();
  Process(Process&& other) noexcept;
  Process& operator=(Process&& other) noexcept;
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // All of `data`, both ways. Writing to a process that has gone is kClosed, and no signal.
  Transfer write(std::span<const char> data, const Deadline& deadline);
  Transfer read(std::span<char> data, const Deadline& deadline);
  // What there is, up to the size of `data`; `size` is how much it was.
  Transfer read_some(std::span<char> data, const Deadline& deadline, std::size_t& size);

  // How it ended; nothing: it has not, in this time. Asked again, it says the same.
  std::optional<ProcessEnd> wait_for(double seconds);
  ProcessEnd wait();
  void send_signal(int signal) const;  // to it alone; nothing if it has ended
  // Closes the pipes, which tells those who read from them to go, gives it this time, and kills what is left of its
  // group, or of it alone if it has none of its own.
  ProcessEnd end(double seconds);

 private:
  enum class Life { kRuns, kEnded, kNotOurs };

  void close_pipes();
  Life look(bool wait) const;
  void kill_descendants() const;

  pid_t id_ = -1;  // our child until end_ is known
  int to_ = -1;
  int from_ = -1;
  bool own_group_ = false;
  std::string mark_;  // in the environment of all that it starts; empty: none
  std::optional<ProcessEnd> end_;
};

// Where a program of this name is on the PATH, whose relative entries are seen from where this program is; empty:
// nowhere.
std::filesystem::path find_on_path(const std::string& name);

// Runs a program that is found on the PATH to its end, in a folder, what it prints going to a file. Returns its exit
// code, as the shell has it; 127: there is no such program.
int run_program(const std::vector<std::string>& words, const std::filesystem::path& folder,
                const std::filesystem::path& output);

}  // namespace cgpo
