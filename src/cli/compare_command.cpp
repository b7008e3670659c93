#include "cgpo/cli/compare_command.hpp"

#include <fmt/format.h>

#include "cgpo/cli/status_line.hpp"
#include "cgpo/run/stop_signal.hpp"

namespace cgpo {

int compare_command(const CompareFlags& flags) {
  const StopSignal stop;
  StatusLine line;
  const CompareResult result = run_comparison(flags, line.listener());
  if (result.stopped != 0) {
    line.event("stopped; the same command goes on where it was");
    return 128 + result.stopped;
  }
  fmt::print("{}", flags.json ? result.json + "\n" : result.table);
  return result.failed ? 1 : 0;
}

}  // namespace cgpo
