// Private to this folder: what a person sees while a run trains, one line that changes on a terminal, plain lines
// elsewhere.
#pragma once

#include <chrono>
#include <cstdio>
#include <string>

#include "cgpo/run/run_log.hpp"

namespace cgpo {

class Progress {
 public:
  // terminal: redraw one line; else a line at the first iteration, at the last, and about one a second between.
  Progress(std::FILE* stream, bool terminal, int iterations)
      : stream_(stream), terminal_(terminal), iterations_(iterations) {}

  void show(const LogEntry& entry, double steps_per_second);
  void finish();  // ends the line

 private:
  using Clock = std::chrono::steady_clock;
  std::string line(const LogEntry& entry, double steps_per_second) const;
  std::size_t width() const;  // of the terminal

  std::FILE* stream_;
  bool terminal_;
  int iterations_;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point shown_at_;
  int shown_ = 0;        // iterations of this session
  std::string pending_;  // the latest line, if it has not been printed
  bool open_ = false;    // whether the terminal's cursor stands in the line
};

}  // namespace cgpo
