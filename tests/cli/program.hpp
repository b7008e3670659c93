// The real program, as a user starts it, in a folder of its own.
#pragma once

#include <filesystem>
#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <sys/types.h>
#include <vector>

namespace cgpo {

struct ProgramOutcome {
  int code = 0;  // exit code; −n if signal n ended it
  std::string out;
  std::string err;
};

class ProgramTest : public ::testing::Test {
 protected:
  ProgramTest();
  ~ProgramTest() override;

  // Runs `cgpo arguments…` to its end, or only starts it. Another name is that of a link to the program in this folder.
  ProgramOutcome run(const std::vector<std::string>& arguments, const std::string& name = "") const;
  pid_t start(const std::vector<std::string>& arguments, const std::string& name = "") const;
  ProgramOutcome wait(pid_t process) const;

  // A training that takes milliseconds an iteration.
  std::vector<std::string> small_training(const std::string& out, int iterations,
                                          std::vector<std::string> more = {}) const;
  // Of the address space of programs that are started from now on; 0: no bound.
  void limit_memory(std::size_t bytes) { address_space_ = bytes; }
  std::filesystem::path at(const std::string& name) const { return folder_ / name; }
  // Every file below the test's folder with its content and time of change, the outputs of the program itself left out.
  std::map<std::string, std::string> snapshot() const;
  // One sentence on standard error that has these words, exit code 2, and the disk is as it was.
  void expect_refused(const std::vector<std::string>& arguments, const std::vector<std::string>& words) const;
  // log.jsonl without the one field that depends on the clock.
  std::string log_without_seconds(const std::string& run) const;
  void expect_same_run(const std::string& a, const std::string& b) const;
  bool nobody_reads_ = false;  // what it starts has a standard output that is a pipe without a reader

  // Waits until a program that was started has told the port of its live view; 0: it does not.
  int wait_for_live_view() const;
  // Waits until the run's log has this many lines.
  void wait_for_lines(const std::string& run, int lines) const;

 private:
  std::filesystem::path folder_;
  std::size_t address_space_ = 0;
};

}  // namespace cgpo
