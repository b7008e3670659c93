#include "cgpo/cli/progress.hpp"

#include <sys/ioctl.h>

#include "cgpo/base/text.hpp"
#include "cgpo/cli/terminal.hpp"
#include "cgpo/run/progress_line.hpp"

namespace cgpo {

std::string Progress::line(const LogEntry& entry, double steps_per_second) const {
  const double session = std::chrono::duration<double>(Clock::now() - begin_).count();
  const int left = iterations_ - entry.report.iteration - 1;
  return progress_line(entry, iterations_, steps_per_second, session / shown_ * left);
}

std::size_t Progress::width() const {
  winsize size{};
  const bool known = ::ioctl(::fileno(stream_), TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  return known ? size.ws_col - 1U : 1000U;
}

void Progress::show(const LogEntry& entry, double steps_per_second) {
  ++shown_;
  const Clock::time_point now = Clock::now();
  const bool last = entry.report.iteration + 1 >= iterations_;
  const double since = std::chrono::duration<double>(now - shown_at_).count();
  if (terminal_) {
    // Faster than the eye is only noise, and costs time.
    if (shown_ > 1 && !last && since < 0.05) return;
    // A line that wraps could not be drawn over.
    say(stream_, "\r\x1b[2K{}", first_characters(line(entry, steps_per_second), width()));
    open_ = true;
  } else {
    pending_ = line(entry, steps_per_second);
    if (shown_ > 1 && !last && since < 1.0) return;
    say(stream_, "{}\n", pending_);
    pending_.clear();
  }
  // A warning is worth a line of its own, but not one an iteration: it shares the pace of the lines.
  if (!entry.report.warning.empty()) {
    if (terminal_) say(stream_, "\n");
    say(stream_, "warning: {}\n", entry.report.warning);
    open_ = false;
  }
  shown_at_ = now;
}

void Progress::finish() {
  if (open_) say(stream_, "\n");
  if (!pending_.empty()) say(stream_, "{}\n", pending_);
  open_ = false;
  pending_.clear();
}

}  // namespace cgpo
