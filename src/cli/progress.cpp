#include "cgpo/cli/progress.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <sys/ioctl.h>

#include "cgpo/base/text.hpp"
#include "cgpo/cli/terminal.hpp"

namespace cgpo {

std::string Progress::line(const LogEntry& entry, double steps_per_second) const {
  const IterationReport& report = entry.report;
  std::string text = fmt::format("{:>{}}/{}  return {}", report.iteration + 1, fmt::formatted_size("{}", iterations_),
                                 iterations_, number_or_unknown(report.return_mean));
  for (std::size_t i = 0; i < report.costs.size(); ++i) {
    text += fmt::format("  cost {} {:<2} {:.5g}", number_or_unknown(report.costs[i]), limit_sign(report, i),
                        report.limits[i]);
  }
  if (report.radius) text += fmt::format("  radius {:.2e}", *report.radius);
  if (!report.update_case.empty()) text += fmt::format("  {}", report.update_case);
  if (report.world && !std::isnan(report.world->state_error)) {
    text += fmt::format("  model error {:.2g}, {:.2g} after a window", report.world->state_error,
                        report.world->window_error);
  }
  if (report.twin_error && !std::isnan(*report.twin_error))
    text += fmt::format("  twin error {:.2g}", *report.twin_error);
  const double session = std::chrono::duration<double>(Clock::now() - begin_).count();
  const int left = iterations_ - report.iteration - 1;
  text += fmt::format("  {} steps/s  {} left", format_rate(steps_per_second), format_duration(session / shown_ * left));
  if (report.diverged > 0) text += fmt::format("  {} of {} diverged", report.diverged, report.episodes);
  return text;
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
