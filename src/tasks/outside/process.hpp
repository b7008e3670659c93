// A simulator that is a program of its own, and speaks over its standard input and output. docs/your-own-simulator.md
// defines the protocol, version 1: one line of JSON each way, then frames.
//
//   request:  uint32 kind (1 reset, 2 step), uint32 first environment, uint32 count, uint32 bytes, then `bytes` bytes
//             reset: count × uint64 seed      step: count × actions × float32
//   answer:   uint32 bytes, then   reset: count × observations × float32
//                                  step:  count × (observations, reward, costs, ended) × float32
// All little endian. What it prints on standard error passes through.
#pragma once

#include <mutex>
#include <string>
#include <sys/types.h>
#include <vector>

#include "cgpo/tasks/outside/environment.hpp"

namespace cgpo {

class ExternalProcess final : public OutsideEnvironments {
 public:
  static constexpr int kVersion = 1;

  // Starts `command` by the shell and reads its header. Throws UserError, as all of this class does: one sentence that
  // names the command and what went wrong.
  ExternalProcess(const std::string& command, double timeout_seconds);
  ~ExternalProcess() override;
  ExternalProcess(const ExternalProcess&) = delete;
  ExternalProcess& operator=(const ExternalProcess&) = delete;

  const TaskSpec& spec() const { return spec_; }  // as its header says
  bool failed() const { return failed_; }
  void set_timeout(double seconds) { timeout_ = seconds; }

  void reset(int first, std::span<const std::uint64_t> seeds, std::span<double> observations) override;
  void step(int first, int count, std::span<const double> actions, std::span<double> results) override;

 private:
  class Deadline;

  [[noreturn]] void fail(const std::string& what);
  void start();
  void stop();
  std::string ending(const char* otherwise);  // how the process ended, in words; `otherwise` if it did not
  void send(const void* data, std::size_t size);
  void receive(void* data, std::size_t size, const char* what, const Deadline& deadline);
  std::string receive_line();
  void read_header(const std::string& line);
  // Sends a frame and waits for the answer to it, which must have `expected` numbers.
  void exchange(std::uint32_t kind, int first, int count, const std::vector<char>& payload, std::size_t expected,
                const char* what);

  std::string command_;
  double timeout_;
  TaskSpec spec_;
  bool goes_on_ = false;
  std::mutex mutex_;
  pid_t process_ = -1;
  int to_ = -1;
  int from_ = -1;
  bool failed_ = false;
  std::string failure_;  // what went wrong first: other threads, which come after it, say the same
  std::vector<float> answer_;
  std::vector<char> ended_;  // by environment
};

}  // namespace cgpo
