// What a person sees of long work, on standard error: events as lines, and how far it is in one line that changes on a
// terminal and is printed now and then elsewhere.
#pragma once

#include <chrono>
#include <string>

#include "cgpo/base/listener.hpp"

namespace cgpo {

class StatusLine {
 public:
  StatusLine();
  ~StatusLine();
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  // That this one must outlive. It asks to stop if a StopSignal lives and has caught one.
  Listener listener();

  void event(const std::string& text);
  void status(const std::string& text);  // empty: takes the line away

 private:
  using Clock = std::chrono::steady_clock;

  bool terminal_;
  bool shown_ = false;  // whether the terminal's last line is a status
  Clock::time_point shown_at_ = Clock::now();
};

}  // namespace cgpo
