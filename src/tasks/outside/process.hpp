// A simulator outside that is a program of its own, and speaks over its standard input and output.
// docs/guide/your-own-simulator.md defines the protocol, version 1: one line of JSON each way, then frames.
//
//   request:  uint32 kind (1 reset, 2 step), uint32 first environment, uint32 count, uint32 bytes, then `bytes` bytes
//             reset: count × uint64 seed      step: count × actions × float32
//   answer:   uint32 bytes, then   reset: count × observations × float32
//                                  step:  count × (observations, reward, costs, ended) × float32
// All little endian. What it prints on standard error passes through.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "cgpo/base/process.hpp"
#include "cgpo/tasks/task.hpp"

namespace cgpo {

class OutsideProcess final : public OutsideEnvironments {
 public:
  // Starts `command` by the shell and reads its header. Throws UserError, as all of this class does: one sentence that
  // names the command and what went wrong.
  OutsideProcess(const std::string& command, double timeout_seconds);
  // The end of its input tells it to go; it gets half a second.
  ~OutsideProcess() override;
  OutsideProcess(const OutsideProcess&) = delete;
  OutsideProcess& operator=(const OutsideProcess&) = delete;

  const TaskSpec& spec() const { return spec_; }  // as its header says

  void reset(int first, std::span<const std::uint64_t> seeds, std::span<double> observations) override;
  void step(int first, int count, std::span<const double> actions, std::span<double> results) override;

 private:
  [[noreturn]] void fail(const std::string& what);
  std::string ending(const char* otherwise);  // how the process ended, in words; `otherwise` if it did not
  void send(std::span<const char> data);
  void receive(std::span<char> data, const char* what, const Deadline& deadline);
  std::string receive_line();
  template <class Read>
  void take(const Read& read);
  // Sends a frame and waits for the answer to it, which must have `expected` numbers.
  void exchange(std::uint32_t kind, int first, int count, const std::vector<char>& payload, std::size_t expected,
                const char* what);

  std::string command_;
  double timeout_;
  TaskSpec spec_;
  std::mutex mutex_;
  Process process_;
  std::string failure_;  // what went wrong first: other threads, which come after it, say the same; empty: nothing
  std::vector<float> answer_;
  std::vector<char> ended_;  // by environment
};

}  // namespace cgpo
