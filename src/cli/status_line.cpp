#include "cgpo/cli/status_line.hpp"

#include <cstdio>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cgpo/base/stop_signal.hpp"
#include "cgpo/cli/terminal.hpp"

namespace cgpo {
namespace {

constexpr const char* kEraseLine = "\r\x1b[2K";
constexpr std::chrono::milliseconds kTerminalPause{300};
constexpr std::chrono::seconds kFilePause{10};

std::size_t terminal_width() {
  winsize size{};
  const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  return known ? size.ws_col - 1U : 1000U;
}

}  // namespace

StatusLine::StatusLine() : terminal_(::isatty(STDERR_FILENO) != 0) {}

StatusLine::~StatusLine() { status(""); }

Listener StatusLine::listener() {
  return {.event = [this](const std::string& text) { event(text); },
          .status = [this](const std::string& text) { status(text); },
          .stop = [] { return StopSignal::flag().load(); }};
}

void StatusLine::event(const std::string& text) {
  status("");
  say(stderr, "{}\n", text);
}

void StatusLine::status(const std::string& text) {
  if (text.empty()) {
    if (shown_) write_out(stderr, kEraseLine);
    shown_ = false;
  } else {
    const Clock::duration pause = terminal_ ? Clock::duration(kTerminalPause) : Clock::duration(kFilePause);
    if (Clock::now() - shown_at_ < pause) return;
    shown_at_ = Clock::now();
    shown_ = terminal_;
    if (terminal_) {
      write_out(stderr, kEraseLine);
      say(stderr, "{}", first_characters(printable(text), terminal_width()));
    } else {
      say(stderr, "{}\n", text);
    }
  }
}

}  // namespace cgpo
